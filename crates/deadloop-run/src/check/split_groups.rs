//! The check for groups with transcripts in several splits.

use std::collections::BTreeMap;

use super::{CheckAdvice, CheckFn, CheckedCorpus, CorpusCheck, Finding, Severity};

pub(super) static ENTRY: CorpusCheck = CorpusCheck {
    name: "torn-group",
    severity: Severity::Warning,
    title: "groups in several splits",
    why: "the transcripts of a group belong together, usually by prompt. Settings chosen on a part of a group and tested on the rest look better than they are",
    advice: CheckAdvice::Plain("give all transcripts of a group one split in splits.csv"),
    find: CheckFn::Corpus(find_split_groups),
};

/// The case indices of a group, by split.
type GroupSplits<'a> = BTreeMap<&'a str, Vec<usize>>;

fn find_split_groups(seen: &CheckedCorpus) -> Vec<Finding> {
    let mut groups: BTreeMap<&str, GroupSplits<'_>> = BTreeMap::new();
    for (place, case) in seen.cases.iter().enumerate() {
        if let (Some(group), Some(split)) = (&case.group, &case.split) {
            let splits = groups.entry(group).or_default();
            splits.entry(split).or_default().push(place);
        }
    }
    let torn = groups.into_iter().filter(|(_, splits)| splits.len() > 1);
    torn.map(|(group, splits)| split_group_finding(seen, group, &splits))
        .collect()
}

fn split_group_finding(seen: &CheckedCorpus, group: &str, splits: &GroupSplits<'_>) -> Finding {
    let shares: Vec<String> = splits
        .iter()
        .map(|(split, cases)| format!("{} in {split}", cases.len()))
        .collect();
    let ids = splits
        .values()
        .flatten()
        .map(|i| seen.cases[*i].id.to_string());
    Finding {
        place: None,
        transcripts: ids.collect(),
        what: format!("group {group:?}: {}", shares.join(", ")),
    }
}
