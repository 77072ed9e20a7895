//! What a run leaves for the page: boxes that say what the scores count, and text of strangers that stays text.

#![allow(clippy::expect_used, reason = "a test that cannot go on says why")]

use crate::program;

use std::collections::BTreeMap;
use std::path::Path;

use deadloop_score::{Cells, RegionBlock, Regions, Results, Table, Verdict};
use program::{STARTER, code, stderr, stdout};

const GRID: &str = "[[guard]]\ndetector = \"checkpoint\"\n[guard.params]\nevery = [0, 1000]\n\
                    min_repeats = [3, 4, 8]\nmin_matches = [3, 6]\n\
                    [[guard]]\ndetector = \"periodic\"\n[guard.params]\nmin_copies = [3, 6]\n";

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

/// The verdict of every transcript in the `nth` cell of a block.
fn verdicts(regions: &Regions, block: &RegionBlock, nth: usize) -> Vec<Verdict> {
    let mut dense = block
        .possible
        .as_ref()
        .map_or(nth, |possible| possible[nth]) as u64;
    let mut at = vec![0; block.shape.len()];
    for (x, n) in at.iter_mut().zip(&block.shape).rev() {
        *x = dense % *n as u64;
        dense /= *n as u64;
    }
    let mut all: Vec<Verdict> = regions.head.transcripts.iter().map(|t| t.quiet).collect();
    let boxes = block.boxes.as_ref().expect("few enough to be there");
    for one in boxes.chunks_exact(block.stride()) {
        let holds = |(x, ends): (&u64, &[u64])| ends[0] <= *x && *x < ends[1];
        if at.iter().zip(one[3..].chunks_exact(2)).all(holds) {
            let number = |n: u64| usize::try_from(n).expect("a small number");
            all[number(one[0])] = regions.head.verdicts[number(one[1])];
        }
    }
    all
}

fn count(table: &Table, name: &str, row: usize) -> i64 {
    match table.column(name) {
        Some(Cells::Int(cells)) => cells[row].expect("a count"),
        _ => -1,
    }
}

#[test]
fn boxes_say_in_every_cell_what_the_scores_count() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let (grid, out) = (path(dir.path(), "grid.toml"), path(dir.path(), "out"));
    std::fs::write(&grid, GRID).expect("it is writable");
    deadloop(&["sweep", STARTER, "--grid", &grid, "--out", &out, "-q"]);
    let regions = Regions::read(Path::new(&out))
        .expect("it is whole")
        .expect("it is there");
    assert_eq!((regions.head.grid_cells, regions.head.left_out), (24, 0));
    let mut rows = Vec::new();
    let results = Results::read(Path::new(&out)).expect("results");
    let visit = |part: Table| {
        let together = (0..part.rows()).filter(|row| part.text("model", *row) == Some("*"));
        let counts = |row: usize| {
            let names = ["hit", "premature", "miss", "false_alarm", "quiet"];
            let of = |name: &str| (name.to_owned(), count(&part, name, row));
            let counts: BTreeMap<String, i64> = names.map(of).into();
            (
                part.text("setting", row).unwrap_or_default().to_owned(),
                counts,
            )
        };
        rows.extend(together.map(counts));
    };
    results.scores.each(&[], visit).expect("rows");
    let mut flips = 0;
    for block in &regions.blocks {
        assert_eq!(rows[block.first].0, block.setting);
        for nth in 0..block.cells {
            let verdicts = verdicts(&regions, block, nth);
            let said = regions.cell(block.first + nth).expect("few enough");
            let said: Vec<Verdict> = said.into_iter().map(|(verdict, _)| verdict).collect();
            assert_eq!(said, verdicts, "cell {}", block.first + nth);
            for (name, wanted) in &rows[block.first + nth].1 {
                let name = name.replace('_', "-");
                let found = verdicts.iter().filter(|v| v.name() == name).count() as i64;
                assert_eq!(found, *wanted, "{name} in cell {}", block.first + nth);
                flips += found;
            }
        }
    }
    assert!(flips > 1000, "it says next to nothing: {flips}");
}

/// A loop in a transcript whose text, id and model do all that a page could trip over.
fn hostile(dir: &Path) -> String {
    let hostile = "</script><script>alert(1)</script><img src=x onerror=alert(1)> &lt;b&gt; \
                   \u{202e}txt.exe\u{2066} \u{0}\u{1b}[2J javascript:alert(1) ";
    let long = "a line without an end ".repeat(500_000);
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
    assert_eq!(page.matches("<script").count(), 1, "only the page's own");
    assert!(!page.contains("<img") && !page.contains("<b>m"));
    let hidden = ['\u{202e}', '\u{2066}', '\u{0}', '\u{1b}'];
    assert!(!page.contains(hidden), "a hidden char is in the page");
    assert!(page.contains("\\u{202e}txt.exe\\u{2066}") && page.contains("\\u{0}"));
    assert!(
        page.contains("onerror=alert"),
        "the text is there to be read"
    );
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
    // All of a transcript is on the page beside, where it is not too long, and a link leads there.
    let beside =
        || std::fs::read_to_string(Path::new(&out).join("transcripts.html")).expect("it is there");
    let whole = beside();
    assert!(
        whole.contains("onerror=alert") && !whole.contains("<img") && !whole.contains("<script")
    );
    assert!(whole.contains("default-src &#x27;none&#x27;") && !whole.contains('\u{202e}'));
    let links = |page: &str| page.matches("href=\"transcripts.html#t=").count();
    let sections = whole.matches("<section class=\"whole\"").count();
    assert!(
        links(&page) == sections && sections > 0,
        "{sections} of {}",
        links(&page)
    );
    assert!(
        whole.contains("are not here: at most 200"),
        "the long one is left out"
    );
    deadloop(&["report", &out, "--redact", "-q"]);
    let redacted = html(&out);
    assert!(!redacted.contains("onerror") && redacted.contains("&lt;xxx xxx=x xxxxxxx=xxxxx"));
    assert_eq!(
        redacted.matches("<mark").count(),
        page.matches("<mark").count()
    );
    let hidden = beside();
    assert!(!hidden.contains("onerror") && hidden.contains("Letters and digits are hidden"));
    assert_eq!(
        hidden.matches("<mark").count(),
        whole.matches("<mark").count()
    );
    let bare = path(dir.path(), "bare");
    deadloop(&["replay", &corpus, "--out", &bare, "--no-excerpts", "-q"]);
    assert!(!html(&bare).contains("onerror"), "no text was to be kept");
    let packed = std::fs::read(Path::new(&bare).join("excerpts.jsonl.zst")).expect("it is there");
    assert!(packed.len() < 2_000, "{} bytes without text", packed.len());
    for name in ["transcripts.html", "transcripts.jsonl.zst"] {
        assert!(!Path::new(&bare).join(name).exists(), "{name}");
    }
    assert!(!html(&bare).contains("href=\"transcripts.html"));
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
    assert!(
        told.contains("recommended with guard.params.min_copies=4"),
        "{told}"
    );
}

#[test]
fn a_folder_remembers_that_it_was_redacted() {
    let deadloop = program::deadloop;
    let dir = tempfile::tempdir().expect("a temporary folder");
    let corpus = hostile(dir.path());
    let out = path(dir.path(), "out");
    let replay = ["replay", &corpus, "--out", &out, "-q"];
    deadloop(&replay);
    let run = deadloop(&["report", &out, "--redact"]);
    assert_eq!(code(&run), Some(0), "{}", stderr(&run));
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
    let run = deadloop(&["replay", &corpus, "--presets", "--out", &out, "-q"]);
    assert_eq!(code(&run), Some(0), "{}", stderr(&run));
    let report = std::fs::read_to_string(Path::new(&out).join("report.md")).expect("written");
    assert!(
        report.contains("@&#8203;everyone") && !report.contains("@everyone"),
        "{report}"
    );
    let mut cells = 0;
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
            cells += text.matches("'=2+2").count();
        }
    }
    assert!(cells > 0, "no chart names the model");
}
