//! Near-duplicate transcripts: across splits, across groups, and inside a group.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::ControlFlow;

use deadloop_corpus::{Cluster, Corpus, Entry, Shingles, Sketch, clusters, find_pairs};
use deadloop_replay::{Interruption, each};
use deadloop_score::Case;

use super::{CheckAdvice, CheckSeen, CorpusCheck, Find, Finding, Severity, TranscriptFindings};
use crate::failure::{Code, RunResult};
use crate::host::{Host, watched};
use crate::words;

pub(super) static ACROSS_SPLITS: CorpusCheck = CorpusCheck {
    name: "near-duplicates-across-splits",
    severity: Severity::Warning,
    title: "near-duplicate transcripts in several splits",
    why: "a setting is tested on a text that it was tuned on",
    advice: CheckAdvice::Plain("put them into one split, or keep one of each"),
    find: Find::Corpus(|seen| find_duplicates(seen, Spread::Splits)),
};

pub(super) static ACROSS_GROUPS: CorpusCheck = CorpusCheck {
    name: "near-duplicates-across-groups",
    severity: Severity::Warning,
    title: "near-duplicate transcripts in several groups",
    why: "folds separate groups. A text in two groups can be in both the choice and the test, and intervals count it as independent evidence",
    advice: CheckAdvice::Plain("give them one group, or keep one of each"),
    find: Find::Corpus(|seen| find_duplicates(seen, Spread::Groups)),
};

pub(super) static IN_A_GROUP: CorpusCheck = CorpusCheck {
    name: "near-duplicates-in-a-group",
    severity: Severity::Note,
    title: "near-duplicate transcripts inside a group",
    why: "every rate counts the text several times; folds and intervals do not",
    advice: CheckAdvice::Plain("keep one of each, unless production repeats it as often"),
    find: Find::Corpus(|seen| find_duplicates(seen, Spread::Nothing)),
};

/// The minimum likeness at which two texts count as one.
const ALIKE: f64 = 0.8;
/// The minimum likeness by sketch at which the texts themselves are compared. It is below [`ALIKE`], since a sketch may
/// underestimate.
const WORTH_A_LOOK: f64 = 0.65;
/// The minimum number of chars of a compared text: shorter ones are alike by chance ("42").
const LEAST_CHARS: u64 = 200;
/// The maximum number of transcripts of a cluster that are named.
const NAMED: usize = 4;

/// Returns the sketch of a transcript that is long enough to have one.
pub(super) fn sketch(entry: &Entry, case: &Case) -> Option<Sketch> {
    let length = case.timeline.length();
    let long = length.reasoning.0 + length.answer.0 >= LEAST_CHARS;
    long.then(|| Sketch::from_transcript(&entry.transcript))
        .flatten()
}

/// Finds the near-duplicates among the cases: first by their sketches, then by their texts, for which the corpus is
/// read again.
pub(super) fn near_duplicates(
    corpus: &Corpus,
    cases: &[Case],
    glances: &mut [TranscriptFindings],
    host: &dyn Host,
) -> RunResult<Vec<Cluster>> {
    let mut sketches: Vec<Option<Sketch>> = glances.iter_mut().map(|g| g.sketch.take()).collect();
    let estimate = |a: usize, b: usize| match (&sketches[a], &sketches[b]) {
        (Some(a), Some(b)) => a.likeness(b),
        _ => 0.0,
    };
    let likely = find_pairs(&sketches, WORTH_A_LOOK, estimate);
    let worth: BTreeSet<usize> = likely.iter().flat_map(|p| [p.first, p.second]).collect();
    if worth.is_empty() {
        return Ok(Vec::new());
    }
    let texts = texts(corpus, cases, &worth, host)?;
    let exact = |a: usize, b: usize| match (texts.get(&a), texts.get(&b)) {
        (Some(a), Some(b)) => a.likeness(b),
        _ => 0.0,
    };
    for (place, sketch) in sketches.iter_mut().enumerate() {
        sketch.take_if(|_| !worth.contains(&place));
    }
    Ok(clusters(cases.len(), &find_pairs(&sketches, ALIKE, exact)))
}

/// Reads the texts of the cases with the indices `worth`, as shingles.
fn texts(
    corpus: &Corpus,
    cases: &[Case],
    worth: &BTreeSet<usize>,
    host: &dyn Host,
) -> RunResult<BTreeMap<usize, Shingles>> {
    let ids: HashMap<&str, usize> = worth.iter().map(|i| (&*cases[*i].id, *i)).collect();
    let read = |entry: Result<Entry, _>, _| {
        let transcript = entry.ok()?.transcript;
        let place = *ids.get(transcript.id.as_str())?;
        Some((place, Shingles::from_transcript(&transcript)))
    };
    let mut texts = BTreeMap::new();
    watched(host, "comparing", |watch| {
        each(corpus, watch, read, |found| {
            // Of two transcripts with one id the first counts.
            if let Some((place, shingles)) = found {
                texts.entry(place).or_insert(shingles);
            }
            ControlFlow::Continue(())
        })
    })
    .map_err(|Interruption| Code::Interrupted.error("interrupted while texts were compared"))?;
    Ok(texts)
}

/// The worst boundary that a cluster crosses.
#[derive(PartialEq)]
enum Spread {
    Splits,
    Groups,
    Nothing,
}

fn spread(cases: &[Case], cluster: &Cluster) -> Spread {
    let members = || cluster.members.iter().map(|i| &cases[*i]);
    let splits: BTreeSet<&str> = members().filter_map(|c| c.split.as_deref()).collect();
    let groups: BTreeSet<&str> = members().map(Case::cluster).collect();
    match (splits.len(), groups.len()) {
        (2.., _) => Spread::Splits,
        (_, 2..) => Spread::Groups,
        _ => Spread::Nothing,
    }
}

fn find_duplicates(seen: &CheckSeen, wanted: Spread) -> Vec<Finding> {
    let clusters = seen.clusters.iter();
    let clusters = clusters.filter(|cluster| spread(&seen.cases, cluster) == wanted);
    clusters
        .map(|cluster| finding(seen, cluster, &wanted))
        .collect()
}

fn finding(seen: &CheckSeen, cluster: &Cluster, spread: &Spread) -> Finding {
    let cases: Vec<&Case> = cluster.members.iter().map(|i| &seen.cases[*i]).collect();
    let set = |of: fn(&Case) -> &str| -> BTreeSet<&str> { cases.iter().map(|c| of(c)).collect() };
    let among = match spread {
        Spread::Splits => {
            let splits = set(|c| c.split.as_deref().unwrap_or("none"));
            format!(
                "in {}",
                splits.into_iter().collect::<Vec<_>>().join(" and ")
            )
        }
        Spread::Groups => format!("in {} groups", set(Case::cluster).len()),
        Spread::Nothing => format!("of group {:?}", cases[0].cluster()),
    };
    let others = cases.iter().skip(1).take(NAMED).map(|c| &*c.id);
    let more = cases.len().saturating_sub(1 + NAMED);
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
