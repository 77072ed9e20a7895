//! Loops of tool calls: different calls, then one or a few repeated.

use std::collections::BTreeSet;

use deadloop_detect::{Channel, Kind};
use serde_json::{Map, Value as Json};

use super::label::{PlantedLabel, RepeatStretch};
use super::spec::{CorpusSpec, CountRange, ItemMaker, SpecItem, Tool};
use super::transcript::NoDraw;
use crate::planted_loops::Rng;
use deadloop_corpus::{Body, RecordedEvent};

/// A call: the index of the tool, and the arguments.
type PlantedCall = (usize, String);

/// Draws the events and the label.
pub(super) fn tool_loop(
    spec: &CorpusSpec,
    item: &SpecItem,
    onset: CountRange,
    rng: &mut Rng,
) -> Result<(Vec<RecordedEvent>, PlantedLabel), NoDraw> {
    let named = item.tools.as_deref();
    let wanted = |tool: &&Tool| named.is_none_or(|all| all.contains(&tool.name));
    let tools: Vec<&Tool> = spec.tools().iter().filter(wanted).collect();
    let period = item.repeats.period.draw(rng);
    let before = onset
        .draw(rng)
        .checked_sub(period)
        .ok_or("a cycle longer than the wanted onset")?;
    let after = item.repeats.after.draw(rng);
    let mut distinct = distinct(&tools, before + period + after, rng)?;
    let unit = distinct.split_off(before + after);
    let rest = distinct.split_off(before);
    let mut calls = distinct;
    let copies = item.repeats.copies.draw(rng);
    (0..copies).for_each(|_| calls.extend(unit.iter().cloned()));
    let end = calls.len();
    calls.extend(rest);
    let planted = RepeatStretch {
        start: before,
        period,
        end,
    };
    let whole = planted
        .extend(&calls, |_| false)
        .ok_or("calls that do not repeat")?;
    let kind = if item.kind.by == ItemMaker::Calls {
        Kind::Cycle
    } else {
        Kind::IdenticalCall
    };
    let class = item.repeats.class.name();
    let label = whole.label(class, kind.name(), Channel::Tools.name(), calls.len());
    let events = calls
        .iter()
        .enumerate()
        .flat_map(|(at, call)| step(&tools, at, call, rng));
    Ok((events.collect(), label))
}

/// Draws `count` different calls.
fn distinct(tools: &[&Tool], count: usize, rng: &mut Rng) -> Result<Vec<PlantedCall>, NoDraw> {
    let (mut seen, mut calls) = (BTreeSet::new(), Vec::new());
    for _ in 0..50 * (count + 1) {
        if calls.len() == count {
            return Ok(calls);
        }
        let tool = rng.below(tools.len());
        let call = (tool, tools[tool].draw_arguments(rng).to_string());
        if seen.insert(call.clone()) {
            calls.push(call);
        }
    }
    Err("the tools' arguments allow too few different calls; expected more values")
}

impl Tool {
    /// Draws arguments for a call of the tool.
    pub(super) fn draw_arguments(&self, rng: &mut Rng) -> Json {
        let arguments = self.arguments.iter().flat_map(|all| &all.0);
        let drawn = arguments.map(|(name, values)| {
            let value = rng.pick(values).cloned().unwrap_or_default();
            (name.clone(), value)
        });
        Json::Object(drawn.collect::<Map<_, _>>())
    }

    /// Draws a result of the tool.
    pub(super) fn result(&self, rng: &mut Rng) -> String {
        let drawn = match &self.results {
            Some(all) => rng.pick(all).map(ToString::to_string),
            None => rng.pick(&["ok"]).map(ToString::to_string),
        };
        drawn.unwrap_or_default()
    }
}

/// Returns the events of a turn: the turn, the call and its result.
fn step(tools: &[&Tool], at: usize, call: &PlantedCall, rng: &mut Rng) -> [RecordedEvent; 3] {
    let tool = tools[call.0];
    let id = Some(format!("call-{at}"));
    let bodies = [
        Body::Turn,
        Body::ToolCall {
            id: id.clone(),
            name: tool.name.to_string(),
            arguments: serde_json::from_str(&call.1).unwrap_or_default(),
        },
        Body::ToolResult {
            id,
            content: tool.result(rng),
            error: Some(false),
        },
    ];
    bodies.map(RecordedEvent::new)
}
