//! The starter corpus is whole, its planted loops are where its labels say, and it keeps to
//! `datasets/POLICY.md`; the cards of all corpora count what is in their files.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use deadloop_corpus::{Corpus, Entry, field};

fn datasets() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../datasets")
}

fn read(name: &str) -> (Corpus, Vec<Entry>) {
    let corpus = Corpus::open(&datasets().join(name)).unwrap();
    let mut entries = corpus.entries();
    let all: Vec<_> = entries.by_ref().map(Result::unwrap).collect();
    assert_eq!(corpus.stray_splits(entries.ids()), []);
    (corpus, all)
}

fn starter() -> (Corpus, Vec<Entry>) {
    read("starter")
}

fn rows(corpus: &Corpus) -> Vec<HashMap<String, String>> {
    let mut reader = csv::Reader::from_path(corpus.labels_csv().unwrap()).unwrap();
    reader.deserialize().map(Result::unwrap).collect()
}

#[test]
fn a_group_is_in_one_split_and_every_transcript_in_some() {
    let mut splits: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for entry in starter().1 {
        let group = entry.transcript.group.unwrap();
        splits
            .entry(group)
            .or_default()
            .insert(entry.split.unwrap());
    }
    let torn: Vec<_> = splits
        .iter()
        .filter(|(_, splits)| splits.len() > 1)
        .collect();
    assert!(torn.is_empty(), "{torn:?}");
}

#[test]
fn every_label_is_of_a_transcript_and_every_transcript_has_one() {
    let (corpus, entries) = starter();
    let ids: BTreeSet<_> = entries
        .iter()
        .map(|entry| entry.transcript.id.clone())
        .collect();
    let labelled: BTreeSet<_> = rows(&corpus)
        .into_iter()
        .map(|mut row| row.remove("transcript").unwrap())
        .collect();
    assert_eq!(ids, labelled);
    assert!(entries.iter().all(|entry| entry.labels.is_none()));
}

#[test]
fn planted_loops_repeat_where_their_labels_say() {
    let (corpus, entries) = starter();
    let entries: HashMap<_, _> = entries
        .iter()
        .map(|entry| (entry.transcript.id.as_str(), entry))
        .collect();
    let mut checked = 0;
    for row in rows(&corpus).iter().filter(|row| row["by"] == "planted") {
        let transcript = &entries[row["transcript"].as_str()].transcript;
        let text = if row["channel"] == "answer" {
            transcript.answer()
        } else {
            transcript.reasoning()
        };
        let text: Vec<char> = text.chars().collect();
        let number = |name: &str| row[name].parse::<usize>().unwrap();
        let (start, onset, period) = (number("start"), number("onset"), number("period"));
        assert_eq!(start + period, onset, "{row:?}");
        assert!(text.len() >= onset + 3 * period / 2, "{row:?}");
        let bucket = transcript.meta["onset"].as_str().unwrap();
        let expected = if onset < 2000 {
            "under-2000"
        } else if onset < 5000 {
            "2000-5000"
        } else {
            "over-5000"
        };
        assert_eq!(bucket, expected, "{row:?}");
        if ["short-sequence", "paragraph"].contains(&row["kind"].as_str()) {
            assert!(
                (onset..text.len()).all(|at| text[at] == text[at - period]),
                "{row:?}"
            );
            checked += 1;
        }
    }
    assert!(checked > 40, "{checked}");
}

#[test]
fn recordings_are_those_of_local_lm_with_labels_and_splits() {
    let [ours, theirs] = ["starter", "local-lm"].map(|name| {
        let (corpus, entries) = read(name);
        let recorded = |entry: &&Entry| field(entry, "meta.source").as_deref() == Some("local-lm");
        let recorded = entries.iter().filter(recorded);
        let recorded: Vec<_> = recorded
            .map(|e| (e.transcript.clone(), e.split.clone()))
            .collect();
        let ids: BTreeSet<&str> = recorded.iter().map(|(t, _)| t.id.as_str()).collect();
        let rows = rows(&corpus).into_iter();
        let rows: Vec<_> = rows
            .filter(|row| ids.contains(row["transcript"].as_str()))
            .collect();
        (recorded.clone(), rows)
    });
    assert_eq!(ours.0.len(), 415);
    assert!(ours == theirs);
}

#[test]
fn what_stands_before_a_planted_loop_is_of_its_split() {
    let sources = ["local-lm", "negatives"].map(|name| read(name).1);
    let of_text: HashMap<_, _> = sources
        .iter()
        .flatten()
        .map(|entry| (entry.transcript.id.as_str(), entry.split.as_deref()))
        .collect();
    let mut checked = 0;
    for entry in &starter().1 {
        let made = entry.transcript.meta.get("made");
        for id in made
            .iter()
            .flat_map(|made| made["clean_text_of"].as_array().unwrap())
        {
            assert_eq!(
                of_text[id.as_str().unwrap()],
                entry.split.as_deref(),
                "{id}"
            );
            checked += 1;
        }
    }
    assert!(checked > 156, "{checked}");
}

#[test]
fn hard_negatives_stand_in_both_channels() {
    let (_, entries) = starter();
    let with = |reasoning: bool, answer: bool| {
        let hard = entries.iter().map(|entry| &entry.transcript);
        let hard = hard.filter(|t| t.meta["source"] == "hard-negative");
        hard.filter(|t| t.reasoning().is_empty() != reasoning && t.answer().is_empty() != answer)
            .count()
    };
    for (reasoning, answer) in [(true, true), (true, false), (false, true)] {
        let count = with(reasoning, answer);
        assert!(
            count > 10,
            "reasoning {reasoning}, answer {answer}: {count}"
        );
    }
}

#[test]
fn every_class_of_the_policy_is_there_and_no_other() {
    let policy = std::fs::read_to_string(datasets().join("POLICY.md")).unwrap();
    let table = policy
        .lines()
        .skip_while(|line| !line.starts_with("| class"))
        .skip(2);
    let cells = table
        .take_while(|line| line.starts_with('|'))
        .filter_map(|line| line.split('|').nth(1));
    let named: BTreeSet<String> = cells
        .flat_map(|cell| cell.split(','))
        .map(|name| name.trim().trim_matches('`').to_owned())
        .collect();
    let hard = |entry: &&Entry| field(entry, "meta.source").as_deref() == Some("hard-negative");
    let there: BTreeSet<String> = starter()
        .1
        .iter()
        .filter(hard)
        .filter_map(|entry| field(entry, "meta.tag"))
        .collect();
    assert_eq!(there, named);
}

#[test]
fn cards_count_what_is_in_the_files() {
    for name in ["starter", "negatives", "puzzles", "local-lm"] {
        let (corpus, entries) = read(name);
        let mut of_model: BTreeMap<&str, i64> = BTreeMap::new();
        for entry in &entries {
            let model = entry.transcript.model.as_str();
            *of_model
                .entry(model.trim_end_matches("+planted"))
                .or_default() += 1;
        }
        let card = corpus.card().unwrap();
        for model in &card.models {
            let there = of_model.remove(model.name.as_str());
            let told = model
                .rest
                .get("transcripts")
                .and_then(toml::Value::as_integer);
            assert!(
                there.is_some() && told.is_none_or(|n| there == Some(n)),
                "{name}: {model:?}"
            );
        }
        assert!(
            card.models.is_empty() || of_model.is_empty(),
            "{name}: {of_model:?}"
        );

        let recorded = |entry: &&Entry| field(entry, "meta.source").as_deref() == Some("local-lm");
        let recorded: Vec<&Entry> = entries.iter().filter(recorded).collect();
        let prompts: BTreeSet<_> = recorded.iter().map(|e| &e.transcript.group).collect();
        let how = card.how.as_ref().unwrap();
        let told = format!(" {} prompts ", prompts.len());
        assert!(
            prompts.is_empty() || how.contains(&told),
            "{name}: {told:?}"
        );
        if name == "local-lm" {
            let loops = rows(&corpus)
                .into_iter()
                .filter(|row| row["class"] == "loop");
            let loops: BTreeSet<_> = loops.map(|row| row["transcript"].clone()).collect();
            let told = card.description.as_ref().unwrap();
            assert!(
                told.starts_with(&format!("{} streamed ", entries.len())),
                "{told}"
            );
            assert!(
                told.contains(&format!("; {} fall into a loop", loops.len())),
                "{told}"
            );
        }
    }
}
