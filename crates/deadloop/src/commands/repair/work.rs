//! Runs a variant on a stream and compares the result with the truth.

use std::collections::BTreeSet;

use deadloop_corpus::Transcript;
use deadloop_detect::repair::{
    Action, Delay, Delivered, Gold as Truth, Meaning, Mended, judge, judge_arguments, judge_events,
    mend_and_wait,
};
use deadloop_replay::Repaired;
use serde_json::Value as Json;

use super::streams::{Arrived, Gold, Stream};
use deadloop_replay::repairers::{Mending, Variant};

/// The result of a variant on a stream.
#[derive(Clone, Debug)]
pub(crate) struct Came {
    /// The verdict; `None` if the program failed.
    pub(crate) verdict: Option<Mended>,
    /// A detail about it, on one line.
    pub(crate) detail: String,
    /// How long text waited; `None` for events, programs and the stream as it is.
    pub(crate) delay: Option<Delay>,
    /// The output, in a form for people.
    pub(crate) after: String,
}

/// The output of a repairer.
enum Out {
    Meaning(Meaning),
    Events(Vec<Delivered>),
}

/// The marks of no action that no user may see: those of thinking, of servers, of control text.
const MARKS: [&str; 4] = ["<think>", "</think>", "<|", "<tool_call>"];

/// The marks that no user may see: the tags of the actions that were meant and of their fields, and of those that the
/// variant knows.
fn marks(meant: &Meaning, variant: &Variant) -> Vec<String> {
    let mut names: BTreeSet<String> = BTreeSet::new();
    for action in &meant.actions {
        names.insert(action.name.clone());
        names.extend(action.fields.iter().map(|(name, _)| name.clone()));
    }
    if let Mending::Of(_, params) = &variant.made {
        let known = ["tags", "fields"]
            .into_iter()
            .filter(|list| params.get(list).is_some());
        let known = known.flat_map(|list| params.items(list));
        names.extend(known.filter_map(|name| name.as_text().map(str::to_owned)));
    }
    let of = |name: String| match name.contains(['_', '-']) {
        // No word of a text: what is left of its tag is a mark too.
        true => vec![name],
        // `<confirm` has a number behind it.
        false => vec![format!("<{name}"), format!("</{name}")],
    };
    let fixed = MARKS.map(str::to_owned).into_iter();
    names
        .into_iter()
        .filter(|name| !name.is_empty())
        .flat_map(of)
        .chain(fixed)
        .collect()
}

/// Repairs a stream and judges the result. `None` if the variant does not read such streams. `asked` asks the program, if
/// the variant is one.
pub(crate) fn mend(
    variant: &Variant,
    stream: &Stream,
    asked: impl FnOnce() -> Result<Repaired, String>,
) -> Option<Came> {
    let kind = variant.stream();
    if !stream.is_for(kind) {
        return None;
    }
    let mut delay = None;
    let out = match (&variant.made, &stream.arrived) {
        (Mending::Nothing(_), Arrived::Text(text)) => Out::Meaning(Meaning {
            text: text.clone(),
            ..Meaning::default()
        }),
        (Mending::Nothing(_), Arrived::Events(events)) => Out::Events(events.clone()),
        (Mending::Of(repairer, params), Arrived::Text(text)) => {
            let (meaning, waited) = mend_and_wait(repairer, params, text)?;
            delay = Some(waited);
            Out::Meaning(meaning)
        }
        (Mending::Of(repairer, params), Arrived::Events(events)) => {
            let mut machine = repairer.events(params)?;
            let mut out = Vec::new();
            events
                .iter()
                .for_each(|event| machine.push(event.clone(), &mut out));
            machine.finish(&mut out);
            Out::Events(out)
        }
        (Mending::Program(..), _) => match asked().and_then(|said| heard(&said, kind)) {
            Ok(out) => out,
            Err(what) => {
                return Some(Came {
                    verdict: None,
                    detail: what,
                    delay,
                    after: String::new(),
                });
            }
        },
    };
    Some(Came {
        delay,
        ..judged(variant, stream, kind, &out)
    })
}

/// Reads the answer of a program.
fn heard(said: &Repaired, kind: &str) -> Result<Out, String> {
    let text = |name: &str| said.fields.get(name).and_then(Json::as_str).unwrap_or("");
    if kind == "events" {
        return Err("programs that mend events are not asked".into());
    }
    if matches!(kind, "arguments" | "name") {
        let text = match said.fields.get(kind) {
            Some(Json::String(text)) => text.clone(),
            None | Some(Json::Null) => String::new(),
            Some(value) => value.to_string(),
        };
        return Ok(Out::Meaning(Meaning {
            text,
            ..Meaning::default()
        }));
    }
    let read = |action: &Json| {
        let of = |name: &str| {
            action
                .get(name)
                .and_then(Json::as_str)
                .unwrap_or("")
                .to_owned()
        };
        let fields = action.get("fields").and_then(Json::as_object);
        let fields = fields.into_iter().flatten().map(|(name, value)| {
            (
                name.clone(),
                value
                    .as_str()
                    .map_or_else(|| value.to_string(), str::to_owned),
            )
        });
        Action {
            name: of("name"),
            number: action
                .get("number")
                .and_then(Json::as_u64)
                .and_then(|n| u32::try_from(n).ok()),
            fields: fields.collect(),
            content: of("content"),
        }
    };
    let actions = said.fields.get("actions").and_then(Json::as_array);
    Ok(Out::Meaning(Meaning {
        reasoning: text("reasoning").to_owned(),
        text: text("text").to_owned(),
        actions: actions.into_iter().flatten().map(read).collect(),
    }))
}

fn judged(variant: &Variant, stream: &Stream, kind: &str, out: &Out) -> Came {
    let damaged = stream.fault.is_some();
    match (stream.gold_for(kind), out) {
        (Gold::Meaning(meaning), Out::Meaning(made)) => {
            let truth = Truth {
                marks: marks(&meaning, variant),
                meaning,
                damaged,
            };
            Came {
                verdict: Some(judge(&truth, made)),
                detail: told(&truth.meaning, made),
                delay: None,
                after: shown(made),
            }
        }
        (Gold::Text(gold), Out::Meaning(made)) => {
            let verdict = match kind {
                "name" => of_name(variant, &gold, &made.text, damaged),
                _ => of_arguments(&gold, &made.text, damaged),
            };
            Came {
                verdict: Some(verdict),
                detail: one_line(&made.text),
                delay: None,
                after: made.text.clone(),
            }
        }
        (Gold::Events(gold), Out::Events(made)) => of_events(&gold, made, damaged),
        // This does not happen: a repairer of events gets events, and one of text gets text.
        _ => Came {
            verdict: None,
            detail: "a stream of another kind".into(),
            delay: None,
            after: String::new(),
        },
    }
}

fn of_arguments(gold: &str, made: &str, damaged: bool) -> Mended {
    let judged = judge_arguments(gold, made, &[]);
    match (damaged, judged.exact) {
        (false, true) => Mended::Intact,
        (false, false) => Mended::FalseRepair,
        (true, true) => Mended::Recovered,
        (true, false) if judged.wrong_but_valid() => Mended::Wrong,
        (true, false) if made.contains("<|") => Mended::Leaked,
        (true, false) => Mended::Lost,
    }
}

/// Judges a name. A name that no tool has only makes the call fail, but the name of another tool is called: that is wrong.
fn of_name(variant: &Variant, gold: &str, made: &str, damaged: bool) -> Mended {
    let known = match &variant.made {
        Mending::Of(_, params) => params
            .items("known")
            .iter()
            .any(|v| v.as_text() == Some(made)),
        _ => false,
    };
    match (damaged, made == gold) {
        (false, true) => Mended::Intact,
        (false, false) => Mended::FalseRepair,
        (true, true) => Mended::Recovered,
        (true, false) if known => Mended::Wrong,
        (true, false) if made.contains('<') => Mended::Leaked,
        (true, false) => Mended::Lost,
    }
}

/// Judges events. A doubled event is acted on twice, so it is wrong. A missing event, or one out of order, is lost.
fn of_events(gold: &[Delivered], made: &[Delivered], damaged: bool) -> Came {
    let found = judge_events(gold, made);
    let whole = found.lost + found.doubled + found.disordered == 0 && found.ended;
    let verdict = match (damaged, whole) {
        (false, true) => Mended::Intact,
        (false, false) => Mended::FalseRepair,
        (true, true) => Mended::Recovered,
        (true, false) if found.doubled > 0 => Mended::Wrong,
        (true, false) => Mended::Lost,
    };
    let texts = made.iter().filter(|event| !event.done);
    Came {
        verdict: Some(verdict),
        detail: format!(
            "lost {}, doubled {}, disordered {}, end mark {}",
            found.lost,
            found.doubled,
            found.disordered,
            if found.ended { "there" } else { "missing" }
        ),
        delay: None,
        after: texts
            .map(|event| event.text.as_str())
            .collect::<Vec<_>>()
            .join("|"),
    }
}

/// The most chars of a detail.
const DETAIL: usize = 120;

fn one_line(text: &str) -> String {
    let line: String = text.chars().take(DETAIL).collect();
    line.replace(['\n', '\r'], " ")
}

/// How the output differs from the truth, on one line.
fn told(gold: &Meaning, made: &Meaning) -> String {
    let chars = |text: &str| text.chars().count();
    if gold == made {
        return String::new();
    }
    let mut parts = Vec::new();
    if gold.actions != made.actions {
        parts.push(format!(
            "{} of {} actions",
            made.actions.len(),
            gold.actions.len()
        ));
        let other = made
            .actions
            .iter()
            .find(|action| !gold.actions.contains(action));
        parts.extend(other.map(|action| format!("not meant: {}", shown_action(action))));
    }
    if gold.text != made.text {
        parts.push(format!(
            "{} of {} chars of text",
            chars(&made.text),
            chars(&gold.text)
        ));
    }
    if gold.reasoning != made.reasoning {
        let (made, gold) = (chars(&made.reasoning), chars(&gold.reasoning));
        parts.push(format!("{made} of {gold} chars of thinking"));
    }
    one_line(&parts.join("; "))
}

fn shown_action(action: &Action) -> String {
    let number = action.number.map_or(String::new(), |n| n.to_string());
    let fields: Vec<String> = action
        .fields
        .iter()
        .map(|(k, v)| format!("{k}={v}"))
        .collect();
    format!(
        "{}{number}({}) {}",
        action.name,
        fields.join(", "),
        action.content
    )
}

/// A meaning for people.
pub(super) fn shown(meaning: &Meaning) -> String {
    let mut lines = Vec::new();
    if !meaning.reasoning.is_empty() {
        lines.push(format!("thinking: {}", meaning.reasoning));
    }
    lines.push(format!("text: {}", meaning.text));
    lines.extend(
        meaning
            .actions
            .iter()
            .map(|a| format!("action: {}", shown_action(a))),
    );
    lines.join("\n")
}

/// What arrived, and the truth for a variant, both in a form for people.
pub(crate) fn before_and_gold(variant: &Variant, stream: &Stream) -> (String, String) {
    let join = |events: &[Delivered]| {
        let texts = events.iter().filter(|event| !event.done);
        texts
            .map(|event| event.text.as_str())
            .collect::<Vec<_>>()
            .join("|")
    };
    let before = match &stream.arrived {
        Arrived::Text(text) => text.clone(),
        Arrived::Events(events) => join(events),
    };
    let gold = match stream.gold_for(variant.stream()) {
        Gold::Meaning(meaning) => shown(&meaning),
        Gold::Text(text) => text,
        Gold::Events(events) => join(&events),
    };
    (before, gold)
}

/// The transcript that a program is asked about, without `meta`, so that the program cannot see the truth.
pub(crate) fn question(transcript: &Transcript) -> Transcript {
    Transcript {
        meta: serde_json::Map::new(),
        ..transcript.clone()
    }
}

#[cfg(test)]
mod tests {
    use deadloop_replay::repairers::variants;

    use super::*;

    /// The same damage with another name has the same verdict: whoever has tags of his own sees a leak too.
    #[test]
    fn what_leaks_does_not_hang_on_the_names_of_one_design() {
        let grid = "[[repairer]]\nname = \"tags\"\n[repairer.params]\ntags = [[\"web_search\", \"book_flight\", \"book\"]]\n";
        let (all, _) = variants(grid).expect("a grid");
        let nothing = all
            .iter()
            .find(|one| matches!(one.made, Mending::Nothing(_)));
        let nothing = nothing.expect("the stream as it is stands beside each");
        for name in ["web_search", "book_flight", "book"] {
            let text = format!("Fine. <{name}><id>1</id>to Rome");
            let gold = Meaning {
                text: "Fine. ".into(),
                actions: vec![Action {
                    name: name.into(),
                    number: None,
                    fields: vec![("id".into(), "1".into())],
                    content: "to Rome".into(),
                }],
                ..Meaning::default()
            };
            let stream = Stream {
                fault: deadloop_detect::repair::Fault::find("unclosed"),
                severity: 1,
                kind: "tags".into(),
                arrived: Arrived::Text(text),
                gold: Gold::Meaning(gold),
            };
            let came = mend(nothing, &stream, || Err("no program".into())).expect("it is read");
            assert_eq!(came.verdict, Some(Mended::Leaked), "{name}");
        }
    }
}
