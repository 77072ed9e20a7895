//! [`Guard`]: the live detector. [`Guards`]: the guards of a settings file.
//!
//! Push each event to a [`Guard`], which returns a [`Decision`]. A server keeps one [`Guards`], and takes a new guard
//! for each request.

pub(crate) mod alarm;
pub(crate) mod context;
pub(crate) mod decision;
pub(crate) mod feeds;
pub(crate) mod response;

use std::sync::Arc;

use crate::guard::alarm::{Alarm, Lang};
use crate::guard::decision::{Decision, PushResult};
use crate::guard::response::Response;
use crate::measure::fact::{Fact, Rule};
use crate::measure::meter::{Meter, Recipe};
use crate::settings::setting::{Member, NotLive, Setting};
use crate::settings::{ModelTask, Settings};
use crate::stream::{Channel, ChannelLengths, Chars, Event, EventPlace, TextChannel};

/// The compiled guards of a settings file. It is `Send` and `Sync`, so one value serves the whole program.
///
/// ```
/// use deadloop_detect::{Decision, Guards, Settings, TextChannel};
///
/// let guards = Guards::new(&Settings::default())?;
/// // For each request:
/// let mut guard = guards.guard("some-model");
/// for chunk in ["Let me think.", " So"] {
///     let decision = guard.push_text(TextChannel::Reasoning, chunk).decision;
///     assert_eq!(decision, Decision::Continue);
/// }
/// # Ok::<(), deadloop_detect::NotLive>(())
/// ```
#[derive(Clone, Debug)]
pub struct Guards {
    settings: Settings,
    general: Arc<[CompiledMember]>,
    /// The guard of each override, in order.
    models: Vec<Arc<[CompiledMember]>>,
}

impl Guards {
    /// Compiles the guards of all models.
    ///
    /// # Errors
    /// A detector is a program, which cannot watch a live stream.
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

    /// Returns whether some member skips the user's text, and so needs the user messages.
    pub fn skips_prompt(&self) -> bool {
        let mut all = self.models.iter().chain([&self.general]);
        all.any(|parts| parts.iter().any(|part| part.recipe.reads_user_messages()))
    }

    /// Returns a new guard for a request to this model, or to a model at a task ([`ModelTask`]).
    pub fn guard<'a>(&self, work: impl Into<ModelTask<'a>>) -> Guard {
        let own = self
            .settings
            .models()
            .first(work)
            .and_then(|i| self.models.get(i));
        Guard {
            lang: self.settings.lang,
            ..Guard::from_parts(Arc::clone(own.unwrap_or(&self.general)))
        }
    }
}

/// A guard of one stream, from its first chunk to its end or a [stop](Decision::Stop). There is no reset: each request
/// needs a new guard.
///
/// A guard takes some nanoseconds per char (`reports/bench.md` lists the detectors). It keeps a window of the stream,
/// never the whole stream: less than 1 MB for each detector at its defaults, 1.25 MB for the recommended guard, and
/// [`megabytes`](crate::harness::Preset::megabytes) for a preset.
///
/// ```
/// use deadloop_detect::{Decision, Guard, Settings, TextChannel};
///
/// let settings = Settings::default();
/// let mut guard = Guard::new(settings.for_model("some-model"))?;
/// let alarm = loop {
///     if let Decision::Stop(alarm) = guard.push_text(TextChannel::Reasoning, "思考").decision {
///         break alarm;
///     }
/// };
/// assert_eq!(alarm.exact.count(), 180);
/// # Ok::<(), deadloop_detect::NotLive>(())
/// ```
pub struct Guard {
    parts: Arc<[CompiledMember]>,
    /// The meters of each member, one for each channel.
    meters: Vec<Vec<(Channel, Box<dyn Meter>)>>,
    /// The length of each channel so far.
    seen: ChannelLengths,
    /// The number of events pushed so far.
    events: u64,
    /// Whether the arguments of the next call arrived as text. If so, the call itself adds no text.
    has_arguments: bool,
    /// The alarm that stopped the stream, if one did.
    stopped: Option<Alarm>,
    /// The alarm that refused the arguments of the next call.
    refused: Option<Alarm>,
    /// Whether each member has reported. A member warns once, and refuses once until the next call or turn.
    reported: Vec<bool>,
    facts: Vec<Fact>,
    /// The language of messages. `None` for the language of the repeated text.
    lang: Option<Lang>,
}

/// A member, compiled once and shared by all guards of a setting.
#[derive(Debug)]
struct CompiledMember {
    member: Member,
    rule: Rule,
    recipe: Recipe,
}

impl CompiledMember {
    fn refuses(&self) -> bool {
        self.member.response == Response::Refuse
    }
}

fn parts(setting: &Setting) -> Result<Arc<[CompiledMember]>, NotLive> {
    let part = |member: &Member| {
        Ok(CompiledMember {
            recipe: member.recipe().ok_or(NotLive(member.detector.name))?,
            rule: member.rule(),
            member: member.clone(),
        })
    };
    setting.members.iter().map(part).collect()
}

impl Guard {
    /// Returns a guard for one request. For more requests, [`Guards`] and [`fresh`](Self::fresh) reuse the compiled
    /// detectors.
    ///
    /// # Errors
    /// A member is a program.
    pub fn new(setting: &Setting) -> Result<Self, NotLive> {
        Ok(Self::from_parts(parts(setting)?))
    }

    fn from_parts(parts: Arc<[CompiledMember]>) -> Self {
        let meters = |part: &CompiledMember| {
            let channels = part.member.channels();
            channels.map(|c| (c, part.recipe.meter(c))).collect()
        };
        Self {
            meters: parts.iter().map(meters).collect(),
            reported: vec![false; parts.len()],
            parts,
            seen: ChannelLengths::default(),
            events: 0,
            has_arguments: false,
            stopped: None,
            refused: None,
            facts: Vec::new(),
            lang: None,
        }
    }

    /// Returns a new guard for the next request. It shares the compiled detectors.
    #[must_use]
    pub fn fresh(&self) -> Self {
        Self {
            lang: self.lang,
            ..Self::from_parts(Arc::clone(&self.parts))
        }
    }

    /// Returns whether both guards come from the same setting of the same [`Guards`].
    pub fn has_setting_of(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.parts, &other.parts)
    }

    /// Pushes a chunk of text. See [`push`](Self::push).
    pub fn push_text(&mut self, channel: TextChannel, chunk: &str) -> PushResult {
        self.push(&Event::Text(channel, chunk))
    }

    /// Reads the next event. Returns the [`Decision`], and the alarms that only warn or observe.
    ///
    /// After a [stop](Decision::Stop), the guard reads no more events, and returns the same stop for each push.
    ///
    /// The arguments of a call may arrive as text before the call. Otherwise they are read from the call. The pieces of
    /// different calls must not be mixed. If a piece of arguments was refused, the call that follows is refused with
    /// the same alarm.
    ///
    /// ```
    /// use deadloop_detect::{Arguments, Decision, Event, Guard, Settings};
    ///
    /// let settings = Settings::parse("[[guard]]\ndetector = \"duplicate\"\nresponse = \"refuse\"")?;
    /// let mut guard = Guard::new(settings.for_model("some-model"))?;
    /// let call = Event::Call { id: None, name: "ls", arguments: Arguments::Raw("{}") };
    /// let mut refused = 0;
    /// for _ in 0..4 {
    ///     match guard.push(&call).decision {
    ///         Decision::Continue => {} // the call is run
    ///         Decision::Refuse(_) => refused += 1, // the model is told that it was not
    ///         Decision::Stop(_) => break,
    ///     }
    /// }
    /// assert_eq!(refused, 2, "the third and the fourth");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn push(&mut self, event: &Event<'_>) -> PushResult {
        if let Some(alarm) = &self.stopped {
            return Decision::Stop(alarm.clone()).into();
        }
        if let Event::Call { .. } | Event::Turn { .. } = event {
            self.reset_refusals();
        }
        let refused = match event {
            Event::Call { .. } => self.refused.take(),
            _ => None,
        };
        let (written, seen) = self.lengths_after(event);
        let place = EventPlace {
            event: self.events,
            calls: seen.tools,
            turns: self.seen.turns,
            answer: seen.answer,
        };
        self.seen = seen;
        self.events += 1;
        let accepted = self.accepted_facts(event, place);
        if accepted.is_empty() && refused.is_none() {
            // Nearly every push returns here, without moving a large alarm.
            return PushResult::default();
        }
        let mut found = self.alarms(accepted, place.event, written);
        if refused.is_some() {
            found.refusal = refused;
        }
        if let (Event::Text(TextChannel::Arguments, _), Some(alarm)) = (event, &found.refusal) {
            self.refused.get_or_insert_with(|| alarm.clone());
        }
        self.stopped.clone_from(&found.stop);
        found.into_result()
    }

    /// Lets the members that refuse report again.
    fn reset_refusals(&mut self) {
        for (reported, part) in self.reported.iter_mut().zip(self.parts.iter()) {
            *reported &= !part.refuses();
        }
    }

    /// Returns the facts that the members accept in an event, in order: the text of a call before the call, then by
    /// offset, then by member.
    fn accepted_facts(&mut self, event: &Event<'_>, place: EventPlace) -> Vec<AcceptedFact> {
        let mut all: Vec<AcceptedFact> = (0..self.parts.len())
            .filter_map(|part| {
                let (channel, fact) = self.read(part, event, place)?;
                Some(AcceptedFact {
                    part,
                    channel,
                    fact,
                })
            })
            .collect();
        let call = matches!(event, Event::Call { .. });
        all.sort_by_key(|AcceptedFact { part, fact, .. }| {
            (call && fact.place().is_some(), offset(fact), *part)
        });
        all
    }

    /// Returns the alarms of the accepted facts, up to the first that stops. `event` is the number of the event, and
    /// `written` holds the lengths after its text.
    fn alarms(
        &mut self,
        accepted: Vec<AcceptedFact>,
        event: u64,
        written: ChannelLengths,
    ) -> EventAlarms {
        let mut found = EventAlarms::default();
        for AcceptedFact {
            part: i,
            channel,
            fact,
        } in accepted
        {
            let seen = if fact.place().is_some() {
                self.seen
            } else {
                written
            };
            let mut alarm = Alarm::new((i, &self.parts[i].member), channel, fact, (event, seen));
            alarm.lang = self.lang.unwrap_or(alarm.lang);
            let stops = alarm.response == Response::Stop;
            if stops || !std::mem::replace(&mut self.reported[i], true) {
                found.take(alarm);
            }
            if stops {
                break;
            }
        }
        found
    }

    /// Returns the lengths after the event's text, and after the whole event. They differ for a call, whose arguments
    /// come first, and for a turn.
    fn lengths_after(&mut self, event: &Event<'_>) -> (ChannelLengths, ChannelLengths) {
        let seen = self.seen;
        match event {
            Event::Text(channel, text) => {
                self.has_arguments |= *channel == Channel::Arguments && !text.is_empty();
                let seen = seen.plus((*channel).into(), Chars::count(text).0);
                (seen, seen)
            }
            Event::Call { arguments, .. } => {
                let chars = if std::mem::take(&mut self.has_arguments) {
                    0
                } else {
                    Chars::count(&arguments.text()).0
                };
                let written = seen.plus(Channel::Arguments, chars);
                (written, written.plus(Channel::Tools, 1))
            }
            Event::Turn { .. } => (seen, seen.plus(Channel::Turns, 1)),
            _ => (seen, seen),
        }
    }

    /// Returns the alarm that stopped the stream, if one did.
    pub fn stopped(&self) -> Option<&Alarm> {
        self.stopped.as_ref()
    }

    /// Returns the length of each channel so far.
    pub fn lengths(&self) -> ChannelLengths {
        self.seen
    }

    /// Returns the first fact in this event that the rule of a member accepts, with its channel.
    fn read(
        &mut self,
        part: usize,
        event: &Event<'_>,
        place: EventPlace,
    ) -> Option<(Channel, Fact)> {
        let CompiledMember { rule, recipe, .. } = &self.parts[part];
        let mut meters = self.meters[part].iter_mut();
        let run = recipe.reads_run();
        if let (Event::Turn { .. } | Event::User(_), false) = (event, run) {
            // Turns and user messages concern the meters of all channels: a text may begin again at a turn, and the
            // user's text may be skipped.
            meters.for_each(|(_, meter)| meter.push(event, place, &mut self.facts));
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
        meter.push(event, place, facts);
        let accepted = |(i, fact): (usize, &Fact)| Some((rule.alarm(fact)?, i));
        let all = facts.iter().enumerate().filter_map(accepted);
        let (step, i) = all.min_by_key(|(step, i)| (facts[*i].position(*step).count(), *i))?;
        Some((*channel, facts.swap_remove(i).frozen_at(step)))
    }
}

/// A fact that a member accepts in an event.
struct AcceptedFact {
    part: usize,
    channel: Channel,
    fact: Fact,
}

/// The alarms of one event.
#[derive(Default)]
struct EventAlarms {
    stop: Option<Alarm>,
    /// The first refusal.
    refusal: Option<Alarm>,
    warnings: Vec<Alarm>,
}

impl EventAlarms {
    fn take(&mut self, alarm: Alarm) {
        match alarm.response {
            Response::Stop => self.stop = Some(alarm),
            Response::Refuse => {
                self.refusal.get_or_insert(alarm);
            }
            Response::Warn | Response::Observe => self.warnings.push(alarm),
        }
    }

    fn into_result(self) -> PushResult {
        let mut warnings = self.warnings;
        let decision = match (self.stop, self.refusal) {
            (Some(stop), refusal) => {
                warnings.extend(refusal);
                Decision::Stop(stop)
            }
            (None, Some(refusal)) => Decision::Refuse(refusal),
            (None, None) => Decision::Continue,
        };
        PushResult { decision, warnings }
    }
}

/// Returns the number of chars of the event's text after which the fact is known. 0 for an event without text.
fn offset(fact: &Fact) -> u64 {
    match fact.place() {
        Some(_) => 0,
        None => fact.position(fact.at).count(),
    }
}

impl std::fmt::Debug for Guard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Guard")
            .field("parts", &self.parts)
            .field("seen", &self.seen)
            .field("stopped", &self.stopped)
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
            let alarm =
                (0..2000).find_map(|_| guard.push_text(TextChannel::Answer, "so ").into_alarm());
            assert_eq!(alarm.unwrap().detector, detector);
        }
    }
}
