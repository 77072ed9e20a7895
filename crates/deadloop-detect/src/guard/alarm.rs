//! [`Alarm`]: a dead loop that a live guard detected.
//!
//! The texts of its messages are in `messages.txt`.

use std::borrow::Cow;

use serde::Serialize;

use crate::guard::response::Response;
use crate::measure::fact::{Bound, Fact};
use crate::settings::param::{Param, Threshold};
use crate::settings::setting::Member;
use crate::settings::value::Value;
use crate::stream::Fault;
use crate::stream::{Calls, Channel, ChannelLengths, Kind, Turns, Unit, Units};
use crate::text::script::is_wide;

/// A dead loop that a guard detected in a live stream.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Alarm {
    /// The detector that fired.
    pub detector: &'static str,
    /// The index of the member that fired, from 0.
    pub member: usize,
    /// The configured response. The caller carries it out, not the guard.
    pub response: Response,
    /// The channel in which the detector fired. All positions are in this channel, in its unit.
    pub channel: Channel,
    /// The kind of the loop.
    pub kind: Kind,
    /// The check that fired.
    pub check: &'static str,
    /// The thresholds that were met, in the order of the detector's parameters, then the conditions of structural
    /// parameters ([`StructuralCondition`](crate::harness::StructuralCondition)).
    pub thresholds: Vec<MetThreshold>,
    /// The length of the channel after which the detector fires, if it reads unit by unit.
    pub exact: Units,
    /// The length of the channel after the event that raised the alarm. At least `exact`.
    pub delivered: Units,
    /// The start of the second copy, as far as the detector found it.
    pub onset: Units,
    /// The length of one copy.
    pub period: Units,
    /// The number of consecutive complete copies, including the first.
    pub copies: u64,
    /// The repeated unit, cut to 80 chars.
    pub unit: String,
    /// The number of events before the one that raised the alarm.
    pub event: u64,
    /// The number of tool calls so far.
    pub calls: Calls,
    /// The number of turns begun so far.
    pub turns: Turns,
    /// The language of its messages.
    #[serde(skip)]
    pub lang: Lang,
}

crate::words! {
    /// The languages of an alarm's messages.
    pub enum Lang {
        /// English.
        En = "en",
        /// Chinese.
        Zh = "zh",
    }
}

impl Lang {
    /// Returns Chinese if at least a quarter of the chars are ideographs and none is a kana, otherwise English.
    fn from_text(text: &str) -> Self {
        let count = |is: fn(char) -> bool| text.chars().filter(|c| is(*c)).count();
        let (wide, kana) = (
            count(is_wide),
            count(|c| matches!(c, '\u{3041}'..='\u{30FF}')),
        );
        if wide > 0 && kana == 0 && 4 * wide >= text.chars().count() {
            Self::Zh
        } else {
            Self::En
        }
    }

    /// Returns the text of `messages.txt` with this name, in this language. Empty if there is none.
    fn text(self, name: &str) -> &'static str {
        let mut lines = include_str!("messages.txt").lines();
        let cells = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix('|'));
        let cells = cells.and_then(|cells| cells.split_once('|'));
        cells.map_or("", |(en, zh)| if self == Self::En { en } else { zh })
    }
}

/// A threshold of the setting, and the bound of the fact that satisfied it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct MetThreshold {
    /// The path of the parameter: `min_copies`, `rules[0].min_copies`.
    pub param: Cow<'static, str>,
    /// The value in the setting.
    pub value: Value,
    /// The measured value.
    pub measured: Value,
}

impl Alarm {
    pub(crate) fn new(
        (index, member): (usize, &Member),
        channel: Channel,
        fact: Fact,
        (event, seen): (u64, ChannelLengths),
    ) -> Self {
        let place = fact.place();
        Self {
            detector: member.detector.name,
            member: index,
            response: member.response,
            channel,
            kind: fact.kind,
            check: fact.check,
            thresholds: met_thresholds(member, &fact),
            exact: fact.position(fact.at),
            // Facts of runs hold their own positions. An alarm before a turn does not count the turn.
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
            lang: Lang::from_text(&fact.unit),
            unit: fact.unit,
        }
    }

    /// Returns one line for a log: the kind, the position, the unit, the check and the thresholds. The unit is escaped
    /// to stay on the line.
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

    /// Returns the extent of the repetition, if the detector counts copies: `7 copies of 36 chars`.
    pub fn what(&self) -> String {
        match (self.period.count(), self.period.unit()) {
            (0, _) => "no exact copies".into(),
            (1, Unit::Calls) => format!("{} copies of 1 call", self.copies),
            (1, Unit::Turns) => format!("{} copies of 1 turn", self.copies),
            (period, unit) => format!("{} copies of {period} {unit}", self.copies),
        }
    }

    /// Returns the result of a refused call for the model, in the language of the alarm.
    pub fn refusal(&self) -> String {
        self.message("refusal")
    }

    /// Returns a sentence for the end user, in the language of the alarm. It does not mention a next attempt, which
    /// depends on the product. For other languages, build a sentence from `kind` and `channel`.
    pub fn user_message(&self) -> String {
        self.message(match self.kind {
            Kind::Fault(_) => "damage",
            // A run may reach a limit without looping.
            Kind::Iterations if self.response == Response::Warn => "near",
            Kind::Iterations | Kind::Budget => "limit",
            _ => "loop",
        })
    }

    /// Returns the message with this name, with its placeholders filled in.
    fn message(&self, name: &str) -> String {
        let doing = match self.kind {
            Kind::Fault(fault) if fault != Fault::Stall => "fault",
            kind => kind.name(),
        };
        let place = match self.kind {
            Kind::Fault(Fault::Stall) => String::new(),
            _ => format!("in {}", self.channel),
        };
        let limit = self.thresholds.iter().find(|met| met.param == "limit");
        let limit = limit.map_or(Value::Int(0), |met| met.value.clone());
        let left = match limit {
            Value::Int(limit) => limit.saturating_sub_unsigned(self.copies).max(0),
            _ => 0,
        };
        self.lang
            .text(name)
            .replace("{doing}", self.lang.text(doing))
            .replace("{place}", self.lang.text(&place))
            .replace("{what}", &self.what())
            .replace("{limit}", &limit.to_string())
            .replace("{left}", &left.to_string())
    }
}

/// Returns the thresholds that a fact met. Thresholds without a bound, or that accept everything, are left out.
fn met_thresholds(member: &Member, fact: &Fact) -> Vec<MetThreshold> {
    let met = |(param, threshold): (&'static Param, Threshold)| {
        let bound = fact.bounds.get(param.name);
        let bound = bound.filter(|bound| *bound != Bound::Fixed(threshold.always()))?;
        let value = member.params.get(param.name)?;
        (!threshold.is_idle(value)).then(|| MetThreshold {
            param: param.name.into(),
            value: value.clone(),
            measured: threshold.to_value(fact.value(bound, fact.at)),
        })
    };
    let asked = fact.asked.iter().map(|asked| MetThreshold {
        param: asked.param.clone().into(),
        value: Value::Int(asked.least),
        measured: Value::Int(fact.value(asked.bound, fact.at)),
    });
    let decided = member.detector.thresholds().filter_map(met);
    decided.chain(asked).collect()
}
