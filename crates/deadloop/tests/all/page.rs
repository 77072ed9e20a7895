//! What a run leaves for the page: text of strangers that stays text.

#![allow(clippy::expect_used, reason = "a test that cannot go on says why")]

use crate::program;

use std::path::Path;

use program::{Ran, code, has, stderr, stdout};

fn deadloop(args: &[&str]) {
    let run = program::deadloop(args);
    assert!(run.status.success(), "{args:?}: {}", program::stderr(&run));
}

fn path(dir: &Path, name: &str) -> String {
    dir.join(name).display().to_string()
}

fn html(dir: &str) -> String {
    std::fs::read_to_string(Path::new(dir).join("report.html")).expect("a report")
}

/// A loop in a transcript whose text, id and model do all that a page could trip over.
fn hostile(dir: &Path) -> String {
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
    let file = path(dir, "hostile.jsonl");
    std::fs::write(&file, lines.join("\n")).expect("it is writable");
    file
}

#[test]
fn text_of_strangers_stays_text_and_can_be_hidden_or_left_out() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let corpus = hostile(dir.path());
    let out = path(dir.path(), "out");
    deadloop(&["replay", &corpus, "--out", &out, "-q"]);
    let page = html(&out);
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
    deadloop(&["report", &out, "--redact", "-q"]);
    let redacted = html(&out);
    assert!(!redacted.contains("onerror") && redacted.contains("&lt;xxx xxx=x xxxxxxx=xxxxx"));
    assert_eq!(
        redacted.matches("<mark").count(),
        page.matches("<mark").count()
    );
    let bare = path(dir.path(), "bare");
    deadloop(&["replay", &corpus, "--out", &bare, "--no-excerpts", "-q"]);
    assert!(!html(&bare).contains("onerror"), "no text was to be kept");
    let cases = std::fs::read_to_string(Path::new(&bare).join("cases.jsonl")).expect("it is there");
    assert!(!cases.contains("onerror") && cases.contains("\"transcript\""));
}

#[test]
fn an_unlabelled_replay_says_what_would_be_cut_and_how_to_explain_it() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let (corpus, out) = (path(dir.path(), "c.jsonl"), path(dir.path(), "out"));
    let line = |id: &str, text: String| format!("{{\"id\": \"{id}\", \"text\": \"{text}\"}}\n");
    let loops = line("loops", "I will try again now. ".repeat(200));
    let fine = line("fine", "One sentence, and the end.".into());
    std::fs::write(&corpus, loops + &fine).expect("it is writable");
    let set = "guard.params.min_copies=4";
    let run = program::deadloop(&["replay", &corpus, "--out", &out, "--set", set]);
    let told = String::from_utf8_lossy(&run.stdout).into_owned();
    assert!(
        told.contains("would cut") && told.contains("1 of 2 ("),
        "{told}"
    );
    let page = html(&out).replace("&#x2f;", "/");
    assert!(page.contains("What each setting would cut"));
    // Where the corpus lies, and what was changed on the way, is known to the folder: the page names no path.
    assert!(page.contains("deadloop explain . loops<"));
    let run = program::deadloop(&["explain", &out, "loops"]);
    let told = String::from_utf8_lossy(&run.stdout).into_owned();
    has(&told, "recommended with guard.params.min_copies=4");
}

#[test]
fn a_folder_remembers_that_it_was_redacted() {
    let deadloop = program::deadloop;
    let dir = tempfile::tempdir().expect("a temporary folder");
    let corpus = hostile(dir.path());
    let out = path(dir.path(), "out");
    let replay = ["replay", &corpus, "--out", &out, "-q"];
    deadloop(&replay);
    let run = deadloop(&["report", &out, "--redact"]).ends(0);
    let told = stdout(&run);
    for words in ["safe to share: report.html", "look first at: ids"] {
        assert!(told.contains(words), "{words:?} is not in {told}");
    }
    assert!(!html(&out).contains("onerror"));
    // Nor is the text in any other file, whatever is made from them later.
    for file in std::fs::read_dir(&out).expect("a folder").flatten() {
        if file.path().is_file() {
            let bytes = std::fs::read(file.path()).expect("a file");
            let plain = String::from_utf8_lossy(&bytes).contains("onerror");
            assert!(!plain, "{}", file.path().display());
        }
    }
    for words in [&["report", &out][..], &replay] {
        let run = deadloop(words);
        assert_eq!(code(&run), Some(0), "{words:?}: {}", stderr(&run));
        let page = html(&out);
        assert!(!page.contains("onerror"), "{words:?}");
        assert!(
            page.contains("Letters and digits of the transcripts are hidden"),
            "{words:?}"
        );
    }
    let json = stdout(&deadloop(&["report", &out, "--json"]));
    assert!(json.contains("\"redacted\":true"), "{json}");
}

/// A model's name calls nobody, and no cell of a chart's table is a formula.
#[test]
fn names_of_strangers_call_nobody_and_run_nothing() {
    let deadloop = program::deadloop;
    let dir = tempfile::tempdir().expect("a temporary folder");
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
    let corpus = path(dir.path(), "c.jsonl");
    std::fs::write(&corpus, lines.join("\n")).expect("it is writable");
    let out = path(dir.path(), "out");
    deadloop(&["replay", &corpus, "--presets", "--out", &out, "-q"]).ends(0);
    let report = std::fs::read_to_string(Path::new(&out).join("report.md")).expect("written");
    assert!(
        report.contains("@&#8203;everyone") && !report.contains("@everyone"),
        "{report}"
    );
    for file in std::fs::read_dir(Path::new(&out).join("charts"))
        .expect("a folder")
        .flatten()
    {
        if file.path().extension().is_some_and(|end| end == "csv") {
            let text = std::fs::read_to_string(file.path()).expect("text");
            assert!(
                !text.contains(",=2+2") && !text.starts_with("=2+2") && !text.contains("\n=2+2"),
                "{text}"
            );
        }
    }
}
