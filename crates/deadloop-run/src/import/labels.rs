//! [`ImportedLabels`]: the labels of an imported corpus, carried over, kept or proposed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use deadloop_corpus::{Corpus, Selection, text_hash};
use deadloop_score::proposals::{BY, Proposal};
use deadloop_score::{LabelRow, LabelsFile};

use crate::corpus::survey::open;
use crate::failure::{Code, RunResult};
use crate::host::Host;
use crate::label::propose_labels;

/// The labels that an import writes.
#[derive(Default)]
pub struct ImportedLabels {
    /// The proposals, one for each transcript without a label. `None` if none were requested.
    pub proposals: Option<Vec<Proposal>>,
    /// The ids of transcripts labelled by people whose text has changed since.
    pub stale: Vec<String>,
    /// All rows of the new labels.csv. `None` if it is unchanged.
    pub(super) rows: Option<Vec<LabelRow>>,
}

impl ImportedLabels {
    /// Determines the labels of the new corpus. `old` is the folder that it replaces, whose rows stay for transcripts
    /// without `carried` rows. A proposal is dropped when the text has changed. If `proposes`, every transcript without
    /// a row gets a proposal.
    ///
    /// # Errors
    /// Returns an error if a labels file has bad rows, which must not be lost, or if the host stopped it.
    pub(super) fn find(
        new: &Path,
        old: Option<&Path>,
        carried: Vec<LabelRow>,
        proposes: bool,
        host: &dyn Host,
    ) -> RunResult<Self> {
        let mut found = Self::default();
        let there = match old.map(read_rows).transpose() {
            Ok(rows) => rows.unwrap_or_default(),
            // A file that stays as it is may have bad rows.
            Err(_) if !proposes && carried.is_empty() => return Ok(found),
            Err(error) => return Err(error),
        };
        if there.is_empty() && carried.is_empty() && !proposes {
            return Ok(found);
        }
        let mut changed = BTreeSet::new();
        if let Some(old) = old.filter(|_| !there.is_empty()) {
            let before = hash_all(old);
            let differs =
                |(id, hash): &(String, String)| before.get(id).is_some_and(|old| old != hash);
            changed.extend(hash_all(new).into_iter().filter(differs).map(|(id, _)| id));
        }
        let mut rows = carried;
        let given: BTreeSet<String> = rows.iter().map(|row| row.transcript.clone()).collect();
        let before = there.len();
        let stays = |row: &LabelRow| {
            let auto = row.by == BY;
            !given.contains(&row.transcript)
                && !(auto && (proposes || changed.contains(&row.transcript)))
        };
        let kept: Vec<LabelRow> = there.into_iter().filter(stays).collect();
        let stale: BTreeSet<&String> = kept.iter().map(|row| &row.transcript).collect();
        found.stale = stale
            .into_iter()
            .filter(|id| changed.contains(*id))
            .cloned()
            .collect();
        let as_before = kept.len() == before && rows.is_empty();
        rows.extend(kept);
        if proposes {
            let proposals = propose_missing(new, &rows, host)?;
            rows.extend(proposals.iter().flat_map(|proposal| proposal.rows.clone()));
            found.proposals = Some(proposals).filter(|all| given.is_empty() || !all.is_empty());
        }
        found.rows = Some(rows).filter(|_| proposes || !as_before);
        Ok(found)
    }
}

/// Reads the label rows of a corpus. Returns an error if a row is bad, since it would be lost.
fn read_rows(corpus: &Path) -> RunResult<Vec<LabelRow>> {
    let path = corpus.join(super::target::LABELS);
    if !path.is_file() {
        return Ok(Vec::new());
    }
    let (labels, problems) = LabelsFile::read(&path);
    match problems.first() {
        Some(problem) => {
            Err(Code::Usage.error(format!("{problem}; mend it, or move the file away")))
        }
        None => Ok(labels.rows().cloned().collect()),
    }
}

/// Returns the hash of each text of a corpus by its id. Empty if the corpus cannot be read.
fn hash_all(corpus: &Path) -> BTreeMap<String, String> {
    let Ok(corpus) = Corpus::open(corpus) else {
        return BTreeMap::new();
    };
    let entries = corpus.entries().flatten();
    entries
        .map(|entry| (entry.transcript.id.clone(), text_hash(&entry.transcript)))
        .collect()
}

/// Returns a proposal for each transcript that has neither a row nor a label inside, in the order of the corpus.
fn propose_missing(corpus: &Path, rows: &[LabelRow], host: &dyn Host) -> RunResult<Vec<Proposal>> {
    let corpus = open(corpus)?;
    let labelled: BTreeSet<&str> = rows.iter().map(|row| row.transcript.as_str()).collect();
    let mut proposals = propose_labels(&corpus, &Selection::default(), true, host)?.proposals;
    proposals.retain(|proposal| !labelled.contains(proposal.transcript()));
    Ok(proposals)
}
