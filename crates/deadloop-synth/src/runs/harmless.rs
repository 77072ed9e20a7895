//! Harmless repetition, inserted into a host that continues afterwards.
//!
//! `meta.benign` lists its spans, and the label of the run is clean.

use super::host::{HostTurn, call_turn};
use super::loops::choose_turn;
use super::rewording::vary_subjects;
use super::{
    DrawInput, DrawResult, HarmlessDraw, InsertHarmlessFn, RunWithInsertion, clean_labels,
};
use crate::planted_loops::Rng;
use deadloop_corpus::BenignReason;

/// Turns of harmless repetition, and the number of host turns that they replace.
pub(crate) struct HarmlessTurns {
    turns: Vec<HostTurn>,
    replaced: usize,
}

/// Replaces a random turn of the host by harmless repetition.
pub(super) fn insert_harmless(
    input: &DrawInput<'_>,
    (reason, insert): (BenignReason, InsertHarmlessFn),
    rng: &mut Rng,
) -> DrawResult<RunWithInsertion> {
    let place = |at: usize, places: &[usize]| places[at + 1];
    let works = |turn: &HostTurn| turn.exchange().is_some_and(|pair| pair.3 != Some(true));
    let at = choose_turn(input, (place, works), rng)?;
    let instead = insert(input, at, rng)?;
    let mut turns = input.host.turns[..at].to_vec();
    let marked = |(nth, turn): (usize, HostTurn)| match nth {
        0 => turn.with_reason(reason, true),
        // An agent that repeats a call does not explain it again.
        _ => turn.without_text().with_reason(reason, false),
    };
    turns.extend(instead.turns.into_iter().enumerate().map(marked));
    turns.extend_from_slice(&input.host.turns[at + instead.replaced..]);
    Ok(RunWithInsertion {
        turns,
        labels: clean_labels(),
        is_cut: false,
    })
}

/// Repeats a call until its answer is ready.
pub(crate) fn insert_poll(input: &DrawInput<'_>, at: usize, rng: &mut Rng) -> HarmlessDraw {
    repeat_until_result(input, (at, false), rng)
}

/// Repeats a call until it succeeds.
pub(crate) fn insert_retry(input: &DrawInput<'_>, at: usize, rng: &mut Rng) -> HarmlessDraw {
    repeat_until_result(input, (at, true), rng)
}

/// Repeats a call until its answer is ready, or until it succeeds. If the text contains `{}`, all answers differ.
fn repeat_until_result(
    input: &DrawInput<'_>,
    (at, fails): (usize, bool),
    rng: &mut Rng,
) -> HarmlessDraw {
    let (turn, count) = (&input.host.turns[at], input.item.repeats.copies.draw(rng));
    let text = input.draw_text(rng)?;
    let before = (1..count).map(|nth| {
        let done = 100 * nth / count;
        turn.with_result(&text.replace("{}", &done.to_string()), Some(fails))
    });
    let turns = before.chain([turn.clone()]).collect();
    Ok(HarmlessTurns { turns, replaced: 1 })
}

/// Repeats a call for many subjects, each with its own answer.
pub(crate) fn insert_batch(input: &DrawInput<'_>, at: usize, rng: &mut Rng) -> HarmlessDraw {
    let turn = &input.host.turns[at];
    let count = input.item.repeats.copies.draw(rng);
    let (_, arguments, content, error) = turn.exchange().ok_or("no result")?;
    let (name, others) = vary_subjects(arguments, count - 1).ok_or("arguments without a text")?;
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

/// Repeats a call between turns that make progress.
pub(crate) fn insert_verification(input: &DrawInput<'_>, at: usize, rng: &mut Rng) -> HarmlessDraw {
    let count = input.item.repeats.copies.draw(rng);
    let check = &input.host.turns[at];
    let mut turns = vec![check.clone()];
    for nth in 1..count {
        let between = input.host.turns.get(at + nth);
        let between = between.ok_or("too little of a run after it")?;
        let pair = between.exchange();
        let gets_on = pair.is_some_and(|pair| input.host.count_turns_with(pair) == 1);
        if !gets_on || between.benign.is_some() {
            return Err("turns that do not get on");
        }
        turns.push(between.clone());
        turns.push(check.clone());
    }
    let replaced = count;
    Ok(HarmlessTurns { turns, replaced })
}

/// Inserts moves over a board, row by row. There are few different actions, but each shows a different board.
pub(crate) fn insert_moves(input: &DrawInput<'_>, _: usize, rng: &mut Rng) -> HarmlessDraw {
    let count = input.item.repeats.copies.draw(rng);
    let wide = rng.uniform(4, 9);
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
        turns.push(call_turn("act", action, &board.join("\n"), false));
    }
    Ok(HarmlessTurns { turns, replaced: 0 })
}

/// Repeats a tool call with an empty result.
pub(crate) fn insert_silent_calls(input: &DrawInput<'_>, _: usize, rng: &mut Rng) -> HarmlessDraw {
    const CALLS: [(&str, &str, &str); 4] = [
        ("scroll", "direction", "down"),
        ("press_key", "key", "ArrowDown"),
        ("undo", "steps", "1"),
        ("click", "target", "next"),
    ];
    let count = input.item.repeats.copies.draw(rng);
    let text = input.draw_text(rng)?;
    let (tool, name, value) = rng.choose(&CALLS).ok_or("no calls")?;
    let turn = call_turn(tool, serde_json::json!({*name: value}), text, false);
    let turns = vec![turn; count];
    Ok(HarmlessTurns { turns, replaced: 0 })
}
