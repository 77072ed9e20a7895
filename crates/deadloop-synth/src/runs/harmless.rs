//! Harmless repetition, planted into a host that continues afterwards.
//!
//! Its stretches are listed in `meta.benign`, and the run's label is clean.

use super::host::{HostTurn, one_call};
use super::loops::draw_place;
use super::rewording::other_subjects;
use super::{Draw, DrawSpec, HarmlessScene, PlantedRun, clean_labels};
use crate::planted_loops::Rng;
use deadloop_corpus::Reason;

/// Harmless repetition: its turns, and the number of the host's turns that they replace.
pub(crate) struct HarmlessTurns {
    turns: Vec<HostTurn>,
    replaced: usize,
}

/// Draws the repetition in place of some turn of the host.
pub(super) fn plant_harmless(
    spec: &DrawSpec<'_>,
    (reason, scene): (Reason, HarmlessScene),
    rng: &mut Rng,
) -> Draw<PlantedRun> {
    let place = |at: usize, places: &[usize]| places[at + 1];
    let works = |turn: &HostTurn| turn.pair().is_some_and(|pair| pair.3 != Some(true));
    let at = draw_place(spec, (place, works), rng)?;
    let instead = scene(spec, at, rng)?;
    let mut turns = spec.host.turns[..at].to_vec();
    let marked = |(nth, turn): (usize, HostTurn)| match nth {
        0 => turn.with_reason(reason, true),
        // An agent that repeats a call does not explain it again.
        _ => turn.without_text().with_reason(reason, false),
    };
    turns.extend(instead.turns.into_iter().enumerate().map(marked));
    turns.extend_from_slice(&spec.host.turns[at + instead.replaced..]);
    Ok(PlantedRun {
        turns,
        labels: clean_labels(),
        is_cut: false,
    })
}

/// Repeats a call until its answer is ready.
pub(crate) fn plant_poll(spec: &DrawSpec<'_>, at: usize, rng: &mut Rng) -> Draw<HarmlessTurns> {
    repeated_until(spec, (at, false), rng)
}

/// Repeats a call until it succeeds.
pub(crate) fn plant_retry(spec: &DrawSpec<'_>, at: usize, rng: &mut Rng) -> Draw<HarmlessTurns> {
    repeated_until(spec, (at, true), rng)
}

/// Returns a call that is repeated until its answer is ready, or until it succeeds. If the text contains `{}`, each
/// answer before differs from the others.
fn repeated_until(
    spec: &DrawSpec<'_>,
    (at, fails): (usize, bool),
    rng: &mut Rng,
) -> Draw<HarmlessTurns> {
    let (turn, count) = (&spec.host.turns[at], spec.item.repeats.copies.draw(rng));
    let text = spec.draw_text(rng)?;
    let before = (1..count).map(|nth| {
        let done = 100 * nth / count;
        turn.with_result(&text.replace("{}", &done.to_string()), Some(fails))
    });
    let turns = before.chain([turn.clone()]).collect();
    Ok(HarmlessTurns { turns, replaced: 1 })
}

/// Returns the same call for many things, each with its own answer.
pub(crate) fn plant_batch(spec: &DrawSpec<'_>, at: usize, rng: &mut Rng) -> Draw<HarmlessTurns> {
    let turn = &spec.host.turns[at];
    let count = spec.item.repeats.copies.draw(rng);
    let (_, arguments, content, error) = turn.pair().ok_or("no result")?;
    let (name, others) = other_subjects(arguments, count - 1).ok_or("arguments without a text")?;
    let mut turns = vec![turn.clone()];
    for (other, arguments) in others {
        let renamed = content.replace(&name, &other);
        let is_same = renamed == content;
        let answer = if is_same {
            format!("{other}: {content}")
        } else {
            renamed
        };
        turns.push(turn.with_arguments(&arguments).with_result(&answer, error));
    }
    Ok(HarmlessTurns { turns, replaced: 1 })
}

/// Returns the same call between turns that make progress.
pub(crate) fn plant_verification(
    spec: &DrawSpec<'_>,
    at: usize,
    rng: &mut Rng,
) -> Draw<HarmlessTurns> {
    let count = spec.item.repeats.copies.draw(rng);
    let check = &spec.host.turns[at];
    let mut turns = vec![check.clone()];
    for nth in 1..count {
        let between = spec.host.turns.get(at + nth);
        let between = between.ok_or("too little of a run after it")?;
        let pair = between.pair();
        let gets_on = pair.is_some_and(|pair| spec.host.count_turns(pair) == 1);
        if !gets_on || between.benign.is_some() {
            return Err("turns that do not get on");
        }
        turns.push(between.clone());
        turns.push(check.clone());
    }
    let replaced = count;
    Ok(HarmlessTurns { turns, replaced })
}

/// Draws moves over a board in rows, to and fro. There are few different actions, but each shows a different board.
pub(crate) fn plant_moves(spec: &DrawSpec<'_>, _: usize, rng: &mut Rng) -> Draw<HarmlessTurns> {
    let count = spec.item.repeats.copies.draw(rng);
    let wide = rng.between(4, 9);
    let high = count / wide + 4;
    let (mut turns, mut right, mut at) = (Vec::new(), true, (0, 0));
    for _ in 0..count {
        let turned = at.0 == if right { wide - 1 } else { 0 };
        let action = match (turned, right) {
            (true, _) => "down",
            (false, true) => "right",
            (false, false) => "left",
        };
        match action {
            "down" => (right, at.1) = (!right, at.1 + 1),
            "right" => at.0 += 1,
            _ => at.0 -= 1,
        }
        let row = |y: usize| -> String {
            let sign = |x: usize| if (x, y) == at { '@' } else { '.' };
            (0..wide).map(sign).collect()
        };
        let board: Vec<String> = (0..high).map(row).collect();
        let action = serde_json::json!({"action": action});
        turns.push(one_call("act", action, &board.join("\n"), false));
    }
    Ok(HarmlessTurns { turns, replaced: 0 })
}

/// Returns the same call of a tool with an empty result.
pub(crate) fn plant_silent_calls(
    spec: &DrawSpec<'_>,
    _: usize,
    rng: &mut Rng,
) -> Draw<HarmlessTurns> {
    const CALLS: [(&str, &str, &str); 4] = [
        ("scroll", "direction", "down"),
        ("press_key", "key", "ArrowDown"),
        ("undo", "steps", "1"),
        ("click", "target", "next"),
    ];
    let count = spec.item.repeats.copies.draw(rng);
    let text = spec.draw_text(rng)?;
    let (tool, name, value) = rng.pick(&CALLS).ok_or("no calls")?;
    let turn = one_call(tool, serde_json::json!({*name: value}), text, false);
    let turns = vec![turn; count];
    Ok(HarmlessTurns { turns, replaced: 0 })
}
