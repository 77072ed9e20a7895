//! [`survey`]: the first pass over a corpus, which finds problems and selects transcripts.
//!
//! Replays begin only after this pass.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use deadloop_corpus::{
    Corpus, CorpusError, Cost, Entry, Problem, RawRecord, Selection, fields, read_file,
};
use deadloop_replay::{Interruption, map_corpus};
use deadloop_score::{Case, LabelsFile, write_text};

use crate::corpus::case_store::{CaseStore, retain_kept};
use crate::corpus::findings::{Findings, RecordChecker, SideFiles, TranscriptFilter};
use crate::corpus::places::Places;
use crate::corpus::stamps::Stamps;
use crate::failure::{Code, Failure, RunResult};
use crate::host::{Host, watched};
use crate::option::{BY, ON_BAD, OUT};
use crate::words;

/// The number of transcripts read to list the existing fields, if a requested field does not exist.
const MAX_FIELD_SAMPLES: usize = 1000;

/// A corpus after the first pass, with its selected cases.
pub struct CorpusSurvey<C = Vec<Case>> {
    /// The corpus. It has no files if it is not on this machine.
    pub corpus: Corpus,
    /// The name of the corpus, from its card.
    pub name: Option<String>,
    /// The cases of the selected transcripts, in the order of the corpus.
    pub cases: C,
    /// The places of the selected transcripts.
    pub places: Places,
    /// All problems of the corpus.
    pub problems: Vec<Problem>,
    /// The hash of all records, labels and splits of the corpus.
    pub hash: String,
    /// The number of valid transcripts that filters left out.
    pub filtered: u64,
    /// The transcript requested by [`SurveyRequest::entry`], with its text.
    pub entry: Option<Box<Entry>>,
    /// The end of an error message that lists existing models and splits. Used if the filters left out everything.
    pub left_out: String,
    /// The stamps of the corpus files before the pass.
    pub(crate) stamps: Stamps,
}

/// Options of a survey.
pub struct SurveyRequest<'a> {
    /// The corpus: a folder or one file.
    pub path: &'a Path,
    /// The filters that select transcripts.
    pub selection: Selection,
    /// The fields given by `--by`, for a further breakdown.
    pub by: &'a [String],
    /// The id of a transcript to return with its text.
    pub entry: Option<&'a str>,
    /// The host, which shows progress and can stop the survey.
    pub host: &'a dyn Host,
}

impl<'a> SurveyRequest<'a> {
    /// Creates a request that selects all transcripts.
    pub fn all(path: &'a Path, host: &'a dyn Host) -> Self {
        Self {
            path,
            selection: Selection::default(),
            by: &[],
            entry: None,
            host,
        }
    }
}

/// Opens the corpus at `path`, which is a folder or one file.
pub fn open(path: &Path) -> RunResult<Corpus> {
    Corpus::open(path).map_err(open_failure)
}

/// Converts the error of opening a corpus: a usage error, unless memory or file handles ran out.
pub(crate) fn open_failure(error: CorpusError) -> Failure {
    if error.is_of_machine() {
        Code::Unexpected.because(error)
    } else {
        Code::Usage.because(error)
    }
}

/// Returns an error if memory or file handles ran out while the corpus was read. The corpus is not at fault then, and
/// leaving out the unread files would make it a different corpus.
pub(crate) fn fail_if_out_of_resources(problems: &[Problem]) -> RunResult {
    match problems.iter().find(|p| p.cost == Cost::Machine) {
        Some(p) => {
            let Problem { place, what, .. } = p;
            let what = format!("{place}: {what}; nothing is known of what was not read");
            Err(Code::Unexpected.error(what))
        }
        None => Ok(()),
    }
}

/// Reads the whole corpus once, and returns its problems and selected cases.
pub fn survey(wanted: SurveyRequest<'_>) -> RunResult<CorpusSurvey> {
    let corpus = open(wanted.path)?;
    survey_with(corpus, wanted, |_, _| ()).map(|(surveyed, _)| surveyed)
}

/// Surveys the corpus, and calls `look` for each selected transcript. Returns the results of `look` in the order of the
/// cases.
pub fn survey_with<T: Send>(
    corpus: Corpus,
    wanted: SurveyRequest<'_>,
    look: impl Fn(&Entry, &Case) -> T + Sync,
) -> RunResult<(CorpusSurvey, Vec<T>)> {
    survey_into(corpus, wanted, &|_| None, look)
}

/// Surveys the corpus like [`survey_with`], with cases stored as `C`. If `refuses` returns a misfit, the transcript has
/// a problem.
pub(crate) fn survey_into<C: CaseStore, T: Send>(
    corpus: Corpus,
    wanted: SurveyRequest<'_>,
    refuses: TranscriptFilter<'_>,
    look: impl Fn(&Entry, &Case) -> T + Sync,
) -> RunResult<(CorpusSurvey<C>, Vec<T>)> {
    let stamps = Stamps::from_corpus(&corpus);
    let labels = corpus.labels_csv().map(LabelsFile::read);
    let (labels, problems) = labels.map_or((None, Vec::new()), |(file, p)| (Some(file), p));
    let (full, most) = (AtomicBool::new(false), wanted.selection.limit);
    let checker = RecordChecker {
        labels: labels.as_ref(),
        request: &wanted,
        is_full: &full,
        refuses,
    };
    let find = |entry: Result<Entry, Problem>, raw: Option<RawRecord>| {
        checker.check_record(entry, raw, &look)
    };
    let mut found = Findings::new(problems);
    watched(wanted.host, "reading", |watch| {
        map_corpus(&corpus, watch, find, |record| {
            found.add_record(record);
            full.store(
                most.is_some_and(|most| found.case_count() >= most),
                Ordering::Relaxed,
            );
            ControlFlow::Continue(())
        })
    })
    .map_err(|Interruption| Code::Interrupted.error("interrupted while the corpus was read"))?;
    found.finish(&SideFiles {
        bad_splits: corpus.bad_splits(),
        strays: &|ids| corpus.stray_splits(ids),
        orphans: &|ids| {
            labels
                .as_ref()
                .map_or(Vec::new(), |labels| labels.orphans(ids))
        },
        labels_csv: corpus.labels_csv(),
    })?;
    let side = side_files_hash(&corpus)?;
    Ok(found.into_survey(corpus, (stamps, &side), &wanted.selection))
}

/// Returns the part of the corpus hash from `labels.csv` and `splits.csv`. Empty if the corpus has neither file.
pub(crate) fn side_files_hash(corpus: &Corpus) -> RunResult<String> {
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

impl<C: CaseStore> CorpusSurvey<C> {
    /// Drops each case whose flag in `kept` is not set, and the item of `seen` with the same index.
    pub(crate) fn retain_cases<T>(&mut self, seen: &mut Vec<T>, kept: &[bool]) {
        self.filtered += kept.iter().filter(|kept| !**kept).count() as u64;
        self.places = self.places.only(kept.iter().copied());
        self.cases.narrow(kept);
        retain_kept(seen, kept);
    }

    /// Returns an error if the corpus has problems or nothing is selected. If `skip`, problems are only counted.
    ///
    /// # Errors
    /// Returns an error that lists every problem, or one that explains why nothing is selected.
    pub fn accept(&self, skip: bool, host: &dyn Host) -> RunResult {
        match (self.problems.len(), skip) {
            (0, _) => {}
            (_, false) => {
                let all = self.cases.number() == 0 && self.filtered == 0;
                let foreign = suggest_import(&self.problems).filter(|_| all);
                return Err(
                    Code::Usage.error(foreign.unwrap_or_else(|| list_problems(&self.problems)))
                );
            }
            (n, true) if self.cases.number() > 0 => host.notify(&format!(
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
                        join_lines(&self.problems)
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

    /// Notifies the host which fields of `--by` no transcript has. A missing field is not an error, since one breakdown
    /// may serve many corpora.
    pub(crate) fn notify_absent(&self, by: &[String], host: &dyn Host) {
        let has = |place: usize| self.cases.any(|case| case.by[place].is_some());
        let absent = by.iter().enumerate().filter(|(place, _)| !has(*place));
        let absent: Vec<&str> = absent.map(|(_, name)| name.as_str()).collect();
        if absent.is_empty() {
            return;
        }
        let some = self.corpus.entries().take(MAX_FIELD_SAMPLES).flatten();
        let there: BTreeSet<String> = some.flat_map(|entry| fields(&entry)).collect();
        let there: Vec<String> = there.into_iter().collect();
        host.notify(&format!(
            "deadloop: {BY} {}: no transcript has the field; there are {}",
            absent.join(", "),
            there.join(", ")
        ));
    }

    /// Writes to `rejected.jsonl` the lines that `--on-bad skip` left out, with the reasons. Writes no file if there
    /// are none.
    pub(crate) fn write_rejected(&self, dir: &Path) -> RunResult {
        let row = |problem: &Problem| format!("{}\n", rejected_row(problem));
        let rows: String = self.problems.iter().map(row).collect();
        if !rows.is_empty() {
            write_text(&dir.join("rejected.jsonl"), &rows)?;
        }
        Ok(())
    }

    /// Notifies the host which lines were left out. Used by commands without a folder of results.
    pub fn notify_rejected(&self, host: &dyn Host) {
        if !self.problems.is_empty() {
            let n = self.problems.len();
            host.notify(&format!(
                "{n} problem{} skipped",
                if n == 1 { "" } else { "s" }
            ));
            self.problems
                .iter()
                .for_each(|problem| host.notify(&problem.to_string()));
        }
    }
}

/// Returns a row of rejected.jsonl.
pub(crate) fn rejected_row(problem: &Problem) -> serde_json::Value {
    serde_json::json!({
        "file": problem.place.file.display().to_string(),
        "line": problem.place.line,
        "what": problem.what,
        "expected": problem.expected,
    })
}

/// Returns a message that suggests an import, if all records have problems. `None` if the first problem has no line.
pub(crate) fn suggest_import(problems: &[Problem]) -> Option<String> {
    let first = problems.first().filter(|first| first.place.line > 0)?;
    let bad = words::several(problems.len() as u64, "record");
    let file = words::typed(first.place.file.as_os_str());
    Some(format!(
        "no transcript in {bad}; the first problem:\n{first}\nif these are logs of another kind, make a corpus of them first:\n  deadloop import {file} {OUT} corpus"
    ))
}

/// Formats every problem of a corpus, one a line, with a hint what to do.
pub(crate) fn list_problems(problems: &[Problem]) -> String {
    let several = words::several(problems.len() as u64, "problem");
    let hint = format!("nothing was scored; mend them, or leave them out with {ON_BAD}");
    let lines = join_lines(problems);
    format!("the corpus is not whole: {several}\n{lines}\n{hint}")
}

/// Joins problems, one a line.
pub(crate) fn join_lines(problems: &[Problem]) -> String {
    let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

/// Drops the cases of the split `sealed`, and their items of `seen`. Returns the other items.
pub(crate) fn drop_sealed<C: CaseStore, T>(
    surveyed: &mut CorpusSurvey<C>,
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
        surveyed.retain_cases(&mut seen, &kept);
    }
    seen
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;
    use crate::SilentHost;

    /// What is beyond the limit is read, since it may be bad, and no longer looked at.
    #[test]
    fn a_limit_saves_the_look_and_not_the_reading() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("many.jsonl");
        let line = |n: usize| format!("{{\"id\":\"t{n}\",\"answer\":\"Number {n}.\"}}\n");
        let lines: String = (0..5000).map(line).collect();
        std::fs::write(&path, &lines).expect("a file");
        let (looked, host) = (AtomicUsize::new(0), SilentHost::default());
        let surveyed = |limit: Option<usize>| {
            looked.store(0, Ordering::Relaxed);
            let wanted = SurveyRequest {
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
