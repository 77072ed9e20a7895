//! What an import costs beside the parsing of the same bytes, and how much memory it takes.
//!
//! ```sh
//! cargo run --release -p deadloop-corpus --example import_cost           # 200 MB of each kind
//! cargo run --release -p deadloop-corpus --example import_cost -- 1000   # MB
//! ```
//!
//! The data are made of the texts of the starter corpus, as five formats have them: OpenAI's responses and the
//! chunks of its streams, sessions of Claude Code and of Codex (a folder with a file each), and rows of a
//! table. Both times are the processor's of one thread in one run, since the machine
//! may have other work to do: `serde_json` reads every line into a `Value` and drops it; the import
//! reads, maps, writes and packs a corpus. The ratio is what is claimed. Needs `/proc`.
//!
//! `scripts/import-cost` measures the program itself; it has its data and its comparison from here:
//! `import_cost write KIND MB PATH` and `import_cost parse PATH`; `import_cost kinds` lists the kinds.

use std::error::Error;
use std::fs::File;
use std::hint::black_box;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use deadloop_corpus::{Corpus, CorpusWriter, Effort, Import, ImportOptions};
use serde_json::{Value, json};

const STARTER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../datasets/starter");
const MEGABYTES: u64 = 200;

/// Writes the lines of one response, and says how many bytes they are.
type Lines = fn(&mut dyn Write, u64, &Texts) -> std::io::Result<u64>;

/// Data of one format.
struct Kind {
    name: &'static str,
    lines: Lines,
    /// Responses of a file; none: all of them are in one.
    of_a_file: Option<u64>,
}

const fn kind(name: &'static str, lines: Lines, of_a_file: Option<u64>) -> Kind {
    Kind {
        name,
        lines,
        of_a_file,
    }
}

const KINDS: [Kind; 5] = [
    kind("responses", response, None),
    kind("chunks", chunks, None),
    kind("claude-code", claude_code, Some(50)),
    kind("codex", codex, Some(50)),
    kind("table", row, None),
];

/// What a response says.
struct Texts {
    reasoning: String,
    answer: String,
}

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args.as_slice() {
        ["write", kind, megabytes, file] => {
            let known = KINDS.iter().find(|known| known.name == *kind);
            let known = known.ok_or("an unknown kind; `import_cost kinds` lists them")?;
            let bytes = megabytes.parse::<u64>()? * 1_000_000;
            data(Path::new(file), bytes, &texts()?, known)?;
            Ok(())
        }
        ["kinds"] => {
            KINDS.iter().for_each(|kind| println!("{}", kind.name));
            Ok(())
        }
        ["parse", file] => parse(Path::new(file)),
        [] => compare(MEGABYTES * 1_000_000),
        [megabytes] => compare(megabytes.parse::<u64>()? * 1_000_000),
        _ => Err("expected nothing, megabytes, write or parse".into()),
    }
}

/// Both ways over so many bytes of each kind.
fn compare(bytes: u64) -> Result<(), Box<dyn Error>> {
    let texts = texts()?;
    let dir = tempfile::tempdir()?;
    for kind in KINDS {
        let name = kind.name;
        let path = dir.path().join(name);
        let size = data(&path, bytes, &texts, &kind)?;
        let parsed = measured(|| parse(&path))?;
        let imported = measured(|| import(&path, dir.path()))?;
        println!(
            "{name}: {:.0} MB: parsed in {:.2} s, imported in {:.2} s: {:.2} times; peak {:.0} MB parsing, {:.0} MB importing",
            size as f64 / 1e6,
            parsed.seconds,
            imported.seconds,
            imported.seconds / parsed.seconds,
            parsed.peak_mb,
            imported.peak_mb,
        );
    }
    Ok(())
}

fn texts() -> Result<Vec<Texts>, Box<dyn Error>> {
    let entries = Corpus::open(Path::new(STARTER))?
        .entries()
        .collect::<Result<Vec<_>, _>>()?;
    let texts = entries.iter().map(|entry| Texts {
        reasoning: entry.transcript.reasoning(),
        answer: entry.transcript.answer(),
    });
    Ok(texts.collect())
}

/// Fills a file, or the files of a folder, with about so many bytes.
fn data(path: &Path, bytes: u64, texts: &[Texts], kind: &Kind) -> Result<u64, Box<dyn Error>> {
    let named = |number: u64| match kind.of_a_file {
        Some(of) => path.join(format!("{}.jsonl", number / of)),
        None => path.to_path_buf(),
    };
    if kind.of_a_file.is_some() {
        std::fs::create_dir_all(path)?;
    }
    let mut file = BufWriter::new(File::create(named(0))?);
    let mut written = 0;
    for (number, text) in (0..).zip(texts.iter().cycle()) {
        if written >= bytes {
            break;
        }
        if kind
            .of_a_file
            .is_some_and(|of| u64::is_multiple_of(number, of))
        {
            file.flush()?;
            file = BufWriter::new(File::create(named(number))?);
        }
        written += (kind.lines)(&mut file, number, text)?;
    }
    file.flush()?;
    Ok(written)
}

/// What was asked, thought, called and said in turn, as Claude Code writes it.
fn claude_code(out: &mut dyn Write, number: u64, texts: &Texts) -> std::io::Result<u64> {
    let session = format!("s-{}", number / 50);
    let call = format!("toolu_{number}");
    let mut message = |kind: &str, part: u64, message: Value| {
        line(
            out,
            &json!({
                "parentUuid": format!("u{number}-{part}"), "isSidechain": false, "userType": "external", "cwd": "/w",
                "sessionId": session, "version": "2.0.1", "gitBranch": "main", "type": kind, "message": message,
                "uuid": format!("u{number}-{}", part + 1), "timestamp": "2026-01-01T10:00:00.000Z",
            }),
        )
    };
    let said = |block: Value, reason: Value| {
        json!({
            "id": format!("msg_{number}"), "type": "message", "role": "assistant", "model": "claude-sonnet-9",
            "content": [block], "stop_reason": reason, "stop_sequence": null,
            "usage": {"input_tokens": 4, "cache_creation_input_tokens": 100, "cache_read_input_tokens": 1000,
                "output_tokens": 42, "service_tier": "standard"},
        })
    };
    let given = json!([{"tool_use_id": call, "type": "tool_result", "content": texts.reasoning}]);
    let called =
        json!({"type": "tool_use", "id": call, "name": "Read", "input": {"file_path": "/w/a"}});
    let thought = json!({"type": "thinking", "thinking": texts.reasoning, "signature": "x"});
    let answer = json!({"type": "text", "text": texts.answer});
    Ok(
        message("user", 0, json!({"role": "user", "content": "Go on."}))?
            + message("assistant", 1, said(thought, Value::Null))?
            + message("assistant", 2, said(called, json!("tool_use")))?
            + message("user", 3, json!({"role": "user", "content": given}))?
            + message("assistant", 4, said(answer, json!("end_turn")))?,
    )
}

/// The same as Codex writes it.
fn codex(out: &mut dyn Write, number: u64, texts: &Texts) -> std::io::Result<u64> {
    let mut write = |kind: &str, payload: Value| {
        line(
            out,
            &json!({"timestamp": "2026-01-01T10:00:00.000Z", "type": kind, "payload": payload}),
        )
    };
    let mut written = 0;
    if number.is_multiple_of(50) {
        written += write(
            "session_meta",
            json!({"id": format!("s-{}", number / 50), "cwd": "/w", "originator": "codex_cli_rs", "cli_version": "0.90.0"}),
        )?;
        written += write("turn_context", json!({"cwd": "/w", "model": "gpt-9-codex"}))?;
    }
    let text = |kind: &str, text: &str| json!([{"type": kind, "text": text}]);
    let call = format!("call_{number}");
    let items = [
        json!({"type": "message", "role": "user", "content": text("input_text", "Go on.")}),
        json!({"type": "reasoning", "summary": text("summary_text", &texts.reasoning), "content": null, "encrypted_content": "g"}),
        json!({"type": "function_call", "name": "shell", "arguments": "{\"command\": [\"ls\"]}", "call_id": call}),
        json!({"type": "function_call_output", "call_id": call, "output": texts.reasoning}),
        json!({"type": "message", "role": "assistant", "content": text("output_text", &texts.answer)}),
    ];
    for item in items {
        written += write("response_item", item)?;
    }
    Ok(written)
}

/// A row of a table.
fn row(out: &mut dyn Write, number: u64, texts: &Texts) -> std::io::Result<u64> {
    line(
        out,
        &json!({
            "id": format!("row-{number}"), "prompt": format!("Question {number}"), "response": texts.answer,
            "reasoning": texts.reasoning, "model": "qwen3-8b", "finish_reason": "stop", "score": 0.5,
        }),
    )
}

fn response(out: &mut dyn Write, number: u64, texts: &Texts) -> std::io::Result<u64> {
    line(
        out,
        &json!({
            "id": format!("chatcmpl-{number}"), "object": "chat.completion", "created": 1_741_569_952,
            "model": "qwen3-8b",
            "choices": [{
                "index": 0,
                "message": {
                    "role": "assistant", "content": texts.answer, "refusal": null, "tool_calls": [],
                    "reasoning_content": texts.reasoning,
                },
                "logprobs": null, "finish_reason": "stop", "stop_reason": null,
            }],
            "usage": {"prompt_tokens": 20, "total_tokens": 820, "completion_tokens": 800},
            "system_fingerprint": null,
        }),
    )
}

/// A chunk for every four chars, about a token.
fn chunks(out: &mut dyn Write, number: u64, texts: &Texts) -> std::io::Result<u64> {
    let id = format!("chatcmpl-{number}");
    let mut chunk = |delta: Value, finish: Value| {
        line(
            out,
            &json!({
                "id": id, "object": "chat.completion.chunk", "created": 1_741_569_952,
                "model": "qwen3-8b", "system_fingerprint": "fp_44709d6fcb",
                "choices": [{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish}],
            }),
        )
    };
    let mut written = chunk(json!({"role": "assistant", "content": ""}), Value::Null)?;
    for (field, text) in [
        ("reasoning_content", &texts.reasoning),
        ("content", &texts.answer),
    ] {
        let chars: Vec<char> = text.chars().collect();
        for piece in chars.chunks(4) {
            written += chunk(
                json!({field: piece.iter().collect::<String>()}),
                Value::Null,
            )?;
        }
    }
    written += chunk(json!({}), json!("stop"))?;
    Ok(written)
}

fn line(out: &mut dyn Write, value: &Value) -> std::io::Result<u64> {
    let text = value.to_string();
    writeln!(out, "{text}")?;
    Ok(text.len() as u64 + 1)
}

fn parse(path: &Path) -> Result<(), Box<dyn Error>> {
    if path.is_dir() {
        for file in std::fs::read_dir(path)? {
            parse(&file?.path())?;
        }
        return Ok(());
    }
    let mut file = BufReader::with_capacity(1 << 16, File::open(path)?);
    let mut line = Vec::new();
    while file.read_until(b'\n', &mut line)? > 0 {
        black_box(serde_json::from_slice::<Value>(&line)?);
        line.clear();
    }
    Ok(())
}

fn import(path: &Path, dir: &Path) -> Result<(), Box<dyn Error>> {
    let files: [PathBuf; 1] = [path.to_path_buf()];
    let mut writer = CorpusWriter::create_with(&dir.join("out.jsonl.zst"), true, Effort::Quick)?;
    for entry in Import::new(&files, ImportOptions::default())? {
        writer.write(&entry?)?;
    }
    Ok(writer.finish()?)
}

/// What something cost.
struct Cost {
    /// Of the processor.
    seconds: f64,
    /// Most memory that was in use.
    peak_mb: f64,
}

fn measured(work: impl FnOnce() -> Result<(), Box<dyn Error>>) -> Result<Cost, Box<dyn Error>> {
    // Forgets the peak so far.
    std::fs::write("/proc/self/clear_refs", "5")?;
    let before = processor()?;
    work()?;
    Ok(Cost {
        seconds: processor()? - before,
        peak_mb: peak()?,
    })
}

/// Processor time of this thread so far, in seconds.
fn processor() -> Result<f64, Box<dyn Error>> {
    let nanos = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    let nanos = nanos.split_whitespace().next().unwrap_or("0");
    Ok(nanos.parse::<f64>()? / 1e9)
}

fn peak() -> Result<f64, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line
        .and_then(|line| line.split_whitespace().next())
        .unwrap_or("0");
    Ok(kilobytes.parse::<f64>()? / 1e3)
}
