//! `cases.jsonl`: the transcripts that a report opens, worst first.
//!
//! The first line is [`ExcerptsHead`]. Each further line is an [`OpenCase`]: a transcript with the text around its
//! onset and alarm. With `--no-excerpts` the list has no texts.

use std::collections::BTreeMap;
use std::path::Path;

use deadloop_replay::detect::Unit;
use serde::{Deserialize, Serialize};

use super::calls::RunCalls;
use super::store::{FileError, read_text_if_named, write_text};
use crate::choose::format_value;
use crate::measure::wrong_rate;
use crate::sentences::exposure;

/// The name of the file in a result folder.
const EXCERPTS_FILE: &str = "cases.jsonl";

deadloop_replay::detect::words! {
    /// A group of transcripts that a report opens for the same reason.
    pub enum Group {
        /// A wrong alarm, the longest cut of healthy text first.
        FalseAlarm = "false-alarm",
        /// A loop that was missed or found after the deadline, the longest loop first.
        Miss = "miss",
        /// A hit, the latest first.
        LateHit = "late-hit",
        /// An alarm on an unlabelled transcript.
        Fired = "fired",
    }
}

impl Group {
    /// Returns the maximum number of transcripts of the group that a report opens.
    pub fn most(self) -> usize {
        match self {
            Self::FalseAlarm => 200,
            Self::Miss => 10,
            Self::LateHit => 4,
            Self::Fired => 100,
        }
    }
}

/// The first line of `cases.jsonl`, with counts of the transcripts in the file and of all others.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ExcerptsHead {
    /// The number of transcripts of each group in the corpus, opened or not.
    pub all: BTreeMap<Group, u64>,
    /// Whether the file has the texts of the transcripts.
    pub texts: bool,
    /// The number of opened transcripts whose text was left out to bound the size of the file.
    pub without_text: u64,
    /// The number of opened wrong alarms at which the offline finder finds an unlabelled loop.
    #[serde(default)]
    pub unlabelled_loops: u64,
    /// The clean units that the shown settings watched, as in the denominator of the rate of wrong alarms.
    #[serde(default)]
    pub exposure: u64,
    /// Whether letters and digits of the texts are hidden, here and in every report made from this file.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub redacted: bool,
}

impl ExcerptsHead {
    /// Returns a sentence about the wrong alarms at which the label seems to lack a loop, and their effect on the rate of
    /// wrong alarms. `None` if there are none.
    pub fn disputed(&self, unit: Unit) -> Option<String> {
        let all = self.all.get(&Group::FalseAlarm).copied().unwrap_or(0);
        let opened = all.min(Group::FalseAlarm.most() as u64);
        let of = if opened == all {
            format!("{all}")
        } else {
            format!("the worst {opened} of {all}")
        };
        let many = self.unlabelled_loops;
        let look = if many == 1 {
            "looks like a loop"
        } else {
            "look like loops"
        };
        let rate = |wrong: u64| {
            let rate = wrong_rate(unit);
            let per = rate.scale() / self.exposure as f64;
            let value = (self.exposure > 0).then_some(wrong as f64 * per);
            format_value(rate, value)
        };
        (many > 0).then(|| {
            format!(
                "{many} of {of} wrong alarms {look} that the label lacks. If you confirm that, the rate falls from {} to {} wrong alarms per {}: deadloop label CORPUS --disputes DIR --review shows each.",
                rate(all),
                rate(all - many),
                exposure(unit)
            )
        })
    }
}

/// A transcript that a report opens.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OpenCase {
    /// The transcript's id.
    pub transcript: String,
    /// The group by which the transcript is opened.
    pub group: Group,
    /// The setting whose outcome is shown.
    pub setting: String,
    /// The transcript's labels, a sentence each.
    pub labels: Vec<String>,
    /// The reason for the alarm of the setting. Without an alarm, how near the setting came to one.
    pub why: String,
    /// The parts of the text, in order.
    pub parts: Vec<ExcerptPart>,
    /// The verdict of the offline finder on a wrong alarm. Empty in other groups.
    #[serde(default)]
    pub looks_like: String,
    /// Whether the offline finder finds a loop at the wrong alarm.
    #[serde(default)]
    pub unlabelled_loop: bool,
    /// The calls of the transcript, if it is an agent's run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<RunCalls>,
    /// The language tag of the transcript.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lang: Option<String>,
    /// The change of the settings that was tried against the wrong alarm, with its result. Empty if none was tried.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub remedy: String,
}

/// A part of a channel's text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ExcerptPart {
    /// The channel.
    pub channel: String,
    /// The position in the channel of the first char, from 0.
    pub from: u64,
    /// The length of the whole channel in chars.
    pub of: u64,
    /// The text of the part.
    pub text: String,
    /// The copies of the repeated unit, as ranges `[from, to)` of positions in the channel.
    pub copies: Vec<[u64; 2]>,
    /// The annotations of the text: the position of the annotated char, the position to print, and the label.
    pub marks: Vec<(u64, u64, String)>,
}

/// Writes `cases.jsonl` into a result folder.
pub fn write_excerpts(
    dir: &Path,
    head: &ExcerptsHead,
    opened: &[OpenCase],
) -> Result<(), FileError> {
    let path = dir.join(EXCERPTS_FILE);
    let lines = opened.iter().map(serde_json::to_string);
    let lines = std::iter::once(serde_json::to_string(head)).chain(lines);
    let text: Result<String, _> = lines.map(|line| Ok(line? + "\n")).collect();
    write_text(
        &path,
        &text.map_err(|e: serde_json::Error| FileError::at(&path, e))?,
    )
}

/// Reads `cases.jsonl` of a result folder. `None` if there is no such file.
pub fn read_excerpts(dir: &Path) -> Result<Option<(ExcerptsHead, Vec<OpenCase>)>, FileError> {
    let path = dir.join(EXCERPTS_FILE);
    let Some(text) = read_text_if_named(&path)? else {
        return Ok(None);
    };
    let bad = |e: serde_json::Error| FileError::at(&path, e);
    let (head, rest) = text.split_once('\n').unwrap_or_default();
    let opened = rest
        .lines()
        .map(|line| serde_json::from_str(line).map_err(bad));
    let head = serde_json::from_str(head).map_err(bad)?;
    Ok(Some((head, opened.collect::<Result<_, _>>()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_that_lack_a_loop_have_a_consequence() {
        let head = ExcerptsHead {
            all: [(Group::FalseAlarm, 4)].into(),
            unlabelled_loops: 3,
            exposure: 2_000_000,
            ..ExcerptsHead::default()
        };
        let want = "3 of 4 wrong alarms look like loops that the label lacks. If you confirm that, the rate falls from 2.00 to 0.50 wrong \
                    alarms per million chars: deadloop label CORPUS --disputes DIR --review shows each.";
        assert_eq!(head.disputed(Unit::Chars).as_deref(), Some(want));
        let none = ExcerptsHead::default();
        assert_eq!(none.disputed(Unit::Calls), None);
    }
}
