//! What a client gets of responses with calls that are refused, for each API, streamed and whole.

use super::*;
use crate::{StreamFormat, StreamReader, ThinkOptions};
use deadloop_detect::{Guards, OwnedEvent, Settings};

const REFUSES: &str = "[[guard]]\ndetector = \"duplicate\"\nresponse = \"refuse\"\n";

fn refusing(settings: &str) -> Refusing {
    let guards = Guards::new(&Settings::parse(settings).unwrap()).unwrap();
    let watched = Watched::new(guards.clone(), |_| ThinkOptions::default());
    Refusing::new(watched, guards.refuses())
}

/// What a client gets of a stream that comes in pieces of `size`: the bytes, how many calls were replaced, whether it was
/// ended.
fn got(settings: &str, stream: &str, size: usize) -> (String, usize, bool) {
    let mut refusing = refusing(settings);
    let (mut bytes, mut refused, mut ended) = (Vec::new(), 0, false);
    let mut take = |passed: Passed| {
        bytes.extend(passed.bytes);
        refused += passed.replaced.len();
        ended |= passed.ended.is_some();
        ended
    };
    if !stream
        .as_bytes()
        .chunks(size)
        .any(|piece| take(refusing.feed(piece, 0)))
    {
        take(refusing.end(0));
    }
    (String::from_utf8(bytes).unwrap(), refused, ended)
}

/// The calls, and what the answer says, as a reader of streams finds them; and the last reason.
fn read(stream: &str) -> (Vec<String>, String, Option<String>) {
    let mut reader = StreamReader::new("x", Some(StreamFormat::Sse), ThinkOptions::default());
    reader.feed(stream.as_bytes());
    reader.end();
    let (mut calls, mut answer, mut reason) = (Vec::new(), String::new(), None);
    while let Some(arrival) = reader.next_event() {
        match arrival.event {
            OwnedEvent::Call { id, .. } => calls.extend(id),
            OwnedEvent::Text(deadloop_detect::TextChannel::Answer, text) => answer += &text,
            OwnedEvent::Finish(why) => reason = why,
            _ => {}
        }
    }
    assert_eq!(reader.bad_lines(), 0, "{:?}", reader.problems());
    (calls, answer, reason)
}

/// A stream of an API: what comes before its calls, the events of a call (`N` its place, `NAME` its tool), what comes after
/// them, and the finish reasons with calls and without.
struct Api {
    name: &'static str,
    before: &'static str,
    call: &'static str,
    after: &'static str,
    reasons: (&'static str, &'static str),
}

const APIS: [Api; 4] = [
    Api {
        name: "chat",
        before: "data: {\"id\":\"c\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":null}}]}\n\n",
        call: "data: {\"id\":\"c\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":N,\"id\":\"cN\",\"type\":\"function\",\"function\":{\"name\":\"NAME\",\"arguments\":\"\"}}]}}]}\n\ndata: {\"id\":\"c\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":N,\"function\":{\"arguments\":\"{}\"}}]}}]}\n\n",
        after: "data: {\"id\":\"c\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: {\"id\":\"c\",\"model\":\"m\",\"choices\":[],\"usage\":{\"completion_tokens\":9}}\n\ndata: [DONE]\n\n",
        reasons: ("tool_calls", "stop"),
    },
    Api {
        name: "responses",
        before: "event: response.created\ndata: {\"type\":\"response.created\",\"sequence_number\":0,\"response\":{\"id\":\"r\",\"model\":\"m\",\"status\":\"in_progress\",\"output\":[]}}\n\n",
        call: "event: response.output_item.added\ndata: {\"type\":\"response.output_item.added\",\"sequence_number\":1,\"output_index\":N,\"item\":{\"type\":\"function_call\",\"id\":\"iN\",\"call_id\":\"cN\",\"name\":\"NAME\",\"arguments\":\"\"}}\n\nevent: response.function_call_arguments.delta\ndata: {\"type\":\"response.function_call_arguments.delta\",\"sequence_number\":2,\"output_index\":N,\"item_id\":\"iN\",\"delta\":\"{}\"}\n\nevent: response.function_call_arguments.done\ndata: {\"type\":\"response.function_call_arguments.done\",\"sequence_number\":3,\"output_index\":N,\"item_id\":\"iN\",\"arguments\":\"{}\"}\n\nevent: response.output_item.done\ndata: {\"type\":\"response.output_item.done\",\"sequence_number\":4,\"output_index\":N,\"item\":{\"type\":\"function_call\",\"id\":\"iN\",\"call_id\":\"cN\",\"name\":\"NAME\",\"arguments\":\"{}\"}}\n\n",
        after: "event: response.completed\ndata: {\"type\":\"response.completed\",\"sequence_number\":99,\"response\":{\"id\":\"r\",\"model\":\"m\",\"status\":\"completed\",\"output\":[OUTPUT]}}\n\n",
        reasons: ("completed", "completed"),
    },
    Api {
        name: "anthropic",
        before: "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"model\":\"m\",\"content\":[]}}\n\n",
        call: "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":N,\"content_block\":{\"type\":\"tool_use\",\"id\":\"cN\",\"name\":\"NAME\",\"input\":{}}}\n\nevent: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":N,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{}\"}}\n\nevent: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":N}\n\n",
        after: "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\",\"stop_sequence\":null},\"usage\":{\"output_tokens\":9}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
        reasons: ("tool_use", "end_turn"),
    },
    Api {
        name: "ollama",
        before: "",
        call: "{\"model\":\"m\",\"message\":{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"id\":\"cN\",\"function\":{\"name\":\"NAME\",\"arguments\":{}}}]},\"done\":false}\n",
        after: "{\"model\":\"m\",\"message\":{\"role\":\"assistant\",\"content\":\"\"},\"done\":true,\"done_reason\":\"stop\"}\n",
        reasons: ("stop", "stop"),
    },
];

impl Api {
    /// A response with calls of these tools.
    fn stream(&self, tools: &[&str]) -> String {
        let call = |(n, tool): (usize, &&str)| {
            let call = self.call.replace("NAME", tool);
            call.replace('N', &n.to_string())
        };
        let calls: String = tools.iter().enumerate().map(call).collect();
        let item = |(n, tool): (usize, &&str)| {
            format!(
                "{{\"type\":\"function_call\",\"id\":\"i{n}\",\"call_id\":\"c{n}\",\"name\":\"{tool}\",\"arguments\":\"{{}}\"}}"
            )
        };
        let output: Vec<String> = tools.iter().enumerate().map(item).collect();
        let after = self.after.replace("OUTPUT", &output.join(","));
        format!("{}{calls}{after}", self.before)
    }
}

const TWICE: [&str; 3] = ["ls", "pwd", "ls"];

/// The third equal call in a row is refused.
const LOOP: [&str; 5] = ["ls", "ls", "ls", "pwd", "ls"];

#[test]
fn a_refused_call_is_replaced_and_the_others_go_on() {
    for api in &APIS {
        let stream = api.stream(&LOOP);
        let (whole, refused, ended) = got(REFUSES, &stream, stream.len());
        assert_eq!((refused, ended), (1, false), "{}", api.name);
        let (calls, answer, reason) = read(&whole);
        assert_eq!(calls, ["c0", "c1", "c3", "c4"], "{}: {whole}", api.name);
        assert!(
            answer.starts_with("[deadloop refused a call of ls. This call was not run: "),
            "{answer}"
        );
        assert_eq!(reason.as_deref(), Some(api.reasons.0), "{}", api.name);
        for size in [1, 7, 64] {
            assert_eq!(got(REFUSES, &stream, size).0, whole, "{} {size}", api.name);
        }
    }
}

/// Texts in place of calls are paragraphs of their own, where clients join the pieces of an answer.
#[test]
fn texts_of_several_calls_do_not_run_into_one() {
    for api in [&APIS[0], &APIS[3]] {
        let (whole, ..) = got(REFUSES, &api.stream(&["ls"; 4]), 99);
        let (calls, answer, _) = read(&whole);
        assert_eq!(calls, ["c0", "c1"]);
        let paragraphs: Vec<&str> = answer.split("\n\n").collect();
        let refused = |text: &&str| text.starts_with("[deadloop refused") && text.ends_with(".]");
        assert!(
            paragraphs.len() == 2 && paragraphs.iter().all(refused),
            "{answer}"
        );
    }
    let said = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Look.\"}}]}\n\n";
    let (whole, ..) = got(REFUSES, &(said.to_owned() + &APIS[0].stream(&LOOP)), 99);
    assert!(
        read(&whole).1.starts_with("Look.\n\n[deadloop refused"),
        "{whole}"
    );
}

/// Without a call that is left the response waits for none.
#[test]
fn a_response_whose_every_call_is_refused_ends_by_itself() {
    let loops =
        "[[guard]]\ndetector = \"periodic\"\nchannel = \"arguments\"\nresponse = \"refuse\"\n";
    let text = format!("\"{{\\\"a\\\": \\\"{}\\\"}}\"", "and so on ".repeat(99));
    for api in &APIS[..3] {
        let stream = api.stream(&["ls"]).replace("\"{}\"", &text);
        let (whole, refused, ended) = got(loops, &stream, 9);
        assert_eq!((refused, ended), (1, false), "{}: {whole}", api.name);
        let (calls, answer, reason) = read(&whole);
        assert!(
            calls.is_empty() && answer.contains("refused"),
            "{}: {whole}",
            api.name
        );
        assert_eq!(reason.as_deref(), Some(api.reasons.1), "{}", api.name);
    }
}

/// Without a refusal no byte changes, whatever the settings, and wherever the bytes are cut.
#[test]
fn without_a_refusal_every_byte_goes_on() {
    for api in &APIS {
        for end in ["\n", "\r\n", "\r"] {
            let stream = api.stream(&TWICE).replace('\n', end);
            for size in [1, 5, 1 << 20] {
                let (whole, refused, ended) = got(REFUSES, &stream, size);
                assert_eq!(
                    (whole == stream, refused, ended),
                    (true, 0, false),
                    "{} {size} {end:?}",
                    api.name
                );
            }
        }
    }
}

/// The places of the calls that are left are those of a response without the refused one.
#[test]
fn places_and_numbers_go_on_without_a_gap() {
    let (whole, ..) = got(REFUSES, &APIS[0].stream(&LOOP), 50);
    let places: Vec<u64> = whole
        .lines()
        .filter_map(|line| {
            let object: Value = serde_json::from_str(line.strip_prefix("data: ")?).ok()?;
            object["choices"][0]["delta"]["tool_calls"][0]["index"].as_u64()
        })
        .collect();
    assert_eq!(places, [0, 0, 1, 1, 2, 2, 3, 3]);
    let mut stream = APIS[1].stream(&LOOP);
    for n in 0..stream.matches("\"sequence_number\":").count() {
        let at = stream
            .match_indices("\"sequence_number\":")
            .nth(n)
            .unwrap()
            .0
            + 18;
        let end = at + stream[at..].find(',').unwrap();
        stream.replace_range(at..end, &n.to_string());
    }
    let (whole, ..) = got(REFUSES, &stream, 50);
    let numbers: Vec<u64> = whole
        .lines()
        .filter_map(|line| {
            let object: Value = serde_json::from_str(line.strip_prefix("data: ")?).ok()?;
            object["sequence_number"].as_u64()
        })
        .collect();
    assert_eq!(numbers, (0..numbers.len() as u64).collect::<Vec<_>>());
    assert_eq!(whole.matches("msg_deadloop_i2").count(), 7, "{whole}");
    assert!(!whole.contains("\"c2\""), "{whole}");
}

/// Nothing of a call goes on before it is decided, and comments do not wait.
#[test]
fn a_call_waits_and_comments_do_not() {
    let mut refusing = refusing(REFUSES);
    let stream = APIS[2].stream(&["ls"]);
    let events: Vec<&str> = stream.split_inclusive("\n\n").collect();
    assert_eq!(
        refusing.feed(events[0].as_bytes(), 0).bytes,
        events[0].as_bytes()
    );
    assert!(refusing.feed(events[1].as_bytes(), 0).bytes.is_empty());
    assert!(refusing.feed(events[2].as_bytes(), 0).bytes.is_empty());
    assert_eq!(refusing.feed(b": ping\n\n", 0).bytes, b": ping\n\n");
    let passed = refusing.feed(events[3].as_bytes(), 0).bytes;
    assert_eq!(String::from_utf8(passed).unwrap(), events[1..4].concat());
}

/// A call of chat ends with what follows it. Where nothing follows for a while, a call that is whole is decided then.
#[test]
fn a_whole_call_does_not_wait_for_a_server_that_is_silent() {
    for whole in [true, false] {
        let mut refusing = refusing(REFUSES);
        let stream = APIS[0].stream(&["ls"; 2]);
        let calls = stream
            .find("data: {\"id\":\"c\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{},");
        let calls = &stream[..calls.unwrap()];
        let sent = if whole {
            calls.to_owned()
        } else {
            calls.replacen("\"{}\"", "\"{\"", 2)
        };
        let mut got = refusing.feed(sent.as_bytes(), 0).bytes;
        assert!(got.len() < sent.len());
        got.extend(refusing.silent(400).bytes);
        assert!(got.len() < sent.len(), "no silence yet");
        got.extend(refusing.silent(1500).bytes);
        assert_eq!(
            got.len() == sent.len(),
            whole,
            "what is not whole may go on"
        );
        got.extend(refusing.end(1600).bytes);
        assert_eq!(String::from_utf8(got).unwrap(), sent);
    }
}

/// What exceeds the bound goes on, and a refusal of it then ends the response.
#[test]
fn a_call_that_is_too_long_to_wait_goes_on_and_ends_the_response_if_it_is_refused() {
    let text = format!(
        "\"{{\\\"a\\\": \\\"{}\\\"}}\"",
        "so it is and was. ".repeat(70_000)
    );
    let stream = |calls: &[&str]| APIS[0].stream(calls).replace("\"{}\"", &text);
    let (whole, refused, ended) = got(REFUSES, &stream(&["ls"; 4]), 1 << 14);
    assert_eq!((refused, ended), (0, true));
    assert!(
        whole.len() > 3 * HELD
            && whole.contains("\"c2\"")
            && whole.ends_with("\"length\"}]}\n\ndata: [DONE]\n\n")
    );
    let healthy = stream(&["ls"; 2]);
    let (whole, refused, ended) = got(REFUSES, &healthy, 1 << 14);
    assert_eq!((whole == healthy, refused, ended), (true, 0, false));
}

/// Calls without end, and ids and names as long as a line, take bounded memory: what is not followed goes on.
#[test]
fn what_is_too_much_to_follow_goes_on() {
    let long = "x".repeat(5000);
    let tools: Vec<String> = (0..3000).map(|n| format!("t{n}")).collect();
    let tools: Vec<&str> = tools.iter().map(String::as_str).collect();
    let many = APIS[3].stream(&tools);
    let named = APIS[0].stream(&[long.as_str(), long.as_str()]);
    let ids = named.replace("\"c0\"", &format!("\"{long}\""));
    for stream in [many, named, ids] {
        let (whole, refused, ended) = got(REFUSES, &stream, 1 << 14);
        assert_eq!((whole == stream, refused, ended), (true, 0, false));
    }
    let (whole, refused, _) = got(REFUSES, &APIS[0].stream(&[long.as_str(); 3]), 1 << 14);
    assert_eq!(refused, 1);
    let told = whole.split("refused a call of ").nth(1).unwrap();
    assert_eq!(told.find(". This call"), Some(256));
}

/// A call that the server runs itself, and one of an API without a way: the response ends before it.
#[test]
fn a_call_that_cannot_be_replaced_ends_the_response_before_it() {
    let gemini = "data: {\"candidates\":[{\"content\":{\"parts\":[{\"functionCall\":{\"name\":\"ls\",\"args\":{}}}]}}],\"modelVersion\":\"m\"}\n\n";
    let (whole, refused, ended) = got(REFUSES, &gemini.repeat(5), 9);
    assert_eq!((whole, refused, ended), (gemini.repeat(2), 0, true));
    let stream = APIS[2]
        .stream(&LOOP)
        .replace("\"tool_use\",\"id\"", "\"server_tool_use\",\"id\"");
    let (whole, refused, ended) = got(REFUSES, &stream, 9);
    assert_eq!((refused, ended), (0, true));
    let (calls, _, reason) = read(&whole);
    assert_eq!(
        (calls.len(), reason.as_deref()),
        (2, Some("max_tokens")),
        "{whole}"
    );
    assert_eq!(whole.matches("content_block_stop\",").count(), 2, "{whole}");
}

/// A guard that stops beside one that refuses: the client gets what came up to the alarm, and an ending.
#[test]
fn a_stop_passes_what_waits_and_ends() {
    let stops = "[[guard]]\ndetector = \"duplicate\"\n[[guard]]\ndetector = \"malformed\"\nresponse = \"refuse\"\n";
    for api in &APIS[..3] {
        let (whole, refused, ended) = got(stops, &api.stream(&LOOP), 9);
        assert_eq!((refused, ended), (0, true), "{}", api.name);
        // Of chunks of chat it is the next call that ends one.
        let (calls, ..) = read(&whole);
        let next = usize::from(api.name == "chat");
        assert_eq!(calls.len(), 3 + next, "{}: {whole}", api.name);
    }
}

/// Answers that are not streamed, as one line.
#[test]
fn a_whole_answer_is_changed_in_its_place() {
    let call = r#"{"id":"cN","type":"function","function":{"name":"ls","arguments":"{}"}}"#;
    let three = |call: &str| {
        (0..3)
            .map(|n| call.replace('N', &n.to_string()))
            .collect::<Vec<_>>()
            .join(",")
    };
    let chat = format!(
        r#"{{"id":"c","object":"chat.completion","model":"m","choices":[{{"index":0,"message":{{"role":"assistant","content":null,"tool_calls":[{}]}},"finish_reason":"tool_calls"}}]}}"#,
        three(call)
    ) + "\n";
    let item = r#"{"type":"function_call","id":"iN","call_id":"cN","name":"ls","arguments":"{}"}"#;
    let responses = format!(
        r#"{{"id":"r","object":"response","model":"m","status":"completed","output":[{}]}}"#,
        three(item)
    ) + "\n";
    let block = r#"{"type":"tool_use","id":"cN","name":"ls","input":{}}"#;
    let anthropic = format!(
        r#"{{"id":"m","type":"message","role":"assistant","model":"m","content":[{}],"stop_reason":"tool_use"}}"#,
        three(block)
    ) + "\n";
    for body in [chat, responses, anthropic] {
        let passed = refusing(REFUSES).answer(body.as_bytes(), 0);
        assert_eq!((passed.replaced.len(), passed.ended.is_some()), (1, false));
        let whole = String::from_utf8(passed.bytes).unwrap();
        let (calls, answer, _) = read(&whole);
        assert_eq!(calls, ["c0", "c1"], "{whole}");
        assert!(answer.contains("refused a call of ls"), "{whole}");
        // Over several lines, and without the third call: as it came.
        let other = body.replacen("\"ls\"", "\"pwd\"", 1);
        let object: Value = serde_json::from_str(&other).unwrap();
        let pretty = serde_json::to_string_pretty(&object).unwrap();
        let passed = refusing(REFUSES).answer(pretty.as_bytes(), 0);
        assert_eq!(String::from_utf8(passed.bytes).unwrap(), pretty);
    }
    let server = r#"{"type":"message","content":[BLOCK,BLOCK,BLOCK],"stop_reason":"end_turn"}"#;
    let server = server.replace(
        "BLOCK",
        r#"{"type":"server_tool_use","id":"c","name":"web_search","input":{}}"#,
    );
    let passed = refusing(REFUSES).answer(server.as_bytes(), 0);
    assert_eq!(
        (passed.bytes, passed.warnings.len()),
        (server.into_bytes(), 1)
    );
}
