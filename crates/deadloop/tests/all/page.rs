//! What a run leaves for the page: text of strangers that stays text.

#![allow(clippy::expect_used, reason = "a test that cannot go on says why")]

use crate::program;

use program::{Place, Ran, has};

/// A loop in a transcript whose text, id and model do all that a page could trip over.
fn hostile() -> Place {
    let hostile = "</script><script>alert(1)</script><img src=x onerror=alert(1)> &lt;b&gt; \
                   \u{202e}txt.exe\u{2066} \u{0}\u{1b}[2J javascript:alert(1) ";
    let long = "a line without an end ".repeat(100_000);
    let text = |lead: &str| format!("{lead}{}", format!("{hostile}again and again. ").repeat(60));
    let line = |id: &str, text: &str, class: &str| {
        let onset = text.find("again and again. ").map(|_| 200);
        let label = match class {
            "loop" => serde_json::json!({"class": "loop", "kind": "paragraph", "onset": onset}),
            _ => serde_json::json!({"class": class}),
        };
        serde_json::json!({"id": id, "model": "<b>m</b>\u{202e}", "answer": text, "labels": [label]}).to_string()
    };
    let lines = [
        line("</script><script>alert(2)</script>", &text(""), "clean"),
        line("\u{202e}bidi'\"", &text("x"), "loop"),
        line("long", &long, "clean"),
        line("quiet", "Nothing happens here.", "clean"),
    ];
    let place = Place::new();
    place.file("hostile.jsonl", lines.join("\n"));
    place
}

#[test]
fn text_of_strangers_stays_text_and_can_be_hidden_or_left_out() {
    let place = hostile();
    place.run("replay hostile.jsonl --out out -q").ends(0);
    let html = |out: &str| place.read(&format!("{out}/report.html"));
    let page = html("out");
    assert_eq!(page.matches("<script>").count(), 1, "only the page's own");
    assert!(!page.contains("<img") && !page.contains("<b>m"));
    let hidden = ['\u{202e}', '\u{2066}', '\u{0}', '\u{1b}'];
    assert!(!page.contains(hidden), "a hidden char is in the page");
    assert!(page.contains("\\u{202e}txt.exe\\u{2066}") && page.contains("\\u{0}"));
    assert!(
        page.contains("onerror=alert"),
        "the text is there to be read"
    );
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
    let run = place.run("report out --redact").ends(0);
    run.shows("safe to share: report.html")
        .shows("look first at: ids");
    let redacted = html("out");
    assert!(!redacted.contains("onerror") && redacted.contains("&lt;xxx xxx=x xxxxxxx=xxxxx"));
    assert_eq!(
        redacted.matches("<mark").count(),
        page.matches("<mark").count()
    );
    // Nor is the text in any other file, whatever is made from them later.
    for file in std::fs::read_dir(place.path("out"))
        .expect("a folder")
        .flatten()
    {
        if file.path().is_file() {
            let bytes = std::fs::read(file.path()).expect("a file");
            let plain = String::from_utf8_lossy(&bytes).contains("onerror");
            assert!(!plain, "{}", file.path().display());
        }
    }
    for line in ["report out", "replay hostile.jsonl --out out -q"] {
        place.run(line).ends(0);
        let page = html("out");
        assert!(!page.contains("onerror"), "{line}");
        has(&page, "Letters and digits of the transcripts are hidden");
    }
    place.run("report out --json").shows("\"redacted\":true");
    let replay = "replay hostile.jsonl --out bare --no-excerpts -q";
    place.run(replay).ends(0);
    assert!(!html("bare").contains("onerror"), "no text was to be kept");
    let cases = place.read("bare/cases.jsonl");
    assert!(!cases.contains("onerror") && cases.contains("\"transcript\""));
}

#[test]
fn an_unlabelled_replay_says_what_would_be_cut_and_how_to_explain_it() {
    let place = Place::new();
    let line = |id: &str, text: String| format!("{{\"id\": \"{id}\", \"text\": \"{text}\"}}\n");
    let loops = line("loops", "I will try again now. ".repeat(200));
    let fine = line("fine", "One sentence, and the end.".into());
    place.file("c.jsonl", loops + &fine);
    let run = place.run("replay c.jsonl --out out --set guard.params.min_copies=4");
    run.shows("would cut").shows("1 of 2 (");
    let page = place.read("out/report.html").replace("&#x2f;", "/");
    has(&page, "What each setting would cut");
    // Where the corpus lies, and what was changed on the way, is known to the folder: the page names no path.
    has(&page, "deadloop explain . loops<");
    let run = place.run("explain out loops");
    run.shows("recommended with guard.params.min_copies=4");
}

/// A model's name calls nobody, and no cell of a chart's table is a formula.
#[test]
fn names_of_strangers_call_nobody_and_run_nothing() {
    let place = Place::new();
    let line = |n: u32| {
        let (answer, class) = match n % 2 {
            0 => (
                "Let me think. ".repeat(100),
                r#"{"class":"loop","channel":"answer","start":0,"onset":14,"period":14}"#,
            ),
            _ => ("All is well here.".into(), r#"{"class":"clean"}"#),
        };
        format!(
            "{{\"id\":\"t{n}\",\"model\":\"@everyone =1+1\",\"answer\":\"{answer}\",\"labels\":[{class}]}}"
        )
    };
    let lines: Vec<String> = (0..60)
        .map(line)
        .chain((0..60).map(|n| {
            line(n)
                .replace("@everyone =1+1", "=2+2")
                .replace("\"t", "\"u")
        }))
        .collect();
    place.file("c.jsonl", lines.join("\n"));
    place.run("replay c.jsonl --presets --out out -q").ends(0);
    let report = place.read("out/report.md");
    assert!(
        report.contains("@&#8203;everyone") && !report.contains("@everyone"),
        "{report}"
    );
    let charts = std::fs::read_dir(place.path("out/charts")).expect("a folder");
    for file in charts.flatten() {
        if file.path().extension().is_some_and(|end| end == "csv") {
            let text = std::fs::read_to_string(file.path()).expect("text");
            assert!(
                !text.contains(",=2+2") && !text.starts_with("=2+2") && !text.contains("\n=2+2"),
                "{text}"
            );
        }
    }
}
