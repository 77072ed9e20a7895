//! [`Guard`]: the live detector. Push what arrives; it answers with an [`Alarm`], once. [`Guards`]: what
//! a server keeps to hand out one for each request.

use std::sync::Arc;

use crate::alarm::Alarm;
use crate::fact::{Fact, Meter, Recipe, Rule};
use crate::position::{Channel, Chars};
use crate::setting::{Member, NotLive, Setting};
use crate::settings::Settings;

/// The guards of a settings file, compiled once. `Send` and `Sync`: one for the whole program.
///
/// ```
/// use deadloop_detect::{Channel, Guards, Settings};
///
/// let guards = Guards::new(&Settings::default())?;
/// // For each request:
/// let mut guard = guards.guard("some-model");
/// for chunk in ["Let me think.", " So"] {
///     assert!(guard.push(Channel::Reasoning, chunk).is_none());
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
///     alarm = guard.push(Channel::Reasoning, "思考");
/// }
/// assert_eq!(alarm.map(|a| a.exact.0), Some(180));
/// # Ok::<(), deadloop_detect::NotLive>(())
/// ```
pub struct Guard {
    parts: Arc<[Part]>,
    /// For each part its meters, one a channel.
    meters: Vec<Vec<(Channel, Box<dyn Meter>)>>,
    seen: [(Channel, Chars); 2],
    fired: bool,
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
            let watched = Channel::TEXT
                .into_iter()
                .filter(|c| part.member.watches(*c));
            watched.map(|c| (c, part.recipe.meter())).collect()
        };
        Self {
            meters: parts.iter().map(meters).collect(),
            parts,
            seen: Channel::TEXT.map(|channel| (channel, Chars(0))),
            fired: false,
            facts: Vec::new(),
        }
    }

    /// A guard for the next request, which shares what this one has compiled and knows nothing of
    /// what it has read.
    #[must_use]
    pub fn fresh(&self) -> Self {
        Self::of(Arc::clone(&self.parts))
    }

    /// Takes the next chunk of a text channel; calls of tools are none. `Some` at the first alarm; from
    /// then on `None`: the stream is over.
    pub fn push(&mut self, channel: Channel, chunk: &str) -> Option<Alarm> {
        let seen = self
            .seen
            .iter_mut()
            .find(|(c, _)| *c == channel)
            .map(|(_, seen)| seen)?;
        if self.fired {
            return None;
        }
        *seen = *seen + Chars::of(chunk);
        let delivered = *seen;
        let first = (0..self.parts.len())
            .filter_map(|i| {
                let fact = self.read(i, channel, chunk)?;
                Some((fact.position(fact.at), i, fact))
            })
            .min_by_key(|(at, i, _)| (*at, *i));
        let (_, i, fact) = first?;
        self.fired = true;
        let member = (i, &self.parts[i].member);
        Some(Alarm::new(member, channel, fact, delivered))
    }

    /// Whether it has alarmed.
    pub fn fired(&self) -> bool {
        self.fired
    }

    /// Of the facts that a part sees in this chunk, the one that its rule accepts first.
    fn read(&mut self, part: usize, channel: Channel, chunk: &str) -> Option<Fact> {
        let Part { rule, .. } = &self.parts[part];
        let mut meters = self.meters[part].iter_mut();
        let (_, meter) = meters.find(|(c, _)| *c == channel)?;
        let facts = &mut self.facts;
        facts.clear();
        meter.push(chunk, facts);
        let accepted = |(i, fact): (usize, &Fact)| Some((rule.alarm(fact)?, i));
        let all = facts.iter().enumerate().filter_map(accepted);
        let (step, i) = all.min_by_key(|(step, i)| (facts[*i].position(*step), *i))?;
        Some(facts.swap_remove(i).seen_at(step))
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
    fn guards_are_shared_by_threads_and_a_guard_moves_to_one() {
        fn shared<T: Send + Sync>() {}
        fn moved<T: Send>() {}
        shared::<Guards>();
        moved::<Guard>();
    }

    #[test]
    fn each_model_gets_the_guard_of_its_table() {
        let text = "[[guard]]\ndetector = \"periodic\"\n[[model]]\nmatch = \"a*\"\n\
                    [[model.guard]]\ndetector = \"checkpoint\"\n";
        let settings = Settings::parse(text).unwrap();
        let guards = Guards::new(&settings).unwrap();
        for (model, detector) in [("abc", "checkpoint"), ("b", "periodic")] {
            let mut guard = guards.guard(model);
            let alarm = (0..2000).find_map(|_| guard.push(Channel::Answer, "so "));
            assert_eq!(alarm.unwrap().detector, detector);
        }
    }
}
