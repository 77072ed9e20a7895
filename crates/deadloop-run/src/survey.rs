//! The first pass over a corpus: is it whole, what is in it, which transcripts are meant. Nothing
//! is replayed before this is known.

use std::collections::{BTreeSet, HashSet};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use deadloop_corpus::{
    Corpus, CorpusError, Cost, Entry, Problem, Raw, Selection, fields, read_file,
};
use deadloop_replay::{Interrupted, each};
use deadloop_score::{Case, LabelsFile, write_text};

use crate::failure::{Code, Failure, RunResult};
use crate::findings::{Finder, Findings, Refuses, Sides};
use crate::host::Host;
use crate::host::watched;
use crate::kept::{Kept, drop_unkept};
use crate::places::Places;
use crate::stamps::Stamps;
use crate::words;

/// Transcripts whose fields are named where one is asked for that none has.
const NAMED_OF: usize = 1000;

/// A corpus that was looked through.
pub struct Surveyed<C = Vec<Case>> {
    /// The corpus, to be read again; without files where it is not at hand.
    pub corpus: Corpus,
    /// Its name, from its card.
    pub name: Option<String>,
    /// The transcripts that are meant, in the order of the corpus.
    pub cases: C,
    /// Where they stand.
    pub places: Places,
    /// Everything that is wrong with it.
    pub problems: Vec<Problem>,
    /// The hash of all its records, and of its labels and splits.
    pub hash: String,
    /// Whole transcripts that filters left out.
    pub filtered: u64,
    /// The transcript that was asked for, with its text.
    pub entry: Option<Box<Entry>>,
    /// What there is of that which the filters name, where they left out everything.
    pub left_out: String,
    /// Its files as they were.
    pub(crate) stamps: Stamps,
}

/// What to look for.
pub struct Wanted<'a> {
    /// A folder, or one file.
    pub path: &'a Path,
    /// Which transcripts are meant.
    pub selection: Selection,
    /// Fields of a further breakdown.
    pub by: &'a [String],
    /// The id of a transcript whose text is wanted too.
    pub entry: Option<&'a str>,
    /// Who asked.
    pub host: &'a dyn Host,
}

/// Opens a corpus; what cannot be opened is wrong usage.
pub fn open(path: &Path) -> RunResult<Corpus> {
    Corpus::open(path).map_err(unopened)
}

/// Why a corpus cannot be opened.
pub fn unopened(error: CorpusError) -> Failure {
    if error.is_of_machine() {
        Code::Unexpected.because(error)
    } else {
        Code::Usage.because(error)
    }
}

/// Ends a command where memory or file handles have run out: that says nothing of the corpus, and a corpus
/// without what could not be read for it is another one.
pub fn refuse_machine(problems: &[Problem]) -> RunResult {
    match problems.iter().find(|p| p.cost == Cost::Machine) {
        Some(p) => {
            let Problem { place, what, .. } = p;
            let what = format!("{place}: {what}; nothing is known of what was not read");
            Err(Code::Unexpected.error(what))
        }
        None => Ok(()),
    }
}

/// Reads the whole corpus once.
pub fn survey(wanted: Wanted<'_>) -> RunResult<Surveyed> {
    let corpus = open(wanted.path)?;
    survey_with(corpus, wanted, |_, _| ()).map(|(surveyed, _)| surveyed)
}

/// Surveys the corpus and calls `look` for each selected transcript; returns its answers in the
/// order of the cases.
pub fn survey_with<T: Send>(
    corpus: Corpus,
    wanted: Wanted<'_>,
    look: impl Fn(&Entry, &Case) -> T + Sync,
) -> RunResult<(Surveyed, Vec<T>)> {
    survey_into(corpus, wanted, &|_| None, look)
}

/// The same, the cases held as `C` holds them. What `refuses` returns is a problem of that transcript.
pub(crate) fn survey_into<C: Kept, T: Send>(
    corpus: Corpus,
    wanted: Wanted<'_>,
    refuses: Refuses<'_>,
    look: impl Fn(&Entry, &Case) -> T + Sync,
) -> RunResult<(Surveyed<C>, Vec<T>)> {
    let stamps = Stamps::of(&corpus);
    let labels = corpus.labels_csv().map(LabelsFile::read);
    let (labels, problems) = labels.map_or((None, Vec::new()), |(file, p)| (Some(file), p));
    let (full, most) = (AtomicBool::new(false), wanted.selection.limit);
    let finder = Finder {
        labels: labels.as_ref(),
        wanted: &wanted,
        full: &full,
        refuses,
    };
    let find = |entry: Result<Entry, Problem>, raw: Option<Raw>| finder.find(entry, raw, &look);
    let mut found = Findings::new(problems);
    watched(wanted.host, "reading", |watch| {
        each(&corpus, watch, find, |record| {
            found.take(record);
            full.store(
                most.is_some_and(|most| found.kept() >= most),
                Ordering::Relaxed,
            );
            ControlFlow::Continue(())
        })
    })
    .map_err(|Interrupted| Code::Interrupted.error("interrupted while the corpus was read"))?;
    found.end(&Sides {
        bad_splits: corpus.bad_splits(),
        strays: &|ids| corpus.stray_splits(ids),
        orphans: &|ids| {
            labels
                .as_ref()
                .map_or(Vec::new(), |labels| labels.orphans(ids))
        },
        labels_csv: corpus.labels_csv(),
    })?;
    let side = side_files(&corpus)?;
    Ok(found.surveyed(corpus, (stamps, &side), &wanted.selection))
}

/// What `labels.csv` and `splits.csv` add to the hash: nothing where neither is there.
pub(crate) fn side_files(corpus: &Corpus) -> RunResult<String> {
    let files = corpus.labels_csv().into_iter().chain(corpus.splits_csv());
    let text = |file: &Path| match read_file(file) {
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Err(e) => Err(Code::Usage.error(format!("{}: {e}", file.display()))),
    };
    let texts: Vec<String> = files.map(text).collect::<RunResult<_>>()?;
    Ok(if texts.is_empty() {
        String::new()
    } else {
        format!("-{}", crate::folder::fingerprint(&texts))
    })
}

impl Surveyed {
    /// The ids of the transcripts that are meant.
    pub fn ids(&self) -> HashSet<Arc<str>> {
        self.cases.iter().map(|case| case.id.clone()).collect()
    }
}

impl<C: Kept> Surveyed<C> {
    /// Drops the cases of which `kept` says no, and what there is beside each in `seen`.
    pub(crate) fn narrow<T>(&mut self, seen: &mut Vec<T>, kept: &[bool]) {
        self.filtered += kept.iter().filter(|kept| !**kept).count() as u64;
        self.places = self.places.only(kept.iter().copied());
        self.cases.narrow(kept);
        drop_unkept(seen, kept);
    }

    /// Refuses a corpus that is not whole, or with `skip` says how much was left out; refuses an empty selection.
    ///
    /// # Errors
    /// What is wrong, every problem a line; nothing is selected.
    pub fn accept(&self, skip: bool, host: &dyn Host) -> RunResult {
        match (self.problems.len(), skip) {
            (0, _) => {}
            (_, false) => {
                let all = self.cases.number() == 0 && self.filtered == 0;
                let foreign = foreign(&self.problems).filter(|_| all);
                return Err(Code::Usage.error(foreign.unwrap_or_else(|| self.listing())));
            }
            (n, true) if self.cases.number() > 0 => host.tell(&format!(
                "{} skipped, see rejected.jsonl in the results",
                words::several(n as u64, "problem")
            )),
            (_, true) => {}
        }
        if self.cases.number() == 0 {
            let what = match self.filtered {
                0 if !self.problems.is_empty() => {
                    format!(
                        "no transcript is left: all are bad\n{}",
                        lines(&self.problems)
                    )
                }
                0 => "the corpus has no transcripts".to_owned(),
                n => format!(
                    "no transcript is selected: the filters left out all {n}{}",
                    self.left_out
                ),
            };
            return Err(Code::NothingSelected.error(what));
        }
        Ok(())
    }

    /// Says which fields of a further breakdown no transcript has: one breakdown may be asked of many
    /// corpora.
    pub fn tell_absent(&self, by: &[String], host: &dyn Host) {
        let has = |place: usize| self.cases.any(|case| case.by[place].is_some());
        let absent = by.iter().enumerate().filter(|(place, _)| !has(*place));
        let absent: Vec<&str> = absent.map(|(_, name)| name.as_str()).collect();
        if absent.is_empty() {
            return;
        }
        let some = self.corpus.entries().take(NAMED_OF).flatten();
        let there: BTreeSet<String> = some.flat_map(|entry| fields(&entry)).collect();
        let there: Vec<String> = there.into_iter().collect();
        host.tell(&format!(
            "deadloop: `by` {}: no transcript has the field; there are {}",
            absent.join(", "),
            there.join(", ")
        ));
    }

    /// Writes `rejected.jsonl`: what `--on-bad skip` left out, and why. None where nothing was.
    pub fn write_rejected(&self, dir: &Path) -> RunResult {
        let row = |problem: &Problem| format!("{}\n", rejected_row(problem));
        let rows: String = self.problems.iter().map(row).collect();
        if !rows.is_empty() {
            write_text(&dir.join("rejected.jsonl"), &rows)?;
        }
        Ok(())
    }

    /// Says what was left out, where there is no folder to list it in.
    pub fn tell_rejected(&self, host: &dyn Host) {
        if !self.problems.is_empty() {
            let n = self.problems.len();
            host.tell(&format!(
                "{n} problem{} skipped",
                if n == 1 { "" } else { "s" }
            ));
            self.problems
                .iter()
                .for_each(|problem| host.tell(&problem.to_string()));
        }
    }

    /// Every problem, a line each, and what to do.
    pub fn listing(&self) -> String {
        listing(&self.problems)
    }
}

/// A problem as a row of rejected.jsonl.
pub fn rejected_row(problem: &Problem) -> serde_json::Value {
    serde_json::json!({
        "file": problem.place.file.display().to_string(),
        "line": problem.place.line,
        "what": problem.what,
        "expected": problem.expected,
    })
}

/// What to type where these problems are all that came of a corpus.
pub fn foreign(problems: &[Problem]) -> Option<String> {
    let first = problems.first().filter(|first| first.place.line > 0)?;
    let bad = words::several(problems.len() as u64, "record");
    let file = words::typed(first.place.file.as_os_str());
    Some(format!(
        "no transcript in {bad}; the first problem:\n{first}\nif these are logs of another kind, make a corpus of them first:\n  deadloop import {file} `out` corpus"
    ))
}

/// Every problem of a corpus, a line each, and what to do.
pub fn listing(problems: &[Problem]) -> String {
    let several = words::several(problems.len() as u64, "problem");
    let hint = "nothing was scored; mend them, or leave them out with `skip_bad`";
    let lines = lines(problems);
    format!("the corpus is not whole: {several}\n{lines}\n{hint}")
}

fn lines(problems: &[Problem]) -> String {
    let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

/// Leaves out the transcripts of a split that must not be looked at; `seen` is what there is beside each case.
pub fn drop_sealed<C: Kept, T>(
    surveyed: &mut Surveyed<C>,
    mut seen: Vec<T>,
    sealed: Option<&str>,
) -> Vec<T> {
    let Some(sealed) = sealed else {
        return seen;
    };
    let is_open = |case: &Case| case.split.as_deref() != Some(sealed);
    let cases = 0..surveyed.cases.number();
    let kept: Vec<bool> = cases.map(|i| surveyed.cases.on(i, is_open)).collect();
    if kept.contains(&false) {
        surveyed.narrow(&mut seen, &kept);
    }
    seen
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;
    use crate::Alone;

    /// What is beyond the limit is read, since it may be bad, and no longer looked at.
    #[test]
    fn a_limit_saves_the_look_and_not_the_reading() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("many.jsonl");
        let line = |n: usize| format!("{{\"id\":\"t{n}\",\"answer\":\"Number {n}.\"}}\n");
        let lines: String = (0..5000).map(line).collect();
        std::fs::write(&path, &lines).expect("a file");
        let (looked, host) = (AtomicUsize::new(0), Alone::default());
        let surveyed = |limit: Option<usize>| {
            looked.store(0, Ordering::Relaxed);
            let wanted = Wanted {
                path: &path,
                selection: Selection {
                    limit,
                    ..Selection::default()
                },
                by: &[],
                entry: None,
                host: &host,
            };
            let look = |_: &Entry, _: &Case| looked.fetch_add(1, Ordering::Relaxed);
            let found = survey_with(Corpus::open(&path).expect("a corpus"), wanted, look);
            found
                .map_err(|failure| format!("{failure:?}"))
                .expect("a pass")
                .0
        };
        let whole = surveyed(None);
        assert_eq!(
            (whole.cases.len(), looked.load(Ordering::Relaxed)),
            (5000, 5000)
        );
        let few = surveyed(Some(3));
        assert_eq!((few.cases.len(), few.filtered), (3, 4997));
        assert_eq!(few.hash, whole.hash, "of all records");
        assert!(looked.load(Ordering::Relaxed) < 2500, "{looked:?}");
        std::fs::write(&path, lines + "{broken\n").expect("a file");
        assert_eq!(surveyed(Some(3)).problems.len(), 1);
    }
}
