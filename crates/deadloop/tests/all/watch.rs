//! `deadloop watch` from outside: every format, the exact copy, and that it never waits for what it
//! does not need.

#![allow(clippy::expect_used, reason = "a test that cannot go on says why")]

use crate::program;

use std::io::{Read, Write};
use std::process::{Child, Output, Stdio};
use std::time::Duration;

use deadloop_detect::{Alarm, Guard, Settings, TextChannel};
#[cfg(unix)]
use nix::sys::signal::Signal;
use program::{Place, Ran, ended, stderr, stdout};
use serde_json::{Value, json};

type Chunk = (TextChannel, String);
/// How a chunk stands in a stream.
type Writer = fn(&Chunk) -> String;

const SSE: Writer = |(channel, text)| {
    let field = match channel {
        TextChannel::Reasoning => "reasoning_content",
        _ => "content",
    };
    format!(
        "data: {}\n\n",
        json!({"choices": [{"index": 0, "delta": {field: text}}]})
    )
};

const FORMATS: [(&str, Writer); 5] = [
    ("sse", SSE),
    ("jsonl", |(channel, text)| {
        json!({"type": channel.name(), "text": text}).to_string() + "\n"
    }),
    ("jsonl", |(channel, text)| {
        let field = match channel {
            TextChannel::Reasoning => "thinking",
            _ => "content",
        };
        json!({"model": "m", "message": {field: text}, "done": false}).to_string() + "\n"
    }),
    ("sse", |(channel, text)| {
        let (kind, field) = match channel {
            TextChannel::Reasoning => ("thinking_delta", "thinking"),
            _ => ("text_delta", "text"),
        };
        let data = json!({"type": "content_block_delta", "index": 0, "delta": {"type": kind, field: text}});
        format!("event: content_block_delta\r\ndata: {data}\r\n\r\n")
    }),
    ("sse", |(channel, text)| {
        let kind = match channel {
            TextChannel::Reasoning => "response.reasoning_text.delta",
            _ => "response.output_text.delta",
        };
        format!("data: {}\n\n", json!({"type": kind, "delta": text}))
    }),
];

/// Thinks a little, then goes round and round.
fn looping() -> Vec<Chunk> {
    chunks("先想一想 what to do. ", "再想一想！", 1000)
}

fn healthy() -> Vec<Chunk> {
    // Letters: the recommended guard takes sentences for equal that differ in a number alone.
    let word = |n: u32| {
        let digits = format!("{n:x}").into_bytes().into_iter();
        digits
            .map(|d| char::from(d % 48 % 39 + b'a'))
            .collect::<String>()
    };
    let thought: String = (0..900_u32)
        .map(|n| format!("{} leads to {}. ", word(n * n), word(n * 7919 % 1013)))
        .collect();
    let mut all = chunks(&thought, "", 0);
    all.push((TextChannel::Answer, "Forty-two.".into()));
    all
}

fn chunks(start: &str, unit: &str, copies: usize) -> Vec<Chunk> {
    let chars: Vec<char> = (start.to_owned() + &unit.repeat(copies)).chars().collect();
    let chunk = |chars: &[char]| (TextChannel::Reasoning, chars.iter().collect());
    chars.chunks(7).map(chunk).collect()
}

fn write(chunks: &[Chunk], writer: Writer) -> String {
    chunks.iter().map(writer).collect()
}

/// The alarm that a guard of these settings gives, and how many chunks it took.
fn expected(settings: &Settings, model: &str, chunks: &[Chunk]) -> Option<(Alarm, usize)> {
    let mut guard = Guard::new(settings.for_model(model)).expect("it reads text");
    let mut all = chunks.iter().enumerate();
    all.find_map(|(i, (channel, text))| {
        Some((guard.push_text(*channel, text).into_alarm()?, i + 1))
    })
}

fn start(place: &Place, args: &str) -> Child {
    let mut command = place.command(format!("watch {args}"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command.stderr(Stdio::piped()).spawn().expect("it starts")
}

/// Runs it on a stream that ends.
fn watch(args: &str, stream: &str) -> Output {
    watch_in(&Place::new(), args, stream)
}

fn watch_in(place: &Place, args: &str, stream: &str) -> Output {
    let mut child = start(place, args);
    let mut stdin = child.stdin.take().expect("it is piped");
    let stream = stream.to_owned();
    // It may stop reading.
    let feeding = std::thread::spawn(move || drop(stdin.write_all(stream.as_bytes())));
    let output = child.wait_with_output().expect("it ends");
    feeding.join().expect("it is fed");
    output
}

#[test]
fn a_loop_in_each_format_is_the_alarm_that_the_guard_gives() {
    let (alarm, chunks) = expected(&Settings::default(), "m", &looping()).expect("it loops");
    for (format, writer) in FORMATS {
        let run = watch("--json", &write(&looping(), writer)).ends(10);
        let told = run.json();
        assert_eq!(
            told["alarm"],
            serde_json::to_value(&alarm).expect("it is plain data")
        );
        assert_eq!(
            told["seen"],
            json!({"reasoning": alarm.delivered, "answer": 0, "arguments": 0, "calls": 0})
        );
        assert_eq!(told["format"], format);
        assert_eq!(told["bad_lines"], 0);
        run.says(&alarm.log_line()).says(&alarm.user_message());
        let copied = watch("--passthrough --quiet", &write(&looping(), writer));
        let prefix = write(&looping()[..chunks], writer);
        assert_eq!(stdout(&copied.ends(10)), prefix, "{format}");
    }
}

/// `--task` chooses the guard, with and without the name of a model.
#[test]
fn a_task_has_its_guard() {
    let place = Place::new();
    let text = "[[guard]]\ndetector = \"periodic\"\n[[model]]\ntask = \"drill*\"\n\
                [[model.guard]]\ndetector = \"periodic\"\nenabled = false\n";
    place.file("s.toml", text);
    for (more, code) in [
        ("", 10),
        ("--task chat", 10),
        ("--task drills", 0),
        ("--task drills --model m", 0),
        ("--model m", 10),
    ] {
        for (format, writer) in FORMATS {
            let args = format!("--settings s.toml {more}");
            let run = watch_in(&place, &args, &write(&looping(), writer));
            assert_eq!(run.status.code(), Some(code), "{format} {more}");
        }
    }
}

#[test]
fn a_loop_in_text_ends_the_copy_at_its_char() {
    let thought: String = looping().into_iter().map(|(_, text)| text).collect();
    let (alarm, _) = expected(&Settings::default(), "m", &looping()).expect("it loops");
    let run = watch("--passthrough --json", &format!("<think>{thought}")).ends(10);
    let chars: String = thought.chars().take(alarm.exact.count() as usize).collect();
    assert_eq!(stdout(&run), format!("<think>{chars}"));
    let told = stderr(&run);
    let told = told.lines().next().expect("the object comes first");
    let told: Value = told.parse().expect("it is JSON");
    assert_eq!(told["alarm"]["exact"], json!(alarm.exact));
    assert_eq!(told["alarm"]["channel"], "reasoning");
    assert_eq!(told["format"], "text");
    let answer = watch("--json", &thought).json();
    assert_eq!(answer["alarm"]["channel"], "answer");
}

#[test]
fn a_healthy_stream_of_each_format_is_copied_whole() {
    for (format, writer) in FORMATS {
        let stream = write(&healthy(), writer);
        let run = watch("--passthrough", &stream).ends(0);
        assert!(stdout(&run) == stream, "{format}");
        run.says("no alarm: ");
    }
    let run = watch("", "<think>So.</think>\nForty-two.").ends(0);
    let words = "no alarm: 3 chars of reasoning and 11 of answer (text)\n";
    assert_eq!((stdout(&run).as_str(), stderr(&run).as_str()), (words, ""));
}

#[test]
fn the_settings_of_the_model_watch() {
    let place = Place::new();
    let text = "[[guard]]\ndetector = \"checkpoint\"\nenabled = false\n\
        [[model]]\nmatch = \"hasty-*\"\n[[model.guard]]\ndetector = \"checkpoint\"\n\
        [model.guard.params]\ncheckpoints = [300, 600]\n";
    place.file("s.toml", text);
    let settings = Settings::parse(text).expect("it is right");
    let stream = write(&looping(), SSE);
    let watch = |more: &str| watch_in(&place, &format!("--settings s.toml {more}"), &stream);
    let (alarm, _) = expected(&settings, "hasty-3b", &looping()).expect("it loops");
    let hasty = watch("--model hasty-3b --json").json();
    assert_eq!(hasty["alarm"]["exact"], json!(alarm.exact));
    assert_eq!(alarm.exact.count(), 300);
    let other = watch("--model calm").ends(0);
    other.says("no guard is switched on");
    let set = watch("--model hasty-3b --json --set model.guard.params.checkpoints=[400,600]");
    assert_eq!(set.json()["alarm"]["exact"], 400);
    watch("--set model.guard.params.min_repeats=1").ends(2);
}

#[test]
fn bad_lines_are_told_and_passed_over() {
    let stream = write(&looping()[..20], SSE) + "data: oops\n\n" + &write(&looping()[20..], SSE);
    let run = watch("--json", &stream).ends(10);
    assert_eq!(run.json()["bad_lines"], 1);
    run.says("deadloop: stdin:41: not JSON");
    let forced = watch("--from jsonl", &stream).ends(2);
    forced.shows("lines that could not be read");
    forced.says("nothing could be read as jsonl");
}

/// An event is copied and judged as soon as its line is whole, and after an alarm a stream that goes
/// on, or stands still, is not waited for.
#[test]
fn nothing_is_waited_for() {
    let place = Place::new();
    let mut child = start(&place, "--passthrough --quiet");
    let mut stdin = child.stdin.take().expect("it is piped");
    let mut stdout = child.stdout.take().expect("it is piped");
    let first = write(&looping()[..1], SSE);
    stdin.write_all(first.as_bytes()).expect("it reads");
    let mut copied = vec![0; first.len()];
    stdout
        .read_exact(&mut copied)
        .expect("it copies while the stream is open");
    assert_eq!(copied, first.as_bytes());
    let (_, chunks) = expected(&Settings::default(), "m", &looping()).expect("it loops");
    let rest = write(&looping()[1..chunks], SSE);
    // Not even the blank line that ends the event is there yet.
    stdin
        .write_all(rest.trim_end_matches('\n').as_bytes())
        .expect("it reads");
    stdin.write_all(b"\n").expect("it reads");
    assert_eq!(ended(&mut child).code(), Some(10));
    let mut copied = String::new();
    stdout.read_to_string(&mut copied).expect("it is text");
    assert_eq!(copied, rest.trim_end_matches('\n').to_owned() + "\n");
    drop(stdin);
}

#[cfg(unix)]
/// A stream that stands still is ended while it does: the pipe is held open, and no further byte comes.
#[test]
fn silence_is_told_while_it_lasts() {
    let place = Place::new();
    let stall = |param: &str| {
        let text = format!("[[guard]]\ndetector = \"stall\"\n[guard.params]\n{param} = 1000\n");
        place.file("s.toml", text);
    };
    for (param, sent) in [("idle_ms", "It is "), ("first_ms", "")] {
        stall(param);
        let mut child = start(&place, "--settings s.toml --json --from text");
        let mut pipe = child.stdin.take().expect("a pipe");
        pipe.write_all(sent.as_bytes()).expect("it reads");
        assert_eq!(ended(&mut child).code(), Some(10), "{param}");
        drop(pipe);
        let told = child.wait_with_output().expect("it ended").json();
        assert_eq!(told["alarm"]["detector"], "stall", "{told}");
        assert_eq!(told["bytes"], sent.len(), "{told}");
    }
    // A tool takes its time.
    let call = json!({"type": "tool_call", "name": "ls", "arguments": {}});
    stall("idle_ms");
    let mut child = start(&place, "--settings s.toml --from jsonl");
    let mut pipe = child.stdin.take().expect("a pipe");
    writeln!(pipe, "{call}").expect("it reads");
    std::thread::sleep(Duration::from_millis(1500));
    drop(pipe);
    assert_eq!(ended(&mut child).code(), Some(0));
}

#[test]
fn an_interruption_ends_it_while_the_stream_stands_still() {
    let place = Place::new();
    let mut child = start(&place, "--passthrough");
    let mut stdin = child.stdin.take().expect("it is piped");
    let mut stdout = child.stdout.take().expect("it is piped");
    stdin.write_all(b"So far.").expect("it reads");
    stdout.read_exact(&mut [0; 7]).expect("it copies");
    program::send(&child, Signal::SIGINT);
    assert_eq!(ended(&mut child).code(), Some(130));
    let mut told = String::new();
    let mut stderr = child.stderr.take().expect("it is piped");
    stderr.read_to_string(&mut told).expect("it is text");
    assert_eq!(
        told,
        "deadloop: interrupted without an alarm: 0 chars of reasoning and 7 of answer (text)\n"
    );
    drop(stdin);
}

#[cfg(unix)]
#[test]
fn an_interruption_ends_it_while_the_client_does_not_read() {
    let place = Place::new();
    let mut child = start(&place, "--passthrough --quiet");
    let mut stdin = child.stdin.take().expect("it is piped");
    // More than two pipes hold: it is blocked in the middle of the copy, or will be.
    let stream = write(&healthy(), SSE).repeat(20);
    let feeding = std::thread::spawn(move || drop(stdin.write_all(stream.as_bytes())));
    // It listens to signals before it copies anything.
    let mut stdout = child.stdout.take().expect("it is piped");
    stdout.read_exact(&mut [0; 7]).expect("it copies");
    std::thread::sleep(Duration::from_millis(300));
    program::send(&child, Signal::SIGINT);
    assert_eq!(ended(&mut child).code(), Some(130));
    feeding.join().expect("the pipe is closed");
}

#[test]
fn a_client_that_stops_reading_ends_it_quietly() {
    let place = Place::new();
    let mut child = start(&place, "--passthrough");
    let mut stdin = child.stdin.take().expect("it is piped");
    drop(child.stdout.take());
    stdin.write_all(write(&healthy(), SSE).as_bytes()).ok();
    assert_eq!(ended(&mut child).code(), Some(0));
    let mut told = String::new();
    let mut stderr = child.stderr.take().expect("it is piped");
    stderr.read_to_string(&mut told).expect("it is text");
    assert_eq!(told, "");
}

/// Thinking and answer that a stream of text was split into.
fn split(place: &Place, args: &str, stream: &str) -> Value {
    let run = watch_in(place, &format!("{args} --json"), stream);
    run.ends(0).json()["seen"].clone()
}

#[test]
fn a_template_that_opens_the_tag_in_the_prompt_is_said_by_an_option_or_the_settings() {
    let place = Place::new();
    let split = |args: &str, stream: &str| split(&place, args, stream);
    let stream = "six times seven</think>42";
    let thought = json!({"reasoning": 15, "answer": 2, "arguments": 0, "calls": 0});
    assert_eq!(
        split("", stream),
        json!({"reasoning": 0, "answer": 25, "arguments": 0, "calls": 0})
    );
    assert_eq!(split("--think open", stream), thought);
    let text = "[[guard]]\ndetector = \"periodic\"\n[think]\nopened_in_prompt = [\"r1*\"]\n\
                [[think.model]]\nmatch = \"odd\"\nopened = true\ntags = [\"<thought>\"]\n";
    place.file("s.toml", text);
    let model = |model| format!("--settings s.toml --model {model}");
    assert_eq!(split(&model("r1-8b"), stream), thought);
    assert_eq!(split(&model("other"), stream)["answer"], 25);
    assert_eq!(split(&model("odd"), stream)["reasoning"], 25);
    assert_eq!(split(&model("odd"), "a</thought>b")["answer"], 1);
    // What is said on the command line goes first, word by word.
    let closed = model("r1-8b") + " --think closed,all";
    assert_eq!(
        split(&closed, "<think>a</think>b<think>c</think>"),
        json!({"reasoning": 2, "answer": 1, "arguments": 0, "calls": 0})
    );
}

#[test]
fn a_word_or_a_rule_that_is_none_is_wrong_usage() {
    let run = watch("--record nowhere/r.jsonl", "It is fine.").ends(2);
    run.says("--record nowhere/r.jsonl: there is no folder nowhere; make it first");
    let run = watch("--think opened", "").ends(2);
    run.says("--think: \"opened\" is no tag");
    let place = Place::new();
    let text = "[[guard]]\ndetector = \"periodic\"\n[think]\ntags = [\"x\"]\n";
    place.file("s.toml", text);
    let run = watch_in(&place, "--settings s.toml", "").ends(2);
    run.says("s.toml:4:8: \"x\" is no tag");
}

const PER_MODEL: &str = "[[guard]]\ndetector = \"periodic\"\n\
    [[model]]\nmatch = \"deaf*\"\n[[model.guard]]\ndetector = \"periodic\"\nenabled = false\n\
    [think]\nopened_in_prompt = [\"r1*\"]\n";

/// A stream of a model that names itself, in the way of an API.
fn named(api: &str, model: &str, texts: &[&str]) -> String {
    let first = match api {
        "anthropic" => {
            json!({"type": "message_start", "message": {"id": "m", "model": model, "content": []}})
        }
        "responses" => json!({"type": "response.created", "response": {"id": "r", "model": model}}),
        _ => Value::Null,
    };
    let chunk = |text: &&str| match api {
        "anthropic" => {
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}})
        }
        "responses" => json!({"type": "response.output_text.delta", "delta": text}),
        "ollama" => json!({"model": model, "message": {"content": text}, "done": false}),
        _ => json!({"model": model, "choices": [{"index": 0, "delta": {"content": text}}]}),
    };
    let chunks = texts.iter().map(chunk);
    let all = std::iter::once(first)
        .chain(chunks)
        .filter(|chunk| !chunk.is_null());
    all.map(|chunk| format!("data: {chunk}\n\n")).collect()
}

#[test]
fn the_model_that_the_stream_names_is_watched_by_its_own_guard() {
    let place = Place::new();
    place.file("s.toml", PER_MODEL);
    let looping = vec!["Let me think. "; 200];
    for api in ["chat", "anthropic", "responses", "ollama"] {
        let run = |model: &str, more: &str| {
            let args = format!("--settings s.toml --json {more}");
            watch_in(&place, &args, &named(api, model, &looping))
        };
        let deaf = run("deaf-7b", "").ends(0);
        assert_eq!(deaf.json()["model"], "deaf-7b", "{api}");
        deaf.says("no guard is switched on for the model \"deaf-7b\"");
        let other = run("other", "").ends(10).json();
        assert_eq!(other["model"], "other", "{api}");
        // What is said on the command line goes first.
        let other = run("deaf-7b", "--model other").ends(10).json();
        assert_eq!(other["model"], "other", "{api}");
        // The text is split as the model's own rules say.
        let thought = named(api, "r1-8b", &["six times seven</think>42"]);
        let seen = split(&place, "--settings s.toml", &thought);
        let tags = json!({"reasoning": 15, "answer": 2, "arguments": 0, "calls": 0});
        assert_eq!(seen, tags, "{api}");
    }
}

#[test]
fn the_first_model_that_a_stream_names_chooses_its_guard() {
    let place = Place::new();
    place.file("s.toml", PER_MODEL);
    let stream = |first, second| {
        let looping = vec!["Let me think. "; 200];
        named("chat", first, &["Fine."]) + &named("chat", second, &looping)
    };
    let watch = |stream: &str| watch_in(&place, "--settings s.toml", stream);
    watch(&stream("deaf", "other")).ends(0);
    watch(&stream("other", "deaf")).ends(10);
}

#[test]
fn an_error_of_the_server_is_told() {
    let error = json!({"error": {"message": "overloaded\u{1b}[2J", "code": 529}});
    let run = watch("", &format!("data: {error}\n\n")).ends(2);
    run.says("only an error of the server: overloaded\\u{1b}[2J");
    let run = watch("--json", "{\"error\":\"model not found\"}\n").ends(2);
    assert_eq!(run.json()["errors"], json!(["model not found"]));
    // What came before it was watched, and it is told all the same.
    let anthropic =
        json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
    let stream = named("anthropic", "m", &["Fine."]) + &format!("data: {anthropic}\n\n");
    let run = watch("", &stream).ends(0);
    run.says("the server reports an error: Overloaded");
    assert_eq!(stderr(&watch("--quiet", &stream)), "");
}

#[test]
fn a_stream_of_which_nothing_came_has_not_passed() {
    for args in ["", "--quiet", "--from sse"] {
        let run = watch(args, "").ends(2);
        run.says("stdin was empty");
    }
}

/// A preset or the recommended guard goes wherever a settings file does.
#[test]
fn settings_are_named_or_a_file() {
    let looping = named("chat", "m", &vec!["Let me think. "; 200]);
    for name in ["recommended", "llama-cpp"] {
        watch(&format!("--settings {name}"), &looping).ends(10);
    }
    let run = watch("--settings llama-cp", &looping).ends(2);
    run.says("did you mean \"llama-cpp\"?");
}

/// A repairer that this stream cannot use is named, beside one that works and alone.
#[test]
fn a_repairer_that_nothing_reaches_is_named() {
    let place = Place::new();
    let replay = "[[repairer]]\nname = \"replay\"\npreset = \"by-id\"\n";
    place.file("alone.toml", replay);
    let tags = "[[repairer]]\nname = \"tags\"\npreset = \"careful\"\n";
    place.file("both.toml", format!("{tags}{replay}"));
    let stream = write(&healthy(), FORMATS[0].1);
    let alone = watch_in(&place, "--repair alone.toml", &stream).ends(2);
    alone.says("replay mends events alone");
    let both = watch_in(&place, "--repair both.toml", &stream).ends(0);
    both.says("replay had nothing to do");
}
