//! The starter corpus is complete, its loops are where its labels say, and it follows `datasets/POLICY.md`. The cards
//! of all corpora have the right counts.
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

fn id(entry: &Entry) -> &str {
    &entry.transcript.id
}

/// Returns whether a transcript was recorded from the local models.
fn is_recorded(entry: &&Entry) -> bool {
    field(entry, "meta.source").as_deref() == Some("local-lm")
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
        let splits = splits.entry(entry.transcript.group.unwrap()).or_default();
        splits.insert(entry.split.unwrap());
    }
    let torn: Vec<_> = splits.iter().filter(|(_, s)| s.len() > 1).collect();
    assert!(torn.is_empty(), "{torn:?}");
}

#[test]
fn every_label_is_of_a_transcript_and_every_transcript_has_one() {
    let (corpus, entries) = starter();
    let ids: BTreeSet<&str> = entries.iter().map(id).collect();
    let rows = rows(&corpus);
    let labelled: BTreeSet<&str> = rows.iter().map(|row| row["transcript"].as_str()).collect();
    assert_eq!(ids, labelled);
    assert!(entries.iter().all(|entry| entry.labels.is_none()));
}

#[test]
fn planted_loops_repeat_where_their_labels_say() {
    let (corpus, entries) = starter();
    let entries: HashMap<_, _> = entries.iter().map(|entry| (id(entry), entry)).collect();
    let mut checked = 0;
    for row in rows(&corpus).iter().filter(|row| row["by"] == "planted") {
        let transcript = &entries[row["transcript"].as_str()].transcript;
        let text = match row["channel"].as_str() {
            "answer" => transcript.answer(),
            _ => transcript.reasoning(),
        };
        let text: Vec<char> = text.chars().collect();
        let number = |name: &str| row[name].parse::<usize>().unwrap();
        let (start, onset, period) = (number("start"), number("onset"), number("period"));
        assert_eq!(start + period, onset, "{row:?}");
        assert!(text.len() >= onset + 3 * period / 2, "{row:?}");
        let bucket = transcript.meta["onset"].as_str().unwrap();
        let expected = match onset {
            0..2000 => "under-2000",
            2000..5000 => "2000-5000",
            _ => "over-5000",
        };
        assert_eq!(bucket, expected, "{row:?}");
        if ["short-sequence", "paragraph"].contains(&row["kind"].as_str()) {
            let mut places = onset..text.len();
            assert!(places.all(|at| text[at] == text[at - period]), "{row:?}");
            checked += 1;
        }
    }
    assert!(checked > 40, "{checked}");
}

#[test]
fn recordings_are_those_of_local_lm_with_labels_and_splits() {
    let [ours, theirs] = ["starter", "local-lm"].map(|name| {
        let (corpus, entries) = read(name);
        let recorded = || entries.iter().filter(is_recorded);
        let ids: BTreeSet<&str> = recorded().map(id).collect();
        let mut rows = rows(&corpus);
        rows.retain(|row| ids.contains(row["transcript"].as_str()));
        let kept = recorded().map(|e| (e.transcript.clone(), e.split.clone()));
        (kept.collect::<Vec<_>>(), rows)
    });
    assert_eq!(ours.0.len(), 415);
    assert!(ours == theirs);
}

#[test]
fn what_stands_before_a_planted_loop_is_of_its_split() {
    let sources = ["local-lm", "negatives"].map(|name| read(name).1);
    let texts = sources.iter().flatten();
    let of_text: HashMap<_, _> = texts.map(|entry| (id(entry), &entry.split)).collect();
    let mut checked = 0;
    for entry in &starter().1 {
        let Some(made) = entry.transcript.meta.get("made") else {
            continue;
        };
        for id in made["clean_text_of"].as_array().unwrap() {
            assert_eq!(of_text[id.as_str().unwrap()], &entry.split, "{id}");
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
    let mut hard = starter().1;
    hard.retain(|entry| entry.transcript.meta["source"] == "hard-negative");
    let tags = hard.iter().filter_map(|entry| field(entry, "meta.tag"));
    assert_eq!(tags.collect::<BTreeSet<_>>(), named);
}

#[test]
fn cards_count_what_is_in_the_files() {
    for name in ["starter", "negatives", "puzzles", "local-lm"] {
        let (corpus, entries) = read(name);
        let mut of_model: BTreeMap<&str, i64> = BTreeMap::new();
        for entry in &entries {
            let model = entry.transcript.model.trim_end_matches("+planted");
            *of_model.entry(model).or_default() += 1;
        }
        let card = corpus.card().unwrap();
        for model in &card.models {
            let there = of_model.remove(model.name.as_str());
            let told = model.rest.get("transcripts");
            let told = told.map_or(there, toml::Value::as_integer);
            assert!(there.is_some() && told == there, "{name}: {model:?}");
        }
        let all_named = card.models.is_empty() || of_model.is_empty();
        assert!(all_named, "{name}: {of_model:?}");

        let recorded = entries.iter().filter(is_recorded);
        let prompts: BTreeSet<_> = recorded.map(|e| &e.transcript.group).collect();
        let how = card.how.as_ref().unwrap();
        let told = format!(" {} prompts ", prompts.len());
        assert!(
            prompts.is_empty() || how.contains(&told),
            "{name}: {told:?}"
        );
        if name == "local-lm" {
            let mut rows = rows(&corpus);
            rows.retain(|row| row["class"] == "loop");
            let loops: BTreeSet<&String> = rows.iter().map(|row| &row["transcript"]).collect();
            let told = card.description.as_ref().unwrap();
            let streamed = format!("{} streamed ", entries.len());
            let looped = format!("; {} fall into a loop", loops.len());
            assert!(
                told.starts_with(&streamed) && told.contains(&looped),
                "{told}"
            );
        }
    }
}
