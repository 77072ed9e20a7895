//! The numbers of a run, counted once more by hand: from texts whose repetitions are known, to alarms,
//! to verdicts, to rows of scores.csv; and what is left empty where there is nothing to divide by.

#![allow(clippy::expect_used, reason = "a test that cannot go on says why")]

use crate::program;

use std::collections::BTreeMap;

use program::{Place, Ran, Row, stdout};
use serde_json::{Value, json};

const COPIES: [usize; 4] = [3, 4, 6, 10];
const CHARS: [usize; 3] = [60, 300, 900];

/// Words before a repetition, what is repeated, and how often.
type Stretch = (usize, &'static str, usize);

/// A transcript: its model, its stretches, and whether the last of them is a loop to the end.
struct Item(&'static str, &'static [Stretch], bool);

/// Every length on both sides of what the cells ask for.
const ITEMS: [Item; 11] = [
    Item("a", &[(90, "Wait, let me think once more. ", 40)], true),
    Item("a", &[(40, "No, no. ", 30)], true),
    Item("a", &[(60, LONG, 5)], true),
    Item("a", &[(200, "", 0)], false),
    Item("a", &[(80, "- It is so, I know.\n", 5)], false),
    Item("b", &[(50, PASSING, 4), (70, LONG, 12)], true),
    Item("b", &[(30, "我们再想一想。", 150)], true),
    Item("b", &[(30, "Two. ", 2)], true),
    Item("b", &[(300, "", 0)], false),
    Item("b", &[(20, "| A row of a table, as others. |\n", 9)], false),
    Item("b", &[(20, PASSING, 3), (20, "Oh. ", 100)], false),
];
const LONG: &str =
    "So the answer depends on what was asked, and what was asked depends on the answer. ";
const PASSING: &str = "Once more, then it ends.\n";

/// Lower-case words in an order of chance: nothing in them repeats.
fn prose(seed: usize, words: usize) -> String {
    let mut state = (seed as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut letter = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        char::from(b'a' + (state % 26) as u8)
    };
    let mut word = || (0..6).map(|_| letter()).collect::<String>() + " ";
    (0..words).map(|_| word()).collect::<String>() + "x"
}

/// The text of an item, and where each of its repetitions starts, how long a copy is and all of it.
fn made(nth: usize) -> (String, Vec<(usize, usize, usize)>) {
    let Item(_, stretches, is_loop) = &ITEMS[nth];
    let (mut text, mut repetitions) = (String::new(), Vec::new());
    for (part, (words, unit, copies)) in stretches.iter().enumerate() {
        text += &prose(nth * 10 + part, *words);
        let (start, period) = (text.chars().count(), unit.chars().count());
        repetitions.push((start, period, period * copies));
        text += &unit.repeat(*copies);
    }
    if !is_loop {
        text += &prose(nth * 10 + 9, 15);
    }
    (text, repetitions)
}

/// Where the second copy of an item's loop begins.
fn onset(nth: usize) -> Option<usize> {
    let (_, repetitions) = made(nth);
    let last = repetitions.last().filter(|_| ITEMS[nth].2);
    last.map(|(start, period, _)| start + period)
}

fn corpus(place: &Place) {
    let line = |nth: usize| {
        let label = match onset(nth) {
            Some(onset) => {
                json!({"class": "loop", "kind": "paragraph", "channel": "answer", "onset": onset})
            }
            None => json!({"class": "clean"}),
        };
        let (id, model) = (format!("t{nth}"), ITEMS[nth].0);
        json!({"id": id, "model": model, "answer": made(nth).0, "labels": [label]}).to_string()
    };
    let lines: Vec<String> = (0..ITEMS.len()).map(line).collect();
    place.file("corpus.jsonl", lines.join("\n"));
}

/// Where a cell alarms: at the first char at which a repetition has so many copies and chars.
fn alarm(nth: usize, copies: usize, chars: usize) -> Option<usize> {
    made(nth).1.iter().find_map(|(start, period, length)| {
        let wanted = chars.max(copies * period);
        (*period > 0 && wanted <= *length).then_some(start + wanted)
    })
}

fn verdict(nth: usize, alarm: Option<usize>) -> &'static str {
    match (onset(nth), alarm) {
        (Some(_), None) => "miss",
        (Some(onset), Some(at)) if at < onset => "premature",
        (Some(_), Some(_)) => "hit",
        (None, Some(_)) => "false-alarm",
        (None, None) => "quiet",
    }
}

/// A row of scores.csv holds the same, counted from the rows of outcomes.csv of its cell.
fn counted(score: &Row, outcomes: &[&Row]) {
    let count = |verdict| {
        outcomes
            .iter()
            .filter(|row| row["verdict"] == verdict)
            .count()
    };
    let [hit, miss, premature] = ["hit", "miss", "premature"].map(count);
    let [false_alarm, quiet] = ["false-alarm", "quiet"].map(count);
    let (mut delay, mut exposure) = (0, 0);
    for row in outcomes {
        let length = row["length"].parse::<usize>().expect("a length");
        let alarm = row["alarm_at"].parse::<usize>().ok();
        let begins = row["onset"].parse::<usize>().ok();
        exposure += alarm.unwrap_or(length).min(begins.unwrap_or(length));
        let stop = if row["verdict"] == "hit" { alarm } else { None };
        delay += begins.map_or(0, |onset| stop.unwrap_or(length) - onset);
    }
    let (loops, clean) = (hit + miss + premature, false_alarm + quiet);
    for (name, number) in [
        ("transcripts", outcomes.len()),
        ("loops", loops),
        ("clean", clean),
        ("hit", hit),
        ("miss", miss),
        ("premature", premature),
        ("false_alarm", false_alarm),
        ("exposure", exposure),
    ] {
        assert_eq!(score[name], number.to_string(), "{name} of {score:?}");
    }
    let wrong = false_alarm + premature;
    for (name, part, of) in [
        ("recall", hit, loops),
        ("precision", hit, hit + wrong),
        ("fa_per_mchar", 1_000_000 * wrong, exposure),
        ("delay", delay, loops),
    ] {
        let shown = score[name].parse::<f64>().ok();
        let wanted = (of > 0).then(|| part as f64 / of as f64);
        let near = |(a, b): (f64, f64)| (a - b).abs() <= 1e-12 * b;
        let same = shown.zip(wanted).map_or(shown == wanted, near);
        assert!(same, "{name}: {shown:?}, counted {wanted:?}");
    }
}

#[test]
fn a_sweep_its_replays_and_a_count_by_hand_agree() {
    let place = Place::new();
    corpus(&place);
    let guard = |copies: &str, chars: &str| {
        format!(
            "[[guard]]\ndetector = \"periodic\"\n[guard.params]\nmin_copies = {copies}\nmin_chars = {chars}\n"
        )
    };
    let grid = guard(&format!("{COPIES:?}"), &format!("{CHARS:?}"));
    place.file("grid.toml", grid);
    place
        .run("sweep corpus.jsonl --grid grid.toml --csv --out swept")
        .ends(0);
    let cells = COPIES
        .iter()
        .flat_map(|copies| CHARS.iter().map(move |chars| (*copies, *chars)));
    let cells: Vec<(usize, usize)> = cells.collect();
    let settings = cells.iter().map(|(copies, chars)| {
        let name = format!("{copies}-{chars}.toml");
        place.file(&name, guard(&copies.to_string(), &chars.to_string()));
        format!(" --settings {name}")
    });
    let settings: String = settings.collect();
    let replay = format!("replay corpus.jsonl{settings} --csv --out replayed");
    place.run(replay).ends(0);

    let outcomes = place.rows("replayed/outcomes.csv");
    let [swept, replayed] =
        ["swept", "replayed"].map(|out| place.rows(&format!("{out}/scores.csv")));
    let mut seen = BTreeMap::new();
    for (copies, chars) in cells {
        let is_cell = |row: &&Row| {
            row["p.periodic.min_copies"] == copies.to_string()
                && row["p.periodic.min_chars"] == chars.to_string()
        };
        let scores: Vec<&Row> = swept.iter().filter(is_cell).collect();
        assert_eq!(scores.len(), 3, "all together and two models");
        // A replay has rows by other fields too, and intervals of means.
        let again = replayed.iter().filter(is_cell);
        let again = again.filter(|row| ["total", "model"].contains(&row["by"].as_str()));
        let same = |row: &Row| -> Row {
            let drawn = ["saved_lo", "saved_hi", "delay_lo", "delay_hi"];
            let kept = row
                .iter()
                .filter(|(name, _)| !drawn.contains(&name.as_str()));
            kept.map(|(name, cell)| (name.clone(), cell.clone()))
                .collect()
        };
        let again: Vec<Row> = again.map(same).collect();
        let own: Vec<Row> = scores.iter().map(|row| same(row)).collect();
        assert_eq!(own, again, "{copies} copies, {chars} chars");
        let of_cell = |row: &&Row| row["setting"] == scores[0]["setting"];
        let of_cell: Vec<&Row> = outcomes.iter().filter(of_cell).collect();
        assert_eq!(of_cell.len(), ITEMS.len());
        for (nth, row) in of_cell.iter().enumerate() {
            let alarm = alarm(nth, copies, chars);
            let said = (row["transcript"].as_str(), row["alarm_at"].parse().ok());
            assert_eq!(
                said,
                (format!("t{nth}").as_str(), alarm),
                "{copies} {chars}"
            );
            assert_eq!(row["verdict"], verdict(nth, alarm), "{row:?}");
            *seen.entry(verdict(nth, alarm)).or_insert(0) += 1;
        }
        for score in scores {
            let of_model = |row: &&&Row| ["", &row["model"]].contains(&score["value"].as_str());
            let own: Vec<&Row> = of_cell.iter().filter(of_model).copied().collect();
            counted(score, &own);
        }
    }
    assert_eq!(seen.len(), 5, "each verdict came: {seen:?}");
    assert!(seen.values().all(|times| *times > 1), "{seen:?}");
}

/// A corpus of five transcripts with this label.
fn all_alike(label: &Value) -> Place {
    let line = |nth| {
        let text = prose(nth, 20) + &"It goes round. ".repeat(60);
        json!({"id": format!("t{nth}"), "answer": text, "labels": [label]}).to_string()
    };
    let lines: Vec<String> = (0..5).map(line).collect();
    let place = Place::new();
    place.file("alike.jsonl", lines.join("\n"));
    place
}

/// What a ratio has nothing to divide by is empty: never 0, never 1.
#[test]
fn no_loop_or_no_clean_transcript_is_not_zero() {
    let found = "ended ended_lo ended_hi recall recall_lo recall_hi delay saved latency_p50 latency_p90 within_1000";
    let of_chars = "fa_per_mchar fa_lo fa_hi";
    let of_both = "break_even";
    let clean = json!({"class": "clean"});
    let later = json!({"class": "loop", "channel": "answer", "onset": 156});
    let at_once = json!({"class": "loop", "channel": "answer", "onset": 156, "earliest": 0});
    for (label, empty, full) in [
        (clean, [found, of_both], ["clean", of_chars]),
        // What a looping transcript says before its loop is clean text that was watched.
        (later, [of_both, of_both], [found, of_chars]),
        (at_once, [of_chars, of_both], [found, "loops"]),
    ] {
        let place = all_alike(&label);
        let run = place.run("replay alike.jsonl --csv --out replayed");
        let shown = stdout(&run.ends(0));
        // The table has recall and wrong alarms per Mchar.
        assert_eq!(shown.contains("n/a"), empty[0] != of_both, "{shown}");
        let scores = place.rows("replayed/scores.csv");
        let all = scores.iter().find(|row| row["by"] == "total");
        let all = all.expect("a row of all together");
        for name in empty.iter().flat_map(|names| names.split(' ')) {
            assert_eq!(all[name], "", "{name}: {label}");
        }
        for name in full.iter().flat_map(|names| names.split(' ')) {
            assert_ne!(all[name], "", "{name}: {label}");
        }
        place.run("tune alike.jsonl --out tuned").ends(5);
    }
}
