//! The checks for near-duplicate transcripts: across splits, across groups, and inside a group.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::ControlFlow;

use deadloop_corpus::{Cluster, Corpus, Entry, Shingles, Sketch, find_clusters, find_pairs};
use deadloop_replay::{Interruption, map_corpus};
use deadloop_score::Case;

use super::{
    CheckAdvice, CheckFn, CheckedCorpus, CorpusCheck, Finding, Severity, TranscriptFindings,
};
use crate::failure::{Code, RunResult};
use crate::host::{Host, watched};
use crate::words;

pub(super) static SPLIT_DUPLICATES: CorpusCheck = CorpusCheck {
    name: "near-duplicates-across-splits",
    severity: Severity::Warning,
    title: "near-duplicate transcripts in several splits",
    why: "a setting is tested on a text that it was tuned on",
    advice: CheckAdvice::Plain("put them into one split, or keep one of each"),
    find: CheckFn::Corpus(|seen| find_duplicates(seen, Boundary::Splits)),
};

pub(super) static GROUP_DUPLICATES: CorpusCheck = CorpusCheck {
    name: "near-duplicates-across-groups",
    severity: Severity::Warning,
    title: "near-duplicate transcripts in several groups",
    why: "folds separate groups. A text in two groups can be in both the choice and the test, and intervals count it as independent evidence",
    advice: CheckAdvice::Plain("give them one group, or keep one of each"),
    find: CheckFn::Corpus(|seen| find_duplicates(seen, Boundary::Groups)),
};

pub(super) static IN_GROUP_DUPLICATES: CorpusCheck = CorpusCheck {
    name: "near-duplicates-in-a-group",
    severity: Severity::Note,
    title: "near-duplicate transcripts inside a group",
    why: "every rate counts the text several times; folds and intervals do not",
    advice: CheckAdvice::Plain("keep one of each, unless production repeats it as often"),
    find: CheckFn::Corpus(|seen| find_duplicates(seen, Boundary::Nothing)),
};

/// The minimum likeness of near-duplicates, from 0 to 1.
const MIN_LIKENESS: f64 = 0.8;
/// The minimum likeness of sketches at which the texts are compared. It is below [`MIN_LIKENESS`], since a sketch may
/// underestimate.
const MIN_SKETCH_LIKENESS: f64 = 0.65;
/// The minimum number of chars of a compared text. Shorter texts are alike by chance ("42").
const MIN_COMPARED_CHARS: u64 = 200;
/// The maximum number of transcripts to name in a finding.
const MAX_NAMED: usize = 4;

/// Returns the sketch of a transcript. `None` if the transcript is too short.
pub(super) fn sketch_if_long(entry: &Entry, case: &Case) -> Option<Sketch> {
    let length = case.timeline.length();
    let long = length.reasoning.0 + length.answer.0 >= MIN_COMPARED_CHARS;
    long.then(|| Sketch::from_transcript(&entry.transcript))
        .flatten()
}

/// Finds the near-duplicates among the cases. Cases with similar sketches are compared by their texts, for which the
/// corpus is read again. Takes the sketches out of `checked`.
pub(super) fn near_duplicates(
    corpus: &Corpus,
    cases: &[Case],
    checked: &mut [TranscriptFindings],
    host: &dyn Host,
) -> RunResult<Vec<Cluster>> {
    let mut sketches: Vec<Option<Sketch>> = checked.iter_mut().map(|g| g.sketch.take()).collect();
    let estimate = |a: usize, b: usize| match (&sketches[a], &sketches[b]) {
        (Some(a), Some(b)) => a.likeness(b),
        _ => 0.0,
    };
    let likely = find_pairs(&sketches, MIN_SKETCH_LIKENESS, estimate);
    let candidates: BTreeSet<usize> = likely.iter().flat_map(|p| [p.first, p.second]).collect();
    if candidates.is_empty() {
        return Ok(Vec::new());
    }
    let texts = read_shingles(corpus, cases, &candidates, host)?;
    let exact = |a: usize, b: usize| match (texts.get(&a), texts.get(&b)) {
        (Some(a), Some(b)) => a.likeness(b),
        _ => 0.0,
    };
    for (place, sketch) in sketches.iter_mut().enumerate() {
        sketch.take_if(|_| !candidates.contains(&place));
    }
    Ok(find_clusters(
        cases.len(),
        &find_pairs(&sketches, MIN_LIKENESS, exact),
    ))
}

/// Reads the texts of the candidate cases, as shingles by case index.
fn read_shingles(
    corpus: &Corpus,
    cases: &[Case],
    candidates: &BTreeSet<usize>,
    host: &dyn Host,
) -> RunResult<BTreeMap<usize, Shingles>> {
    let ids: HashMap<&str, usize> = candidates.iter().map(|i| (&*cases[*i].id, *i)).collect();
    let read = |entry: Result<Entry, _>, _| {
        let transcript = entry.ok()?.transcript;
        let place = *ids.get(transcript.id.as_str())?;
        Some((place, Shingles::from_transcript(&transcript)))
    };
    let mut texts = BTreeMap::new();
    watched(host, "comparing", |watch| {
        map_corpus(corpus, watch, read, |found| {
            // If two transcripts have the same id, the first counts.
            if let Some((place, shingles)) = found {
                texts.entry(place).or_insert(shingles);
            }
            ControlFlow::Continue(())
        })
    })
    .map_err(|Interruption| Code::Interrupted.error("interrupted while texts were compared"))?;
    Ok(texts)
}

/// The widest boundary that a cluster of near-duplicates crosses.
#[derive(PartialEq)]
enum Boundary {
    Splits,
    Groups,
    Nothing,
}

fn widest_boundary(cases: &[Case], cluster: &Cluster) -> Boundary {
    let members = || cluster.members.iter().map(|i| &cases[*i]);
    let splits: BTreeSet<&str> = members().filter_map(|c| c.split.as_deref()).collect();
    let groups: BTreeSet<&str> = members().map(Case::cluster).collect();
    match (splits.len(), groups.len()) {
        (2.., _) => Boundary::Splits,
        (_, 2..) => Boundary::Groups,
        _ => Boundary::Nothing,
    }
}

fn find_duplicates(seen: &CheckedCorpus, wanted: Boundary) -> Vec<Finding> {
    let clusters = seen.clusters.iter();
    let clusters = clusters.filter(|cluster| widest_boundary(&seen.cases, cluster) == wanted);
    clusters
        .map(|cluster| new_finding(seen, cluster, &wanted))
        .collect()
}

fn new_finding(seen: &CheckedCorpus, cluster: &Cluster, spread: &Boundary) -> Finding {
    let cases: Vec<&Case> = cluster.members.iter().map(|i| &seen.cases[*i]).collect();
    let set = |of: fn(&Case) -> &str| -> BTreeSet<&str> { cases.iter().map(|c| of(c)).collect() };
    let among = match spread {
        Boundary::Splits => {
            let splits = set(|c| c.split.as_deref().unwrap_or("none"));
            format!(
                "in {}",
                splits.into_iter().collect::<Vec<_>>().join(" and ")
            )
        }
        Boundary::Groups => format!("in {} groups", set(Case::cluster).len()),
        Boundary::Nothing => format!("of group {:?}", cases[0].cluster()),
    };
    let others = cases.iter().skip(1).take(MAX_NAMED).map(|c| &*c.id);
    let more = cases.len().saturating_sub(1 + MAX_NAMED);
    let mut what = format!(
        "{} transcripts {among}, {} alike or more: also {}",
        cases.len(),
        words::percent(Some(cluster.least)),
        others.collect::<Vec<_>>().join(", ")
    );
    if more > 0 {
        what += &format!(" and {more} more");
    }
    Finding {
        transcripts: cases.iter().map(|c| c.id.to_string()).collect(),
        ..seen.finding_on(cluster.members[0], what)
    }
}
