//! [`LiveRepair`]: repairs a stream while it arrives.
//!
//! The answer passes through the repairers `think`, `tags` and `filter`, in this order, if the file names them. The
//! name of a call passes through `names` and its arguments through `json`. The output is JSON lines, each written once
//! it is final.

use deadloop_detect::harness::Params;
use deadloop_detect::{Event, TextChannel};
use deadloop_repair::meaning::{MeaningPart, MeaningParts};
use deadloop_repair::registry::{REPAIRERS, RepairTarget, Repairer, StreamKind, TextRepair};
use deadloop_stream::StreamFormat;
use serde_json::{Value as Json, json};

use deadloop_replay::repairers::{RepairGrid, RepairMethod};

/// A repairer with its parameters.
type RepairerChoice = (&'static Repairer, Params);

/// Creates the repairer of the answer of one stream. `None` if the repairer does not repair answers.
fn answer_stage((repairer, params): &RepairerChoice) -> Option<Box<dyn TextRepair>> {
    match repairer.mends {
        RepairTarget::Answer(_) => repairer.text_repairer(params),
        _ => None,
    }
}

/// Lists the repairers that can repair a live stream, for error messages.
fn live_names() -> String {
    let mut known: Vec<&Repairer> = REPAIRERS.to_vec();
    known.retain(|repairer| repairer.mends != RepairTarget::Nothing);
    known.sort_by_key(|repairer| repairer.mends);
    let names: Vec<&str> = known.iter().map(|repairer| repairer.name).collect();
    match names.split_last() {
        Some((last, first)) => format!("{} or {last}", first.join(", ")),
        None => String::new(),
    }
}

/// Returns the names of the repairers that have no effect on a stream in this format: repairers of events after a
/// reconnect and, for plain text, repairers of calls.
pub fn idle(repairers: &[&'static Repairer], format: Option<StreamFormat>) -> Vec<&'static str> {
    let of_calls = |mends| matches!(mends, RepairTarget::Name | RepairTarget::Arguments);
    let text = format == Some(StreamFormat::Text);
    let idle = repairers.iter().filter(|repairer| {
        repairer.mends == RepairTarget::Nothing || (text && of_calls(repairer.mends))
    });
    idle.map(|repairer| repairer.name).collect()
}

/// The repair of one live stream.
pub struct LiveRepair {
    /// The repairers of the answer, in the order in which text passes through them.
    stages: Vec<Box<dyn TextRepair>>,
    name_repairer: Option<RepairerChoice>,
    arguments_repairer: Option<RepairerChoice>,
    splits_thinking: bool,
    /// All repairers of the file, including those without effect on a live stream.
    all: Vec<&'static Repairer>,
    /// The tools of the calls whose arguments could not be repaired.
    refused: Vec<String>,
    output: Vec<u8>,
}

impl LiveRepair {
    /// Parses a file of repairers.
    ///
    /// # Errors
    /// Returns the mistake as `line: what`. Several variants of one repairer, and a program, are mistakes too. A
    /// repairer of events is allowed, but has no effect on text: see [`idle`].
    pub fn parse(text: &str) -> Result<Self, String> {
        let all = RepairGrid::parse(text).map_err(|e| e.to_string())?.variants;
        if let Some(other) = all
            .iter()
            .find(|v| matches!(&v.method, RepairMethod::Program(..)))
        {
            return Err(format!(
                "1: {} mends no live text; expected {}",
                other.name,
                live_names()
            ));
        }
        let (mut chosen, mut named) = (Vec::<RepairerChoice>::new(), Vec::new());
        for variant in &all {
            let RepairMethod::Builtin(repairer, params) = &variant.method else {
                continue;
            };
            named.push(*repairer);
            if repairer.mends != RepairTarget::Nothing {
                if chosen.iter().any(|(known, _)| known.name == repairer.name) {
                    let name = repairer.name;
                    return Err(format!("1: several variants of {name}; expected one"));
                }
                chosen.push((repairer, params.clone()));
            }
        }
        if chosen.is_empty() {
            let what = format!("1: replay mends events alone; expected {}", live_names());
            return Err(what);
        }
        chosen.sort_by_key(|(repairer, _)| repairer.mends);
        let of = |mends: RepairTarget| chosen.iter().find(|(r, _)| r.mends == mends).cloned();
        Ok(Self {
            stages: chosen.iter().filter_map(answer_stage).collect(),
            name_repairer: of(RepairTarget::Name),
            arguments_repairer: of(RepairTarget::Arguments),
            splits_thinking: chosen
                .iter()
                .any(|(repairer, _)| repairer.stream == StreamKind::Think),
            all: named,
            refused: Vec::new(),
            output: Vec::new(),
        })
    }

    /// Returns all repairers of the file.
    pub fn repairers(&self) -> &[&'static Repairer] {
        &self.all
    }

    /// Returns the tools of the calls so far whose arguments could not be repaired.
    pub fn refused(&self) -> &[String] {
        &self.refused
    }

    /// Returns whether a repairer separates thinking from the answer, so that the reader of the stream must not do so.
    pub fn splits(&self) -> bool {
        self.splits_thinking
    }

    /// Repairs the next event of the stream.
    pub fn push(&mut self, event: &Event<'_>) {
        match event {
            Event::Text(TextChannel::Answer, text) => {
                let given = self.pass_through(0, vec![MeaningPart::Text((*text).to_owned())]);
                self.write_parts(given);
            }
            Event::Text(TextChannel::Reasoning, text) => {
                self.write_line(&json!({"type": "reasoning", "text": text}));
            }
            Event::Call {
                id,
                name,
                arguments,
            } => {
                let mend = |by: &Option<RepairerChoice>, text: &str| match by {
                    None => text.to_owned(),
                    Some((repairer, params)) => {
                        let meaning = repairer.mend(params, text);
                        meaning.map(|meaning| meaning.text).unwrap_or_default()
                    }
                };
                let name = mend(&self.name_repairer, name);
                let text = mend(&self.arguments_repairer, &arguments.text());
                let whole = serde_json::from_str::<Json>(&text).ok();
                // A call whose arguments are not JSON after repair, or are null, must not be run. Its arguments are
                // written as they arrived.
                let (kind, arguments) = match whole.filter(|whole| !whole.is_null()) {
                    Some(whole) => ("tool_call", whole),
                    None => ("refused_call", arguments.text().into()),
                };
                if kind == "refused_call" {
                    self.refused.push(name.clone());
                }
                self.write_line(
                    &json!({"type": kind, "id": id, "name": name, "arguments": arguments}),
                );
            }
            _ => {}
        }
    }

    /// Ends the stream and writes the text that repairers still hold.
    pub fn finish(&mut self) {
        for at in 0..self.stages.len() {
            let mut pieces = MeaningParts::default();
            self.stages[at].finish(&mut pieces);
            let given = self.pass_through(at + 1, pieces.take());
            self.write_parts(given);
        }
    }

    /// Returns the lines written so far, and clears them.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.output)
    }

    /// Passes parts through the answer repairers from index `from` on, and returns the result.
    fn pass_through(&mut self, from: usize, mut parts: Vec<MeaningPart>) -> Vec<MeaningPart> {
        for stage in self.stages.iter_mut().skip(from) {
            let mut next = Vec::new();
            for part in parts {
                match part {
                    MeaningPart::Text(text) => {
                        let mut pieces = MeaningParts::default();
                        stage.push(&text, &mut pieces);
                        next.extend(pieces.take());
                    }
                    other => next.push(other),
                }
            }
            parts = next;
        }
        parts
    }

    fn write_parts(&mut self, parts: Vec<MeaningPart>) {
        for part in parts {
            self.write_line(&match part {
                MeaningPart::Reasoning(text) => json!({"type": "reasoning", "text": text}),
                MeaningPart::Text(text) => json!({"type": "answer", "text": text}),
                MeaningPart::Action(action) => {
                    let fields: serde_json::Map<String, Json> = action
                        .fields
                        .into_iter()
                        .map(|(name, value)| (name, value.into()))
                        .collect();
                    json!({"type": "action", "name": action.name, "number": action.number, "fields": fields, "content": action.content})
                }
            });
        }
    }

    fn write_line(&mut self, value: &Json) {
        self.output.extend_from_slice(value.to_string().as_bytes());
        self.output.push(b'\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "[[repairer]]\nname = \"think\"\npreset = \"lenient\"\n[[repairer]]\nname = \"tags\"\npreset = \"careful\"\n[[repairer]]\nname = \"json\"\npreset = \"careful\"\n";

    fn mended(chunk: usize) -> String {
        let text = "Two of them.</think>Fine. <Create_Note><id>1</id>x</create_note> Bye.";
        let chars: Vec<char> = text.chars().collect();
        let mut live = LiveRepair::parse(FILE).unwrap();
        for piece in chars.chunks(chunk) {
            let piece: String = piece.iter().collect();
            live.push(&Event::Text(TextChannel::Answer, &piece));
        }
        live.finish();
        let lines = String::from_utf8(live.take()).unwrap();
        let mut said = std::collections::BTreeMap::<String, String>::new();
        for line in lines.lines() {
            let line: Json = serde_json::from_str(line).unwrap();
            let kind = line["type"].as_str().unwrap().to_owned();
            let text = line["text"]
                .as_str()
                .unwrap_or(line["content"].as_str().unwrap_or(""));
            said.entry(kind).or_default().push_str(text);
        }
        format!("{said:?}")
    }

    #[test]
    fn chunks_make_no_difference() {
        let whole = mended(1000);
        assert!(
            whole.contains("\"reasoning\": \"Two of them.\"")
                && whole.contains("\"answer\": \"Fine.  Bye.\""),
            "{whole}"
        );
        for chunk in [1, 2, 3, 7] {
            assert_eq!(mended(chunk), whole);
        }
    }

    #[test]
    fn what_repair_writes_is_taken_and_what_it_has_for_events_is_passed_over() {
        let file = format!("{FILE}[[repairer]]\nname = \"replay\"\npreset = \"by-id\"\n");
        let mut live = LiveRepair::parse(&file).unwrap();
        live.push(&Event::Text(TextChannel::Answer, "x</think>y"));
        live.finish();
        assert!(
            String::from_utf8(live.take())
                .unwrap()
                .contains("\"answer\"")
        );
        let formats = [StreamFormat::Sse, StreamFormat::Text];
        let named = formats.map(|format| idle(live.repairers(), Some(format)).join(" "));
        assert_eq!(named, ["replay", "json replay"]);
        assert!(LiveRepair::parse("[[repairer]]\nname = \"nobody\"\n").is_err());
    }

    #[test]
    fn a_call_is_mended_and_what_is_refused_is_no_call() {
        let mut live = LiveRepair::parse(FILE).unwrap();
        for raw in ["{\"a\": 1,}", "{\"a\": \"b"] {
            let arguments = deadloop_detect::Arguments::Raw(raw);
            live.push(&Event::Call {
                id: None,
                name: "f",
                arguments,
            });
        }
        let said = String::from_utf8(live.take()).unwrap();
        assert!(
            said.contains("\"arguments\":{\"a\":1}") && said.contains("\"refused_call\""),
            "{said}"
        );
        assert_eq!(
            (said.lines().count(), live.refused()),
            (2, &["f".to_owned()][..])
        );
    }

    /// Checks that no mode writes a call with null arguments.
    #[test]
    fn no_call_has_null_for_its_arguments() {
        let texts = [
            "null",
            " null",
            "nul",
            "n",
            "",
            "{\"a\": nul",
            "nonsense",
            "{\"a\": 1",
            "[",
            "{\"a\": null}",
        ];
        let mut written = std::collections::BTreeSet::new();
        for mode in ["strict", "control", "close", "tolerant"] {
            let json = format!("name = \"json\"\n[repairer.params]\nmode = \"{mode}\"\n");
            for file in [json.as_str(), "name = \"tags\"\npreset = \"careful\"\n"] {
                let mut live = LiveRepair::parse(&format!("[[repairer]]\n{file}")).unwrap();
                let raw = texts.map(deadloop_detect::Arguments::Raw);
                let absent = deadloop_detect::Arguments::Json(&Json::Null);
                for arguments in raw.into_iter().chain([absent]) {
                    live.push(&Event::Call {
                        id: None,
                        name: "f",
                        arguments,
                    });
                    let line: Json = serde_json::from_slice(&live.take()).unwrap();
                    let kind = line["type"].as_str().unwrap().to_owned();
                    assert!(
                        !line["arguments"].is_null(),
                        "{mode}: {arguments:?}: {line}"
                    );
                    assert_eq!(
                        kind == "refused_call",
                        line["arguments"].is_string(),
                        "{mode}: {line}"
                    );
                    written.insert(kind);
                }
            }
        }
        assert_eq!(written.len(), 2, "{written:?}");
    }

    #[test]
    fn one_variant_of_each() {
        let twice = format!("{FILE}[[repairer]]\nname = \"tags\"\npreset = \"lenient\"\n");
        assert!(LiveRepair::parse(&twice).is_err_and(|e| e.contains("several variants of tags")));
        assert!(LiveRepair::parse("[[repairer]]\nname = \"replay\"").is_err());
    }
}
