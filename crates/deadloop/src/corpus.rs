//! The first pass over a corpus: is it whole, what is in it, which transcripts are meant. Nothing
//! is replayed before this is known.

use std::collections::{BTreeSet, HashSet};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use deadloop_corpus::{
    Corpus, CorpusError, CorpusHasher, Cost, Draw, Entry, Ids, ModelGlob, Problem, Raw, Sample,
    Selection, fields, read_file,
};
use deadloop_replay::{Interrupted, each};
use deadloop_score::{Case, LabelsFile, Names, write_text};

use crate::args::{OnBad, Select};
use crate::exit::{Code, Failure, Outcome};
use crate::left_out::LeftOut;
use crate::progress::watched;
use crate::show;
use crate::stamps::Stamps;

/// Transcripts whose fields are named where one is asked for that none has.
const NAMED_OF: usize = 1000;

/// A corpus that was looked through.
pub(crate) struct Surveyed {
    /// The corpus, to be read again.
    pub(crate) corpus: Corpus,
    /// The transcripts that are meant, in the order of the corpus.
    pub(crate) cases: Vec<Case>,
    /// Everything that is wrong with it.
    pub(crate) problems: Vec<Problem>,
    /// The hash of all its records, and of its labels and splits.
    pub(crate) hash: String,
    /// Whole transcripts that filters left out.
    pub(crate) filtered: u64,
    /// The transcript that was asked for, with its text.
    pub(crate) entry: Option<Box<Entry>>,
    /// What there is of that which the filters name, where they left out everything.
    left_out: String,
    /// Its files as they were.
    pub(crate) stamps: Stamps,
}

/// One record, on its way from the threads to the survey.
struct Found<T> {
    case: Result<(Case, deadloop_corpus::Place), Problem>,
    /// What a look at it gave, where it is meant.
    seen: Option<T>,
    /// What is wrong with its labels.
    problems: Vec<Problem>,
    /// Whether something is, told here or when labels.csv was read.
    bad: bool,
    digest: Option<deadloop_corpus::RecordDigest>,
    /// All of it, where it is the one that was asked for.
    entry: Option<Box<Entry>>,
}

/// What to look for.
pub(crate) struct Wanted<'a> {
    pub(crate) path: &'a Path,
    pub(crate) selection: Selection,
    /// Fields of a further breakdown.
    pub(crate) by: &'a [String],
    /// The id of a transcript whose text is wanted too.
    pub(crate) entry: Option<&'a str>,
    pub(crate) quiet: bool,
}

impl Select {
    /// The filter that the options ask for.
    pub(crate) fn selection(&self) -> Outcome<Selection> {
        let usage = |e: String| Code::Usage.error(e);
        let glob = |text: &String| {
            text.parse::<ModelGlob>()
                .map_err(|e| usage(format!("--model {text}: {e}")))
        };
        let pair = |text: &String| {
            deadloop_corpus::parse_where(text).map_err(|e| usage(format!("--where: {e}")))
        };
        Ok(Selection {
            models: self.models.iter().map(glob).collect::<Outcome<_>>()?,
            split: self.split.clone(),
            lang: self.lang.clone(),
            wheres: self.wheres.iter().map(pair).collect::<Outcome<_>>()?,
            limit: self.limit,
            sample: self.sample.map(|count| Sample {
                count,
                seed: self.seed,
            }),
        })
    }
}

/// Opens a corpus; what cannot be opened is wrong usage.
pub(crate) fn open(path: &Path) -> Outcome<Corpus> {
    Corpus::open(path).map_err(unopened)
}

/// Why a corpus cannot be opened.
pub(crate) fn unopened(error: CorpusError) -> Failure {
    match error.is_of_machine() {
        true => Code::Unexpected.because(error),
        false => Code::Usage.because(error),
    }
}

/// What a pass over a corpus has found so far.
struct Findings<T> {
    ids: Ids,
    hasher: CorpusHasher,
    cases: Vec<(Case, T)>,
    names: Names,
    problems: Vec<Problem>,
    filtered: u64,
    left_out: LeftOut,
    entry: Option<Box<Entry>>,
}

impl<T> Findings<T> {
    fn new(problems: Vec<Problem>) -> Self {
        Self {
            ids: Ids::default(),
            hasher: CorpusHasher::default(),
            cases: Vec::new(),
            names: Names::default(),
            problems,
            filtered: 0,
            left_out: LeftOut::default(),
            entry: None,
        }
    }

    /// Takes the next record, in the order of the corpus.
    fn take(&mut self, found: Found<T>) {
        if let Some(digest) = found.digest {
            self.hasher.push(digest);
        }
        self.entry = self.entry.take().or(found.entry);
        let unique = found.case.and_then(|(case, place)| {
            self.ids.insert(&case.id, &place)?;
            Ok(case)
        });
        self.problems.extend(found.problems);
        match (unique, found.seen) {
            (Err(problem), _) => self.problems.push(problem),
            (Ok(case), Some(seen)) if !found.bad => {
                self.cases.push((case.sharing(&mut self.names), seen));
            }
            (Ok(_), Some(_)) => {}
            (Ok(case), None) => {
                self.left_out.add(&case);
                self.filtered += 1;
            }
        }
    }

    /// What only all transcripts together can tell. The problems of labels.csv come first, in the order
    /// of its lines: those that need the transcript were found long after those that do not.
    fn end(&mut self, corpus: &Corpus, labels: Option<&LabelsFile>) {
        self.problems.extend(corpus.bad_splits());
        let orphans = labels.map(|labels| labels.orphans(&self.ids));
        let orphans = [
            ("splits", corpus.stray_splits(&self.ids)),
            ("labels", orphans.unwrap_or_default()),
        ];
        let unread = self.problems.iter().any(|p| p.cost != Cost::Itself);
        for (what, rows) in orphans {
            self.problems.extend(match unread {
                true => of_the_unread(what, rows),
                false => rows,
            });
        }
        let file = corpus.labels_csv();
        let line = |problem: &Problem| match file {
            Some(file) if problem.place.file.as_path() == file => problem.place.line,
            _ => u64::MAX,
        };
        self.problems.sort_by_key(line);
    }
}

/// Rows for no transcript, where there are transcripts that nobody has seen: most of them will be of those.
fn of_the_unread(what: &str, rows: Vec<Problem>) -> Vec<Problem> {
    let count = rows.len();
    let one = |first: Problem| {
        let what =
            format!("{count} {what} for no transcript that could be read, this is the first");
        Problem::new(first.place, what, "all transcripts to be read first")
    };
    rows.into_iter().next().map(one).into_iter().collect()
}

/// Ends a command where memory or file handles have run out: that says nothing of the corpus, and a corpus
/// without what could not be read for it is another one.
pub(crate) fn refuse_machine(problems: &[Problem]) -> Outcome {
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
pub(crate) fn survey(wanted: Wanted<'_>) -> Outcome<Surveyed> {
    let corpus = open(wanted.path)?;
    survey_with(corpus, wanted, |_, _| ()).map(|(surveyed, _)| surveyed)
}

/// The same with a look at each transcript that is meant: what it gives, in the order of the cases.
pub(crate) fn survey_with<T: Send>(
    corpus: Corpus,
    wanted: Wanted<'_>,
    look: impl Fn(&Entry, &Case) -> T + Sync,
) -> Outcome<(Surveyed, Vec<T>)> {
    let stamps = Stamps::of(&corpus);
    let labels = corpus.labels_csv().map(LabelsFile::read);
    let (labels, problems) = labels.map_or((None, Vec::new()), |(file, p)| (Some(file), p));
    let find = |entry: Result<Entry, Problem>, raw: Option<Raw>| {
        let asked = |e: &&Entry| wanted.entry == Some(e.transcript.id.as_str());
        let id = entry.as_ref().map(|e| e.transcript.id.as_str());
        let of_bad_row = id.is_ok_and(|id| labels.as_ref().is_some_and(|file| file.is_bad(id)));
        let kept = entry.as_ref().ok().filter(asked).cloned().map(Box::new);
        let (case, problems, seen) = match entry {
            Err(problem) => (Err(problem), Vec::new(), None),
            Ok(entry) => {
                let (case, problems) = Case::of(&entry, labels.as_ref(), wanted.by);
                let selected = wanted.selection.matches(&entry);
                let seen = selected.then(|| look(&entry, &case));
                (Ok((case, entry.place)), problems, seen)
            }
        };
        Found {
            case,
            seen,
            bad: of_bad_row || !problems.is_empty(),
            problems,
            digest: raw.map(|raw| raw.digest()),
            entry: kept,
        }
    };
    let mut found = Findings::new(problems);
    watched("reading", wanted.quiet, |watch| {
        each(&corpus, watch, find, |record| {
            found.take(record);
            ControlFlow::Continue(())
        })
    })
    .map_err(|Interrupted| Code::Interrupted.error("interrupted while the corpus was read"))?;
    refuse_machine(&found.problems)?;
    found.end(&corpus, labels.as_ref());
    let hash = format!("{}{}", found.hasher.finish(), side_files(&corpus)?);
    let cases = narrowed(found.cases, &wanted.selection, &mut found.filtered);
    let (cases, seen) = cases.into_iter().unzip();
    let surveyed = Surveyed {
        corpus,
        cases,
        problems: found.problems,
        hash,
        filtered: found.filtered,
        left_out: found.left_out.hint(&wanted.selection),
        entry: found.entry,
        stamps,
    };
    Ok((surveyed, seen))
}

/// `--limit`, then `--sample`.
fn narrowed<T>(
    mut cases: Vec<(Case, T)>,
    selection: &Selection,
    filtered: &mut u64,
) -> Vec<(Case, T)> {
    let before = cases.len();
    cases.truncate(selection.limit.unwrap_or(usize::MAX));
    if let Some(sample) = selection.sample {
        let mut draw = Draw::new(sample);
        cases.iter().for_each(|(case, _)| draw.offer(&case.id));
        let drawn = draw.finish();
        cases.retain(|(case, _)| drawn.contains(&case.id));
    }
    *filtered += (before - cases.len()) as u64;
    cases
}

/// What `labels.csv` and `splits.csv` add to the hash: nothing where neither is there.
fn side_files(corpus: &Corpus) -> Outcome<String> {
    let files = corpus.labels_csv().into_iter().chain(corpus.splits_csv());
    let text = |file: &Path| match read_file(file) {
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Err(e) => Err(Code::Usage.error(format!("{}: {e}", file.display()))),
    };
    let texts: Vec<String> = files.map(text).collect::<Outcome<_>>()?;
    Ok(if texts.is_empty() {
        String::new()
    } else {
        format!("-{}", crate::folder::fingerprint(&texts))
    })
}

impl Surveyed {
    /// The ids of the transcripts that are meant.
    pub(crate) fn ids(&self) -> HashSet<Arc<str>> {
        self.cases.iter().map(|case| case.id.clone()).collect()
    }

    /// Refuses a corpus that is not whole, or says how much was left out; refuses an empty
    /// selection.
    pub(crate) fn accept(&self, on_bad: OnBad, quiet: bool) -> Outcome {
        match (self.problems.len(), on_bad) {
            (0, _) => {}
            (_, OnBad::Fail) => return Err(Code::Usage.error(self.listing())),
            (n, OnBad::Skip) if !quiet && !self.cases.is_empty() => {
                eprintln!(
                    "{} skipped, see rejected.jsonl in the results",
                    show::several(n as u64, "problem")
                )
            }
            (_, OnBad::Skip) => {}
        }
        if self.cases.is_empty() {
            let what = match self.filtered {
                0 if !self.problems.is_empty() => {
                    format!("no transcript is left: all are bad\n{}", self.lines())
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
    pub(crate) fn tell_absent(&self, by: &[String]) {
        let has = |place: usize| self.cases.iter().any(|case| case.by[place].is_some());
        let absent = by.iter().enumerate().filter(|(place, _)| !has(*place));
        let absent: Vec<&str> = absent.map(|(_, name)| name.as_str()).collect();
        if absent.is_empty() {
            return;
        }
        let some = self.corpus.entries().take(NAMED_OF).flatten();
        let there: BTreeSet<String> = some.flat_map(|entry| fields(&entry)).collect();
        let there: Vec<String> = there.into_iter().collect();
        eprintln!(
            "deadloop: --by {}: no transcript has the field; there are {}",
            absent.join(", "),
            there.join(", ")
        );
    }

    /// Writes `rejected.jsonl`: what `--on-bad skip` left out, and why. None where nothing was.
    pub(crate) fn write_rejected(&self, dir: &Path) -> Outcome {
        let row = |problem: &Problem| {
            let row = serde_json::json!({
                "file": problem.place.file.display().to_string(),
                "line": problem.place.line,
                "what": problem.what,
                "expected": problem.expected,
            });
            format!("{row}\n")
        };
        let rows: String = self.problems.iter().map(row).collect();
        if !rows.is_empty() {
            write_text(&dir.join("rejected.jsonl"), &rows)?;
        }
        Ok(())
    }

    /// Says on stderr what `--on-bad skip` left out, for a command that has no folder to list it in.
    pub(crate) fn tell_rejected(&self) {
        if !self.problems.is_empty() {
            let n = self.problems.len();
            eprintln!("{n} problem{} skipped", if n == 1 { "" } else { "s" });
            self.problems
                .iter()
                .for_each(|problem| eprintln!("{problem}"));
        }
    }

    /// Every problem, a line each, and what to do.
    pub(crate) fn listing(&self) -> String {
        let problems = show::several(self.problems.len() as u64, "problem");
        let hint = "nothing was scored; mend them, or leave them out with --on-bad skip";
        format!(
            "the corpus is not whole: {problems}\n{}\n{hint}",
            self.lines()
        )
    }

    fn lines(&self) -> String {
        let lines: Vec<String> = self.problems.iter().map(ToString::to_string).collect();
        lines.join("\n")
    }
}
