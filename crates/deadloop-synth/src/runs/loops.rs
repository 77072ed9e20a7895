//! Loops of calls and turns, inserted after a turn of a host.

use std::collections::HashSet;

use deadloop_detect::{Channel, Kind};

use super::super::label::PlantedLabel;
use super::host::{HostRun, HostTurn};
use super::rewording::reword_arguments;
use super::{DrawInput, DrawResult, InsertLoopFn, LoopDraw, RunWithInsertion};
use crate::planted_loops::Rng;
use deadloop_corpus::{Body, RecordedEvent};

/// The turns of an inserted loop, and its positions.
pub(crate) struct InsertedLoop {
    /// Turns before the inserted ones. For loops of calls, they include the first copy.
    pub(super) kept: Vec<HostTurn>,
    /// Inserted turns.
    pub(super) turns: Vec<HostTurn>,
    /// Position of the first copy, in calls or turns.
    pub(super) start: usize,
    /// Position of the second copy.
    pub(super) onset: usize,
    /// Length of a copy in calls or turns, if the copies are alike.
    pub(super) period: Option<usize>,
    /// Index of the host's last turn before the loop. After the loop, the host continues with the next turn.
    pub(super) at: usize,
}

impl InsertedLoop {
    /// Creates a loop of calls whose first copy is the last `count` turns of the host up to `at`.
    pub(super) fn of_calls(host: &HostRun, at: usize, count: usize, turns: Vec<HostTurn>) -> Self {
        Self {
            kept: host.turns[..=at].to_vec(),
            turns,
            start: host.call_offsets()[at + 1 - count],
            onset: host.call_offsets()[at + 1],
            period: None,
            at,
        }
    }

    /// Creates a loop of turns after turn `at`, with copies of `period` turns.
    pub(super) fn of_turns(host: &HostRun, at: usize, period: usize, turns: Vec<HostTurn>) -> Self {
        Self {
            kept: host.turns[..=at].to_vec(),
            turns,
            start: at + 1,
            onset: at + 1 + period,
            period: Some(period),
            at,
        }
    }
}

/// Inserts a loop after a random turn of the host.
pub(super) fn insert_loop(
    input: &DrawInput<'_>,
    (kind, insert): (Kind, InsertLoopFn),
    rng: &mut Rng,
) -> DrawResult<RunWithInsertion> {
    let copies = insert(input, rng)?;
    let mut turns = copies.kept;
    turns.extend(copies.turns);
    let (channel, end) = match kind {
        Kind::Monologue | Kind::Handoff => (Channel::Turns, turns.len()),
        _ => (
            Channel::Tools,
            turns.iter().map(HostTurn::count_calls).sum(),
        ),
    };
    let after = turns_after(input.host, copies.at, input.item.repeats.after.draw(rng))?;
    let goes_on = !after.is_empty();
    turns.extend(after);
    let label = PlantedLabel {
        class: input.item.repeats.class.name(),
        kind: kind.name(),
        channel: channel.name().to_owned(),
        start: Some(copies.start),
        onset: Some(copies.onset),
        end: goes_on.then_some(end),
        period: copies.period,
        by: "planted",
        ..PlantedLabel::default()
    };
    Ok(RunWithInsertion {
        turns,
        labels: vec![label],
        is_cut: !goes_on,
    })
}

/// Chooses a random turn after which the second copy can begin. Returns its index.
///
/// `place` returns the position of the second copy, from the turn and the number of calls before each turn. The turn
/// must satisfy `fits` and contain no user message.
pub(super) fn choose_turn(
    input: &DrawInput<'_>,
    (place, fits): (impl Fn(usize, &[usize]) -> usize, fn(&HostTurn) -> bool),
    rng: &mut Rng,
) -> DrawResult<usize> {
    let places = input.host.call_offsets();
    let may = |at: &usize| {
        let turn = &input.host.turns[*at];
        let mut events = turn.events.iter();
        let spoken = events.any(|event| matches!(event.body, Body::User(_)));
        input.onset.contains(place(*at, &places)) && !spoken && fits(turn) && turn.benign.is_none()
    };
    let turns: Vec<usize> = (0..input.host.turns.len()).filter(may).collect();
    let turn = rng.choose(&turns).copied();
    turn.ok_or("no turn of a run at the wanted onset that can be repeated")
}

/// Chooses a random turn with one call and its result, after which the second copy can begin.
pub(super) fn choose_call_turn(input: &DrawInput<'_>, rng: &mut Rng) -> DrawResult<usize> {
    let place = |at: usize, places: &[usize]| places[at + 1];
    choose_turn(input, (place, |turn| turn.exchange().is_some()), rng)
}

/// Returns the last `count` turns up to `at`. Each must have one call with a result, and all calls must be unique in
/// the run.
pub(super) fn last_fresh_turns(host: &HostRun, at: usize, count: usize) -> DrawResult<&[HostTurn]> {
    let from = (at + 1).checked_sub(count);
    let from = from.ok_or("a cycle longer than what stands before it")?;
    let unit = &host.turns[from..=at];
    let fresh = |turn: &HostTurn| {
        turn.exchange()
            .is_some_and(|pair| host.count_turns_with(pair) == 1)
            && turn.benign.is_none()
    };
    let calls = unit.iter().filter_map(HostTurn::exchange);
    let calls: HashSet<_> = calls.map(|pair| (pair.0, pair.1)).collect();
    if unit.iter().all(fresh) && calls.len() == count {
        Ok(unit)
    } else {
        Err("no calls in a row that were made once")
    }
}

/// Repeats a call with the same result.
pub(crate) fn insert_same_result(input: &DrawInput<'_>, rng: &mut Rng) -> LoopDraw {
    let at = choose_call_turn(input, rng)?;
    repeat_turns(input, (at, 1), rng)
}

/// Repeats a sequence of calls with the same results.
pub(crate) fn insert_cycle(input: &DrawInput<'_>, rng: &mut Rng) -> LoopDraw {
    let at = choose_call_turn(input, rng)?;
    let period = input.item.repeats.period.draw(rng);
    repeat_turns(input, (at, period), rng)
}

/// Repeats the last `period` turns up to `at`, with the same results.
fn repeat_turns(input: &DrawInput<'_>, (at, period): (usize, usize), rng: &mut Rng) -> LoopDraw {
    let unit = last_fresh_turns(input.host, at, period)?;
    let copies = input.item.repeats.copies.draw(rng);
    let turns = (1..copies).flat_map(|_| unit.to_vec()).collect();
    Ok(InsertedLoop {
        period: Some(period),
        ..InsertedLoop::of_calls(input.host, at, period, turns)
    })
}

/// Repeats a call whose results differ immaterially.
pub(crate) fn insert_identical_call(input: &DrawInput<'_>, rng: &mut Rng) -> LoopDraw {
    let at = choose_call_turn(input, rng)?;
    let turn = &last_fresh_turns(input.host, at, 1)?[0];
    let copies = input.item.repeats.copies.draw(rng);
    let (_, _, content, error) = turn.exchange().ok_or("no result")?;
    let answers = draw_variants(content, copies, rng);
    let answered = answers.iter().map(|answer| turn.with_result(answer, error));
    let mut turns: Vec<HostTurn> = answered.collect();
    let mut kept = input.host.turns[..=at].to_vec();
    kept[at] = turns.remove(0);
    Ok(InsertedLoop {
        kept,
        period: Some(1),
        ..InsertedLoop::of_calls(input.host, at, 1, turns)
    })
}

/// Returns `copies` answers that differ only in the order of lines, or in a time of day at the end. No two adjacent
/// answers are equal.
fn draw_variants(content: &str, copies: usize, rng: &mut Rng) -> Vec<String> {
    let mut lines: Vec<&str> = content.lines().collect();
    let mut seconds = rng.uniform(28_000, 70_000);
    let mut answers: Vec<String> = Vec::new();
    for _ in 0..copies {
        let mut answer = content.to_owned();
        for _ in 0..10 {
            if answers.last() == Some(&answer) {
                rng.shuffle(&mut lines);
                answer = lines.join("\n");
            }
        }
        answers.push(answer);
    }
    if answers.windows(2).any(|two| two[0] == two[1]) {
        for answer in &mut answers {
            seconds += rng.uniform(2, 60);
            let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
            *answer = format!("{content}\n[{hours:02}:{minutes:02}:{:02}]", seconds % 60);
        }
    }
    answers
}

/// Repeats a few calls in random order.
pub(crate) fn insert_interleaved(input: &DrawInput<'_>, rng: &mut Rng) -> LoopDraw {
    let at = choose_call_turn(input, rng)?;
    let count = input.item.repeats.period.draw(rng);
    let wanted = (input.item.repeats.copies.draw(rng) - 1) * count;
    let mut drawn: Vec<usize> = Vec::new();
    while drawn.len() < wanted {
        let next = rng.below(count);
        // Two calls that never repeat directly would form a cycle.
        if count == 2 || drawn.last() != Some(&next) {
            drawn.push(next);
        }
    }
    let all = (0..count).all(|one| drawn.contains(&one));
    if !all {
        return Err("a call that does not come back");
    }
    repeat_in_order(input.host, at, count, &drawn)
}

/// Repeats each of many calls once or twice, in a different order. Most calls are different, but none is new.
pub(crate) fn insert_aperiodic(input: &DrawInput<'_>, rng: &mut Rng) -> LoopDraw {
    let at = choose_call_turn(input, rng)?;
    let count = input.item.repeats.period.draw(rng);
    let mut drawn = Vec::new();
    for _ in 0..2 {
        let mut round: Vec<usize> = (0..count).collect();
        rng.shuffle(&mut round);
        drawn.extend(round);
    }
    drawn.truncate(rng.uniform(count, 2 * count - 1));
    repeat_in_order(input.host, at, count, &drawn)
}

/// Repeats the last `count` turns in the given order, which must not be a cycle.
fn repeat_in_order(host: &HostRun, at: usize, count: usize, order: &[usize]) -> LoopDraw {
    let unit = last_fresh_turns(host, at, count)?;
    let whole: Vec<usize> = (0..count).chain(order.iter().copied()).collect();
    let periodic = |k: usize| whole.iter().zip(whole.iter().skip(k)).all(|(a, b)| a == b);
    if (1..=whole.len() / 2).any(periodic) {
        return Err("an order that is a cycle");
    }
    let turns = order.iter().map(|one| unit[*one].clone()).collect();
    Ok(InsertedLoop::of_calls(host, at, count, turns))
}

/// Repeats a call in different words, with the same error each time.
pub(crate) fn insert_reworded_calls(input: &DrawInput<'_>, rng: &mut Rng) -> LoopDraw {
    let at = choose_call_turn(input, rng)?;
    let turn = &last_fresh_turns(input.host, at, 1)?[0];
    let (_, arguments, ..) = turn.exchange().ok_or("no result")?;
    let count = input.item.repeats.copies.draw(rng) - 1;
    let others = reword_arguments(arguments, count, rng).ok_or("arguments without a text")?;
    let text = input.draw_text(rng)?;
    let mut kept = input.host.turns[..=at].to_vec();
    kept[at] = turn.with_result(text, Some(true));
    let turns = others
        .iter()
        .map(|other| kept[at].with_arguments(other))
        .collect();
    Ok(InsertedLoop {
        kept,
        ..InsertedLoop::of_calls(input.host, at, 1, turns)
    })
}

/// Repeats turns with only text.
pub(crate) fn insert_monologue(input: &DrawInput<'_>, rng: &mut Rng) -> LoopDraw {
    let at = choose_turn(input, (|at, _: &[usize]| at + 2, |_| true), rng)?;
    let text = input.draw_text(rng)?;
    let copies = input.item.repeats.copies.draw(rng);
    let turns = vec![HostTurn::new().with_text(text); copies];
    Ok(InsertedLoop::of_turns(input.host, at, 1, turns))
}

/// Repeats turns that hand the work over and back.
pub(crate) fn insert_handoffs(input: &DrawInput<'_>, rng: &mut Rng) -> LoopDraw {
    const AGENTS: [&str; 2] = ["planner", "worker"];
    let at = choose_turn(input, (|at, _: &[usize]| at + 3, |_| true), rng)?;
    let text = input.draw_text(rng)?;
    let copies = input.item.repeats.copies.draw(rng);
    let one = |number: usize| {
        let mut turn = HostTurn::new().with_text(text);
        let [from, to] = [number % 2, (number + 1) % 2].map(|at| AGENTS[at].to_owned());
        let agent = from.clone().into();
        turn.events[0].rest.insert("agent".into(), agent);
        let body = Body::Handoff { from, to };
        turn.events.push(RecordedEvent::new(body));
        turn
    };
    let turns = (0..2 * copies).map(one).collect();
    Ok(InsertedLoop::of_turns(input.host, at, 2, turns))
}

/// Returns the turns of the host after turn `at`, until they contain `calls` calls.
fn turns_after(host: &HostRun, at: usize, calls: usize) -> DrawResult<Vec<HostTurn>> {
    let (mut turns, mut made) = (Vec::new(), 0);
    for turn in &host.turns[at + 1..] {
        if made >= calls {
            break;
        }
        made += turn.count_calls();
        turns.push(turn.clone());
    }
    if made < calls {
        return Err("too little of a run after the loop");
    }
    Ok(turns)
}
