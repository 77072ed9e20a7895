//! Runs of agents from outside: guards on tool calls through every command, and scores that keep each unit apart.

#![allow(clippy::expect_used, reason = "a test that cannot go on says why")]

use crate::program;

use std::io::Write as _;
use std::process::Stdio;

use program::{Place, Ran, has, stderr, stdout};
use serde_json::{Value, json};

/// A call and its result.
fn step(n: usize, query: &str, content: &str) -> [Value; 2] {
    let id = format!("c{n}");
    [
        json!({"type": "tool_call", "id": id, "name": "search", "arguments": {"q": query}}),
        json!({"type": "tool_result", "id": id, "content": content, "error": false}),
    ]
}

/// A run of `before` different calls, then the same one `again` times.
fn run(before: usize, again: usize) -> Vec<Value> {
    run_about("it", before, again)
}

/// The same about something: runs with the same calls and results would be copies of one another.
fn run_about(what: &str, before: usize, again: usize) -> Vec<Value> {
    let different = (0..before).map(|n| {
        step(
            n,
            &format!("question {n} about {what}"),
            &format!("answer {n}"),
        )
    });
    let same = (before..before + again).map(|n| step(n, "once more", "nothing"));
    let user = json!({"type": "user", "text": "find it"});
    [user]
        .into_iter()
        .chain(different.chain(same).flatten())
        .collect()
}

fn line(id: &str, events: &[Value], label: Value) -> String {
    let meta = json!({"source": "made-up"});
    json!({"id": id, "model": "m", "events": events, "labels": [label], "meta": meta}).to_string()
        + "\n"
}

/// A word for each number, without a digit: texts that differ in numbers alone are copies too.
fn word(n: usize) -> String {
    let letter = |digit: char| char::from(b'a' + digit.to_digit(10).map_or(0, |d| d as u8));
    n.to_string().chars().map(letter).collect()
}

/// `loops` runs that end in 9 equal calls, and `clean` ones of 40 calls, two of them equal.
fn corpus(place: &Place, loops: usize, clean: usize) {
    let mut lines = String::new();
    for n in 0..loops {
        let label = json!({"class": "loop", "kind": "same-call-same-result", "channel": "tools",
                           "start": 5 + n, "onset": 6 + n, "end": null, "period": 1});
        lines += &line(&format!("loop-{n}"), &run_about(&word(n), 5 + n, 9), label);
    }
    for n in 0..clean {
        let label = json!({"class": "clean", "channel": "tools"});
        lines += &line(
            &format!("clean-{n}"),
            &run_about(&word(1000 + n), 38, 2),
            label,
        );
    }
    place.file("runs.jsonl", lines);
}

const SAME_PAIR: &str = "[[guard]]\ndetector = \"same-pair\"\n";

#[test]
fn tune_searches_guards_on_calls_where_labels_count_in_calls() {
    let place = Place::new();
    corpus(&place, 24, 300);
    let late = "[[guard]]\ndetector = \"periodic\"\n\n[[guard]]\ndetector = \"duplicate\"\nparams = { n = 13 }\n";
    place.file("in-use.toml", late);
    let pairs = "[[guard]]\ndetector = \"same-pair\"\nparams = { n = 4 }\n";
    place.file("pairs.toml", pairs);
    let tune = "tune runs.jsonl --settings in-use.toml --also pairs.toml --json --csv --out out";
    let said = place.run(tune).ends(0).json();
    assert_eq!(said["verdict"], "ship", "{said}");
    let settings = place.read("out/settings.toml");
    has(&settings, "detector = \"same-pair\"");
    // Guards that count in chars are none to choose from here: they stay.
    assert!(settings.contains("detector = \"periodic\"") && !settings.contains("n = 13"));
    let grid = place.read("out/manifest.json");
    assert!(grid.contains("fa_per_kcall<=0.2") && grid.contains("same-pair"));
    assert!(
        !grid.contains("recurrence\\\""),
        "no text detector is searched"
    );
    let scores = place.rows("out/scores.csv");
    let all = |unit: &str| scores.iter().all(|row| row["unit"] == unit);
    assert!(all("calls") && scores.iter().all(|row| !row.contains_key("fa_per_mchar")));
    for page in ["out/report.html", "out/report.md"] {
        let page = place.read(page).replace("&#x2f;", "/");
        assert!(page.contains("wrong alarms/kcall") && page.contains("delay, calls"));
        assert!(!page.contains("per million clean chars"));
    }
    // What it chose is a guard that explain, watch and compare run.
    let told = place.run("explain runs.jsonl loop-3 --settings out/settings.toml");
    let told = stdout(&told.ends(0));
    for words in [
        "calls after the onset",
        "in tools",
        "search({\"q\":\"once more\"})",
    ] {
        has(&told, words);
    }
}

/// The outside sum: recall, delay and exposure of each unit, from outcomes.csv alone.
#[test]
fn a_text_loop_and_a_loop_of_calls_are_never_added() {
    let place = Place::new();
    let text = "the same again. ".repeat(200);
    let answer = [json!({"type": "answer", "text": text})];
    let looped =
        json!({"class": "loop", "channel": "answer", "start": 0, "onset": 16, "end": null});
    let calls = json!({"class": "loop", "channel": "tools", "start": 5, "onset": 6, "end": null});
    let clean = json!({"class": "clean", "channel": "tools"});
    let lines = [
        line("text", &answer, looped),
        line("calls", &run(5, 9), calls),
        line("clean", &run(40, 1), clean),
    ];
    place.file("mixed.jsonl", lines.concat());
    let both = "[[guard]]\ndetector = \"periodic\"\n\n[[guard]]\ndetector = \"same-pair\"\n";
    place.file("both.toml", both);
    let replay = "replay mixed.jsonl --settings both.toml --csv -q";
    let asked = place.run(format!("{replay} --out nowhere")).ends(2);
    asked.says("labels count in chars and in calls, and nothing is added up across units; say which with --unit chars|calls");
    for unit in ["chars", "calls"] {
        place
            .run(format!("{replay} --unit {unit} --out {unit}"))
            .ends(0);
        let scores = place.rows(&format!("{unit}/scores.csv"));
        let of = |wanted: &str| {
            let mut own = scores
                .iter()
                .filter(|row| row["by"] == "total" && row["unit"] == wanted);
            own.next().expect("a row a unit").clone()
        };
        assert_eq!(scores[0]["unit"], unit, "the unit of choice comes first");
        let (chars, in_calls) = (of("chars"), of("calls"));
        assert_eq!(
            (chars["loops"].as_str(), in_calls["loops"].as_str()),
            ("1", "1")
        );
        assert_eq!(chars["loop_chars"], (3200 - 16).to_string());
        assert_eq!(in_calls["loop_chars"], (14 - 6).to_string());
        // The clean run was watched for all its calls, the looping one up to its onset.
        assert_eq!(in_calls["exposure"], (41 + 6).to_string());
        // What loops in the other unit is counted and left out.
        assert_eq!(in_calls["unlabelled"], "1");
        let outcomes = place.rows(&format!("{unit}/outcomes.csv"));
        let sum = |column: &str| {
            let cells = outcomes.iter().filter(|row| row["verdict"] != "unlabelled");
            cells
                .map(|row| row[column].parse().unwrap_or(0))
                .sum::<u64>()
        };
        let own = of(unit);
        assert_eq!(own["exposure"], sum("exposure").to_string());
        assert_eq!(own["loop_chars"], sum("loop_chars").to_string());
    }
}

#[test]
fn a_sweep_has_a_cell_for_each_row_length_and_compare_counts_calls() {
    let place = Place::new();
    corpus(&place, 12, 20);
    let guard = |n: &str| format!("[[guard]]\ndetector = \"duplicate\"\n[guard.params]\nn = {n}\n");
    place.file("grid.toml", guard("[2, 3, 10]"));
    let sweep = place.run("sweep runs.jsonl --grid grid.toml --csv --out swept");
    sweep.ends(0).shows("wrong alarms/kcall");
    let scores = place.rows("swept/scores.csv");
    let of = |n: &str| {
        let mut rows = scores.iter();
        let row = rows.find(|row| row["by"] == "total" && row["p.duplicate.n"] == n);
        let row = row.expect("a row a cell");
        ["hit", "false_alarm", "delay"].map(|column| row[column].clone())
    };
    // Two equal calls are met by clean runs too; nine of them are no row of ten.
    assert_eq!(of("2"), ["12", "20", "1"]);
    assert_eq!(of("3"), ["12", "0", "2"]);
    assert_eq!(of("10"), ["0", "0", "8"]);
    place.file("base.toml", guard("3"));
    place.file("new.toml", guard("2"));
    // Twenty runs more are cut.
    let compared = place.run("compare base.toml new.toml --corpus runs.jsonl --json");
    compared.ends(100).shows("fa_per_kcall");
}

/// Live: the alarm comes at the event at which the replay has it, and says what the model was doing.
#[test]
fn watch_stops_a_run_at_its_third_equal_pair() {
    let place = Place::new();
    place.file("guard.toml", SAME_PAIR);
    let mut watch = place.command("watch --settings guard.toml --from jsonl --json");
    let mut child = watch
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let events: String = run(4, 9).iter().map(|event| format!("{event}\n")).collect();
    // It stops reading at the alarm.
    let _ = child
        .stdin
        .take()
        .expect("a pipe")
        .write_all(events.as_bytes());
    let ended = child.wait_with_output().expect("it ends").ends(10);
    let said = ended.json();
    let alarm = &said["alarm"];
    assert_eq!(alarm["channel"], "tools");
    assert_eq!((&alarm["calls"], &alarm["event"]), (&json!(7), &json!(14)));
    assert_eq!((&alarm["onset"], &alarm["period"]), (&json!(5), &json!(1)));
    let told = stderr(&ended);
    assert!(told.contains("got the same result each time"), "{told}");
    has(&told, "same-call-same-result in tools, calls 5..7");
}

/// What labels in calls can prove is told in calls: nothing of it is in chars.
#[test]
fn check_counts_calls() {
    let place = Place::new();
    corpus(&place, 3, 40);
    let told = place.run("check runs.jsonl --json").ends(0).json();
    let calls = &told["counts"]["units"]["calls"];
    assert_eq!(
        (&calls["loops"], &calls["clean"], &calls["exposure"]),
        (&json!(3), &json!(40), &json!(1600))
    );
    let least = calls["provable_fa_per_kcall"].as_f64().expect("a rate");
    assert!((least - 2.9957 / 1.6).abs() < 1e-3, "{least}");
    assert_eq!(told["counts"]["calls"], 1600 + 14 + 15 + 16);
    let checked = stdout(&place.run("check runs.jsonl"));
    assert!(
        checked.contains("3 loops: even if every one is found")
            && checked.contains("per kcall")
            && !checked.contains("clean chars"),
        "{checked}"
    );
}

#[test]
fn the_strip_of_a_run_has_an_alarm_in_text_after_the_calls_before_it() {
    let place = Place::new();
    let mut events = run(5, 9);
    // A user, and three calls with their results.
    events.insert(
        7,
        json!({"type": "answer", "text": "the same again. ".repeat(200)}),
    );
    let label = json!({"class": "loop", "channel": "tools", "start": 5, "onset": 6, "end": null});
    place.file("runs.jsonl", line("run", &events, label));
    place.file("p.toml", "[[guard]]\ndetector = \"periodic\"\n");
    let replay = "replay runs.jsonl --settings p.toml --out out -q";
    place.run(replay).ends(0);
    let page = place.read("out/report.html");
    let (_, tick) = page.split_once("<path class=\"tick ").expect("an alarm");
    let (_, at) = tick.split_once("d=\"M").expect("its place");
    let at: f64 = at
        .split_once(' ')
        .and_then(|(at, _)| at.parse().ok())
        .expect("thousandths");
    assert!((at - 3000.0 / 14.0).abs() < 1.0, "{at}");
}

/// The place of an alarm is in the unit of the row, also of a guard on text.
#[test]
fn places_of_alarms_are_in_the_unit_of_the_row() {
    let place = Place::new();
    let mut events = vec![
        json!({"type": "turn"}),
        json!({"type": "answer", "text": "I look."}),
    ];
    events.extend(step(1, "a", "one"));
    events.extend([json!({"type": "turn"})]);
    events.extend(step(2, "b", "two"));
    let text = "Wait, let me look at the road again. ".repeat(40);
    events.extend([
        json!({"type": "turn"}),
        json!({"type": "answer", "text": text}),
    ]);
    let run = json!({"id": "r", "model": "m", "events": events});
    place.file("run.jsonl", run.to_string());
    for (unit, at) in [("chars", "192"), ("calls", "2"), ("turns", "3")] {
        place
            .run(format!("replay run.jsonl --unit {unit} --csv --out {unit}"))
            .ends(0);
        let rows = place.read(&format!("{unit}/outcomes.csv"));
        let rows: Vec<Vec<&str>> = rows.lines().map(|line| line.split(',').collect()).collect();
        for name in ["alarm_at", "alarm_exact"] {
            let column = rows[0]
                .iter()
                .position(|column| *column == name)
                .expect("a column");
            assert_eq!(rows[1][column], at, "{name} in {unit}");
        }
    }
}
