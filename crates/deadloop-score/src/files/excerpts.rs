//! `cases.jsonl`: the transcripts that a report opens, worst first, with the text around their onset and alarm.
//!
//! The first line is [`ExcerptsHead`], each further one an [`Opened`] transcript. Without texts (`--no-excerpts`) the
//! list is there all the same.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::calls::Calls;
use super::store::{FileError, read_text_if_named, write_text};

/// The file's name.
const NAME: &str = "cases.jsonl";

deadloop_replay::detect::words! {
    /// Why a transcript is worth opening.
    pub enum Group {
        /// Healthy text was cut, the most of it first.
        FalseAlarm = "false-alarm",
        /// A loop that was missed or found after the deadline, the longest first.
        Miss = "miss",
        /// A hit, the latest first.
        LateHit = "late-hit",
        /// Nobody labelled it, and it would have been cut.
        Fired = "fired",
    }
}

impl Group {
    /// How many transcripts of a group are opened at most.
    pub fn most(self) -> usize {
        match self {
            Self::FalseAlarm => 200,
            Self::Miss => 40,
            Self::LateHit => 20,
            Self::Fired => 100,
        }
    }
}

/// What was opened, and what was left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ExcerptsHead {
    /// How many transcripts there are in each group, opened or not.
    pub all: BTreeMap<Group, u64>,
    /// Whether texts were wanted.
    pub texts: bool,
    /// Opened transcripts whose text was left out because all of it would be too much.
    pub without_text: u64,
    /// Opened wrong alarms where the offline finder sees a loop that the label lacks.
    #[serde(default)]
    pub unlabelled_loops: u64,
    /// Whether letters and digits of the texts were hidden, here and in every report made from here.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub redacted: bool,
}

impl ExcerptsHead {
    /// How many wrong alarms look like the label's mistake, in words; `None` where none does.
    pub fn disputed(&self) -> Option<String> {
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
        (many > 0).then(|| format!("{many} of {of} wrong alarms {look} that the label lacks"))
    }
}

/// A transcript that is opened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Opened {
    /// Its id.
    pub transcript: String,
    /// Why it is opened.
    pub group: Group,
    /// The setting that is spoken of.
    pub setting: String,
    /// Its labels, a sentence each.
    pub labels: Vec<String>,
    /// Why the setting fires, or what came nearest.
    pub why: String,
    /// The text, in order.
    pub parts: Vec<Part>,
    /// What the offline finder says where a wrong alarm is; empty elsewhere.
    #[serde(default)]
    pub looks_like: String,
    /// Whether that is a loop.
    #[serde(default)]
    pub unlabelled_loop: bool,
    /// The calls of a run of an agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<Calls>,
}

/// A part of a channel's text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// The channel.
    pub channel: String,
    /// Its first char, counted from 0.
    pub from: u64,
    /// Chars of the whole channel.
    pub of: u64,
    /// The text.
    pub text: String,
    /// Where copies of the repeated unit stand, `[from, to)` in the channel.
    pub copies: Vec<[u64; 2]>,
    /// What happened at which char: the char, the position that is told, and the words.
    pub marks: Vec<(u64, u64, String)>,
}

/// Writes `cases.jsonl`.
pub fn write_excerpts(dir: &Path, head: &ExcerptsHead, opened: &[Opened]) -> Result<(), FileError> {
    let path = dir.join(NAME);
    let lines = opened.iter().map(serde_json::to_string);
    let lines = std::iter::once(serde_json::to_string(head)).chain(lines);
    let text: Result<String, _> = lines.map(|line| Ok(line? + "\n")).collect();
    write_text(
        &path,
        &text.map_err(|e: serde_json::Error| FileError::at(&path, e))?,
    )
}

/// Reads the file. `None` if there is no such file.
pub fn read_excerpts(dir: &Path) -> Result<Option<(ExcerptsHead, Vec<Opened>)>, FileError> {
    let path = dir.join(NAME);
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
