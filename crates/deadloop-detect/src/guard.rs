//! [`Guard`]: the live detector. Push what arrives; it answers with an [`Alarm`], once. [`Guards`]: what
//! a server keeps to hand out one for each request.

use std::sync::Arc;

use crate::alarm::Alarm;
use crate::fact::{Fact, Rule};
use crate::meter::{Meter, Recipe};
use crate::response::Response;
use crate::setting::{Member, NotLive, Setting};
use crate::settings::Settings;
use crate::stream::{Channel, Chars, Event, Seen};

/// The guards of a settings file, compiled once. `Send` and `Sync`: one for the whole program.
///
/// ```
/// use deadloop_detect::{Channel, Guards, Settings};
///
/// let guards = Guards::new(&Settings::default())?;
/// // For each request:
/// let mut guard = guards.guard("some-model");
/// for chunk in ["Let me think.", " So"] {
///     assert!(guard.push_text(Channel::Reasoning, chunk).is_none());
/// }
/// # Ok::<(), deadloop_detect::NotLive>(())
/// ```
#[derive(Clone, Debug)]
pub struct Guards {
    settings: Settings,
    general: Arc<[Part]>,
    /// In the order of the overrides.
    models: Vec<Arc<[Part]>>,
}

impl Guards {
    /// Compiles the guards of all models.
    ///
    /// # Errors
    /// A detector is a program, which no live stream waits for.
    pub fn new(settings: &Settings) -> Result<Self, NotLive> {
        let overrides = settings.overrides();
        Ok(Self {
            general: parts(settings.guard())?,
            models: overrides
                .map(|(_, setting)| parts(setting))
                .collect::<Result<_, _>>()?,
            settings: settings.clone(),
        })
    }

    /// A fresh guard for a request to this model.
    pub fn guard(&self, model: &str) -> Guard {
        let own = self
            .settings
            .override_of(model)
            .and_then(|i| self.models.get(i));
        Guard::of(Arc::clone(own.unwrap_or(&self.general)))
    }
}

/// A guard on one stream, from its first chunk to its end or its alarm. Make a fresh one for each
/// request: that is the reset.
///
/// It costs some nanoseconds a char (`reports/bench.md` has each detector) and keeps a window of the
/// stream, never all of it: less than 1 MB for every detector at its defaults, and for presets as much
/// as [they say](crate::Preset::megabytes).
///
/// ```
/// use deadloop_detect::{Channel, Guard, Settings};
///
/// let settings = Settings::default();
/// let mut guard = Guard::new(settings.for_model("some-model"))?;
/// let mut alarm = None;
/// while alarm.is_none() {
///     alarm = guard.push_text(Channel::Reasoning, "思考");
/// }
/// assert_eq!(alarm.map(|a| a.exact.count()), Some(180));
/// # Ok::<(), deadloop_detect::NotLive>(())
/// ```
pub struct Guard {
    parts: Arc<[Part]>,
    /// For each part its meters, one a channel that it reads.
    meters: Vec<Vec<(Channel, Box<dyn Meter>)>>,
    /// What has arrived.
    seen: Seen,
    /// How many events have been pushed.
    events: u64,
    /// Whether the last of them was text of a call's arguments: then the call brings nothing more of it.
    heard: bool,
    fired: bool,
    /// Warnings that have not been taken yet.
    warnings: Vec<Alarm>,
    /// The parts that have warned: each does once.
    warned: Vec<bool>,
    facts: Vec<Fact>,
}

/// What the guards of one setting share of a member.
#[derive(Debug)]
struct Part {
    member: Member,
    rule: Rule,
    recipe: Recipe,
}

fn parts(setting: &Setting) -> Result<Arc<[Part]>, NotLive> {
    let part = |member: &Member| {
        Ok(Part {
            recipe: member.recipe().ok_or(NotLive(member.detector.name))?,
            rule: member.rule(),
            member: member.clone(),
        })
    };
    setting.members.iter().map(part).collect()
}

impl Guard {
    /// A guard for one request. Where requests come again and again, [`Guards`] or
    /// [`fresh`](Self::fresh) compile the detectors once.
    ///
    /// # Errors
    /// A member is a program.
    pub fn new(setting: &Setting) -> Result<Self, NotLive> {
        Ok(Self::of(parts(setting)?))
    }

    fn of(parts: Arc<[Part]>) -> Self {
        let meters = |part: &Part| {
            let channels = part.member.channels();
            channels.map(|c| (c, part.recipe.meter(c))).collect()
        };
        Self {
            meters: parts.iter().map(meters).collect(),
            warned: vec![false; parts.len()],
            warnings: Vec::new(),
            parts,
            seen: Seen::default(),
            events: 0,
            heard: false,
            fired: false,
            facts: Vec::new(),
        }
    }

    /// Returns a guard for the next request. It shares what this one has compiled, and has read
    /// nothing yet.
    #[must_use]
    pub fn fresh(&self) -> Self {
        Self::of(Arc::clone(&self.parts))
    }

    /// Takes the next chunk of a channel that carries text: [`push`](Self::push) for who has nothing else.
    pub fn push_text(&mut self, channel: Channel, chunk: &str) -> Option<Alarm> {
        self.push(&Event::Text(channel, chunk))
    }

    /// Takes the next event. `Some` at the first alarm that [stops](Response::Stop); from then on `None`: the
    /// stream is over. `Some` too at each that [refuses](Response::Refuse): that call is not to be run, and the
    /// guard goes on. What only warns or observes is for [`warnings`](Self::warnings).
    ///
    /// The arguments of a call may come as text before it; where they did not, those of the call are read as such.
    ///
    /// ```
    /// use deadloop_detect::{Arguments, Event, Guard, Settings};
    ///
    /// let settings = Settings::parse("[[guard]]\ndetector = \"duplicate\"")?;
    /// let mut guard = Guard::new(settings.for_model("some-model"))?;
    /// let call = Event::Call { id: None, name: "ls", arguments: Arguments::Raw("{}") };
    /// let alarm = (0..9).find_map(|_| guard.push(&call)); // before each call is run
    /// assert_eq!(alarm.map(|a| a.calls.0), Some(3));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn push(&mut self, event: &Event<'_>) -> Option<Alarm> {
        if self.fired {
            return None;
        }
        let number = self.events;
        self.events += 1;
        let heard = std::mem::replace(
            &mut self.heard,
            matches!(event, Event::Text(Channel::Arguments, _)),
        );
        if let (Event::Call { arguments, .. }, false) = (event, heard) {
            let text = arguments.text();
            let text = Event::Text(Channel::Arguments, &text);
            if let Some(alarm) = self.take(&text, number) {
                return Some(alarm);
            }
        }
        self.take(event, number)
    }

    /// Takes what the event with this number is.
    fn take(&mut self, event: &Event<'_>, number: u64) -> Option<Alarm> {
        self.seen = after(self.seen, event);
        // All of it is in this event: what is left of the order of moments is the offset, then the member.
        let mut told: Vec<_> = (0..self.parts.len())
            .filter_map(|i| {
                let (channel, fact) = self.read(i, event)?;
                Some((offset(&fact), i, channel, fact))
            })
            .collect();
        told.sort_by_key(|(offset, i, ..)| (*offset, *i));
        for (_, i, channel, fact) in told {
            let member = (i, &self.parts[i].member);
            let alarm = Alarm::new(member, channel, fact, (number, self.seen));
            if alarm.response.level() == Response::Stop {
                self.fired = alarm.response == Response::Stop;
                return Some(alarm);
            }
            if !std::mem::replace(&mut self.warned[i], true) {
                self.warnings.push(alarm);
            }
        }
        None
    }

    /// Whether it has stopped the stream.
    pub fn fired(&self) -> bool {
        self.fired
    }

    /// Takes the alarms that [warn](Response::Warn) or [observe](Response::Observe) and have not been asked for
    /// yet, in their order: of each member the first, and none from after the stream was stopped.
    ///
    /// ```
    /// use deadloop_detect::{Channel, Guard, Settings};
    ///
    /// let text = "[[guard]]\ndetector = \"periodic\"\nresponse = \"warn\"";
    /// let mut guard = Guard::new(Settings::parse(text)?.guard())?;
    /// assert!(guard.push_text(Channel::Answer, &"so ".repeat(9000)).is_none());
    /// assert_eq!(guard.warnings().count(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn warnings(&mut self) -> impl Iterator<Item = Alarm> + '_ {
        self.warnings.drain(..)
    }

    /// Of the facts that a part sees in this event, the one that its rule accepts first, and its channel.
    fn read(&mut self, part: usize, event: &Event<'_>) -> Option<(Channel, Fact)> {
        let Part { rule, recipe, .. } = &self.parts[part];
        let mut meters = self.meters[part].iter_mut();
        let run = recipe.reads_run();
        if let (Event::Turn { .. }, false) = (event, run) {
            // A text may begin anew there, in each channel; a turn is none.
            meters.for_each(|(_, meter)| meter.push(event, &mut self.facts));
            return None;
        }
        let reads = |channel: Channel| match event {
            _ if run => true,
            Event::Text(of, _) => *of == channel,
            Event::Call { .. } => channel == Channel::Arguments,
            _ => false,
        };
        let (channel, meter) = meters.find(|(channel, _)| reads(*channel))?;
        let facts = &mut self.facts;
        facts.clear();
        meter.push(event, facts);
        let accepted = |(i, fact): (usize, &Fact)| Some((rule.alarm(fact)?, i));
        let all = facts.iter().enumerate().filter_map(accepted);
        let (step, i) = all.min_by_key(|(step, i)| (facts[*i].position(*step).count(), *i))?;
        Some((*channel, facts.swap_remove(i).seen_at(step)))
    }
}

/// What has arrived once an event has.
fn after(seen: Seen, event: &Event<'_>) -> Seen {
    match event {
        Event::Text(channel, text) => seen.plus(*channel, Chars::of(text).0),
        Event::Call { .. } => seen.plus(Channel::Tools, 1),
        Event::Turn { .. } => seen.plus(Channel::Turns, 1),
        _ => seen,
    }
}

/// The chars of the event's text after which a fact is known; 0 of an event without text.
fn offset(fact: &Fact) -> u64 {
    match fact.beat() {
        Some(_) => 0,
        None => fact.position(fact.at).count(),
    }
}

impl std::fmt::Debug for Guard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Guard")
            .field("parts", &self.parts)
            .field("seen", &self.seen)
            .field("fired", &self.fired)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guards_are_shared_by_threads() {
        fn shared<T: Send + Sync>() {}
        shared::<Guards>();
        shared::<Guard>();
    }

    #[test]
    fn each_model_gets_the_guard_of_its_table() {
        let text = "[[guard]]\ndetector = \"periodic\"\n[[model]]\nmatch = \"a*\"\n\
                    [[model.guard]]\ndetector = \"checkpoint\"\n";
        let settings = Settings::parse(text).unwrap();
        let guards = Guards::new(&settings).unwrap();
        for (model, detector) in [("abc", "checkpoint"), ("b", "periodic")] {
            let mut guard = guards.guard(model);
            let alarm = (0..2000).find_map(|_| guard.push_text(Channel::Answer, "so "));
            assert_eq!(alarm.unwrap().detector, detector);
        }
    }
}
