//! [`Findings`]: everything found in the records of a corpus.
//!
//! Records are taken in the order of a run on one machine, whether they come from the corpus files or from the parts of
//! shards.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use deadloop_corpus::{
    Corpus, CorpusHasher, Cost, Entry, Ids, Place, Problem, RawRecord, RecordDigest, SampleDraw,
    Selection, Transcript,
};
use deadloop_replay::InvalidTranscript;
use deadloop_score::{Case, CaseSet, LabelsFile, SharedNames};

use crate::corpus::case_store::CaseStore;
use crate::corpus::excluded_names::ExcludedNames;
use crate::corpus::places::Places;
use crate::corpus::stamps::Stamps;
use crate::corpus::survey::{CorpusSurvey, SurveyRequest, refuse_machine};
use crate::failure::RunResult;

/// A record, as it comes from a thread or a part.
pub(crate) struct FoundRecord<T> {
    /// The case and its place, or the reason why the record cannot be read.
    pub(crate) case: Result<(Case, Place), Problem>,
    /// Whether the filters select the record.
    pub(crate) meant: bool,
    /// The result of the look, if the record is selected and valid.
    pub(crate) seen: Option<T>,
    /// The problems of the labels.
    pub(crate) problems: Vec<Problem>,
    /// Whether the record is bad, by `problems` or by labels.csv.
    pub(crate) bad: bool,
    /// The digest of the record's bytes.
    pub(crate) digest: Option<RecordDigest>,
    /// The whole entry, if its id is the requested one.
    pub(crate) entry: Option<Box<Entry>>,
}

/// Turns an entry into a [`FoundRecord`], on any thread.
pub(crate) struct Finder<'a> {
    /// The corpus's labels.csv.
    pub(crate) labels: Option<&'a LabelsFile>,
    /// The request of the survey.
    pub(crate) wanted: &'a SurveyRequest<'a>,
    /// The flag that the survey has enough cases for `--limit`. Further records are read and not looked at.
    pub(crate) full: &'a AtomicBool,
    /// The check of whether the subject accepts a transcript.
    pub(crate) refuses: Refuses<'a>,
}

/// A function that returns why a subject refuses a transcript, if it does.
pub(crate) type Refuses<'a> = &'a (dyn Fn(&Transcript) -> Option<InvalidTranscript> + Sync);

impl Finder<'_> {
    /// Returns the findings on one record.
    pub(crate) fn find<T>(
        &self,
        entry: Result<Entry, Problem>,
        raw: Option<RawRecord>,
        look: impl Fn(&Entry, &Case) -> T,
    ) -> FoundRecord<T> {
        let digest = raw.map(|raw| raw.digest());
        let entry = match entry {
            Ok(entry) => entry,
            Err(problem) => {
                return FoundRecord {
                    case: Err(problem),
                    meant: false,
                    seen: None,
                    problems: Vec::new(),
                    bad: false,
                    digest,
                    entry: None,
                };
            }
        };
        let id = entry.transcript.id.as_str();
        let (case, mut problems) = Case::from_entry(&entry, self.labels, self.wanted.by);
        if let Some(InvalidTranscript { what, expected }) = (self.refuses)(&entry.transcript) {
            let what = format!("transcript {id:?}: {what}");
            problems.push(Problem::new(entry.place.clone(), what, &expected));
        }
        let bad = self.labels.is_some_and(|file| file.is_bad(id)) || !problems.is_empty();
        let meant = self.wanted.selection.matches(&entry);
        let asked = self.wanted.entry == Some(id);
        FoundRecord {
            meant,
            seen: (meant && !bad && !self.full.load(Ordering::Relaxed))
                .then(|| look(&entry, &case)),
            bad,
            problems,
            digest,
            case: Ok((case, entry.place.clone())),
            entry: asked.then(|| Box::new(entry)),
        }
    }
}

/// The files beside the transcripts, read against all ids.
pub(crate) struct SideRecords<'a> {
    /// The bad rows of splits.csv.
    pub(crate) bad_splits: Vec<Problem>,
    /// The search for splits that belong to no transcript.
    pub(crate) strays: &'a dyn Fn(&Ids) -> Vec<Problem>,
    /// The search for labels that belong to no transcript.
    pub(crate) orphans: &'a dyn Fn(&Ids) -> Vec<Problem>,
    /// The path of labels.csv, if there is one.
    pub(crate) labels_csv: Option<&'a Path>,
}

/// The findings of a pass over a corpus so far.
pub(crate) struct Findings<C, T> {
    ids: Ids,
    hasher: CorpusHasher,
    cases: C,
    /// The result of the look at each case.
    seen: Vec<T>,
    places: Places,
    names: SharedNames,
    problems: Vec<Problem>,
    filtered: u64,
    left_out: ExcludedNames,
    entry: Option<Box<Entry>>,
}

impl<C: CaseStore, T> Findings<C, T> {
    /// Creates empty findings that hold only the problems of labels.csv.
    pub(crate) fn new(problems: Vec<Problem>) -> Self {
        Self {
            ids: Ids::default(),
            hasher: CorpusHasher::default(),
            cases: C::default(),
            seen: Vec::new(),
            places: Places::default(),
            names: SharedNames::default(),
            problems,
            filtered: 0,
            left_out: ExcludedNames::default(),
            entry: None,
        }
    }

    /// Adds the next record, in the order of the corpus.
    pub(crate) fn take(&mut self, found: FoundRecord<T>) {
        if let Some(digest) = found.digest {
            self.hasher.push(digest);
        }
        self.entry = self.entry.take().or(found.entry);
        let unique = found.case.and_then(|(case, place)| {
            self.ids.insert(&case.id, &place)?;
            Ok((case, place))
        });
        self.problems.extend(found.problems);
        match (unique, found.seen) {
            (Err(problem), _) => self.problems.push(problem),
            (Ok((case, place)), Some(seen)) if !found.bad => {
                self.cases.keep(case.sharing(&mut self.names));
                self.seen.push(seen);
                self.places.add(&place);
            }
            (Ok((case, _)), _) if !found.meant => {
                self.left_out.add(&case);
                self.filtered += 1;
            }
            // Beyond the limit.
            (Ok(_), None) if !found.bad => self.filtered += 1,
            (Ok(_), _) => {}
        }
    }

    /// Returns the number of cases kept so far.
    pub(crate) fn kept_cases(&self) -> usize {
        self.cases.number()
    }

    /// Adds the problems that need all transcripts. Problems of labels.csv come first, in the order of its lines,
    /// because those that need the transcript were found long after the others.
    ///
    /// # Errors
    /// Returns an error if memory or file handles ran out on the way.
    pub(crate) fn end(&mut self, sides: &SideRecords<'_>) -> RunResult {
        refuse_machine(&self.problems)?;
        self.problems.extend(sides.bad_splits.iter().cloned());
        let orphans = [
            ("splits", (sides.strays)(&self.ids)),
            ("labels", (sides.orphans)(&self.ids)),
        ];
        let unread = self.problems.iter().any(|p| p.cost != Cost::Itself);
        for (what, rows) in orphans {
            self.problems.extend(if unread {
                of_the_unread(what, rows)
            } else {
                rows
            });
        }
        labels_first(&mut self.problems, sides.labels_csv);
        Ok(())
    }

    /// Converts the findings into a surveyed corpus. `side` is the part of its hash from labels and splits.
    pub(crate) fn into_survey(
        self,
        corpus: Corpus,
        (stamps, side): (Stamps, &str),
        selection: &Selection,
    ) -> (CorpusSurvey<C>, Vec<T>) {
        let mut surveyed = CorpusSurvey {
            name: corpus.card().and_then(|card| card.name.clone()),
            corpus,
            cases: self.cases,
            places: self.places,
            problems: self.problems,
            hash: format!("{}{side}", self.hasher.finish()),
            filtered: self.filtered,
            left_out: self.left_out.hint(selection),
            entry: self.entry,
            stamps,
        };
        let mut seen = self.seen;
        if let Some(kept) = narrow_cases(&surveyed.cases, selection) {
            surveyed.narrow(&mut seen, &kept);
        }
        (surveyed, seen)
    }
}

/// Sorts problems for listing: those of labels.csv first, by line.
pub(crate) fn labels_first(problems: &mut [Problem], labels_csv: Option<&Path>) {
    let line = |problem: &Problem| match labels_csv {
        Some(file) if problem.place.file.as_path() == file => problem.place.line,
        _ => u64::MAX,
    };
    problems.sort_by_key(line);
}

/// Merges the problems of rows without a transcript into one. Most such rows probably belong to transcripts that could
/// not be read.
fn of_the_unread(what: &str, rows: Vec<Problem>) -> Vec<Problem> {
    let count = rows.len();
    let one = |first: Problem| {
        let what =
            format!("{count} {what} for no transcript that could be read, this is the first");
        Problem::new(first.place, what, "all transcripts to be read first")
    };
    rows.into_iter().next().map(one).into_iter().collect()
}

/// Returns which cases are left by `--limit`, then `--sample`. `None` if neither is set.
fn narrow_cases(cases: &impl CaseSet, selection: &Selection) -> Option<Vec<bool>> {
    if selection.limit.is_none() && selection.sample.is_none() {
        return None;
    }
    let most = selection.limit.unwrap_or(usize::MAX);
    let mut kept: Vec<bool> = (0..cases.number()).map(|i| i < most).collect();
    if let Some(sample) = selection.sample {
        let mut draw = SampleDraw::new(sample);
        let among = 0..cases.number().min(most);
        among.for_each(|i| cases.on(i, |case| draw.offer(&case.id)));
        let drawn = draw.finish();
        for (i, kept) in kept.iter_mut().enumerate() {
            *kept = *kept && cases.on(i, |case| drawn.contains(&case.id));
        }
    }
    Some(kept)
}
