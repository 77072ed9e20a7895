//! Everything that is printed for people fits the terminal, with names of any width, and no word is broken.

use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr;

use crate::program::{Place, stderr};

const MODELS: [&str; 2] = [
    "deepseek-r1-distill-qwen-32b-awq",
    "通义千问二点五-七十亿参数-指令微调-量化版",
];

/// A folder with a corpus whose names are long, and in two scripts.
fn corpus() -> Place {
    let place = Place::new();
    let transcript = |n: usize| {
        let clean: String = (0..200)
            .map(|i| {
                format!(
                    "第{}段说的是{}。",
                    n * 200 + i,
                    (n * 7919 + i * i * 31) % 10_007
                )
            })
            .collect();
        let (text, label) = match n % 3 {
            0 => {
                let text = format!("开头。{}", "让我再想一想这个问题。".repeat(60));
                let label = json!([{"class": "loop", "kind": "short-sequence", "channel": "answer", "start": 3, "onset": 14, "period": 11}]);
                (text, label)
            }
            _ => (clean, json!([{"class": "clean"}])),
        };
        json!({"id": format!("对话/{n:03}/一个很长的名字"), "model": MODELS[n % 2], "group": format!("g{n}"), "answer": text, "labels": label})
    };
    let lines: Vec<String> = (0..24).map(|n| transcript(n).to_string()).collect();
    place.file("c.jsonl", lines.join("\n"));
    let grid = "[[guard]]\ndetector = \"checkpoint\"\n[guard.params]\nmin_repeats = [3, 4, 5]\nwindow = [200, 400]\n";
    place.file("grid.toml", grid);
    place
}

fn shown(place: &Place, line: &str, width: usize) -> String {
    let mut command = place.command(line);
    let output = command.env("COLUMNS", width.to_string()).output();
    let output = output.expect("it starts");
    let code = output.status.code();
    assert!(
        matches!(code, Some(0 | 5 | 6)),
        "{line}: {}",
        stderr(&output)
    );
    String::from_utf8(output.stdout).expect("it is UTF-8")
}

#[test]
fn every_table_fits_the_terminal_and_no_word_is_broken() {
    let place = corpus();
    let commands = [
        "tune c.jsonl --out tuned --force",
        "sweep c.jsonl --grid grid.toml --out swept --force",
        "replay c.jsonl --presets --out replayed --force",
        "compare document recommended --corpus c.jsonl --fail-on never",
        "show c.jsonl",
        "detectors",
        "detectors periodic",
        "detectors checkpoint",
        "label c.jsonl --out l.csv --force",
        "label c.jsonl --disputes replayed",
        "label --merge l.csv c.jsonl --out m.csv --force",
    ];
    for words in commands {
        for width in [60, 80, 120] {
            let text = shown(&place, words, width);
            for line in text.lines() {
                // What is to be copied is left whole.
                let copied = line.contains("deadloop ");
                assert!(
                    copied || line.width() <= width,
                    "{words} at {width}: {line}\n{text}"
                );
            }
            let broken = ["fa-\n", "alar\n", "recal\n"];
            assert!(!broken.iter().any(|part| text.contains(part)), "{text}");
        }
    }
    for width in [60, 80, 120] {
        for words in [commands[2], commands[3]] {
            let text = shown(&place, words, width);
            for word in ["recommended", "100.0 %"] {
                assert!(text.contains(word), "{word} of {words} at {width}:\n{text}");
            }
        }
    }
}

#[test]
fn what_programs_read_is_never_folded() {
    let text = shown(&corpus(), "check c.jsonl --json", 60);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 1, "{text}");
    assert!(serde_json::from_str::<Value>(lines[0]).is_ok(), "{text}");
}

/// A number is spelled in one way on the terminal: thousands have commas, in each table and sentence.
#[test]
fn thousands_have_commas() {
    let place = corpus();
    let run: Vec<Value> = (0..120)
        .flat_map(|n| {
            let call = json!({"type": "tool_call", "id": format!("c{n}"), "name": "ls", "arguments": {"n": n}});
            let result = json!({"type": "tool_result", "id": format!("c{n}"), "content": "x ".repeat(200)});
            [json!({"type": "turn"}), call, result]
        })
        .collect();
    place.file(
        "runs.jsonl",
        json!({"id": "r", "model": "m", "events": run}).to_string(),
    );
    let late = format!(
        "Some words that are new. {}",
        "Wait, let me look again. ".repeat(300)
    );
    let label =
        json!([{"class": "loop", "channel": "answer", "start": 25, "onset": 50, "period": 25}]);
    place.file(
        "late.jsonl",
        json!({"id": "l", "model": "m", "answer": late, "labels": label}).to_string(),
    );
    place.file(
        "late.toml",
        "[[guard]]\ndetector = \"periodic\"\n[guard.params]\nmin_copies = 200\n",
    );
    let commands = [
        "replay late.jsonl --settings late.toml --settings recommended --out late",
        "compare late.toml recommended --corpus late.jsonl --fail-on never",
        "sweep c.jsonl --grid grid.toml --out swept",
        "tune c.jsonl --out tuned",
        "budget runs.jsonl --out budget",
        "show late.jsonl",
        "label late.jsonl --out l.csv",
    ];
    let mut grouped = 0;
    for words in commands {
        let text = shown(&place, words, 200);
        for line in text.lines() {
            let blanks = ['\u{202f}', '\u{2009}', '\u{a0}'];
            assert!(!line.contains(blanks), "{words}: {line}");
            for word in line.split([' ', '(', ')', ';']) {
                let long = word.len() > 3 && word.bytes().all(|b| b.is_ascii_digit());
                assert!(!long, "{words}: {word} in {line}");
                let bytes = word.as_bytes();
                grouped += usize::from(bytes.len() > 4 && bytes[bytes.len() - 4] == b',');
            }
        }
    }
    assert!(grouped > 20, "{grouped}");
}
