//! Short descriptions of labels, alarms and thresholds.

use std::fmt::Write as _;

use deadloop_detect::harness::ThresholdSide;
use deadloop_score::choose::subject;

use super::explanation::{ExplainedLabel, ExplainedSetting};
use super::near_misses::{FactSight, ThresholdGap};
use crate::visible::visible;
use crate::words::count;

/// The reason why nothing fires if the model has no guard.
pub const NO_GUARD: &str = "no guard is switched on for this model";

impl ExplainedLabel {
    /// Formats the label in one line.
    pub fn words(&self) -> String {
        let mut words = self.class.name().to_owned();
        if let Some(kind) = self.kind {
            // Writing into a String cannot fail.
            let _ = write!(words, ", {kind}");
        }
        let _ = write!(words, " in {}: ", self.channel);
        if let Some(start) = self.start {
            let _ = write!(words, "start {}, ", count(start.count()));
        }
        let _ = write!(words, "onset {}", count(self.onset.count()));
        if self.earliest != self.onset {
            let _ = write!(words, ", right from {}", count(self.earliest.count()));
        }
        let end = if self.open {
            ", goes on to the end, "
        } else {
            ", end "
        };
        let _ = write!(words, "{end}{}", count(self.end.count()));
        if let Some(period) = self.period {
            let _ = write!(words, ", period {}", count(period));
        }
        words
    }
}

impl ExplainedSetting {
    /// Formats the reason for the alarm, else the hidden loop, else the nearest miss.
    pub fn describe(&self) -> String {
        if self.members.is_empty() {
            return NO_GUARD.into();
        }
        if let Some(alarm) = &self.alarm {
            let fact = self.shown_fact().map(|(_, sight)| sight);
            let check = fact.map_or(String::new(), |s| format!("/{}", s.check));
            let why = fact.map_or(String::new(), |s| {
                format!(", {}", s.describe_thresholds(ThresholdGap::format_meaning))
            });
            let says = alarm.detail.as_deref().map(visible);
            let says = says.map_or(String::new(), |says| format!(", it says \"{says}\""));
            return format!("{}{check} in {}{why}{says}", alarm.member, alarm.channel);
        }
        if let Some((member, channel, sight)) = self.hidden() {
            let at = count(sight.position.count());
            return format!(
                "hidden: {member}/{} in {channel} by the element that the checkpoint at {at} cuts",
                sight.check
            );
        }
        match self.nearest() {
            Some((member, channel, sight)) => {
                let (check, at) = (sight.check, count(sight.position.count()));
                format!(
                    "nearest: {member}/{check} in {channel} at {at}, {}",
                    sight.describe_thresholds(ThresholdGap::format_meaning)
                )
            }
            None => "nothing that comes near".into(),
        }
    }
}

impl FactSight {
    /// Formats the thresholds that decided or rejected the fact, then the other ones. `words` formats one threshold.
    pub fn describe_thresholds(&self, words: fn(&ThresholdGap) -> String) -> String {
        let join = |pick: fn(&&ThresholdGap) -> bool| {
            let all = self.thresholds.iter().filter(pick).map(words);
            all.collect::<Vec<_>>().join(", ")
        };
        let (verb, first, rest) = if self.accepted {
            ("decided by", join(|a| a.decided), join(|a| !a.decided))
        } else {
            ("refused by", join(|a| !a.met), join(|a| a.met))
        };
        if first.is_empty() {
            return "decided by structural parameters alone".into();
        }
        let met = if rest.is_empty() { "" } else { "; met " };
        format!("{verb} {first}{met}{rest}")
    }
}

impl ThresholdGap {
    /// Formats the threshold with the name of its parameter, such as `min_chars 641 ≥ 600`.
    pub fn words(&self) -> String {
        let sign = match (self.side, self.met) {
            (ThresholdSide::AtMost, true) => "≥",
            (ThresholdSide::AtMost, false) => "<",
            (ThresholdSide::AtLeast, true) => "≤",
            (ThresholdSide::AtLeast, false) => ">",
        };
        format!("{} {} {sign} {}", self.param, self.measured, self.wanted)
    }

    /// Formats the threshold with the meaning of its parameter, such as `chars in all copies: 641 (≥ 600)`.
    fn format_meaning(&self) -> String {
        let is_least = self.side == ThresholdSide::AtMost;
        let sign = if is_least { '≥' } else { '≤' };
        let what = self.spec.map_or(&*self.param, subject);
        format!("{what}: {} ({sign} {})", self.measured, self.wanted)
    }
}
