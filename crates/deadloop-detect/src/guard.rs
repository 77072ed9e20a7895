//! [`Guard`]: the live detector. Push what arrives; it answers with an [`Alarm`], once.

use crate::alarm::Alarm;
use crate::fact::{Fact, Meter, Recipe, Rule};
use crate::position::{Channel, Chars};
use crate::setting::{Member, Setting};

/// A guard on one stream. Make a fresh one for each request: that is the reset.
///
/// ```
/// use deadloop_detect::{Channel, Guard, Settings};
///
/// let settings = Settings::default();
/// let mut guard = Guard::new(settings.for_model("some-model"));
/// let mut alarm = None;
/// while alarm.is_none() {
///     alarm = guard.push(Channel::Reasoning, "思考");
/// }
/// assert_eq!(alarm.map(|a| a.exact.0), Some(500));
/// ```
pub struct Guard {
    members: Vec<Live>,
    seen: [(Channel, Chars); 2],
    fired: bool,
    facts: Vec<Fact>,
}

/// A member and its meters, one a channel.
struct Live {
    member: Member,
    rule: Rule,
    recipe: Recipe,
    meters: Vec<(Channel, Box<dyn Meter>)>,
}

impl Guard {
    /// A guard for one request.
    pub fn new(setting: &Setting) -> Self {
        Self {
            members: setting.members.iter().map(Live::new).collect(),
            seen: Channel::TEXT.map(|channel| (channel, Chars(0))),
            fired: false,
            facts: Vec::new(),
        }
    }

    /// A guard for the next request, which shares what this one has compiled and knows nothing of
    /// what it has read.
    pub fn fresh(&self) -> Self {
        let fresh = |live: &Live| Live::of(live.member.clone(), live.recipe.clone());
        Self {
            members: self.members.iter().map(fresh).collect(),
            ..Self::new(&Setting::default())
        }
    }

    /// Takes the next chunk of a channel. `Some` at the first alarm; from then on `None`: the
    /// stream is over.
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
        let first = (0..self.members.len())
            .filter_map(|i| {
                let fact = self.members[i].push(channel, chunk, &mut self.facts)?;
                Some((fact.position(fact.at), i, fact))
            })
            .min_by_key(|(at, i, _)| (*at, *i));
        let (_, i, fact) = first?;
        self.fired = true;
        Some(Alarm::new(
            (i, &self.members[i].member),
            channel,
            fact,
            delivered,
        ))
    }

    /// Whether it has alarmed.
    pub fn fired(&self) -> bool {
        self.fired
    }
}

impl Live {
    fn new(member: &Member) -> Self {
        Self::of(member.clone(), member.recipe())
    }

    fn of(member: Member, recipe: Recipe) -> Self {
        let watched = Channel::TEXT.into_iter().filter(|c| member.watches(*c));
        let meters = watched.map(|c| (c, recipe.meter())).collect();
        Self {
            rule: member.rule(),
            member,
            recipe,
            meters,
        }
    }

    /// The fact in this chunk that the rule accepts first.
    fn push(&mut self, channel: Channel, chunk: &str, facts: &mut Vec<Fact>) -> Option<Fact> {
        let (_, meter) = self.meters.iter_mut().find(|(c, _)| *c == channel)?;
        facts.clear();
        meter.push(chunk, facts);
        let accepted = |(i, fact): (usize, &Fact)| Some((self.rule.alarm(fact)?, i));
        let all = facts.iter().enumerate().filter_map(accepted);
        let (step, i) = all.min_by_key(|(step, i)| (facts[*i].position(*step), *i))?;
        Some(facts.swap_remove(i).seen_at(step))
    }
}
