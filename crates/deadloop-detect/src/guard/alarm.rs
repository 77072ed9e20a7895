//! [`Alarm`]: what a live guard hands to the program that streams, with all that its log and its
//! user need to know.

use std::borrow::Cow;

use serde::Serialize;

use crate::guard::response::Response;
use crate::measure::fact::{Bound, Fact};
use crate::settings::param::{Param, Threshold};
use crate::settings::setting::Member;
use crate::settings::value::Value;
use crate::stream::Fault;
use crate::stream::{Calls, Channel, Kind, Seen, Turns, Unit, Units};

/// A dead loop, found in a live stream.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Alarm {
    /// The detector that fired.
    pub detector: &'static str,
    /// Which member of the guard that is, counted from 0.
    pub member: usize,
    /// What it does: the guard does not do it.
    pub response: Response,
    /// The channel in which it fired; all positions count there, in its unit.
    pub channel: Channel,
    /// What kind of loop it is.
    pub kind: Kind,
    /// The check that decided.
    pub check: &'static str,
    /// The thresholds that were met, in the order of the detector's parameters; after them what structural
    /// parameters asked ([`Asked`](crate::harness::Asked)).
    pub thresholds: Vec<Met>,
    /// The units after which a detector that sees one at a time knows.
    pub exact: Units,
    /// The end of the event that holds the last of them: when this alarm was raised.
    pub delivered: Units,
    /// Where the second copy begins, as far as the detector could see.
    pub onset: Units,
    /// Length of one copy.
    pub period: Units,
    /// Whole copies in a row, the first included.
    pub copies: u64,
    /// The repeated unit, cut to 80 chars.
    pub unit: String,
    /// The event that raised it: how many had been pushed before.
    pub event: u64,
    /// Tool calls issued by then.
    pub calls: Calls,
    /// Turns begun by then.
    pub turns: Turns,
}

/// A threshold of the setting, and the bound of the fact that satisfied it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Met {
    /// The parameter, and where in it: `min_copies`, `rules[0].min_copies`.
    pub param: Cow<'static, str>,
    /// Its value in the setting.
    pub value: Value,
    /// What was measured.
    pub measured: Value,
}

impl Alarm {
    pub(crate) fn new(
        (index, member): (usize, &Member),
        channel: Channel,
        fact: Fact,
        (event, seen): (u64, Seen),
    ) -> Self {
        let place = fact.place();
        Self {
            detector: member.detector.name,
            member: index,
            response: member.response,
            channel,
            kind: fact.kind,
            check: fact.check,
            thresholds: met(member, &fact),
            exact: fact.position(fact.at),
            // The facts of a run say themselves where they are: before a turn it has not begun.
            delivered: match place {
                Some(_) => fact.position(fact.at),
                None => seen.units(channel),
            },
            event,
            calls: place.map_or(seen.tools, |place| place.calls),
            turns: place.map_or(seen.turns, |place| place.turns),
            onset: fact.onset,
            period: fact.period,
            copies: u64::try_from(fact.value(fact.copies, fact.at)).unwrap_or(0),
            unit: fact.unit,
        }
    }

    /// One line for a log: what, where, which pattern, which check and thresholds. The unit is
    /// escaped, so that it stays one line.
    pub fn log_line(&self) -> String {
        let met: Vec<String> = self
            .thresholds
            .iter()
            .map(|m| format!("{} {} (measured {})", m.param, m.value, m.measured))
            .collect();
        let (lead, what) = match self.kind {
            Kind::Fault(_) => ("faulty stream", String::new()),
            Kind::Iterations | Kind::Budget if self.check == "warning" => {
                ("limit near", String::new())
            }
            Kind::Iterations | Kind::Budget => ("limit reached", String::new()),
            _ => ("dead loop", format!("{}: ", self.what())),
        };
        format!(
            "{lead}: {} in {}, {} {}..{} (known at {}), {what}{:?}; {}/{}: {}",
            self.kind,
            self.channel,
            self.channel.unit(),
            self.onset,
            self.delivered,
            self.exact,
            self.unit,
            self.detector,
            self.check,
            met.join(", "),
        )
    }

    /// What repeats, in numbers, as far as the detector counts copies: `7 copies of 36 chars`.
    pub fn what(&self) -> String {
        match (self.period.count(), self.period.unit()) {
            (0, _) => "no exact copies".into(),
            (1, Unit::Calls) => format!("{} copies of 1 call", self.copies),
            (1, Unit::Turns) => format!("{} copies of 1 turn", self.copies),
            (period, unit) => format!("{} copies of {period} {unit}", self.copies),
        }
    }

    /// What the model gets as the result of a call that was not run, in English.
    pub fn refusal(&self) -> String {
        format!(
            "This call was not run: the model {} ({}). Do something else, or say what is missing.",
            self.kind.was_doing(),
            self.what()
        )
    }

    /// A sentence for the person who waits for the answer, in English; what comes next (another attempt, or
    /// none) is for the product to say. For other languages, make one from `kind` and `channel`.
    pub fn user_message(&self) -> String {
        let place = match self.channel {
            Channel::Reasoning => " in its thinking",
            Channel::Answer => " in its answer",
            Channel::Arguments => " in what it asks of a tool",
            // What it was doing says so.
            Channel::Tools | Channel::Turns => "",
        };
        let doing = self.kind.was_doing();
        match self.kind {
            Kind::Fault(Fault::Stall) => format!("The model {doing}, so the response was stopped."),
            Kind::Fault(_) => format!("The model {doing}{place}, so the response was stopped."),
            // A limit is no loop: there was nothing to get out of.
            Kind::Iterations if self.response == Response::Warn => self.approaching(),
            Kind::Iterations | Kind::Budget => {
                format!("The model {doing}, so the run was stopped.")
            }
            _ => format!(
                "The model {doing}{place} and could not get out of it, so the response was stopped."
            ),
        }
    }
}

impl Alarm {
    /// What a limit says before it is reached: how much of it remains.
    fn approaching(&self) -> String {
        let limit = self.thresholds.iter().find(|met| met.param == "limit");
        let limit = limit.and_then(|met| match met.value {
            Value::Int(limit) => u64::try_from(limit).ok(),
            _ => None,
        });
        match limit {
            Some(limit) => format!(
                "The model is approaching its limit of {limit} steps ({} remaining).",
                limit.saturating_sub(self.copies)
            ),
            None => "The model is approaching the limit of its steps.".to_owned(),
        }
    }
}

/// The thresholds that bounded this fact; those that it has no bound for, and those that ask for nothing,
/// decided nothing.
fn met(member: &Member, fact: &Fact) -> Vec<Met> {
    let met = |(param, threshold): (&'static Param, Threshold)| {
        let bound = fact.bounds.get(param.name);
        let bound = bound.filter(|bound| *bound != Bound::Fixed(threshold.always()))?;
        let value = member.params.get(param.name)?;
        (!threshold.is_idle(value)).then(|| Met {
            param: param.name.into(),
            value: value.clone(),
            measured: threshold.written(fact.value(bound, fact.at)),
        })
    };
    let asked = fact.asked.iter().map(|asked| Met {
        param: asked.param.clone().into(),
        value: Value::Int(asked.least),
        measured: Value::Int(fact.value(asked.bound, fact.at)),
    });
    let decided = member.detector.thresholds().filter_map(met);
    decided.chain(asked).collect()
}
