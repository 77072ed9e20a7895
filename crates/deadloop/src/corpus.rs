//! The first pass over a corpus: is it whole, what is in it, which transcripts are meant. Nothing
//! is replayed before this is known.

use std::collections::{BTreeSet, HashSet};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use deadloop_corpus::{
    Corpus, CorpusError, Cost, Entry, ModelGlob, Problem, Raw, Sampling, Selection, fields,
    read_file,
};
use deadloop_replay::{Interrupted, each};
use deadloop_score::{Case, LabelsFile, write_text};

use crate::args::{OnBad, Select};
use crate::exit::{Code, Failure, Outcome};
use crate::findings::{Finder, Findings, Sides};
use crate::progress::watched;
use crate::show;
use crate::stamps::Stamps;

/// Transcripts whose fields are named where one is asked for that none has.
const NAMED_OF: usize = 1000;

/// A corpus that was looked through.
pub(crate) struct Surveyed {
    /// The corpus, to be read again; without files where it is not at hand.
    pub(crate) corpus: Corpus,
    /// Its name, from its card.
    pub(crate) name: Option<String>,
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
    pub(crate) left_out: String,
    /// Its files as they were.
    pub(crate) stamps: Stamps,
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
            sample: self.sample.map(|count| Sampling {
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
    let finder = Finder {
        labels: labels.as_ref(),
        wanted: &wanted,
    };
    let find = |entry: Result<Entry, Problem>, raw: Option<Raw>| finder.find(entry, raw, &look);
    let mut found = Findings::new(problems);
    watched("reading", wanted.quiet, |watch| {
        each(&corpus, watch, find, |record| {
            found.take(record);
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
pub(crate) fn side_files(corpus: &Corpus) -> Outcome<String> {
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
        listing(&self.problems)
    }
}

/// Every problem of a corpus, a line each, and what to do.
pub(crate) fn listing(problems: &[Problem]) -> String {
    let several = show::several(problems.len() as u64, "problem");
    let hint = "nothing was scored; mend them, or leave them out with --on-bad skip";
    let lines = lines(problems);
    format!("the corpus is not whole: {several}\n{lines}\n{hint}")
}

fn lines(problems: &[Problem]) -> String {
    let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

/// Leaves out the transcripts of a split that must not be looked at; `seen` is what there is beside each case.
pub(crate) fn drop_sealed<T>(
    surveyed: &mut Surveyed,
    seen: Vec<T>,
    sealed: Option<&str>,
) -> Vec<T> {
    let Some(sealed) = sealed else {
        return seen;
    };
    let before = surveyed.cases.len();
    let both = std::mem::take(&mut surveyed.cases).into_iter().zip(seen);
    let open = both.filter(|(case, _)| case.split.as_deref() != Some(sealed));
    let (cases, seen) = open.unzip();
    surveyed.cases = cases;
    surveyed.filtered += (before - surveyed.cases.len()) as u64;
    seen
}
