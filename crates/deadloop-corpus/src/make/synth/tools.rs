//! A loop of tool calls: different calls, then the same one or the same few over and over.

use std::collections::BTreeSet;

use deadloop_detect::{Channel, Kind};
use serde_json::{Map, Value as Json};

use super::fields::Bounds;
use super::label::{Label, Stretch};
use super::looped::Failed;
use super::spec::{CorpusSpec, Tool, ToolLoop};
use crate::make::plant::Rng;
use crate::{Body, RecordedEvent};

/// One call: the tool and its arguments.
type Call = (usize, String);

/// One draw: the events and what is true about them.
pub(super) fn tool_loop(
    spec: &CorpusSpec,
    looped: &ToolLoop,
    onset: Bounds,
    rng: &mut Rng,
) -> Result<(Vec<RecordedEvent>, Label), Failed> {
    let tools: Vec<&Tool> = spec
        .tools
        .iter()
        .filter(|tool| looped.tools.contains(&tool.name))
        .collect();
    let period = looped.period.draw(rng);
    let before = onset
        .draw(rng)
        .checked_sub(period)
        .ok_or("a cycle longer than the wanted onset")?;
    let after = looped.after.draw(rng);
    let mut distinct = distinct(&tools, before + period + after, rng)?;
    let unit = distinct.split_off(before + after);
    let rest = distinct.split_off(before);
    let mut calls = distinct;
    let copies = looped.copies.draw(rng);
    (0..copies).for_each(|_| calls.extend(unit.iter().cloned()));
    let end = calls.len();
    calls.extend(rest);
    let planted = Stretch {
        start: before,
        period,
        end,
    };
    let whole = planted
        .whole(&calls, |_| false)
        .ok_or("calls that do not repeat")?;
    let kind = if looped.cycle {
        Kind::Cycle
    } else {
        Kind::IdenticalCall
    };
    let class = if looped.transient {
        "transient"
    } else {
        "loop"
    };
    let label = whole.label(class, kind.name(), Channel::Tools.name(), calls.len());
    let events = calls
        .iter()
        .enumerate()
        .flat_map(|(at, call)| step(&tools, at, call, rng));
    Ok((events.collect(), label))
}

/// `count` different calls.
fn distinct(tools: &[&Tool], count: usize, rng: &mut Rng) -> Result<Vec<Call>, Failed> {
    let (mut seen, mut calls) = (BTreeSet::new(), Vec::new());
    for _ in 0..50 * (count + 1) {
        if calls.len() == count {
            return Ok(calls);
        }
        let tool = rng.below(tools.len());
        let call = (tool, arguments(tools[tool], rng));
        if seen.insert(call.clone()) {
            calls.push(call);
        }
    }
    Err("the tools' arguments allow too few different calls; expected more values")
}

fn arguments(tool: &Tool, rng: &mut Rng) -> String {
    let drawn = tool.arguments.iter().map(|(name, values)| {
        let value = rng.pick(values).cloned().unwrap_or_default();
        (name.clone(), value)
    });
    Json::Object(drawn.collect::<Map<_, _>>()).to_string()
}

/// A turn of the run: the call and its result.
fn step(tools: &[&Tool], at: usize, call: &Call, rng: &mut Rng) -> [RecordedEvent; 3] {
    let tool = tools[call.0];
    let id = Some(format!("call-{at}"));
    let bodies = [
        Body::Turn,
        Body::ToolCall {
            id: id.clone(),
            name: tool.name.clone(),
            arguments: serde_json::from_str(&call.1).unwrap_or_default(),
        },
        Body::ToolResult {
            id,
            content: rng.pick(&tool.results).cloned().unwrap_or_default(),
            error: Some(false),
        },
    ];
    bodies.map(RecordedEvent::of)
}
