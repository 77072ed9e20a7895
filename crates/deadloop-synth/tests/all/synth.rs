//! Synthetic corpora: loops are where their labels say, the same spec gives the same transcripts, items are
//! independent, and errors in a spec are reported with their line.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use deadloop_corpus::{Body, Class, Corpus};
use deadloop_finder::selection::{FoundSpan, find};
use deadloop_synth::Synth;
use deadloop_synth::forms::Forms;
use deadloop_synth::label::PlantedLabel;
use deadloop_synth::spec::{CorpusSpec, SourcePlace, describe_keys};
use deadloop_synth::stock::{CleanText, RealStream, Stock, TimedPiece};
use deadloop_synth::transcript::SynthTranscript;

fn datasets() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../datasets")
}

/// Reads a spec of `datasets/` and its inputs. Its clean transcripts are found by a simple slow method.
fn read(name: &str) -> (CorpusSpec, Stock) {
    let folder = datasets().join(name);
    let spec = CorpusSpec::read(&folder.join("spec.toml")).unwrap();
    let mut stock = Stock {
        forms: spec.read_forms(&folder).unwrap(),
        ..Stock::default()
    };
    for source in &spec.sources {
        stock.texts.push(match &source.place {
            SourcePlace::Text(text) => source.paragraphs(&folder.join(text)).unwrap(),
            SourcePlace::Corpus(corpus) => clean(&folder.join(corpus)),
        });
    }
    (spec, stock)
}

/// Returns the texts of a corpus that are labelled clean.
fn clean(path: &Path) -> Vec<CleanText> {
    let corpus = Corpus::open(path).unwrap();
    let mut reader = csv::Reader::from_path(corpus.labels_csv().unwrap()).unwrap();
    let rows = reader.records().map(Result::unwrap);
    let clean: BTreeSet<String> = rows
        .filter(|row| &row[1] == "clean")
        .map(|row| row[0].to_owned())
        .collect();
    let entries = corpus.entries().map(Result::unwrap);
    let wanted = |entry: &deadloop_corpus::Entry| clean.contains(&entry.transcript.id);
    entries
        .filter(wanted)
        .filter_map(|entry| CleanText::from_entry(&entry))
        .collect()
}

fn all(spec: &CorpusSpec, stock: &Stock) -> Vec<SynthTranscript> {
    let synth = Synth::new(spec, stock);
    synth
        .jobs()
        .iter()
        .map(|job| synth.make(job).unwrap())
        .collect()
}

fn text(made: &SynthTranscript, channel: &str) -> Vec<char> {
    let transcript = &made.entry.transcript;
    let text = if channel == "answer" {
        transcript.answer()
    } else {
        transcript.reasoning()
    };
    text.chars().collect()
}

/// Returns whether `unit` is a repetition of a smaller unit, by a simple slow method.
fn is_power(unit: &[char]) -> bool {
    (1..unit.len()).any(|part| {
        unit.len().is_multiple_of(part) && unit.chunks(part).all(|chunk| chunk == &unit[..part])
    })
}

fn exact(kind: &str) -> bool {
    ["short-sequence", "paragraph"].contains(&kind)
}

/// Verifies a label against the text by a simple slow method.
fn verify(made: &SynthTranscript, label: &PlantedLabel) {
    let id = &made.entry.transcript.id;
    let text = text(made, &label.channel);
    let places = [label.start, label.onset, label.period];
    let [start, onset, period] = places.map(Option::unwrap);
    let end = label.end.unwrap_or(text.len());
    let check = |contains: bool, what: &str| assert!(contains, "{id}: {what}: {label:?}");
    check(onset == start + period, "another onset");
    check(end <= text.len() && onset < end, "an end outside");
    let same = |at: usize| text[at] == text[at - period];
    if exact(label.kind) {
        check((onset..end).all(same), "not exact");
        check(!is_power(&text[start..onset]), "a smaller period");
        check(end == text.len() || !same(end), "goes on");
        let before = (period..onset).rev().take_while(|at| same(*at));
        let mut before = before.map(|at| at - period).take(period);
        let began = before.any(|at| text[at].is_alphanumeric());
        check(!began, "began before");
    } else if label.kind == "near-repeat" {
        check(!(onset..end).all(same), "exact");
    } else {
        let lines: String = text[start..end].iter().collect();
        let numbers: Vec<usize> = lines.lines().filter_map(number).collect();
        let digits = |n: usize| n.to_string().len();
        let counts = |n: &[usize]| n[1] == n[0] + 1 || digits(n[1]) < digits(n[0]);
        check(numbers.len() >= 3, "too short a list");
        check(numbers.windows(2).all(counts), "a list that does not count");
    }
}

/// Returns the number of a list item.
fn number(line: &str) -> Option<usize> {
    let digits: String = line.chars().take_while(char::is_ascii_digit).collect();
    let mark = line[digits.len()..].starts_with(['.', ')', '、']);
    mark.then(|| digits.parse().ok()).flatten()
}

#[test]
fn planted_loops_are_where_their_labels_say() {
    let (spec, stock) = read("planted");
    let made = all(&spec, &stock);
    let mut seen: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for made in &made {
        for label in made.labels.iter().filter(|label| label.class != "clean") {
            verify(made, label);
            *seen.entry((label.class, label.kind)).or_default() += 1;
        }
    }
    for kind in ["short-sequence", "paragraph", "ordered-list", "near-repeat"] {
        assert!(seen[&("loop", kind)] >= 20, "{seen:?}");
    }
    assert!(seen[&("transient", "paragraph")] >= 14, "{seen:?}");
    let bytes: usize = made
        .iter()
        .map(|made| made.entry.transcript.answer().len())
        .sum();
    assert!(bytes < 4_000_000, "{bytes}: a few MB at most");
}

/// Returns the distance from the label's onset to the nearest onset of the finder, in chars, and whether its `earliest`
/// is the label's onset.
fn off(made: &SynthTranscript, label: &PlantedLabel) -> Option<(i64, bool)> {
    let text: String = text(made, &label.channel).iter().collect();
    let onset = label.onset.unwrap() as i64;
    let spans = find(&text).spans;
    let off = |span: &FoundSpan| {
        let early = span.earliest.is_some_and(|at| at as i64 == onset);
        (span.onset as i64 - onset, early)
    };
    spans.iter().map(off).min_by_key(|(off, _)| off.abs())
}

#[test]
fn every_exact_loop_is_found_to_the_char_and_most_of_the_others() {
    let (spec, stock) = read("planted");
    let (mut exact, mut near) = (0, Vec::new());
    for made in all(&spec, &stock) {
        let id = &made.entry.transcript.id;
        let main = made.labels.iter().find(|label| label.class == "loop");
        let Some(label) = main else {
            continue;
        };
        let off = off(&made, label);
        if label.kind == "near-repeat" {
            near.push(off);
        } else {
            assert_eq!(off.map(|(off, _)| off), Some(0), "{id} {}", label.kind);
            exact += 1;
        }
    }
    let count = |is: fn(&(i64, bool)) -> bool| near.iter().flatten().filter(|o| is(o)).count();
    assert_eq!((exact, near.len()), (192, 96));
    assert!(count(|(off, _)| *off == 0) >= 80, "{near:?}");
    assert!(count(|(off, early)| *off == 0 || *early) >= 92, "{near:?}");
    assert!(near.iter().flatten().count() >= 95, "{near:?}");
}

#[test]
fn a_group_is_in_one_split() {
    let (spec, stock) = read("negatives");
    let mut splits: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for made in all(&spec, &stock) {
        let group = made.entry.transcript.group.unwrap();
        let split = made.entry.split.unwrap();
        splits.entry(group).or_default().insert(split);
    }
    let torn: Vec<_> = splits.iter().filter(|(_, s)| s.len() > 1).collect();
    assert!(torn.is_empty(), "{torn:?}");
    let test = splits.values().filter(|s| s.contains("test")).count();
    let (low, high) = (splits.len() / 4, splits.len() * 2 / 5);
    assert!((low..high).contains(&test), "{test} of {}", splits.len());
}

#[test]
fn hard_negatives_are_what_was_made() {
    for name in ["negatives", "puzzles"] {
        let (spec, stock) = read(name);
        let made = all(&spec, &stock);
        let corpus = Corpus::open(&datasets().join(name)).unwrap();
        let committed: Vec<_> = corpus.entries().map(Result::unwrap).collect();
        assert_eq!(committed.len(), made.len());
        for (committed, made) in committed.iter().zip(&made) {
            assert_eq!(committed.transcript, made.entry.transcript);
            assert_eq!(committed.split, made.entry.split);
        }
    }
}

#[test]
fn hard_negatives_are_of_the_policys_classes_and_no_two_are_alike() {
    let policy = std::fs::read_to_string(datasets().join("POLICY.md")).unwrap();
    let (mut texts, mut classes) = (BTreeSet::new(), BTreeSet::new());
    for name in ["negatives", "puzzles"] {
        let (spec, stock) = read(name);
        for made in all(&spec, &stock) {
            let transcript = &made.entry.transcript;
            let class = transcript.meta["tag"].as_str().unwrap().to_owned();
            classes.insert(class);
            let text = transcript.answer() + &transcript.reasoning();
            assert!(texts.insert(text), "{}", transcript.id);
        }
    }
    assert!(texts.len() >= 800, "{}", texts.len());
    // The first cells of all tables.
    let cells = policy
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split('|').next());
    let named = cells.flat_map(|cell| cell.split(','));
    let named: BTreeSet<String> = named
        .map(|name| name.trim().trim_matches('`').to_owned())
        .collect();
    assert_eq!(classes, named);
}

#[test]
fn the_finder_takes_no_puzzle_for_a_loop() {
    let (spec, stock) = read("puzzles");
    for made in all(&spec, &stock) {
        let transcript = &made.entry.transcript;
        for text in [transcript.reasoning(), transcript.answer()] {
            let found = find(&text);
            assert_ne!(found.class, Class::Loop, "{}: {found:?}", transcript.id);
        }
    }
}

/// Many kinds of repetition, with the expected result of the finder. A text that is cut a few chars into a third copy
/// is not reported, and healthy text is clean.
#[test]
fn planted_texts_of_recent_kinds_are_found_as_loops() {
    let (spec, stock) = read("planted-text");
    let (mut items, mut doubted, mut clean) = (BTreeSet::new(), 0, 0);
    for made in all(&spec, &stock) {
        let id = &made.entry.transcript.id;
        let item = id.split('/').next().unwrap().to_owned();
        let label = &made.labels[0];
        let text: String = text(&made, &label.channel).iter().collect();
        let found = find(&text);
        if label.class == "clean" {
            assert_eq!(found.class, Class::Clean, "{id}: {found:?}");
            clean += 1;
            continue;
        }
        verify(&made, label);
        let onset = label.onset.unwrap() as i64;
        let third = text.chars().count() as i64 - onset - label.period.unwrap() as i64;
        if found.class != Class::Loop && item.starts_with("twice") && third < 100 {
            doubted += 1;
            continue;
        }
        assert_eq!(found.class, Class::Loop, "{id}: {found:?}");
        let spans = found.spans.iter();
        let places = spans.flat_map(|span| [Some(span.onset), span.earliest]);
        let off = places.flatten().map(|at| (at as i64 - onset).abs()).min();
        let most = if item.contains("sentences") {
            1000
        } else {
            100
        };
        assert!(off.unwrap() <= most, "{id}: {off:?}");
        items.insert(item);
    }
    assert_eq!((items.len(), doubted, clean), (14, 5, 21), "{items:?}");
}

const SMALL: &str = "name = \"small\"\nseed = 5\n[[source]]\nname = \"prose\"\ntext = \"prose.txt\"\nlang = \"en\"\n";
const ITEM: &str = "[[item]]\nname = \"a\"\nkind = \"paragraph\"\ncount = 3\nperiod = [20, 90]\nonset = [200, 500]\n";

fn stock() -> Stock {
    let text = std::fs::read_to_string(datasets().join("sources/prose-en.txt")).unwrap();
    let texts = text.split("\n\n").enumerate();
    let texts = texts.map(|(at, text)| written(at.to_string(), None, text.trim()));
    Stock {
        texts: vec![texts.collect()],
        ..Stock::default()
    }
}

/// Creates an English text by a model or a person.
fn written(id: String, model: Option<&str>, text: &str) -> CleanText {
    CleanText {
        id,
        model: model.map(str::to_owned),
        group: None,
        split: None,
        lang: "en".into(),
        text: text.into(),
    }
}

/// Creates a stock with the real answer of `t0`.
fn one_answer(real: RealStream) -> Stock {
    Stock {
        texts: vec![vec![written("t0".to_owned(), Some("m"), &real.answer)]],
        real: vec![[("t0".to_owned(), real)].into()],
        ..Stock::default()
    }
}

#[test]
fn another_item_changes_nothing_and_another_seed_everything() {
    let ids = |spec: &str| -> BTreeMap<String, String> {
        let made = all(&CorpusSpec::parse(spec).unwrap(), &stock()).into_iter();
        let transcripts = made.map(|made| made.entry.transcript);
        transcripts.map(|t| (t.id.clone(), t.answer())).collect()
    };
    let one = ids(&format!("{SMALL}{ITEM}"));
    let other = ITEM
        .replace("\"a\"", "\"b\"")
        .replace("count = 3", "count = 2");
    let two = ids(&format!("{SMALL}{other}{ITEM}"));
    assert_eq!((one.len(), two.len()), (3, 5));
    assert!(one.iter().all(|(id, text)| two[id] == *text));
    let reseeded = ids(&format!("{SMALL}{ITEM}").replace("seed = 5", "seed = 6"));
    assert!(one.iter().all(|(id, text)| reseeded[id] != *text));
    let more = ids(&format!("{SMALL}{ITEM}").replace("count = 3", "count = 9"));
    assert!(one.iter().all(|(id, text)| more[id] == *text));
}

/// Only transcripts that a fault can damage are drawn, and their content is the gold.
#[test]
fn a_fault_befalls_the_one_transcript_that_has_what_it_damages() {
    let text_of_spec = "name = \"real\"\nseed = 5\ntest = 0\n[[source]]\nname = \"real\"\ncorpus = \"corpus\"\n[[item]]\nname = \"a\"\nkind = \"fault\"\n\
         stream = \"think\"\nsource = \"real\"\nlang = \"en\"\nfault = [\"think-open\", \"think-missing\"]\ncount = 6\nintact = 0\n";
    let spec = CorpusSpec::parse(text_of_spec).unwrap();
    let id = |at: usize| format!("t{at}");
    let clean = |at| written(id(at), Some("m"), "It is four.");
    let real = |at| RealStream {
        reasoning: if at == 777 { "Two and two." } else { "" }.into(),
        answer: "It is four.".into(),
        ..RealStream::default()
    };
    let stock = Stock {
        texts: vec![(0..1000).map(clean).collect()],
        real: vec![(0..1000).map(|at| (id(at), real(at))).collect()],
        ..Stock::default()
    };
    let kept = "writers = \"kept\"\n".to_owned() + text_of_spec;
    for made in all(&CorpusSpec::parse(&kept).unwrap(), &stock) {
        assert_eq!(made.entry.transcript.model, "m");
    }
    let made = all(&spec, &stock);
    assert_eq!(made.len(), 6);
    for made in made {
        let meta = &made.entry.transcript.meta;
        assert_eq!(meta["made"]["of"], "t777");
        assert_eq!(made.entry.transcript.model, "m+damaged");
        let gold = meta["gold"].to_string();
        assert!(
            gold.contains("Two and two.") && gold.contains("It is four."),
            "{gold}"
        );
        let answer = made.entry.transcript.answer();
        assert_ne!(answer, "<think>Two and two.</think>It is four.");
    }
}

/// Texts without a language fit any language.
#[test]
fn text_without_a_language_is_of_any() {
    let spec = CorpusSpec::parse(&format!("{SMALL}{ITEM}")).unwrap();
    let mut stock = stock();
    let texts = stock.texts.iter_mut().flatten();
    texts.for_each(|text| text.lang.clear());
    assert_eq!(all(&spec, &stock).len(), 3);
}

#[test]
fn ranges_are_kept() {
    let spec = CorpusSpec::parse(
        &format!("{SMALL}{ITEM}copies = [5, 7]\nlength = 0\ntruncate = false\nafter = [50, 80]\n")
            .replace("count = 3", "count = 40"),
    )
    .unwrap();
    for made in all(&spec, &stock()) {
        let label = &made.labels[0];
        let places = [label.start, label.onset, label.period, label.end];
        let [start, onset, period, end] = places.map(Option::unwrap);
        let after = text(&made, "answer").len() - end;
        let kept = (20..=90).contains(&period)
            && (200..=500).contains(&onset)
            && (5 * period..8 * period).contains(&(end - start))
            && (50..=90).contains(&after);
        assert!(kept, "{label:?}");
    }
}

#[test]
fn chunks_are_of_the_wanted_size_and_lose_nothing() {
    let item = format!("{SMALL}{ITEM}chunks = {{ by = \"chars\", size = [2, 5], ms = [3, 9] }}\n");
    let made = |spec: &str| all(&CorpusSpec::parse(spec).unwrap(), &stock());
    let whole = made(&format!("{SMALL}{ITEM}"));
    for (whole, cut) in whole.iter().zip(&made(&item)) {
        assert_eq!(text(whole, "answer"), text(cut, "answer"));
        assert_eq!(cut.entry.transcript.meta["times"], "made");
        let mut clock = 0.0;
        let events = &cut.entry.transcript.events;
        for (at, event) in events.iter().enumerate() {
            if let Body::Answer(text) = &event.body {
                let last = at + 2 == events.len();
                assert!(last || (2..=5).contains(&text.chars().count()));
                let step = event.t_ms.unwrap() - clock;
                assert!((3.0..=9.0).contains(&step));
                clock += step;
            }
        }
    }
}

/// With a source and forms, the actions of a form are inserted into a real answer, and the gold has both.
#[test]
fn actions_are_planted_into_real_answers() {
    let item = |more: &str| {
        format!(
            "name = \"real\"\nseed = 5\ntest = 0\n[[source]]\nname = \"real\"\ncorpus = \"corpus\"\n\
             [[forms]]\nname = \"f\"\nfile = \"f.toml\"\n[[item]]\nname = \"a\"\nkind = \"fault\"\nsource = \"real\"\n\
             forms = \"f\"\nlang = \"en\"\ncount = 12\n{more}\n"
        )
    };
    let forms = "[[form]]\nname = \"note\"\nclass = \"tags\"\ntext = \"<create_note><id>{{ int(1, 9) }}</id>seven</create_note>\"\n";
    let answer = "It is four. It was five.\nIt will be six!";
    let real = RealStream {
        answer: answer.into(),
        ..RealStream::default()
    };
    let stock = Stock {
        forms: [("f".to_owned(), Forms::parse(forms).unwrap())].into(),
        ..one_answer(real)
    };
    let spec = item("stream = \"tags\"\nfault = [\"case\", \"unclosed\"]");
    let made = all(&CorpusSpec::parse(&spec).unwrap(), &stock);
    assert_eq!(made.len(), 12);
    let mut texts = BTreeSet::new();
    for made in made {
        let transcript = &made.entry.transcript;
        assert_eq!(transcript.model, "m+damaged");
        assert_eq!(transcript.meta["made"]["of"], "t0 and form/note");
        let gold = &transcript.meta["gold"];
        assert_eq!(gold["actions"][0]["content"], "seven");
        let said = gold["text"].as_str().unwrap();
        assert_eq!(said.replace('\n', ""), answer.replace('\n', ""));
        texts.insert(said.to_owned());
    }
    assert!(texts.len() > 1, "between one pair of sentences alone");

    let spec = item("stream = \"arguments\"\nfault = \"cut\"");
    let refused = CorpusSpec::parse(&spec).unwrap_err().to_string();
    assert!(refused.contains("stream tags or think"), "{refused}");
}

#[test]
fn a_stall_in_a_recording_keeps_its_pieces_and_times() {
    let spec = |chunks: &str| {
        format!(
            "name = \"x\"\nseed = 1\ntest = 0\n[[source]]\nname = \"s\"\ncorpus = \"s\"\n[[item]]\nname = \"a\"\nkind = \"fault\"\n\
             source = \"s\"\ncount = 40\nintact = 0.5\nlang = \"en\"\nstream = \"whole\"\nfault = \"stall\"\nchunks = {chunks}\n"
        )
    };
    let pieces =
        [(6, 10.0), (1, 2500.0), (5, 9000.0)].map(|(chars, t_ms)| TimedPiece { chars, t_ms });
    let stock = one_answer(RealStream {
        answer: "It is four.".into(),
        pieces: pieces.to_vec(),
        over: Some(9100.0),
        ..RealStream::default()
    });
    let mut lengths = BTreeSet::new();
    let recorded = CorpusSpec::parse(&spec("{ by = \"recorded\" }")).unwrap();
    for made in all(&recorded, &stock) {
        let events = &made.entry.transcript.events;
        let times: Vec<f64> = events.iter().map(|event| event.t_ms.unwrap()).collect();
        let (end, said) = times.split_last().unwrap();
        let recorded = pieces.map(|piece| piece.t_ms);
        assert_eq!(said, &recorded[..said.len()]);
        match made.entry.transcript.meta.get("fault") {
            None => assert_eq!((said.len(), *end), (3, 9100.0), "as it was"),
            Some(_) => assert_eq!(*end, said.last().unwrap() + 120_000.0),
        }
        assert!(made.entry.transcript.meta.get("times").is_none());
        lengths.insert(said.len());
    }
    assert_eq!(lengths.len(), 3);

    let refused = |spec: &str| CorpusSpec::parse(spec).unwrap_err().to_string();
    let size = refused(&spec("{ by = \"recorded\", size = 3 }"));
    assert!(size.contains("by alone"), "{size}");
    let cut = spec("{ by = \"recorded\" }").replace("stall", "cut");
    let text = refused(&cut.replace("whole", "text"));
    assert!(text.contains("stream whole"), "{text}");
}

/// A part of a spec, its replacement, and the beginning of the expected error.
const WRONG: &str = r#"
seed = 5 -> sead = 5 -> 2: unknown key sead (did you mean "seed"?), expected one of name, seed
seed = 5 -> -> 1: no seed, expected a whole number
name = "small" -> name = small -> 1:
kind = "paragraph" -> kind = "paragraf" -> 9: kind = "paragraf" (did you mean "paragraph"?), expected short-sequence | paragraph
count = 3 -> count = 0 -> 10: count = 0, expected a whole number from 1 to 100000
period = [20, 90] -> period = [90, 20] -> 11: period = [90, 20], expected n or [low, high]
period = [20, 90] -> period = [600, 900] -> 12: onset 200 to 500 leaves no room for a first copy of 600 to 900 chars, expected an onset of at least 600 chars
onset = [200, 500] -> class = "transient" -> 12: class = "transient" without an end, expected after of 1 and more
onset = [200, 500] -> drift = { kind = "word" } -> 12: paragraph whose copies differ, expected kind = "near-repeat"
onset = [200, 500] -> drift = { kind = "wort" } -> 12: kind = "wort" (did you mean "word"?), expected counter | fill
onset = [200, 500] -> truncate = 1 -> 12: truncate = 1, expected true or false
[[item]] -> [item] -> 7: [item], expected tables
onset = [200, 500] -> around = 2 -> 12: around has no meaning for kind paragraph
onset = [200, 500] -> unit = "x" -> 12: unit x: there is none, expected a table of that name
onset = [200, 500] -> source = "x" -> 12: source x: there is none, expected one of prose
kind = "paragraph" -> kind = "near-repeat" -> 9: near-repeat without drift
kind = "paragraph" -> kind = "clean" -> 11: period has no meaning for kind clean
text = "prose.txt" -> -> 4: a source of neither or both, expected corpus or text
lang = "en" -> -> 5: a text without lang
"#;

#[test]
fn what_is_wrong_is_told_with_its_line() {
    let told = |spec: &str| CorpusSpec::parse(spec).unwrap_err().to_string();
    for case in WRONG.trim().lines() {
        let mut parts = case.splitn(3, "->").map(str::trim);
        let [from, to, error] = [(); 3].map(|()| parts.next().unwrap());
        let told = told(&format!("{SMALL}{ITEM}").replacen(from, to, 1));
        assert!(told.starts_with(error), "{case}: {told}");
    }
    let twice = told(&format!("{SMALL}{ITEM}{ITEM}"));
    assert!(twice.starts_with("14: two items named a"), "{twice}");
}

#[test]
fn what_cannot_be_made_names_the_transcript_and_why() {
    let far = ITEM.replace("onset = [200, 500]", "onset = 900000");
    let spec = CorpusSpec::parse(&format!("{SMALL}{far}")).unwrap();
    let stock = Stock {
        texts: vec![Vec::new()],
        ..Stock::default()
    };
    let synth = Synth::new(&spec, &stock);
    let told = synth.make(&synth.jobs()[0]).unwrap_err().to_string();
    assert_eq!(
        told,
        "7: a/000 cannot be made: no clean text of its language in its sources, expected wider ranges, or more clean text in its source, language and split"
    );
}

#[test]
fn forms_are_checked_when_they_are_read() {
    let form = "[lists]\nwords = [\"a\", \"b\"]\n[[form]]\nname = \"x\"\nclass = \"csv-rows\"\ntext = \"{{ pick(words) }}\"\n";
    assert!(Forms::parse(form).is_ok());
    let told = |form: String| Forms::parse(&form).unwrap_err().to_string();
    let place = "6: form x, line 1 of its text";
    let syntax = format!("{place}: syntax error");
    let cases = [
        ("pick(words)", "pick(wards)", place),
        ("pick(words)", "pick(words", &syntax),
        ("class = \"csv-rows\"\n", "", "3: no class"),
        ("class", "clas", "5: unknown key clas"),
        ("[\"a\", \"b\"]", "3", "2: words = 3, expected a table"),
    ];
    for (from, to, error) in cases {
        let told = told(form.replace(from, to));
        assert!(told.starts_with(error), "{told}");
    }
}

/// Exactly the keys of `--keys` are read, with the described values.
#[test]
fn every_key_is_told_once_and_as_it_is_read() {
    const WHOLE: &str = "unit = [{ name = 'u', lang = 'en', texts = 'x' }]\ntool = [{ name = 't' }]
        forms = [{ name = 'f', file = 'f.toml' }]\nform = [{ name = 'f', class = 'c', text = 'x' }]";
    let keys = describe_keys();
    let names: BTreeSet<_> = keys.iter().map(|key| (&key.table, &key.key)).collect();
    assert_eq!(names.len(), keys.len());
    let item = ITEM.replace("paragraph", "near-repeat");
    let more = "drift = { kind = 'word' }\nchunks = { by = 'chars' }\n";
    let whole: toml::Table = format!("{WHOLE}\n{SMALL}{item}{more}").parse().unwrap();
    // What is told of a table with another value at a key.
    let told = |table: &str, key: &str, value: toml::Value| {
        let mut whole = whole.clone();
        let is_form = table.contains("form]]") || table.contains("a file");
        whole.retain(|key, _| is_form == (key == "form" || key == "lists"));
        let name = table.trim_matches(['[', ']']);
        let at: &mut toml::Table = match name.split_once(" = ") {
            Some((inner, _)) => whole["item"][0][inner].as_table_mut().unwrap(),
            None if name.contains(' ') => &mut whole,
            None => whole[name][0].as_table_mut().unwrap(),
        };
        at.insert(key.to_owned(), value);
        let text = toml::to_string(&whole).unwrap();
        let spec = |text| CorpusSpec::parse(text).map(drop).unwrap_err();
        let forms = |text| Forms::parse(text).map(drop).unwrap_err();
        if is_form { forms(&text) } else { spec(&text) }
    };
    let mut tables: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for key in &keys {
        assert!(!key.meaning.is_empty() && !key.default.is_empty());
        tables.entry(&key.table).or_default().push(&key.key);
        let flag = key.expected == "true or false";
        let other = if flag { 1.into() } else { true.into() };
        let why = told(&key.table, &key.key, other);
        assert_eq!(
            why.expected, key.expected,
            "{} {}: {why}",
            key.table, key.key
        );
    }
    for (table, keys) in tables {
        let known = told(table, "no-such-key", true.into()).expected;
        let known = known.replace(" or ", ", ");
        assert_eq!(known, format!("one of {}", keys.join(", ")), "{table}");
    }
}
