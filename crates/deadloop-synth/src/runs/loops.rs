//! Loops of calls and turns, planted after a turn of a host.

use std::collections::HashSet;

use deadloop_detect::{Channel, Kind};

use super::super::label::PlantedLabel;
use super::host::{HostRun, HostTurn};
use super::rewording::reword;
use super::{DrawSpec, NoDraw, PlantedRun, agent_loops};
use crate::planted_loops::Rng;
use crate::spec::RunLoopKind;
use deadloop_corpus::{Body, RecordedEvent};

/// A planted loop and its position.
pub(super) struct PlantedLoop {
    /// The turns before the planted ones. For loops of calls, they include the first copy.
    pub(super) kept: Vec<HostTurn>,
    /// The planted turns.
    pub(super) turns: Vec<HostTurn>,
    /// The position of the first copy, in calls or turns.
    pub(super) start: usize,
    /// The position of the second copy.
    pub(super) onset: usize,
    /// The length of a copy in calls or turns, if the copies are alike.
    pub(super) period: Option<usize>,
    /// The last turn of the host before the loop. After the loop, the host continues with the next turn.
    pub(super) at: usize,
}

/// Draws the loop after some turn of the host.
pub(super) fn plant_loop(
    asked: &DrawSpec<'_>,
    host: &HostRun,
    looped: RunLoopKind,
    rng: &mut Rng,
) -> Result<PlantedRun, NoDraw> {
    let copies = match looped {
        RunLoopKind::Of(kind) => of_kind(asked, host, kind, rng)?,
        _ => agent_loops::copies(asked, host, looped, rng)?,
    };
    let in_turns = looped.is_in_turns();
    let channel = if in_turns {
        Channel::Turns
    } else {
        Channel::Tools
    };
    let mut turns = copies.kept;
    turns.extend(copies.turns);
    let end = if in_turns {
        turns.len()
    } else {
        turns.iter().map(HostTurn::calls).sum()
    };
    let after = rest(host, copies.at, asked.item.repeats.after.draw(rng))?;
    let goes_on = !after.is_empty();
    turns.extend(after);
    let label = PlantedLabel {
        class: asked.item.repeats.class.name(),
        kind: looped.kind().name(),
        channel: channel.name().to_owned(),
        start: Some(copies.start),
        onset: Some(copies.onset),
        end: goes_on.then_some(end),
        period: copies.period,
        by: "planted",
        ..PlantedLabel::default()
    };
    Ok(PlantedRun {
        turns,
        labels: vec![label],
        is_cut: !goes_on,
    })
}

/// Draws a loop of a kind that has its own label.
fn of_kind(
    asked: &DrawSpec<'_>,
    host: &HostRun,
    kind: Kind,
    rng: &mut Rng,
) -> Result<PlantedLoop, NoDraw> {
    let in_turns = matches!(kind, Kind::Monologue | Kind::Handoff);
    let place = |at: usize, places: &[usize]| match kind {
        Kind::Monologue => at + 2,
        Kind::Handoff => at + 3,
        _ => places[at + 1],
    };
    let fits: fn(&HostTurn) -> bool = if in_turns {
        |_| true
    } else {
        |turn| turn.pair().is_some()
    };
    let at = behind(asked, host, (place, fits), rng)?;
    match kind {
        Kind::Monologue | Kind::Handoff => repeat_turns(asked, host, kind, at, rng),
        Kind::Interleaved => interleave(asked, host, at, rng),
        Kind::AperiodicStagnation => repeat_aperiodically(asked, host, at, rng),
        Kind::ErrorRetry => other_words(asked, host, at, rng),
        _ => repeat_exactly(asked, host, kind, at, rng),
    }
}

/// Draws a turn after which the second copy can begin. `place` returns the position of the second copy, given the
/// turn and the number of calls before each turn. No user may speak at the end of the turn, and the turn must fit.
pub(super) fn behind(
    asked: &DrawSpec<'_>,
    host: &HostRun,
    (place, fits): (impl Fn(usize, &[usize]) -> usize, fn(&HostTurn) -> bool),
    rng: &mut Rng,
) -> Result<usize, NoDraw> {
    let places = host.places();
    let may = |at: &usize| {
        let turn = &host.turns[*at];
        let spoken = turn
            .events
            .iter()
            .any(|event| matches!(event.body, Body::User(_)));
        asked.onset.holds(place(*at, &places)) && !spoken && fits(turn) && turn.benign.is_none()
    };
    let turns: Vec<usize> = (0..host.turns.len()).filter(may).collect();
    rng.pick(&turns)
        .copied()
        .ok_or("no turn of a run at the wanted onset that can be repeated")
}

/// Returns the last `count` turns up to `at`. Each must have one call with a result, and the calls must all differ
/// and occur once in the run.
pub(super) fn unit(host: &HostRun, at: usize, count: usize) -> Result<&[HostTurn], NoDraw> {
    let from = (at + 1)
        .checked_sub(count)
        .ok_or("a cycle longer than what stands before it")?;
    let unit = &host.turns[from..=at];
    let fresh = |turn: &HostTurn| {
        turn.pair().is_some_and(|pair| host.count_turns(pair) == 1) && turn.benign.is_none()
    };
    let calls = unit.iter().filter_map(HostTurn::pair);
    let calls: HashSet<_> = calls.map(|pair| (pair.0, pair.1)).collect();
    if unit.iter().all(fresh) && calls.len() == count {
        Ok(unit)
    } else {
        Err("no calls in a row that were made once")
    }
}

/// Repeats the same calls with the same results.
fn repeat_exactly(
    asked: &DrawSpec<'_>,
    host: &HostRun,
    kind: Kind,
    at: usize,
    rng: &mut Rng,
) -> Result<PlantedLoop, NoDraw> {
    let period = match kind {
        Kind::Cycle => asked.item.repeats.period.draw(rng),
        _ => 1,
    };
    let unit = unit(host, at, period)?;
    let mut kept = host.turns[..=at].to_vec();
    let copies = asked.item.repeats.copies.draw(rng);
    let turns = match kind {
        Kind::IdenticalCall => {
            let mut answers = variants(unit[0].pair().map_or("", |pair| pair.2), copies, rng);
            let error = unit[0].pair().and_then(|pair| pair.3);
            kept[at] = kept[at].with_result(&answers.remove(0), error);
            answers
                .iter()
                .map(|answer| unit[0].with_result(answer, error))
                .collect()
        }
        _ => (1..copies).flat_map(|_| unit.to_vec()).collect(),
    };
    Ok(PlantedLoop {
        kept,
        turns,
        start: host.places()[at + 1 - period],
        onset: host.places()[at + 1],
        period: Some(period),
        at,
    })
}

/// Returns `copies` answers that differ only in the order of lines or in a time of day at the end. No two in a row
/// are equal.
fn variants(content: &str, copies: usize, rng: &mut Rng) -> Vec<String> {
    let mut lines: Vec<&str> = content.lines().collect();
    let mut seconds = rng.between(28_000, 70_000);
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
            seconds += rng.between(2, 60);
            let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
            *answer = format!("{content}\n[{hours:02}:{minutes:02}:{:02}]", seconds % 60);
        }
    }
    answers
}

/// Repeats a few calls in random order.
fn interleave(
    asked: &DrawSpec<'_>,
    host: &HostRun,
    at: usize,
    rng: &mut Rng,
) -> Result<PlantedLoop, NoDraw> {
    let count = asked.item.repeats.period.draw(rng);
    let wanted = (asked.item.repeats.copies.draw(rng) - 1) * count;
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
    in_order(host, at, count, &drawn)
}

/// Repeats each of many calls once or twice, in a different order. Most calls are different, and none is new.
fn repeat_aperiodically(
    asked: &DrawSpec<'_>,
    host: &HostRun,
    at: usize,
    rng: &mut Rng,
) -> Result<PlantedLoop, NoDraw> {
    let count = asked.item.repeats.period.draw(rng);
    let mut drawn = Vec::new();
    for _ in 0..2 {
        let mut round: Vec<usize> = (0..count).collect();
        rng.shuffle(&mut round);
        drawn.extend(round);
    }
    drawn.truncate(rng.between(count, 2 * count - 1));
    in_order(host, at, count, &drawn)
}

/// Repeats the last `count` turns in the given order, which must not be a cycle.
fn in_order(
    host: &HostRun,
    at: usize,
    count: usize,
    order: &[usize],
) -> Result<PlantedLoop, NoDraw> {
    let unit = unit(host, at, count)?;
    let whole: Vec<usize> = (0..count).chain(order.iter().copied()).collect();
    let periodic = |k: usize| whole.iter().zip(whole.iter().skip(k)).all(|(a, b)| a == b);
    if (1..=whole.len() / 2).any(periodic) {
        return Err("an order that is a cycle");
    }
    Ok(PlantedLoop {
        kept: host.turns[..=at].to_vec(),
        turns: order.iter().map(|one| unit[*one].clone()).collect(),
        start: host.places()[at + 1 - count],
        onset: host.places()[at + 1],
        period: None,
        at,
    })
}

/// Repeats a call in other words, with the same error each time.
fn other_words(
    asked: &DrawSpec<'_>,
    host: &HostRun,
    at: usize,
    rng: &mut Rng,
) -> Result<PlantedLoop, NoDraw> {
    let turn = &unit(host, at, 1)?[0];
    let (_, arguments, ..) = turn.pair().ok_or("no result")?;
    let count = asked.item.repeats.copies.draw(rng) - 1;
    let others = reword(arguments, count, rng).ok_or("arguments without a text")?;
    let text = asked.text(rng)?;
    let mut kept = host.turns[..=at].to_vec();
    kept[at] = turn.with_result(text, Some(true));
    Ok(PlantedLoop {
        turns: others.iter().map(|other| kept[at].asking(other)).collect(),
        kept,
        start: host.places()[at],
        onset: host.places()[at + 1],
        period: None,
        at,
    })
}

/// Repeats turns that hold only text, or that hand the work over and back.
fn repeat_turns(
    asked: &DrawSpec<'_>,
    host: &HostRun,
    kind: Kind,
    at: usize,
    rng: &mut Rng,
) -> Result<PlantedLoop, NoDraw> {
    const AGENTS: [&str; 2] = ["planner", "worker"];
    let text = asked.text(rng)?;
    let copies = asked.item.repeats.copies.draw(rng);
    let (period, count) = match kind {
        Kind::Handoff => (2, 2 * copies),
        _ => (1, copies),
    };
    let one = |number: usize| {
        let mut turn = HostTurn::new();
        turn.events
            .push(RecordedEvent::new(Body::Answer(text.to_owned())));
        if kind == Kind::Handoff {
            let (from, to) = (AGENTS[number % 2], AGENTS[(number + 1) % 2]);
            turn.events[0].rest.insert("agent".into(), from.into());
            let (from, to) = (from.to_owned(), to.to_owned());
            turn.events
                .push(RecordedEvent::new(Body::Handoff { from, to }));
        }
        turn
    };
    Ok(PlantedLoop {
        kept: host.turns[..=at].to_vec(),
        turns: (0..count).map(one).collect(),
        start: at + 1,
        onset: at + 1 + period,
        period: Some(period),
        at,
    })
}

/// Returns the turns of the host after turn `at`, until they have `calls` calls.
fn rest(host: &HostRun, at: usize, calls: usize) -> Result<Vec<HostTurn>, NoDraw> {
    let (mut turns, mut made) = (Vec::new(), 0);
    for turn in &host.turns[at + 1..] {
        if made >= calls {
            break;
        }
        made += turn.calls();
        turns.push(turn.clone());
    }
    if made < calls {
        return Err("too little of a run after the loop");
    }
    Ok(turns)
}
