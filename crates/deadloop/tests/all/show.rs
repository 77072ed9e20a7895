//! `deadloop show`: lists, one transcript, filters, hostile text, and a pager on a terminal alone.

#![allow(clippy::expect_used, reason = "a test that cannot go on says why")]

use crate::program;

use program::{Place, Ran, has, stdout};
use serde_json::{Value, json};

/// Four transcripts: thinking and answer, chunks and tools, hostile text, and one of another model.
fn corpus() -> Place {
    let chunk = |text: &str| json!({"type": "answer", "text": text});
    let lines = [
        json!({"id": "plain", "model": "m", "lang": "en", "reasoning": "Hm.", "answer": "An answer.",
            "labels": [{"class": "clean"}]}),
        json!({"id": "long", "model": "m", "answer": format!("Start. {}", "again ".repeat(400)),
            "labels": [{"class": "loop", "kind": "paragraph", "channel": "answer", "start": 1207, "onset": 1213,
                "period": 6, "by": "hand"}]}),
        json!({"id": "tools", "model": "n", "events": [chunk("Let me "), chunk("look it up."),
            {"type": "tool_call", "id": "c1", "name": "search", "arguments": {"q": "weather"}},
            {"type": "tool_result", "id": "c1", "content": "sunny", "error": true},
            {"type": "turn"}, chunk("It is sunny."), {"type": "finish", "reason": "stop"}]}),
        json!({"id": "evil\u{1b}[2J", "model": "n", "answer": "a\u{1b}[31mred\u{202e}\nnext"}),
    ];
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    let place = Place::new();
    place.file("c.jsonl", lines.join("\n") + "\n");
    place
}

#[test]
fn the_list_has_a_line_a_transcript_and_filters() {
    let place = corpus();
    let run = place.run("show c.jsonl").ends(0);
    let told = stdout(&run);
    assert_eq!(told.lines().count(), 5, "{told}");
    let row = |id: &str| told.lines().find(|line| line.trim_start().starts_with(id));
    let row = |id: &str| row(id).expect(id).to_owned();
    assert!(row("plain").contains("13  clean  Hm."), "{told}");
    assert!(row("long").contains("2,407  loop   Start. again"), "{told}");
    assert!(row("tools").contains("Let me look it up."), "{told}");
    let words = |line: &str| {
        line.split_whitespace()
            .take(5)
            .map(String::from)
            .collect::<Vec<_>>()
    };
    let header = words(told.lines().next().expect("a header"));
    assert_eq!(header, ["id", "model", "calls", "turns", "chars"]);
    // A run is measured in calls and turns, a text in chars.
    assert_eq!(words(&row("tools")), ["tools", "n", "1", "1", "-"]);
    assert_eq!(words(&row("plain")), ["plain", "m", "-", "-", "13"]);
    assert!(
        row("evil").contains("a\\u{1b}[31mred\\u{202e}⏎next"),
        "{told}"
    );
    assert!(!told.contains('\u{1b}'), "{told:?}");
    run.says("deadloop show c.jsonl plain");
    let of_n = stdout(&place.run("show c.jsonl --model n"));
    assert_eq!(of_n.lines().count(), 3, "{of_n}");
    let texts = stdout(&place.run("show c.jsonl --model m"));
    assert!(!texts.contains("calls"), "{texts}");
    let run = place.run("show c.jsonl --model q*").ends(4);
    run.says("its models are: m, n");
    let json = place.run("show c.jsonl --json --limit 1").json();
    assert_eq!(json["transcripts"][0]["chars"], 13);
    let run = place.run("show c.jsonl plin").ends(4);
    run.says("did you mean \"plain\"?");
}

#[test]
fn one_transcript_is_shown_with_its_labels_where_they_stand() {
    let place = corpus();
    let long = stdout(&place.run("show c.jsonl long"));
    for words in [
        "label      loop paragraph in answer start 1,207 onset 1,213 period 6\n",
        "-- answer, chars 0 to 2,407",
        "   [407 chars folded]\n",
        "⟦start⟧again ⟦onset⟧again",
        "chars folded]",
    ] {
        has(&long, words);
    }
    let all = stdout(&place.run("show c.jsonl long --all"));
    assert!(!all.contains("folded"), "{all}");
    assert_eq!(all.matches("again").count(), 400, "{all}");
    let tools = stdout(&place.run("show c.jsonl tools"));
    let order = [
        "-- answer, chars 0 to 18\nLet me look it up.",
        "-- call 0 (c1): search\n{\"q\":\"weather\"}",
        "-- result of call 0 (c1), an error\nsunny",
        "== turn 0",
        "-- answer, chars 18 to 30\nIt is sunny.",
        "-- finish: stop",
    ];
    let mut from = 0;
    for words in order {
        let at = tools[from..].find(words);
        assert!(at.is_some(), "{words:?} is not there: {tools}");
        from += at.unwrap_or_default();
    }
    let evil = stdout(&place.run("show c.jsonl evil\u{1b}[2J"));
    assert!(evil.contains("a\\u{1b}[31mred\\u{202e}\nnext"), "{evil}");
    assert!(!evil.contains('\u{1b}'), "{evil:?}");
    let json = place.run("show c.jsonl long --json").json();
    assert_eq!(json["labels"][0]["onset"], 1213);
}

#[test]
fn labels_beside_the_corpus_are_those_that_count() {
    let show = "show ROOT/datasets/starter planted/short-sequence/000";
    Place::new().run(show).ends(0).shows("⟦onset⟧");
}

/// What `$PAGER` would add is seen where it ran.
#[cfg(unix)]
#[test]
fn a_pager_is_used_on_a_terminal_alone() {
    use std::io::Read as _;
    let place = corpus();
    let pager = "sed 's/^/PAGED /'";
    let piped = place.command("show c.jsonl").env("PAGER", pager).output();
    assert!(!stdout(&piped.expect("it runs")).contains("PAGED"));
    let pair = nix::pty::openpty(None, None).expect("a terminal");
    let side = pair.slave.try_clone().expect("a handle");
    let mut child = place
        .command("show c.jsonl --quiet")
        .env("PAGER", pager)
        .stdout(std::process::Stdio::from(side))
        .spawn()
        .expect("it starts");
    let status = program::ended(&mut child);
    drop(pair.slave);
    let mut shown = Vec::new();
    // An error is how a terminal says that the other side is gone.
    let _ = std::fs::File::from(pair.master).read_to_end(&mut shown);
    let shown = String::from_utf8_lossy(&shown).into_owned();
    assert!(status.success() && shown.contains("PAGED"), "{shown}");
    assert_eq!(shown.matches("PAGED").count(), 5, "{shown}");
}
