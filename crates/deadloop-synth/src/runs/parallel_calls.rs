//! Parallel calls of a real run, some with damaged results.
//!
//! The run ends after a turn with two or more calls that all had a result. Some of these results are damaged.

use std::collections::BTreeSet;

use serde_json::{Map, Value as Json, json};

use super::super::TranscriptFrame;
use super::super::faults::{FaultRequest, FaultyStream};
use super::super::intact_streams::IntactStream;
use super::host::{HostRun, HostTurn};
use super::{NoDraw, Synth};
use crate::planted_loops::Rng;
use deadloop_corpus::{Body, RecordedEvent};

impl Synth<'_> {
    /// Draws a real run that ends with one of its batches, damaged, and returns it with its source.
    pub(in super::super) fn partial(
        &self,
        frame: &TranscriptFrame<'_>,
        asked: &FaultRequest,
        rng: &mut Rng,
    ) -> Result<(FaultyStream, IntactStream), NoDraw> {
        let pool = self.runs(frame.item, frame.split);
        let run = rng
            .pick(&pool)
            .copied()
            .ok_or("no run with calls in the sources")?;
        let mut host = HostRun::of_run(run);
        let batches = batches(&host.turns);
        let at = *rng
            .pick(&batches)
            .ok_or("no turn with parallel calls that all came back")?;
        host.turns.truncate(at + 1);
        let first = host.places()[at];
        let stream = damage_results(host.head, host.turns, first, asked, rng);
        let drawn = IntactStream {
            from: host.from,
            group: host.group,
            model: host.model,
            ..IntactStream::default()
        };
        Ok((stream, drawn))
    }
}

/// Returns the turns with parallel calls that all have a result, up to the first turn with a missing result. From that
/// turn on the run is not intact.
fn batches(turns: &[HostTurn]) -> Vec<usize> {
    let all = turns.iter().enumerate();
    let all = all.filter(|(_, turn)| turn.calls() > 1 && asks_at_once(turn));
    let whole = all.take_while(|(_, turn)| came_back(turn));
    whole.map(|(at, _)| at).collect()
}

/// Returns whether all calls of the turn come before the first result.
fn asks_at_once(turn: &HostTurn) -> bool {
    let result = |event: &RecordedEvent| matches!(event.body, Body::ToolResult { .. });
    let call = |event: &RecordedEvent| matches!(event.body, Body::ToolCall { .. });
    let heard = turn.events.iter().skip_while(|event| !result(event));
    !heard.into_iter().any(call)
}

/// Returns whether each call has its own id and one result without an error.
fn came_back(turn: &HostTurn) -> bool {
    let (mut calls, mut results) = (BTreeSet::new(), BTreeSet::new());
    turn.events.iter().all(|event| match &event.body {
        Body::ToolCall { id, .. } => id.is_some() && calls.insert(id),
        Body::ToolResult { id, error, .. } => {
            *error != Some(true) && calls.contains(id) && results.insert(id)
        }
        _ => true,
    }) && calls.len() == results.len()
}

/// Damages results of the last turn. `first` is the index of the turn's first call in the run.
fn damage_results(
    head: Vec<RecordedEvent>,
    mut turns: Vec<HostTurn>,
    first: usize,
    asked: &FaultRequest,
    rng: &mut Rng,
) -> FaultyStream {
    let mut more = Map::new();
    let mut broken = Vec::new();
    if let Some(turn) = turns.last_mut() {
        broken = vec![false; turn.calls()];
        let most = broken.len();
        let failing = if asked.is_intact {
            0
        } else {
            usize::from(asked.severity).min(most)
        };
        broken[..failing].fill(true);
        rng.shuffle(&mut broken);
        let way = match failing {
            0 => "intact",
            _ => break_results(turn, &broken, rng),
        };
        more.insert("broken".into(), way.into());
    }
    let mut events = head;
    events.extend(turns.into_iter().flat_map(|turn| turn.events));
    events.push(super::super::finish("tool_calls"));
    let call = |(at, is_broken): (usize, &bool)| (!is_broken).then_some(first + at);
    let good: Vec<usize> = broken.iter().enumerate().filter_map(call).collect();
    FaultyStream {
        events,
        channel: "tools",
        onset: broken.iter().position(|is| *is).map(|at| first + at),
        gold: json!({"good": good}),
        more,
    }
}

/// Damages the results of the broken calls. In half of the draws, if each result is an object, removes a field.
/// Otherwise makes the results errors. Returns the kind of damage.
fn break_results(turn: &mut HostTurn, broken: &[bool], rng: &mut Rng) -> &'static str {
    let calls = turn.events.iter().filter_map(|event| match &event.body {
        Body::ToolCall { id, .. } => Some(id.clone()),
        _ => None,
    });
    let ids: BTreeSet<_> = calls
        .zip(broken)
        .filter_map(|(id, is)| is.then_some(id))
        .collect();
    let mut hit: Vec<_> = turn
        .events
        .iter_mut()
        .filter_map(|event| match &mut event.body {
            Body::ToolResult { id, content, error } if ids.contains(id) => Some((content, error)),
            _ => None,
        })
        .collect();
    let lesser: Option<Vec<String>> = hit
        .iter()
        .map(|(content, _)| without_field(content, rng))
        .collect();
    match lesser.filter(|_| rng.chance(0.5)) {
        Some(lesser) => {
            for ((content, _), lesser) in hit.iter_mut().zip(lesser) {
                **content = lesser;
            }
            "field"
        }
        None => {
            for (content, error) in hit {
                (*content, *error) = ("timeout".to_owned(), Some(true));
            }
            "error"
        }
    }
}

/// Returns an object without one of its fields. `None` if it has fewer than two.
fn without_field(content: &str, rng: &mut Rng) -> Option<String> {
    let Ok(Json::Object(mut fields)) = serde_json::from_str(content) else {
        return None;
    };
    let names: Vec<String> = fields.keys().cloned().collect();
    let name = rng.pick(&names).filter(|_| names.len() > 1)?;
    fields.shift_remove(name);
    Some(Json::Object(fields).to_string())
}
