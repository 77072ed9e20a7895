//! What an import costs beside the parsing of the same bytes, and how much memory it takes.
//!
//! ```sh
//! cargo run --release -p deadloop-corpus --no-default-features --example import_cost           # 200 MB of each kind
//! cargo run --release -p deadloop-corpus --no-default-features --example import_cost -- 1000   # MB
//! ```
//!
//! The data are OpenAI-style JSON lines made of the texts of the starter corpus: whole responses, and
//! the chunks of streams. Both times are the processor's of one thread in one run, since the machine
//! may have other work to do: `serde_json` reads every line into a `Value` and drops it; the import
//! reads, maps, writes and packs a corpus. The ratio is what is claimed. Needs `/proc`.
//!
//! `scripts/import-cost` measures the program itself; it has its data and its comparison from here:
//! `import_cost write responses|chunks MB FILE` and `import_cost parse FILE`.

use std::error::Error;
use std::fs::File;
use std::hint::black_box;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use deadloop_corpus::{Corpus, CorpusWriter, Effort, Import, ImportOptions};
use serde_json::{Value, json};

const STARTER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../datasets/starter");
const MEGABYTES: u64 = 200;

/// Writes the lines of one response.
type Kind = (
    &'static str,
    fn(&mut dyn Write, u64, &Texts) -> std::io::Result<u64>,
);

/// What a response says.
struct Texts {
    reasoning: String,
    answer: String,
}

const KINDS: [Kind; 2] = [("responses", response), ("chunks", chunks)];

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args.as_slice() {
        ["write", kind, megabytes, file] => {
            let known = KINDS.iter().find(|(name, _)| name == kind);
            let (_, lines) = known.ok_or("expected responses or chunks")?;
            let bytes = megabytes.parse::<u64>()? * 1_000_000;
            data(Path::new(file), bytes, &texts()?, *lines)?;
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
    for (name, lines) in KINDS {
        let path = dir.path().join("data.jsonl");
        let size = data(&path, bytes, &texts, lines)?;
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

/// Fills a file with about so many bytes.
fn data(
    path: &Path,
    bytes: u64,
    texts: &[Texts],
    lines: fn(&mut dyn Write, u64, &Texts) -> std::io::Result<u64>,
) -> Result<u64, Box<dyn Error>> {
    let mut file = BufWriter::new(File::create(path)?);
    let (mut written, mut number) = (0, 0);
    for text in texts.iter().cycle() {
        if written >= bytes {
            break;
        }
        written += lines(&mut file, number, text)?;
        number += 1;
    }
    file.flush()?;
    Ok(written)
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
