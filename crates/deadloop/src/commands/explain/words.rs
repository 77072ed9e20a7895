//! The explanation in words and tables.

use std::fmt::Write as _;

use deadloop_detect::{Chars, ThresholdSide, Value};

use super::explained::{Explained, Head, Label, Reading, Seat, Told};
use super::near::{Asked, Sight};
use super::paint::{Paint, painted};
use crate::show::{count, table};
use crate::visible::{quoted, visible};

/// How many chars of a repeated unit a table shows.
const UNIT: usize = 24;

const NO_GUARD: &str = "no guard is switched on for this model";

impl Explained {
    /// The whole explanation. `tinted`: with colours.
    pub(crate) fn words(&self, paint: Paint) -> String {
        let mut parts = vec![self.head()];
        if let Some(first) = self.settings.first() {
            parts.extend(first.members.iter().map(|seat| first.seat(seat)));
            parts.extend(first.members.is_empty().then(|| NO_GUARD.into()));
        }
        if self.settings.len() > 1 {
            parts.push(self.others());
        }
        for excerpt in &self.text {
            let (from, of) = (excerpt.from, count(excerpt.of));
            let to = count(from + Chars::of(&excerpt.text).0);
            let what = format!("{}, chars {} to {to} of {of}", excerpt.channel, count(from));
            parts.push(format!("{what}\n{}", painted(excerpt, paint).trim_end()));
        }
        parts.join("\n\n")
    }

    fn head(&self) -> String {
        let mut rows = self.transcript.rows();
        if let Some(first) = self.settings.first() {
            rows.extend(first.rows());
        }
        let rows: Vec<Vec<String>> = rows.into_iter().map(|(a, b)| vec![a.into(), b]).collect();
        table(&["transcript", &visible(&self.transcript.id)], &rows, 2)
    }

    /// A row for each setting: where it fires, or how near it came.
    fn others(&self) -> String {
        let row = |told: &Told| {
            let fires = told.alarm.as_ref().map(|a| count(a.exact.count()));
            vec![
                visible(&told.name),
                told.verdict.into(),
                fires.unwrap_or_else(|| "never".into()),
                told.why(),
            ]
        };
        let rows: Vec<Vec<String>> = self.settings.iter().map(row).collect();
        table(
            &["setting", "verdict", "fires at", "why, or how near it came"],
            &rows,
            4,
        )
    }
}

impl Head {
    fn rows(&self) -> Vec<(&'static str, String)> {
        let (reasoning, answer) = (count(self.chars.reasoning.0), count(self.chars.answer.0));
        let mut rows = vec![
            ("model", visible(&self.model)),
            ("chars", format!("reasoning {reasoning}, answer {answer}")),
        ];
        if self.chars.tools.0 > 0 {
            let (calls, turns) = (count(self.chars.tools.0), count(self.chars.turns.0));
            rows.push(("run", format!("calls {calls}, turns {turns}")));
        }
        match (self.class, &self.labels[..]) {
            (None, _) => rows.push(("label", "none".into())),
            (Some(class), []) => rows.push(("label", class.name().into())),
            (_, labels) => rows.extend(labels.iter().map(|l| ("label", l.words()))),
        }
        rows
    }
}

impl Label {
    /// What the label says, in one line.
    pub(crate) fn words(&self) -> String {
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

impl Told {
    fn rows(&self) -> Vec<(&'static str, String)> {
        let mut rows = vec![
            (
                "setting",
                format!("{} ({})", visible(&self.name), self.setting),
            ),
            ("verdict", self.verdict()),
        ];
        if let Some(alarm) = &self.alarm {
            let (exact, delivered) = (count(alarm.exact.count()), count(alarm.delivered.count()));
            let mut words = format!(
                "{} in {}, after {exact} {}, by {}",
                alarm.kind,
                alarm.channel,
                alarm.exact.unit(),
                alarm.member
            );
            if alarm.exact != alarm.delivered {
                // Writing into a String cannot fail.
                let _ = write!(words, "; delivered with char {delivered}");
            }
            rows.push(("alarm", words));
        }
        rows
    }

    fn verdict(&self) -> String {
        let mut words = self.verdict.to_owned();
        if let Some(error) = &self.error {
            return format!("{words}: {}", visible(error));
        }
        let Some(latency) = self.latency else {
            return words;
        };
        // Writing into a String cannot fail.
        let unit = self.unit;
        let _ = write!(words, ", {} {unit} after the onset", count(latency));
        if let Some(copies) = self.latency_copies {
            let _ = write!(words, ", {copies:.1} copies");
        }
        if let Some(ms) = self.latency_ms {
            let _ = write!(words, ", {ms:.0} ms");
        }
        if let Some(tokens) = self.latency_tokens {
            let _ = write!(words, ", {} tokens", count(tokens));
        }
        words
    }

    /// Why it fires, or what came nearest.
    pub(crate) fn why(&self) -> String {
        if self.members.is_empty() {
            return NO_GUARD.into();
        }
        if let Some(alarm) = &self.alarm {
            let fact = self.shown().map(|(_, sight)| sight);
            let check = fact.map_or(String::new(), |s| format!("/{}", s.check));
            let why = fact.map_or(String::new(), |s| format!(", {}", s.why()));
            let says = alarm
                .detail
                .as_deref()
                .map(|detail| format!(", it says \"{}\"", visible(detail)));
            let says = says.unwrap_or_default();
            return format!("{}{check} in {}{why}{says}", alarm.member, alarm.channel);
        }
        match self.nearest() {
            Some((member, channel, sight)) => {
                let (check, at) = (sight.check, count(sight.position.count()));
                format!(
                    "nearest: {member}/{check} in {channel} at {at}, {}",
                    sight.why()
                )
            }
            None => "nothing that comes near".into(),
        }
    }

    /// A member, and what it saw.
    fn seat(&self, seat: &Seat) -> String {
        if seat.program {
            let own = self
                .alarm
                .as_ref()
                .filter(|alarm| alarm.member == seat.member);
            let says = own.and_then(|alarm| alarm.detail.as_deref());
            let says = says.map_or(String::new(), |detail| {
                format!("; it says \"{}\"", visible(detail))
            });
            return format!(
                "{} is a program: nothing is known of it but its verdict{says}",
                seat.member
            );
        }
        let with =
            |(name, value): &(&str, Value)| format!("{name} {}", visible(&value.to_string()));
        let with: Vec<String> = seat.measured_with.iter().map(with).collect();
        let mut parts = vec![if with.is_empty() {
            seat.member.clone()
        } else {
            format!("{}, with {}", seat.member, with.join(", "))
        }];
        parts.extend(
            seat.readings
                .iter()
                .map(|reading| self.reading(seat, reading)),
        );
        if seat.readings.is_empty() {
            parts.push("  has no text to read".into());
        }
        parts.join("\n")
    }

    fn reading(&self, seat: &Seat, reading: &Reading) -> String {
        let is_it =
            |a: &&super::explained::Fired| a.member == seat.member && a.channel == reading.channel;
        let own = self.alarm.as_ref().filter(is_it).is_some();
        let fires = match reading.fires_at.map(|at| count(at.count())) {
            Some(at) if own => format!("fires at {at}: the alarm"),
            Some(at) => format!("would fire at {at}, had the alarm not come first"),
            None if reading.facts.is_empty() => "saw nothing that comes near a loop".into(),
            None => "does not fire".into(),
        };
        let mut text = format!("  in {}: {fires}", reading.channel);
        if !reading.facts.is_empty() {
            let rows: Vec<Vec<String>> = reading.facts.iter().map(Sight::row).collect();
            let header = [
                "    at",
                "check",
                "copies",
                "period",
                "2nd copy",
                "thresholds",
                "unit",
            ];
            text = format!("{text}\n{}", table(&header, &rows, usize::MAX));
        }
        text
    }
}

impl Sight {
    fn row(&self) -> Vec<String> {
        vec![
            format!("    {}", count(self.position.count())),
            if self.kind.name() == self.check {
                self.check.into()
            } else {
                format!("{}, {}", self.check, self.kind)
            },
            known(self.copies.unsigned_abs()),
            known(self.period.count()),
            count(self.onset.count()),
            self.why(),
            quoted(&self.unit, UNIT),
        ]
    }

    /// The threshold that decided, or those that refused; then the other thresholds.
    fn why(&self) -> String {
        let told = |pick: fn(&&Asked) -> bool| {
            let all = self.thresholds.iter().filter(pick).map(Asked::words);
            all.collect::<Vec<_>>().join(", ")
        };
        let (first, rest) = if self.accepted {
            (told(|a| a.decided), told(|a| !a.decided))
        } else {
            (told(|a| !a.met), told(|a| a.met))
        };
        if first.is_empty() {
            return "decided by structural parameters alone".into();
        }
        let verb = if self.accepted {
            "decided by"
        } else {
            "refused by"
        };
        let rest = if rest.is_empty() {
            rest
        } else {
            format!("; met {rest}")
        };
        format!("{verb} {first}{rest}")
    }
}

/// A count in words. A check that does not look for exact copies leaves it at 0, which means unknown.
fn known(n: u64) -> String {
    if n == 0 { "-".into() } else { count(n) }
}

impl Asked {
    fn words(&self) -> String {
        let sign = match (self.side, self.met) {
            (ThresholdSide::AtMost, true) => "≥",
            (ThresholdSide::AtMost, false) => "<",
            (ThresholdSide::AtLeast, true) => "≤",
            (ThresholdSide::AtLeast, false) => ">",
        };
        format!("{} {} {sign} {}", self.param, self.measured, self.wanted)
    }
}
