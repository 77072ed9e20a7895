//! [`judge_repair`]: the verdict on the output of a repairer for a stream.

use std::collections::BTreeSet;

use deadloop_repair::meaning::{Action, Delivery, Meaning};
use deadloop_repair::registry::StreamKind;
use deadloop_replay::repairers::{
    ArrivedStream, Delay, OutputContent, RepairMethod, Variant, VariantOutput,
};

use super::repair_verdict::{
    EventsVerdict, ExpectedText, RepairVerdict, decide_verdict, judge_arguments, judge_events,
};
use crate::truth::{Gold, KnownStream};

/// The result of a variant of a repairer on a stream.
#[derive(Clone, Debug)]
pub struct RepairResult {
    /// The verdict. `None` if the program failed.
    pub verdict: Option<RepairVerdict>,
    /// Details about the result, on one line.
    pub detail: String,
    /// The delay of text by the repair. `None` for events, programs and the unrepaired stream.
    pub delay: Option<Delay>,
    /// The output, formatted for people.
    pub after: String,
}

/// Judges the output of a variant for a stream. An `Err` is the reason why the variant's program failed.
pub fn judge_repair(
    variant: &Variant,
    stream: &KnownStream,
    repaired: Result<&VariantOutput, String>,
) -> RepairResult {
    let failure = |detail: String| RepairResult {
        verdict: None,
        detail,
        delay: None,
        after: String::new(),
    };
    let VariantOutput { out, delay } = match repaired {
        Ok(repaired) => repaired,
        Err(reason) => return failure(reason),
    };
    let (kind, damaged) = (variant.stream(), stream.fault.is_some());
    let (verdict, detail, after) = match (stream.expected_output(kind), out) {
        (Gold::Meaning(meaning), OutputContent::Meaning(repaired)) => {
            let expected = ExpectedText {
                marks: list_marks(&meaning, variant),
                meaning,
                damaged,
            };
            let detail = describe_difference(&expected.meaning, repaired);
            (expected.judge(repaired), detail, format_meaning(repaired))
        }
        (Gold::Text(gold), OutputContent::Meaning(repaired)) => {
            let verdict = if kind == StreamKind::Name {
                judge_name(variant, &gold, &repaired.text, damaged)
            } else {
                judge_arguments_text(&gold, &repaired.text, damaged)
            };
            (verdict, to_one_line(&repaired.text), repaired.text.clone())
        }
        (Gold::Events(gold), OutputContent::Events(repaired)) => {
            let found = judge_events(&gold, repaired);
            (
                judge_event_counts(found, damaged),
                found.to_string(),
                join_texts(repaired),
            )
        }
        // This does not happen: a repairer of events gets events, and one of text gets text.
        _ => return failure("a stream of another kind".into()),
    };
    RepairResult {
        verdict: Some(verdict),
        detail,
        delay: *delay,
        after,
    }
}

fn judge_arguments_text(gold: &str, repaired: &str, damaged: bool) -> RepairVerdict {
    let judged = judge_arguments(gold, repaired);
    decide_verdict(damaged, judged.exact, || {
        if judged.wrong_but_valid() {
            RepairVerdict::Wrong
        } else if repaired.contains("<|") {
            RepairVerdict::Leaked
        } else {
            RepairVerdict::Lost
        }
    })
}

/// Judges a repaired name of a tool.
///
/// A name that no tool has only makes the call fail. The name of another tool is wrong, since that tool is called.
fn judge_name(variant: &Variant, gold: &str, repaired: &str, damaged: bool) -> RepairVerdict {
    let is_known = || match &variant.method {
        RepairMethod::Builtin(_, params) => {
            let mut names = params.items("known").iter();
            names.any(|name| name.as_text() == Some(repaired))
        }
        _ => false,
    };
    decide_verdict(damaged, repaired == gold, || {
        if is_known() {
            RepairVerdict::Wrong
        } else if repaired.contains('<') {
            RepairVerdict::Leaked
        } else {
            RepairVerdict::Lost
        }
    })
}

/// Judges repaired events. A doubled event takes effect twice, so it is wrong. A missing event, or one out of order, is
/// lost.
fn judge_event_counts(found: EventsVerdict, damaged: bool) -> RepairVerdict {
    let whole = found.lost + found.doubled + found.disordered == 0 && found.ended;
    decide_verdict(damaged, whole, || {
        if found.doubled > 0 {
            RepairVerdict::Wrong
        } else {
            RepairVerdict::Lost
        }
    })
}

/// Joins the texts of events for people.
fn join_texts(events: &[Delivery]) -> String {
    let texts = events.iter().filter(|event| !event.done);
    let texts: Vec<&str> = texts.map(|event| event.text.as_str()).collect();
    texts.join("|")
}

/// Control marks outside actions that must not reach a user.
const CONTROL_MARKS: [&str; 4] = ["<think>", "</think>", "<|", "<tool_call>"];

/// Lists the marks that must not reach a user.
///
/// They are the tags of the expected actions and their fields, and the tags that the variant recognizes.
fn list_marks(expected: &Meaning, variant: &Variant) -> Vec<String> {
    let mut names: BTreeSet<String> = BTreeSet::new();
    for action in &expected.actions {
        names.insert(action.name.clone());
        names.extend(action.fields.iter().map(|(name, _)| name.clone()));
    }
    if let RepairMethod::Builtin(_, params) = &variant.method {
        let known = ["tags", "fields"]
            .into_iter()
            .filter(|list| params.get(list).is_some());
        let known = known.flat_map(|list| params.items(list));
        names.extend(known.filter_map(|name| name.as_text().map(str::to_owned)));
    }
    let marks_of = |name: String| {
        if name.contains(['_', '-']) {
            // Such a name is not a word, so the name alone is a mark too.
            vec![name]
        } else {
            // A number may follow the name, as in `<confirm2>`, so the marks have no `>`.
            vec![format!("<{name}"), format!("</{name}")]
        }
    };
    let fixed = CONTROL_MARKS.map(str::to_owned).into_iter();
    names
        .into_iter()
        .filter(|name| !name.is_empty())
        .flat_map(marks_of)
        .chain(fixed)
        .collect()
}

/// The maximum length of a detail, in chars.
const MAX_DETAIL_CHARS: usize = 120;

fn to_one_line(text: &str) -> String {
    let line: String = text.chars().take(MAX_DETAIL_CHARS).collect();
    line.replace(['\n', '\r'], " ")
}

/// Describes the difference between the output and the expected meaning, on one line.
fn describe_difference(gold: &Meaning, repaired: &Meaning) -> String {
    let chars = |text: &str| text.chars().count();
    if gold == repaired {
        return String::new();
    }
    let mut parts = Vec::new();
    if gold.actions != repaired.actions {
        parts.push(format!(
            "{} of {} actions",
            repaired.actions.len(),
            gold.actions.len()
        ));
        let other = repaired
            .actions
            .iter()
            .find(|action| !gold.actions.contains(action));
        parts.extend(other.map(|action| format!("not meant: {}", format_action(action))));
    }
    if gold.text != repaired.text {
        parts.push(format!(
            "{} of {} chars of text",
            chars(&repaired.text),
            chars(&gold.text)
        ));
    }
    if gold.reasoning != repaired.reasoning {
        let (repaired, gold) = (chars(&repaired.reasoning), chars(&gold.reasoning));
        parts.push(format!("{repaired} of {gold} chars of thinking"));
    }
    to_one_line(&parts.join("; "))
}

fn format_action(action: &Action) -> String {
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

/// Formats a meaning for people.
fn format_meaning(meaning: &Meaning) -> String {
    let mut lines = Vec::new();
    if !meaning.reasoning.is_empty() {
        lines.push(format!("thinking: {}", meaning.reasoning));
    }
    lines.push(format!("text: {}", meaning.text));
    lines.extend(
        meaning
            .actions
            .iter()
            .map(|a| format!("action: {}", format_action(a))),
    );
    lines.join("\n")
}

/// Returns the stream as it arrived, and the expected output of a variant, both formatted for people.
pub fn before_and_gold(variant: &Variant, stream: &KnownStream) -> (String, String) {
    let before = match &stream.arrived {
        ArrivedStream::Text(text) => text.clone(),
        ArrivedStream::Events(events) => join_texts(events),
    };
    let gold = match stream.expected_output(variant.stream()) {
        Gold::Meaning(meaning) => format_meaning(&meaning),
        Gold::Text(text) => text,
        Gold::Events(events) => join_texts(&events),
    };
    (before, gold)
}

#[cfg(test)]
mod tests {
    use deadloop_replay::detect::Fault;
    use deadloop_replay::repairers::RepairGrid;

    use super::*;

    /// The same damage with another name has the same verdict: whoever has tags of his own sees a leak too.
    #[test]
    fn what_leaks_does_not_hang_on_the_names_of_one_design() {
        let grid = "[[repairer]]\nname = \"tags\"\n[repairer.params]\ntags = [[\"web_search\", \"book_flight\", \"book\"]]\n";
        let all = RepairGrid::parse(grid).expect("a grid").variants;
        let nothing = all
            .iter()
            .find(|one| matches!(one.method, RepairMethod::Nothing(_)));
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
            let stream = KnownStream {
                fault: Some(Fault::Unclosed),
                severity: 1,
                kind: StreamKind::Tags,
                arrived: ArrivedStream::Text(text),
                gold: Gold::Meaning(gold),
            };
            let repaired = nothing.mend(&stream.arrived, || Err("no program".into()));
            let repaired = repaired.expect("it is read").expect("no program fails");
            let came = judge_repair(nothing, &stream, Ok(&repaired));
            assert_eq!(came.verdict, Some(RepairVerdict::Leaked), "{name}");
        }
    }
}
