//! Explains repairers step by step, with each output and the verdict.

use deadloop_corpus::Transcript;
use deadloop_repair::meaning::{Action, MeaningPart, MeaningParts};
use deadloop_replay::repairers::{ArrivedStream, RepairGrid, RepairMethod, Variant};
use deadloop_score::repairs::{KnownStream, before_and_gold};
use serde_json::{Value as Json, json};

use super::mend_and_judge;
use crate::visible::visible;

/// Returns, as JSON, the steps of each variant of a file that reads the kind of stream of `transcript`.
///
/// # Errors
/// Returns the mistake of the file as `line: what`, or an error if the truth of the transcript is unknown or
/// unreadable.
pub(crate) fn explain_steps(text: &str, transcript: &Transcript) -> Result<Vec<Json>, String> {
    let grid = RepairGrid::parse(text).map_err(|e| e.to_string())?;
    let stream = KnownStream::from_transcript(transcript).map_err(|e| e.to_string())?;
    let stream = stream.ok_or(
        "nobody knows what was meant by it (no meta.gold); expected a transcript that deadloop synth damaged",
    )?;
    let explained = |variant: &Variant| {
        let RepairMethod::Builtin(..) = &variant.method else {
            return None;
        };
        let came = mend_and_judge(variant, &stream, || Err("no program is asked".into()))?;
        let (before, gold) = before_and_gold(variant, &stream);
        Some(json!({
            "variant": variant.name,
            "params": variant.params(),
            "fault": stream.fault.map(|fault| fault.name()),
            "severity": stream.severity,
            "before": before,
            "steps": output_steps(variant, &stream),
            "delay": came.delay.map(|delay| json!({
                "first_text": delay.first_text,
                "most_held": delay.most_held,
                "longest_silence": delay.longest_silence,
            })),
            "after": came.after,
            "gold": gold,
            "verdict": came.verdict.map(|verdict| verdict.name()),
            "detail": came.detail,
        }))
    };
    let explained: Vec<Json> = grid.variants.iter().filter_map(explained).collect();
    if explained.is_empty() {
        Err(format!(
            "no repairer of the file reads a stream of {}",
            stream.kind
        ))
    } else {
        Ok(explained)
    }
}

/// Returns each output with the number of chars read by then. Text that passes char by char is one step.
fn output_steps(variant: &Variant, stream: &KnownStream) -> Vec<Json> {
    let (RepairMethod::Builtin(repairer, params), ArrivedStream::Text(text)) =
        (&variant.method, &stream.arrived)
    else {
        return Vec::new();
    };
    let Some(mut repair) = repairer.text_repairer(params) else {
        return Vec::new();
    };
    let (mut pieces, mut steps, mut read) =
        (MeaningParts::default(), Vec::<RepairStep>::new(), 0_u64);
    for c in text.chars() {
        repair.push(c.encode_utf8(&mut [0; 4]), &mut pieces);
        read += 1;
        add_steps(&mut steps, pieces.take(), read);
    }
    repair.finish(&mut pieces);
    add_steps(&mut steps, pieces.take(), read + 1);
    let told = steps.into_iter().map(|step| {
        let after = if step.chars_read > read {
            "the end".into()
        } else {
            Json::from(step.chars_read)
        };
        json!({"after": after, "gives": step.kind, "what": step.what})
    });
    told.collect()
}

/// Formats an action as a line of its name, number, fields and content.
fn format_action(action: &Action) -> String {
    let number = action
        .number
        .map_or(String::new(), |number| format!(" {number}"));
    let fields: Vec<String> = action
        .fields
        .iter()
        .map(|(name, value)| format!("{name}: {value}"))
        .collect();
    let fields = if fields.is_empty() {
        String::new()
    } else {
        format!(" ({})", fields.join("; "))
    };
    let content = if action.content.is_empty() {
        String::new()
    } else {
        format!(": {}", action.content)
    };
    format!("{}{number}{fields}{content}", action.name)
}

/// A run of output of one kind.
struct RepairStep {
    /// The number of chars read at the end of the step.
    chars_read: u64,
    kind: &'static str,
    what: String,
}

fn add_steps(steps: &mut Vec<RepairStep>, parts: Vec<MeaningPart>, read: u64) {
    for part in parts {
        let (kind, what) = match part {
            MeaningPart::Text(text) => ("text", text),
            MeaningPart::Reasoning(text) => ("reasoning", text),
            MeaningPart::Action(action) => ("action", format_action(&action)),
        };
        match steps.last_mut() {
            // The text passed without delay, so it belongs to the same step.
            Some(step) if step.kind == kind && kind != "action" && step.chars_read + 1 >= read => {
                step.what.push_str(&what);
                step.chars_read = read;
            }
            _ => steps.push(RepairStep {
                chars_read: read,
                kind,
                what,
            }),
        }
    }
}

/// Formats a text in quotes on one line, with line ends as `↵` and control chars escaped.
fn quote_text(text: &str) -> String {
    let lines: Vec<String> = text.split('\n').map(visible).collect();
    format!("“{}”", lines.join("↵"))
}

/// Formats the steps as lines for the terminal.
pub(crate) fn format_steps(explained: &[Json]) -> String {
    let mut all = Vec::new();
    for one in explained {
        let text = |name: &str| one[name].as_str().unwrap_or("").to_owned();
        let fault = one["fault"].as_str().map_or("intact".to_owned(), |fault| {
            format!("{fault}, degree {}", one["severity"])
        });
        all.push(format!(
            "{} ({fault}): {}",
            text("variant"),
            text("verdict")
        ));
        if !text("params").is_empty() {
            all.push(format!("  {}", text("params")));
        }
        for step in one["steps"].as_array().into_iter().flatten() {
            let after = match &step["after"] {
                Json::String(end) => end.clone(),
                n => format!("char {n}"),
            };
            all.push(format!(
                "  at {after}: {} {}",
                step["gives"].as_str().unwrap_or(""),
                quote_text(step["what"].as_str().unwrap_or(""))
            ));
        }
        if let Some(most) = one["delay"]["most_held"].as_u64() {
            let silence = &one["delay"]["longest_silence"];
            all.push(format!(
                "  delay: at most {most} chars waited, {silence} were read without anything coming out"
            ));
        }
        all.push(format!("  before: {}", quote_text(&text("before"))));
        all.push(format!("  after:  {}", quote_text(&text("after"))));
        all.push(format!("  gold:   {}", quote_text(&text("gold"))));
        if !text("detail").is_empty() {
            all.push(format!("  {}", text("detail")));
        }
    }
    all.join("\n")
}
