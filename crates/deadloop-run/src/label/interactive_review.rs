//! [`InteractiveReview`]: a review in progress, with its transcripts, keys and saved answers.
//!
//! A terminal or a web page displays it and passes on the keys.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use deadloop_corpus::{Corpus, Entry, Problem, Transcript, claim};
use deadloop_score::proposals::doubt;
use deadloop_score::{LabelRow, write_labels};

use super::keys::{KeyCommand, ViewChange};
use super::session::{Key, KeyEffect, ReviewSession};
use crate::failure::{Code, RunResult};
use crate::folder::outputs::parent_folder;
use crate::host::{Host, find_in};

/// The maximum number of transcripts loaded by one pass over the corpus.
const MAX_LOADED: usize = 50;

/// The input of a review: the corpus, the labels and the options.
pub struct Review {
    /// The corpus that holds the transcripts.
    pub corpus: Corpus,
    /// The path of the labels.csv under review.
    pub labels: PathBuf,
    /// The name of the reviewer.
    pub reviewer: String,
    /// The rows of labels.csv.
    pub rows: Vec<LabelRow>,
    /// The ids of the selected transcripts.
    pub only: BTreeSet<String>,
    /// Whether answered rows are reviewed again.
    pub again: bool,
    /// The number of chars shown before and after each mark.
    pub context: u64,
}

/// The view of a transcript: whole text or excerpts, scroll position, and help.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReviewView {
    /// Whether the whole text is shown. Otherwise excerpts are shown.
    pub whole: bool,
    /// The index of the first visible row of the text.
    pub from: usize,
    /// Whether the instructions are shown in place of the text.
    pub help: bool,
}

impl ReviewView {
    /// Returns the view after a change. `room` is the number of rows of text on a page.
    pub fn after(self, change: ViewChange, room: usize) -> Self {
        let step = room.saturating_sub(1).max(1);
        match change {
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

/// A review in progress.
pub struct InteractiveReview<'a> {
    task: &'a Review,
    host: &'a dyn Host,
    /// The answers so far, and the transcripts without an answer.
    pub session: ReviewSession,
    /// The loaded transcripts by id.
    loaded: BTreeMap<String, Transcript>,
    /// The id of the transcript whose rejected repetition was passed to the session.
    suggested: Option<String>,
    /// The number of transcripts answered in this review.
    answered: usize,
    /// The bytes of the labels file when this review last read or wrote it.
    saved: Option<Vec<u8>>,
    /// The reason why the last key had no effect. Empty if there is none.
    pub said: &'static str,
    /// The current view.
    pub sight: ReviewView,
    /// The number of visible rows of the text.
    pub room: usize,
}

impl<'a> InteractiveReview<'a> {
    /// Opens a review at the most uncertain selected transcript.
    pub fn open(task: &'a Review, host: &'a dyn Host) -> RunResult<Self> {
        let rows = task.rows.clone();
        let session = ReviewSession::new(rows, &task.reviewer, Some(&task.only), task.again);
        let mut review = Self {
            task,
            host,
            session,
            loaded: BTreeMap::new(),
            suggested: None,
            answered: 0,
            saved: std::fs::read(&task.labels).ok(),
            said: "",
            sight: ReviewView::default(),
            room: 1,
        };
        review.load_current()?;
        Ok(review)
    }

    /// Returns the transcript under review. `None` at the end.
    pub fn transcript(&self) -> Option<&Transcript> {
        self.loaded.get(self.session.current()?)
    }

    /// Returns the number of chars shown before and after each mark. `None` if the whole text is shown.
    pub fn context(&self) -> Option<u64> {
        (!self.sight.whole).then_some(self.task.context)
    }

    /// Returns the number of answered transcripts, and the number of open ones.
    pub fn progress(&self) -> (usize, usize) {
        let (_, _, all) = self.session.progress();
        (self.answered, all - self.answered)
    }

    /// Handles a key, and saves the labels after an answer. Returns whether the review continues.
    pub fn press(&mut self, command: KeyCommand) -> RunResult<bool> {
        self.said = "";
        let key = match command {
            KeyCommand::Session(key) => key,
            KeyCommand::Sight(change) => {
                self.sight = self.sight.after(change, self.room);
                return Ok(true);
            }
        };
        match self.session.press(key) {
            KeyEffect::Save => {
                self.save_labels()?;
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
        self.load_current()?;
        Ok(true)
    }

    /// Writes the answers. Returns an error if another command has changed the file, such as a second review, or writes
    /// to its folder, such as an import.
    fn save_labels(&mut self) -> RunResult {
        let labels = &self.task.labels;
        let alone = claim(parent_folder(labels));
        if alone.is_err() || std::fs::read(labels).ok() != self.saved {
            let what = "another command has changed it or writes there; the last answer is unsaved";
            return Err(Code::Usage.error(format!("{}: {what}", labels.display())));
        }
        write_labels(labels, &self.session.rows())?;
        self.saved = std::fs::read(labels).ok();
        Ok(())
    }

    /// Loads the transcript under review, together with the next ones if needed. Passes a repetition that the finder
    /// rejected to the session.
    fn load_current(&mut self) -> RunResult {
        let Some(id) = self.session.current().map(str::to_owned) else {
            return Ok(());
        };
        if !self.loaded.contains_key(&id) {
            let next = self.session.next(MAX_LOADED).map(str::to_owned).collect();
            self.loaded = load_transcripts(self.task, next, self.host)?;
        }
        let Some(transcript) = self.loaded.get(&id) else {
            let labels = self.task.labels.display();
            let what = format!(
                "{labels}: a label for no transcript: {id:?}; expected the id of a transcript of this corpus"
            );
            return Err(Code::Usage.error(what));
        };
        if self.suggested.as_ref() != Some(&id) {
            self.session.suggest_repetition(doubt(transcript));
            self.suggested = Some(id);
        }
        Ok(())
    }
}

/// Loads the transcripts with these ids, in one pass over the corpus.
fn load_transcripts(
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
