//! The check for copies, which intervals and gates count once.

use std::collections::BTreeMap;

use deadloop_score::{CopyKey, units};

use super::{CheckAdvice, CheckFn, CheckedCorpus, CorpusCheck, Finding, Severity};
use crate::words;

pub(super) static ENTRY: CorpusCheck = CorpusCheck {
    name: "counted-once",
    severity: Severity::Warning,
    title: "copies of a transcript",
    why: "copies are equal texts, texts that differ only in numbers, and runs with equal calls and results. Rates count each copy; intervals and gates count one, because the others add no evidence",
    advice: CheckAdvice::Plain("record other transcripts, or keep one of each"),
    find: CheckFn::Corpus(find_copies),
};

/// The maximum number of copies to name in a finding.
const MAX_NAMED: usize = 4;

fn find_copies(seen: &CheckedCorpus) -> Vec<Finding> {
    let mut found: BTreeMap<usize, (Vec<usize>, CopyKey)> = BTreeMap::new();
    for unit in units(&seen.cases) {
        let mut same: BTreeMap<CopyKey, Vec<usize>> = BTreeMap::new();
        for (i, case) in seen.cases.iter().enumerate() {
            same.entry(case.copy_key(unit)).or_default().push(i);
        }
        let several = same.into_iter().filter(|(_, members)| members.len() > 1);
        for (key, members) in several {
            found.entry(members[0]).or_insert((members, key));
        }
    }
    let all = found.into_values();
    all.map(|(members, key)| copies_finding(seen, &members, key))
        .collect()
}

fn copies_finding(seen: &CheckedCorpus, members: &[usize], key: CopyKey) -> Finding {
    let cases: Vec<&str> = members.iter().map(|i| &*seen.cases[*i].id).collect();
    let what = match key {
        CopyKey::Text(_) => "say the same, but for numbers in long texts",
        CopyKey::Calls(_) => "have the same calls and results",
    };
    let n = words::count(members.len() as u64);
    let others: Vec<&str> = cases.iter().skip(1).take(MAX_NAMED).copied().collect();
    let more = match cases.len().saturating_sub(1 + MAX_NAMED) {
        0 => String::new(),
        more => format!(" and {} more", words::count(more as u64)),
    };
    Finding {
        transcripts: cases.iter().map(|id| (*id).to_owned()).collect(),
        ..seen.finding_on(
            members[0],
            format!(
                "{n} transcripts {what}, and count as one: also {}{more}",
                others.join(", ")
            ),
        )
    }
}
