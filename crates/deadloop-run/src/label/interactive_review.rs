//! A review under way: current transcript, keys, and saved answers.
//!
//! A terminal or a page shows it, and decides nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use deadloop_corpus::{Corpus, Entry, Problem, Transcript, claim};
use deadloop_score::proposals::doubt;
use deadloop_score::{LabelRow, write_labels};

use super::keys::{KeyCommand, ViewChange};
use super::session::{Key, KeyEffect, ReviewSession};
use crate::failure::{Code, RunResult};
use crate::folder::outputs::folder_of;
use crate::host::{Host, find_in};

/// The number of transcripts loaded by one pass over the corpus.
const AHEAD: usize = 50;

/// The corpus, the labels and the transcripts of a review.
pub struct Review {
    /// The transcripts.
    pub corpus: Corpus,
    /// The labels.csv under review.
    pub labels: PathBuf,
    /// The name of the reviewer.
    pub reviewer: String,
    /// The rows of the labels.
    pub rows: Vec<LabelRow>,
    /// The ids of the selected transcripts.
    pub only: BTreeSet<String>,
    /// Whether answered rows are reviewed again.
    pub again: bool,
    /// The chars around each mark.
    pub context: u64,
}

/// The view of a transcript.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReviewView {
    /// Whether the whole text is shown, not excerpts.
    pub whole: bool,
    /// The first shown row of the text.
    pub from: usize,
    /// Whether the instructions replace the text.
    pub help: bool,
}

impl ReviewView {
    /// Returns the view after a key. `room` is the number of rows of the text that a page holds.
    pub fn after(self, look: ViewChange, room: usize) -> Self {
        let step = room.saturating_sub(1).max(1);
        match look {
            ViewChange::Whole => Self {
                whole: !self.whole,
                ..Self::default()
            },
            ViewChange::Down => Self {
                from: self.from.saturating_add(step),
                help: false,
                ..self
            },
            ViewChange::Up => Self {
                from: self.from.saturating_sub(step),
                help: false,
                ..self
            },
            ViewChange::Help => Self {
                help: !self.help,
                ..self
            },
        }
    }
}

/// A review under way.
pub struct InteractiveReview<'a> {
    task: &'a Review,
    host: &'a dyn Host,
    /// The answers so far, and the open transcripts.
    pub session: ReviewSession,
    shelf: BTreeMap<String, Transcript>,
    /// The transcript whose rejected repetitions the session has already.
    suggested: Option<String>,
    answered: usize,
    /// The bytes of the labels file when this review last read or wrote it.
    saved: Option<Vec<u8>>,
    /// The reason why the last key had no effect; may be empty.
    pub said: &'static str,
    /// The current view.
    pub sight: ReviewView,
    /// The number of visible rows of the text.
    pub room: usize,
}

impl<'a> InteractiveReview<'a> {
    /// Starts with the most uncertain selected transcript.
    pub fn open(task: &'a Review, host: &'a dyn Host) -> RunResult<Self> {
        let rows = task.rows.clone();
        let session = ReviewSession::new(rows, &task.reviewer, Some(&task.only), task.again);
        let mut sitting = Self {
            task,
            host,
            session,
            shelf: BTreeMap::new(),
            suggested: None,
            answered: 0,
            saved: std::fs::read(&task.labels).ok(),
            said: "",
            sight: ReviewView::default(),
            room: 1,
        };
        sitting.load()?;
        Ok(sitting)
    }

    /// Returns the transcript under review. `None` at the end.
    pub fn transcript(&self) -> Option<&Transcript> {
        self.shelf.get(self.session.current()?)
    }

    /// Returns the chars shown around each mark. `None` for the whole text.
    pub fn context(&self) -> Option<u64> {
        (!self.sight.whole).then_some(self.task.context)
    }

    /// Returns the numbers of answered and of open transcripts.
    pub fn progress(&self) -> (usize, usize) {
        let (_, _, all) = self.session.progress();
        (self.answered, all - self.answered)
    }

    /// Handles a key and saves an answer. Returns whether the review goes on.
    pub fn press(&mut self, press: KeyCommand) -> RunResult<bool> {
        self.said = "";
        let key = match press {
            KeyCommand::Session(key) => key,
            KeyCommand::Sight(look) => {
                self.sight = self.sight.after(look, self.room);
                return Ok(true);
            }
        };
        match self.session.press(key) {
            KeyEffect::Save => {
                self.save()?;
                self.answered = match key {
                    Key::Undo => self.answered.saturating_sub(1),
                    _ => self.answered + 1,
                };
                self.suggested = None;
                self.sight = ReviewView::default();
            }
            KeyEffect::Show if key == Key::Skip => self.sight = ReviewView::default(),
            KeyEffect::Show => {}
            KeyEffect::Nothing(why) => self.said = why,
            KeyEffect::Quit => return Ok(false),
        }
        self.load()?;
        Ok(true)
    }

    /// Writes the answers, unless another command has changed the file, such as a second review, or makes its folder, as
    /// an import does.
    fn save(&mut self) -> RunResult {
        let labels = &self.task.labels;
        let alone = claim(folder_of(labels));
        if alone.is_err() || std::fs::read(labels).ok() != self.saved {
            let what = "another command has changed it or writes there; the last answer is unsaved";
            return Err(Code::Usage.error(format!("{}: {what}", labels.display())));
        }
        write_labels(labels, &self.session.rows())?;
        self.saved = std::fs::read(labels).ok();
        Ok(())
    }

    /// Loads the transcript under review and the next ones, and adds the finder's rejected repetitions to the
    /// session.
    fn load(&mut self) -> RunResult {
        let Some(id) = self.session.current().map(str::to_owned) else {
            return Ok(());
        };
        if !self.shelf.contains_key(&id) {
            let next = self.session.next(AHEAD).map(str::to_owned).collect();
            self.shelf = fetch(self.task, next, self.host)?;
        }
        let Some(transcript) = self.shelf.get(&id) else {
            let labels = self.task.labels.display();
            let what = format!(
                "{labels}: a label for no transcript: {id:?}; expected the id of a transcript of this corpus"
            );
            return Err(Code::Usage.error(what));
        };
        if self.suggested.as_ref() != Some(&id) {
            self.session.suggest(doubt(transcript));
            self.suggested = Some(id);
        }
        Ok(())
    }
}

/// Loads the transcripts of these ids, in one pass over the corpus.
fn fetch(
    task: &Review,
    ids: BTreeSet<String>,
    host: &dyn Host,
) -> RunResult<BTreeMap<String, Transcript>> {
    let wanted = |entry: Result<Entry, Problem>| {
        let transcript = entry.ok()?.transcript;
        let id = transcript.id.clone();
        ids.contains(&id).then_some((id, transcript))
    };
    let interrupted = "interrupted; every answer is saved";
    let found = find_in(&task.corpus, host, ("reading", interrupted), wanted)?;
    Ok(found.into_iter().collect())
}
