//! What `check` says before its findings: the counts, what labels can prove, and claims.

#![allow(clippy::expect_used, reason = "a test that cannot go on says why")]

use crate::program;

use program::{Place, Ran, has, stdout};
use serde_json::json;

/// Thirty loops in fifteen groups and ten clean texts in five, which the guard of [`SETTINGS`] tells apart.
fn corpus() -> Place {
    let copy = "Let me look at it again. ";
    let loops = (0..30).map(|n| {
        let label = r#"{"class":"loop","channel":"answer","start":0,"onset":25,"period":25}"#;
        format!("{{\"id\":\"l{n}\",\"model\":\"m\",\"group\":\"g{}\",\"answer\":\"{}\",\"labels\":[{label}]}}\n", n / 2, copy.repeat(40 + n))
    });
    let clean = (0..10).map(|n| {
        let letter = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"][n];
        let text: String = (0..100).map(|at| format!("{letter}{} ", at * 7919)).collect();
        format!("{{\"id\":\"c{n}\",\"model\":\"m\",\"group\":\"c{}\",\"answer\":\"{text}\",\"labels\":[{{\"class\":\"clean\"}}]}}\n", n / 2)
    });
    let place = Place::new();
    place.file("c.jsonl", loops.chain(clean).collect::<String>());
    place.file("s.toml", SETTINGS);
    place
}

const SETTINGS: &str =
    "[[guard]]\ndetector = \"periodic\"\n[guard.params]\nmin_copies = 5\nmin_chars = 100\n";

#[test]
fn counts_come_first_with_what_labels_can_prove() {
    let place = corpus();
    let text = stdout(&place.run("check c.jsonl"));
    for words in [
        "40 transcripts in 20 groups of 1 model",
        "labels: 30 loop, 10 clean",
        "recall >= 90.5 % (30 loops in 15 groups), wrong alarms <= ",
        "clean chars in 5 groups)",
    ] {
        has(&text, words);
    }
    let timed = |id: &str, lang: &str, text: &str, tokens: u64| {
        let event = json!({"type": "answer", "text": text, "tokens": tokens});
        json!({"id": id, "lang": lang, "events": [event]}).to_string() + "\n"
    };
    let counted = timed("a", "zh", "再检查一下", 4) + &timed("b", "en", "once more", 3);
    place.file("t.jsonl", counted + &timed("c", "zh", "道路", 1));
    has(
        &stdout(&place.run("check t.jsonl")),
        "chars per token, as recorded: en 3.0, zh 1.4",
    );
    let told = place.run("check c.jsonl --json").json();
    assert_eq!(told["chars_per_token"], json!({}));
    let chars = &told["counts"]["units"]["chars"];
    assert_eq!(
        (
            &chars["loops"],
            &chars["loop_groups"],
            &chars["clean_groups"]
        ),
        (&json!(30), &json!(15), &json!(5))
    );
}

#[test]
fn claims_are_held_refuted_or_open() {
    let place = corpus();
    let ask = |claims: &str| {
        place.file("claims.txt", claims);
        place.run("check c.jsonl --claims claims.txt --settings s.toml --json")
    };
    let verdicts = |claims: &str, exit| {
        let told = ask(claims).ends(exit).json();
        let verdicts = told["claims"].as_array().into_iter().flatten();
        verdicts
            .filter_map(|of| of["verdict"].as_str().map(str::to_owned))
            .collect::<Vec<_>>()
    };
    // 30 of 30 by Wilson: 88.6 % and more.
    assert_eq!(
        verdicts("# what we say\nended>=0.88\n\nrecall>=0.5 # too\n", 0),
        ["held", "held"]
    );
    assert_eq!(
        verdicts("ended>=0.9\nrecall>=0.8\n", 5),
        ["cannot tell", "held"]
    );
    assert_eq!(verdicts("fa_per_mchar<=1", 5), ["cannot tell"]);
    assert_eq!(
        verdicts("recall<=0.5\nfa_per_mchar<=1", 100),
        ["refuted", "cannot tell"]
    );
    // The thirty loops are in groups of two; a claim that nothing matches is open.
    for (claim, exit) in [
        (
            "ended>=0.88 where channel = \"answer\" and model = \"m\"",
            0,
        ),
        ("ended>=0.88 where channel=answer and group=g3", 5),
        ("ended<=0.3 where group=g3", 100),
        ("ended>=0.1 where channel = \"reasoning\"", 5),
        ("ended>=0.1 where kind = \"paragraph\"", 5),
        ("fa_per_mchar<=1 where channel = \"answer\"", 5),
    ] {
        ask(claim).ends(exit);
    }
    // 73 of 73 by Wilson: 95.0 % and more.
    let told = ask("ended>=0.95\nended>=0.88 where group=g3\nended>=0.1 where model=x")
        .ends(5)
        .json();
    let more = |at: usize| &told["claims"][at]["more"];
    assert_eq!(
        (more(0), more(1), more(2)),
        (&json!(43), &json!(27), &json!(null))
    );
    for (wrong, said) in [
        ("ended>=0.9 where kind", "claims.txt:1: "),
        ("speed<=1", "claims.txt:1: "),
        ("\ndelay<=1", "claims.txt:2: delay<=1: expected a share"),
        ("# nothing", "no claim"),
    ] {
        ask(wrong).ends(2).says(said);
    }
    place.run("check c.jsonl --settings s.toml").ends(2);
}
