//! Harmless repetition, planted into a host that continues afterwards.
//!
//! Its stretches are listed in `meta.benign`, and the run's label is clean.

use super::host::{HostRun, HostTurn, one_call};
use super::loops::behind;
use super::rewording::of_others;
use super::{DrawSpec, NoDraw, PlantedRun, clean_labels};
use crate::planted_loops::Rng;
use crate::spec::Harmless;
use deadloop_corpus::Reason;

/// Draws a place in the host run, and puts the harmless repetition there.
pub(super) fn plant_harmless(
    asked: &DrawSpec<'_>,
    host: &HostRun,
    harmless: Harmless,
    rng: &mut Rng,
) -> Result<PlantedRun, NoDraw> {
    let place = |at: usize, places: &[usize]| places[at + 1];
    let works = |turn: &HostTurn| turn.pair().is_some_and(|pair| pair.3 != Some(true));
    let at = behind(asked, host, (place, works), rng)?;
    let count = asked.item.repeats.copies.draw(rng);
    let reason = harmless.reason();
    let (instead, skipped) = match harmless {
        Harmless::Own(Reason::Poll) => (
            repeated_until(asked, (&host.turns[at], false), count, rng)?,
            1,
        ),
        Harmless::Own(Reason::Retry) => (
            repeated_until(asked, (&host.turns[at], true), count, rng)?,
            1,
        ),
        Harmless::Own(Reason::Batch) => (batch(&host.turns[at], count)?, 1),
        Harmless::Own(Reason::Verify) => verify(host, at, count)?,
        Harmless::Game => (moves(count, rng), 0),
        Harmless::Stateless => (silent(asked, count, rng)?, 0),
    };
    let mut turns = host.turns[..at].to_vec();
    let marked = |(nth, turn): (usize, HostTurn)| match nth {
        0 => turn.with_reason(reason, true),
        // An agent that repeats a call does not explain it again.
        _ => turn.silent().with_reason(reason, false),
    };
    turns.extend(instead.into_iter().enumerate().map(marked));
    turns.extend_from_slice(&host.turns[at + skipped..]);
    Ok(PlantedRun {
        turns,
        labels: clean_labels(),
        is_cut: false,
    })
}

/// Returns a call that is repeated until its answer is ready, or until it succeeds. If the text contains `{}`, each
/// answer before differs from the others.
fn repeated_until(
    asked: &DrawSpec<'_>,
    (turn, fails): (&HostTurn, bool),
    count: usize,
    rng: &mut Rng,
) -> Result<Vec<HostTurn>, NoDraw> {
    let text = asked.text(rng)?;
    let before = (1..count).map(|nth| {
        let done = 100 * nth / count;
        turn.with_result(&text.replace("{}", &done.to_string()), Some(fails))
    });
    Ok(before.chain([turn.clone()]).collect())
}

/// Returns the same call for many things, each with its own answer.
fn batch(turn: &HostTurn, count: usize) -> Result<Vec<HostTurn>, NoDraw> {
    let (_, arguments, content, error) = turn.pair().ok_or("no result")?;
    let (name, others) = of_others(arguments, count - 1).ok_or("arguments without a text")?;
    let mut turns = vec![turn.clone()];
    for (other, arguments) in others {
        let renamed = content.replace(&name, &other);
        let answer = if renamed == content {
            format!("{other}: {content}")
        } else {
            renamed
        };
        turns.push(turn.asking(&arguments).with_result(&answer, error));
    }
    Ok(turns)
}

/// Returns the same call between turns that make progress, and the number of the host's turns used.
fn verify(host: &HostRun, at: usize, count: usize) -> Result<(Vec<HostTurn>, usize), NoDraw> {
    let asked = &host.turns[at];
    let mut turns = vec![asked.clone()];
    for nth in 1..count {
        let between = host
            .turns
            .get(at + nth)
            .ok_or("too little of a run after it")?;
        let gets_on = between
            .pair()
            .is_some_and(|pair| host.count_turns(pair) == 1);
        if !gets_on || between.benign.is_some() {
            return Err("turns that do not get on");
        }
        turns.push(between.clone());
        turns.push(asked.clone());
    }
    Ok((turns, count))
}

/// Draws moves over a board in rows, to and fro. There are few different actions, but each shows a different board.
fn moves(count: usize, rng: &mut Rng) -> Vec<HostTurn> {
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
        let asked = serde_json::json!({"action": action});
        turns.push(one_call("act", asked, &board.join("\n"), false));
    }
    turns
}

/// Returns the same call of a tool with an empty result.
fn silent(asked: &DrawSpec<'_>, count: usize, rng: &mut Rng) -> Result<Vec<HostTurn>, NoDraw> {
    const CALLS: [(&str, &str, &str); 4] = [
        ("scroll", "direction", "down"),
        ("press_key", "key", "ArrowDown"),
        ("undo", "steps", "1"),
        ("click", "target", "next"),
    ];
    let text = asked.text(rng)?;
    let (tool, name, value) = rng.pick(&CALLS).ok_or("no calls")?;
    let turn = one_call(tool, serde_json::json!({*name: value}), text, false);
    Ok(vec![turn; count])
}
