//! [`Findings`]: cases, problems and the hash collected from the records of a corpus.
//!
//! Records are added in the order in which a single machine reads them, whether they come from corpus files or from the
//! parts of shards.

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
use crate::corpus::survey::{CorpusSurvey, SurveyRequest, fail_if_out_of_resources};
use crate::failure::RunResult;

/// A record of the corpus, checked on any thread or read from the part of a shard.
pub(crate) struct FoundRecord<T> {
    /// The case and its place, or the reason why the record cannot be read.
    pub(crate) case: Result<(Case, Place), Problem>,
    /// Whether the filters select the record.
    pub(crate) is_selected: bool,
    /// The result of the survey's `look`, if the record is selected and valid.
    pub(crate) look_result: Option<T>,
    /// The problems of the record's labels.
    pub(crate) problems: Vec<Problem>,
    /// Whether the record is invalid, by `problems` or by labels.csv.
    pub(crate) bad: bool,
    /// The digest of the record's bytes.
    pub(crate) digest: Option<RecordDigest>,
    /// The entry itself, if the survey requested its id.
    pub(crate) entry: Option<Box<Entry>>,
}

/// A check that converts entries into [`FoundRecord`]s, on any thread.
pub(crate) struct RecordChecker<'a> {
    /// The labels.csv of the corpus.
    pub(crate) labels: Option<&'a LabelsFile>,
    /// The request of the survey.
    pub(crate) request: &'a SurveyRequest<'a>,
    /// Set when the survey has enough cases for `--limit`. Later records are read, but `look` is not called for them.
    pub(crate) is_full: &'a AtomicBool,
    /// The filter for transcripts that the replayed subject does not accept.
    pub(crate) refuses: TranscriptFilter<'a>,
}

/// A function that returns the reason if a subject does not accept a transcript.
pub(crate) type TranscriptFilter<'a> =
    &'a (dyn Fn(&Transcript) -> Option<InvalidTranscript> + Sync);

impl RecordChecker<'_> {
    /// Checks one record, and calls `look` if it is selected and valid.
    pub(crate) fn check_record<T>(
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
                    is_selected: false,
                    look_result: None,
                    problems: Vec::new(),
                    bad: false,
                    digest,
                    entry: None,
                };
            }
        };
        let id = entry.transcript.id.as_str();
        let (case, mut problems) = Case::from_entry(&entry, self.labels, self.request.by);
        if let Some(InvalidTranscript { what, expected }) = (self.refuses)(&entry.transcript) {
            let what = format!("transcript {id:?}: {what}");
            problems.push(Problem::new(entry.place.clone(), what, &expected));
        }
        let bad = self.labels.is_some_and(|file| file.is_bad(id)) || !problems.is_empty();
        let is_selected = self.request.selection.matches(&entry);
        let asked = self.request.entry == Some(id);
        FoundRecord {
            is_selected,
            look_result: (is_selected && !bad && !self.is_full.load(Ordering::Relaxed))
                .then(|| look(&entry, &case)),
            bad,
            problems,
            digest,
            case: Ok((case, entry.place.clone())),
            entry: asked.then(|| Box::new(entry)),
        }
    }
}

/// The rows of splits.csv and labels.csv, to check against the ids of all transcripts.
pub(crate) struct SideFiles<'a> {
    /// The invalid rows of splits.csv.
    pub(crate) bad_splits: Vec<Problem>,
    /// Returns the rows of splits.csv whose id no transcript has.
    pub(crate) strays: &'a dyn Fn(&Ids) -> Vec<Problem>,
    /// Returns the rows of labels.csv whose id no transcript has.
    pub(crate) orphans: &'a dyn Fn(&Ids) -> Vec<Problem>,
    /// The path of labels.csv, if there is one.
    pub(crate) labels_csv: Option<&'a Path>,
}

/// The cases, problems and counts of a pass over a corpus so far. Items of `T` are the results of the survey's `look`.
pub(crate) struct Findings<C, T> {
    ids: Ids,
    hasher: CorpusHasher,
    cases: C,
    /// The result of `look` for each case.
    look_results: Vec<T>,
    places: Places,
    names: SharedNames,
    problems: Vec<Problem>,
    filtered: u64,
    left_out: ExcludedNames,
    entry: Option<Box<Entry>>,
}

impl<C: CaseStore, T> Findings<C, T> {
    /// Creates findings without records, with the problems of labels.csv.
    pub(crate) fn new(problems: Vec<Problem>) -> Self {
        Self {
            ids: Ids::default(),
            hasher: CorpusHasher::default(),
            cases: C::default(),
            look_results: Vec::new(),
            places: Places::default(),
            names: SharedNames::default(),
            problems,
            filtered: 0,
            left_out: ExcludedNames::default(),
            entry: None,
        }
    }

    /// Adds the next record in the order of the corpus.
    pub(crate) fn add_record(&mut self, found: FoundRecord<T>) {
        if let Some(digest) = found.digest {
            self.hasher.push(digest);
        }
        self.entry = self.entry.take().or(found.entry);
        let unique = found.case.and_then(|(case, place)| {
            self.ids.insert(&case.id, &place)?;
            Ok((case, place))
        });
        self.problems.extend(found.problems);
        match (unique, found.look_result) {
            (Err(problem), _) => self.problems.push(problem),
            (Ok((case, place)), Some(result)) if !found.bad => {
                self.cases.keep(case.sharing(&mut self.names));
                self.look_results.push(result);
                self.places.add(&place);
            }
            (Ok((case, _)), _) if !found.is_selected => {
                self.left_out.add(&case);
                self.filtered += 1;
            }
            // Beyond `--limit`.
            (Ok(_), None) if !found.bad => self.filtered += 1,
            (Ok(_), _) => {}
        }
    }

    /// Returns the number of cases so far.
    pub(crate) fn case_count(&self) -> usize {
        self.cases.number()
    }

    /// Adds the problems that can be found only when all transcripts are known. Problems of labels.csv are sorted to
    /// the front, in the order of its lines.
    ///
    /// # Errors
    /// Returns an error if memory or file handles ran out during the pass.
    pub(crate) fn finish(&mut self, sides: &SideFiles<'_>) -> RunResult {
        fail_if_out_of_resources(&self.problems)?;
        self.problems.extend(sides.bad_splits.iter().cloned());
        let orphans = [
            ("splits", (sides.strays)(&self.ids)),
            ("labels", (sides.orphans)(&self.ids)),
        ];
        let unread = self.problems.iter().any(|p| p.cost != Cost::Itself);
        for (what, rows) in orphans {
            self.problems.extend(if unread {
                merge_unmatched_rows(what, rows)
            } else {
                rows
            });
        }
        sort_label_problems_first(&mut self.problems, sides.labels_csv);
        Ok(())
    }

    /// Converts the findings into a surveyed corpus and the results of `look`. `side_hash` is the part of the corpus
    /// hash from labels and splits.
    pub(crate) fn into_survey(
        self,
        corpus: Corpus,
        (stamps, side_hash): (Stamps, &str),
        selection: &Selection,
    ) -> (CorpusSurvey<C>, Vec<T>) {
        let mut surveyed = CorpusSurvey {
            name: corpus.card().and_then(|card| card.name.clone()),
            corpus,
            cases: self.cases,
            places: self.places,
            problems: self.problems,
            hash: format!("{}{side_hash}", self.hasher.finish()),
            filtered: self.filtered,
            left_out: self.left_out.format_suggestions(selection),
            entry: self.entry,
            stamps,
        };
        let mut look_results = self.look_results;
        if let Some(kept) = limit_and_sample(&surveyed.cases, selection) {
            surveyed.retain_cases(&mut look_results, &kept);
        }
        (surveyed, look_results)
    }
}

/// Moves the problems of labels.csv to the front, in the order of its lines.
pub(crate) fn sort_label_problems_first(problems: &mut [Problem], labels_csv: Option<&Path>) {
    let line = |problem: &Problem| match labels_csv {
        Some(file) if problem.place.file.as_path() == file => problem.place.line,
        _ => u64::MAX,
    };
    problems.sort_by_key(line);
}

/// Merges the problems of rows without a transcript into one, which names the first. Most such rows probably belong to
/// transcripts that could not be read.
fn merge_unmatched_rows(what: &str, rows: Vec<Problem>) -> Vec<Problem> {
    let count = rows.len();
    let one = |first: Problem| {
        let what =
            format!("{count} {what} for no transcript that could be read, this is the first");
        Problem::new(first.place, what, "all transcripts to be read first")
    };
    rows.into_iter().next().map(one).into_iter().collect()
}

/// Returns a flag for each case: whether `--limit`, then `--sample`, keeps it. `None` if neither is set.
fn limit_and_sample(cases: &impl CaseSet, selection: &Selection) -> Option<Vec<bool>> {
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
