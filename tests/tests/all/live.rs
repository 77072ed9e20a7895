//! Live = replay, for every detector of the registry and every program that watches a stream: the same response gives
//! the same alarm at the same moment as a replay of its recording, on every wire.
//!
//! A detector is in by its registry. A program is in by one line in [`CONSUMERS`], an API by one in [`WIRES`].

#![allow(clippy::expect_used, reason = "in the helpers of tests as in tests")]

use deadloop_corpus::{Body, RecordedEvent, ThinkRules, Transcript};
use deadloop_detect::{Guards, Setting, Settings};
use deadloop_proxy::ProxyOptions;
use deadloop_proxy::offline::relay;
use deadloop_replay::{Plan, decide};
use deadloop_run::watch::StreamRecording;
use deadloop_stream::wire::event_from_object;
use deadloop_stream::{StreamFormat, StreamReader, WatchedResponse};
use deadloop_tests::alarm_report::AlarmReport;
use deadloop_tests::generate;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

/// What happens, and how many milliseconds after what was before.
type Step = (u64, RecordedEvent);

/// Bytes, and when they come.
type Timed = (u64, Vec<u8>);

/// How an API writes a response.
struct Wire {
    name: &'static str,
    format: StreamFormat,
    /// Whether it can say what tools and users said.
    run: bool,
    /// What it says at its end.
    finish: &'static str,
    /// A piece of text.
    text: fn(bool, &str) -> Value,
    /// Of a call its beginning, a piece of its arguments, its end; by its number in the response.
    call: [fn(usize, &str) -> Option<Value>; 3],
    end: fn() -> Value,
}

fn none(_: usize, _: &str) -> Option<Value> {
    None
}

fn delta(delta: Value) -> Value {
    json!({"id": "r", "model": "m", "choices": [{"index": 0, "delta": delta}]})
}

static WIRES: [Wire; 4] = [
    Wire {
        name: "chat",
        format: StreamFormat::Sse,
        run: false,
        finish: "stop",
        text: |thinking, text| {
            if thinking {
                delta(json!({"reasoning_content": text}))
            } else {
                delta(json!({"content": text}))
            }
        },
        call: [
            |n, name| {
                let function = json!({"name": name, "arguments": ""});
                Some(delta(
                    json!({"tool_calls": [{"index": n, "id": format!("c{n}"), "function": function}]}),
                ))
            },
            |n, piece| {
                Some(delta(
                    json!({"tool_calls": [{"index": n, "function": {"arguments": piece}}]}),
                ))
            },
            none,
        ],
        end: || json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}),
    },
    Wire {
        name: "anthropic",
        format: StreamFormat::Sse,
        run: false,
        finish: "end_turn",
        text: |thinking, text| {
            if thinking {
                json!({"type": "content_block_delta", "index": 900, "delta": {"type": "thinking_delta", "thinking": text}})
            } else {
                json!({"type": "content_block_delta", "index": 901, "delta": {"type": "text_delta", "text": text}})
            }
        },
        call: [
            |n, name| {
                let block =
                    json!({"type": "tool_use", "id": format!("c{n}"), "name": name, "input": {}});
                Some(json!({"type": "content_block_start", "index": n, "content_block": block}))
            },
            |n, piece| {
                let delta = json!({"type": "input_json_delta", "partial_json": piece});
                Some(json!({"type": "content_block_delta", "index": n, "delta": delta}))
            },
            |n, _| Some(json!({"type": "content_block_stop", "index": n})),
        ],
        end: || json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}),
    },
    Wire {
        name: "responses",
        format: StreamFormat::Sse,
        run: false,
        finish: "completed",
        text: |thinking, text| {
            if thinking {
                json!({"type": "response.reasoning_text.delta", "delta": text})
            } else {
                json!({"type": "response.output_text.delta", "delta": text})
            }
        },
        call: [
            |n, name| {
                let item = json!({"type": "function_call", "id": format!("f{n}"), "call_id": format!("c{n}"), "name": name, "arguments": ""});
                Some(json!({"type": "response.output_item.added", "item": item}))
            },
            |n, piece| {
                Some(
                    json!({"type": "response.function_call_arguments.delta", "item_id": format!("f{n}"), "delta": piece}),
                )
            },
            |n, _| {
                Some(
                    json!({"type": "response.function_call_arguments.done", "item_id": format!("f{n}")}),
                )
            },
        ],
        end: || json!({"type": "response.completed", "response": {"id": "r", "status": "completed"}}),
    },
    Wire {
        name: "events",
        format: StreamFormat::Jsonl,
        run: true,
        finish: "stop",
        text: |_, _| Value::Null,
        call: [none; 3],
        end: || Value::Null,
    },
];

impl Wire {
    /// The bytes of a response. Calls that follow one another are written at once, their pieces in turns if it says when a
    /// call is over.
    fn bytes(&self, steps: &[Step]) -> Vec<Timed> {
        let (mut now, mut all, mut calls) = (0, Vec::new(), 0);
        let mut rest = steps;
        while let Some((gap, event)) = rest.first() {
            now += gap;
            let body = &event.body;
            let together = match body {
                Body::ToolCall { .. } if !self.run => {
                    let also = rest[1..].iter();
                    1 + also
                        .take_while(|(gap, event)| {
                            *gap == 0 && matches!(event.body, Body::ToolCall { .. })
                        })
                        .count()
                }
                _ => 1,
            };
            let objects = match body {
                _ if self.run => vec![own(event)],
                Body::ToolCall { .. } => self.calls(&rest[..together], calls),
                Body::Reasoning(text) => vec![(self.text)(true, text)],
                Body::Answer(text) => vec![(self.text)(false, text)],
                _ => vec![(self.end)()],
            };
            calls += together;
            all.extend(objects.into_iter().map(|object| (now, self.line(&object))));
            rest = &rest[together..];
        }
        all
    }

    fn line(&self, object: &Value) -> Vec<u8> {
        match self.format {
            StreamFormat::Sse => format!("data: {object}\n\n").into_bytes(),
            _ => format!("{object}\n").into_bytes(),
        }
    }

    fn calls(&self, steps: &[Step], first: usize) -> Vec<Value> {
        let calls: Vec<(usize, &str, Vec<String>)> = steps
            .iter()
            .enumerate()
            .filter_map(|(n, (_, event))| match &event.body {
                Body::ToolCall {
                    name,
                    arguments: Value::String(text),
                    ..
                } => {
                    let chars: Vec<char> = text.chars().collect();
                    let pieces = chars.chunks(7).map(String::from_iter).collect();
                    Some((first + n, name.as_str(), pieces))
                }
                _ => None,
            })
            .collect();
        let most = calls
            .iter()
            .map(|(.., pieces)| pieces.len())
            .max()
            .unwrap_or(0);
        if (self.call[2])(0, "").is_none() {
            let whole = |(n, name, pieces): &(usize, &str, Vec<String>)| {
                let pieces = pieces.iter().filter_map(|piece| (self.call[1])(*n, piece));
                (self.call[0])(*n, name)
                    .into_iter()
                    .chain(pieces)
                    .collect::<Vec<_>>()
            };
            return calls.iter().flat_map(whole).collect();
        }
        let begun = calls.iter().map(|(n, name, _)| (self.call[0])(*n, name));
        let pieces = (0..most).flat_map(|at| {
            let one = move |(n, _, pieces): &(usize, &str, Vec<String>)| {
                (self.call[1])(*n, pieces.get(at)?)
            };
            calls.iter().map(one).collect::<Vec<_>>()
        });
        let ended = calls.iter().map(|(n, ..)| (self.call[2])(*n, ""));
        begun.chain(pieces).chain(ended).flatten().collect()
    }

    /// What of a run this wire can say, its end as it says it, with the silences whose end a live reader can tell.
    fn sayable(&self, steps: &[Step]) -> Vec<Step> {
        let mut said: Vec<Step> = steps
            .iter()
            .filter(|(_, event)| {
                self.run
                    || matches!(
                        event.body,
                        Body::Reasoning(_) | Body::Answer(_) | Body::ToolCall { .. }
                    )
            })
            .cloned()
            .collect();
        if self.run {
            // Turns that are recorded are recorded from the beginning.
            let output = |(_, event): &Step| {
                matches!(
                    event.body,
                    Body::Reasoning(_) | Body::Answer(_) | Body::ToolCall { .. } | Body::Turn
                )
            };
            let first = said.iter().find(|step| output(step));
            let turn = |(_, event): &Step| matches!(event.body, Body::Turn);
            if !first.is_some_and(turn) {
                said.retain(|step| !turn(step));
            }
        }
        in_sight(&mut said);
        let reason = Some(self.finish.to_owned());
        said.push((0, RecordedEvent::new(Body::Finish { reason })));
        said
    }
}

/// A line of a transcript's events.
fn own(event: &RecordedEvent) -> Value {
    let mut event = event.clone();
    if let Body::System = event.body {
        // What tells a prompt from what other programs call one.
        event.rest.insert("length".into(), 5.into());
        event.rest.insert("sha256".into(), "ab".into());
    }
    serde_json::to_value(&event).expect("JSON")
}

/// A program that watches: what it says of a response under this setting.
struct Consumer {
    name: &'static str,
    /// Whether it has a clock that a test can set.
    clock: bool,
    alarm: fn(&Setting, &Wire, &[Timed]) -> Option<AlarmReport>,
}

static CONSUMERS: [Consumer; 3] = [
    Consumer {
        name: "watch",
        clock: true,
        alarm: watch,
    },
    Consumer {
        name: "replay of what watch records",
        clock: true,
        alarm: recorded,
    },
    Consumer {
        name: "proxy",
        clock: false,
        alarm: proxy,
    },
];

fn guards(setting: &Setting) -> (Settings, Guards) {
    let text = setting.to_toml("guard");
    let settings = Settings::parse(&text).expect("a generated setting");
    let guards = Guards::new(&settings).expect("no program");
    (settings, guards)
}

/// As `deadloop watch` does, Python and node.
fn watch(setting: &Setting, wire: &Wire, bytes: &[Timed]) -> Option<AlarmReport> {
    watched(setting, wire, bytes).0.map(|(_, told)| told)
}

/// As `deadloop replay` does with what `deadloop watch --record` wrote.
fn recorded(setting: &Setting, wire: &Wire, bytes: &[Timed]) -> Option<AlarmReport> {
    let (live, record) = watched(setting, wire, bytes);
    let again = replay(setting, &record);
    let event = |one: &Option<(u64, AlarmReport)>| one.as_ref().map(|(event, _)| *event);
    assert_eq!(event(&live), event(&again), "the alarm's event");
    again.map(|(_, told)| told)
}

/// What stops a stream, with its event, and the record of it.
fn watched(
    setting: &Setting,
    wire: &Wire,
    bytes: &[Timed],
) -> (Option<(u64, AlarmReport)>, Transcript) {
    let (_, guards) = guards(setting);
    let rules = ThinkRules::default();
    let reader = StreamReader::new("stream", Some(wire.format), rules.options("m"));
    let mut watched = WatchedResponse::with(guards.guard("m"), reader);
    let (mut record, mut last) = (StreamRecording::default(), 0);
    for (now, piece) in bytes {
        // Whoever waits looks at the clock now and then.
        for at in (last..*now).step_by(700) {
            let _ = watched.silent_each(at, |told| record.push(told, at));
        }
        last = *now;
        let (one, other) = piece.split_at(piece.len() / 3);
        let _ = watched.feed_each(one, last, |told| record.push(told, last));
        let _ = watched.feed_each(other, last, |told| record.push(told, last));
    }
    let _ = watched.end_each(last, |told| record.push(told, last));
    let alarm = watched.alarm();
    let alarm = alarm.map(|alarm| (alarm.event, AlarmReport::from(alarm)));
    (alarm, record.transcript("m", last))
}

/// As `deadloop proxy` does.
fn proxy(setting: &Setting, wire: &Wire, bytes: &[Timed]) -> Option<AlarmReport> {
    let (_, guards) = guards(setting);
    let options = options(guards);
    let pieces = bytes.iter().map(|(_, piece)| piece.as_slice());
    relay(&options, wire.format, pieces)
        .1
        .as_ref()
        .map(AlarmReport::from)
}

fn options(guards: Guards) -> ProxyOptions {
    ProxyOptions {
        upstream: "http://127.0.0.1:1".parse().expect("an address"),
        guards,
        think: ThinkRules::default(),
        max_connections: 1,
        on_event: Box::new(|_| ()),
    }
}

/// As `deadloop replay` does with the recording.
fn replayed(setting: &Setting, steps: &[Step]) -> Option<AlarmReport> {
    let mut now = 0;
    let events = steps.iter().map(|(gap, event)| {
        now += gap;
        RecordedEvent {
            t_ms: Some(now as f64),
            ..event.clone()
        }
    });
    let transcript = Transcript {
        id: "t".into(),
        model: "m".into(),
        events: events.collect(),
        ..Transcript::default()
    };
    replay(setting, &transcript).map(|(_, told)| told)
}

/// The stop of a replay, with its event.
fn replay(setting: &Setting, transcript: &Transcript) -> Option<(u64, AlarmReport)> {
    let mut plan = Plan::default();
    let cell = plan.add_setting(setting);
    let record = decide(&plan, transcript, None);
    let cell = plan.cell(cell);
    let stop = record.blocks[cell.block].stop(&cell.at)?;
    Some((stop.exact.place.event, AlarmReport::from(stop)))
}

/// Takes away the silences that only a recording tells from the model's: those before a message of a user, a turn, or
/// a result that no running call waits for. Live, until that event comes, it is the model that says nothing.
fn in_sight(steps: &mut [Step]) {
    let mut running = 0_u64;
    for (gap, event) in steps {
        match &event.body {
            Body::Reasoning(_) | Body::Answer(_) => running = 0,
            Body::ToolCall { .. } => running += 1,
            Body::ToolResult { .. } if running > 0 => running -= 1,
            Body::Finish { .. } => {}
            _ => {
                (*gap, running) = (0, 0);
            }
        }
    }
}

/// Runs with times: text, thinking, calls with arguments that loop, several at once, results, turns, silence.
fn run() -> impl Strategy<Value = Vec<Step>> {
    let arguments = (select(vec!["x", "print(1)\\n", "a b "]), 0..60_usize)
        .prop_map(|(unit, times)| format!("{{\"text\":\"{}\"}}", unit.repeat(times)));
    let call = (select(vec!["ls", "write"]), arguments).prop_map(|(name, text)| Body::ToolCall {
        id: None,
        name: name.into(),
        arguments: Value::String(text),
    });
    let result =
        (select(vec!["12", "no such file"]), any::<Option<bool>>()).prop_map(|(content, error)| {
            Body::ToolResult {
                id: None,
                content: content.into(),
                error,
            }
        });
    let said = (any::<bool>(), generate::text())
        .prop_filter("no text, no event", |(_, text)| !text.is_empty())
        .prop_map(|(thinking, text)| {
            if thinking {
                Body::Reasoning(text)
            } else {
                Body::Answer(text)
            }
        });
    let other = select(vec![Body::Turn, Body::User("go on".into()), Body::System]);
    let body = prop_oneof![6 => call, 4 => result, 3 => said, 2 => other];
    let turn = select(vec!["a", "b"]).prop_map(|agent| turn_of(Some(agent.into())));
    let handoff = select(vec![("a", "b"), ("b", "a")]).prop_map(|(from, to)| {
        RecordedEvent::new(Body::Handoff {
            from: from.into(),
            to: to.into(),
        })
    });
    let event = prop_oneof![15 => body.prop_map(RecordedEvent::new), 2 => turn, 1 => handoff];
    let gap = prop_oneof![6 => Just(0_u64), 1 => Just(400), 1 => Just(1500), 1 => Just(12_000)];
    vec((gap, event), 0..25)
}

/// A guard of one or two members, any that watch a live stream.
fn setting() -> impl Strategy<Value = Setting> {
    prop_oneof![2 => generate::run_setting(), 1 => generate::setting()]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn every_program_alarms_on_every_wire_as_a_replay_does(setting in setting(), steps in run()) {
        for wire in &WIRES {
            let steps = wire.sayable(&steps);
            let unhurried: Vec<Step> = steps.iter().map(|(_, event)| (0, event.clone())).collect();
            for consumer in &CONSUMERS {
                let steps = if consumer.clock { &steps } else { &unhurried };
                let told = (consumer.alarm)(&setting, wire, &wire.bytes(steps));
                let wanted = replayed(&setting, steps);
                let (told, wanted) = (told.map(AlarmReport::live), wanted.map(AlarmReport::live));
                prop_assert_eq!(told, wanted, "{} on {}: {}", consumer.name, wire.name, setting.to_toml("guard"));
            }
        }
    }
}

/// Equal calls in one response are judged when the client has them, whatever their arguments and ids, and however many
/// there are: the third is the last that it gets, and of a refused one whose end it sees nothing.
#[test]
fn no_client_gets_more_calls_than_its_guard_allows() {
    for (wire, response) in WIRES[..3]
        .iter()
        .flat_map(|wire| [(wire, "stop"), (wire, "refuse")])
    {
        let text = format!("[[guard]]\ndetector = \"duplicate\"\nresponse = \"{response}\"");
        let settings = Settings::parse(&text).expect("a setting");
        for (arguments, size, calls) in [
            ("{}", 2, 40),
            ("", 2, 40),
            ("{\"a\": ", 2, 40),
            ("{}", 0, 40),
            ("", 300, 40),
            ("{}", 3000, 40),
            ("", 2, 1500),
        ] {
            let call = |n: usize| {
                let of = |object: Value| {
                    let id = format!("{n:0>size$}");
                    let id = if size == 0 { "" } else { id.as_str() };
                    let text = object
                        .to_string()
                        .replace(&format!("\"c{n}\""), &format!("{id:?}"));
                    format!("data: {text}\n\n").into_bytes()
                };
                let [begins, piece, ends] = wire.call;
                let all = [begins(n, "ls"), piece(n, arguments), ends(n, "")];
                all.into_iter().flatten().map(of).collect::<Vec<_>>()
            };
            let pieces: Vec<Vec<u8>> = (0..calls).flat_map(call).collect();
            let options = options(Guards::new(&settings).expect("no program"));
            let (passed, alarm) = relay(&options, wire.format, pieces.iter().map(Vec::as_slice));
            let got = String::from_utf8_lossy(&passed)
                .matches("\"name\":\"ls\"")
                .count();
            let case = format!("{} {response} {arguments:?} {size} {calls}", wire.name);
            assert_eq!(alarm.map(|alarm| alarm.calls.0), Some(3), "{case}");
            assert!(got <= 3, "{case}: {got}");
        }
    }
}

/// The comparison would say nothing of streams that never alarm.
#[test]
fn the_example_of_each_detector_alarms_live() {
    use deadloop_detect::Response;
    use deadloop_detect::harness::{DETECTORS, Example, Member, Params};
    let wire = WIRES
        .iter()
        .find(|wire| wire.run)
        .expect("events as in a transcript");
    for detector in DETECTORS.iter().copied() {
        let member = Member {
            response: Response::Stop,
            ..Member::new(detector, Params::defaults(detector.params))
        };
        let setting = Setting {
            members: vec![member],
        };
        let mut gap = 0;
        let mut steps: Vec<Step> = Vec::new();
        let fires = detector
            .examples()
            .find(|example| example.name == Example::FIRES);
        let Some(events) = fires.and_then(|example| example.events()) else {
            continue;
        };
        for event in events {
            let event = match event.owned() {
                deadloop_detect::OwnedEvent::Silence(millis) => {
                    gap = millis;
                    continue;
                }
                deadloop_detect::OwnedEvent::Closed => continue,
                deadloop_detect::OwnedEvent::Turn { agent } => turn_of(agent),
                event => RecordedEvent::new(body(event)),
            };
            steps.push((std::mem::take(&mut gap), event));
        }
        if gap > 0 {
            steps.push((gap, RecordedEvent::new(Body::Answer("x".into()))));
        }
        let told = watch(&setting, wire, &wire.bytes(&steps));
        assert!(told.is_some(), "{}", detector.name);
        assert_eq!(told, replayed(&setting, &steps), "{}", detector.name);
    }
}

/// A turn, and whose it is.
fn turn_of(agent: Option<String>) -> RecordedEvent {
    let mut turn = RecordedEvent::new(Body::Turn);
    let agent = agent.map(|agent| ("agent".to_owned(), agent.into()));
    turn.rest.extend(agent);
    turn
}

fn body(event: deadloop_detect::OwnedEvent) -> Body {
    use deadloop_detect::harness::ArgumentsOf;
    use deadloop_detect::{OwnedEvent, TextChannel};
    match event {
        OwnedEvent::Text(TextChannel::Reasoning, text) => Body::Reasoning(text),
        OwnedEvent::Text(_, text) => Body::Answer(text),
        OwnedEvent::Call {
            id,
            name,
            arguments,
        } => Body::ToolCall {
            id,
            name,
            arguments: match arguments {
                ArgumentsOf::Raw(text) => Value::String(text),
                ArgumentsOf::Json(value) => value,
            },
        },
        OwnedEvent::Result {
            id, content, error, ..
        } => Body::ToolResult { id, content, error },
        OwnedEvent::User(text) => Body::User(text),
        OwnedEvent::System | OwnedEvent::Silence(_) | OwnedEvent::Closed => Body::System,
        OwnedEvent::Turn { .. } => Body::Turn,
        OwnedEvent::Handoff { from, to } => Body::Handoff { from, to },
        OwnedEvent::Finish(reason) => Body::Finish { reason },
    }
}

/// The table of streams for all live roads, which the tests of the packages read too: each ends at its guard with the alarm
/// of the table, on every wire that can say it.
#[test]
fn every_road_gives_the_alarm_of_the_table() {
    let table = concat!(env!("CARGO_MANIFEST_DIR"), "/roads.jsonl");
    let table = std::fs::read_to_string(table).expect("the table");
    let mut tried = 0;
    for line in table.lines() {
        let row: Value = serde_json::from_str(line).expect("JSON");
        let [name, feed, text] =
            ["name", "feed", "settings"].map(|of| row[of].as_str().expect("a text"));
        let settings = Settings::parse(text).expect("a setting");
        let setting = settings.guard();
        let mut before = 0;
        let steps: Vec<Step> = row["events"]
            .as_array()
            .expect("events")
            .iter()
            .map(|event| {
                let now = event["t_ms"].as_u64().unwrap_or(before);
                let gap = now - std::mem::replace(&mut before, now);
                let fields = event.as_object().expect("an object").clone();
                (gap, event_from_object(fields).expect("an event"))
            })
            .collect();
        let of_run = ["results", "messages of users", "turns"].contains(&feed);
        let wanted = row["alarm"].as_object().map(|alarm| {
            let text = |of: &str| alarm[of].as_str().expect("a text").to_owned();
            (text("kind"), text("channel"), alarm["exact"].as_u64())
        });
        for wire in WIRES.iter().filter(|wire| wire.run || !of_run) {
            let bytes = wire.bytes(&steps);
            for consumer in &CONSUMERS {
                if !consumer.clock && feed == "silence" {
                    continue; // on real sockets, in the proxy's own tests
                }
                let told = (consumer.alarm)(setting, wire, &bytes);
                let told = told.map(|told| {
                    (
                        told.kind.to_owned(),
                        told.channel.name().to_owned(),
                        Some(told.at),
                    )
                });
                assert_eq!(told, wanted, "{} on {}: {name}", consumer.name, wire.name);
                tried += 1;
            }
            if feed != "silence" {
                let options = options(Guards::new(&settings).expect("no program"));
                let pieces = bytes.iter().map(|(_, piece)| piece.as_slice());
                let (passed, _) = relay(&options, wire.format, pieces);
                let passed = String::from_utf8_lossy(&passed).into_owned();
                assert!(!passed.contains("NEVER"), "{}: {name}: {passed}", wire.name);
            }
        }
    }
    assert!(tried > 80, "{tried}");
}
