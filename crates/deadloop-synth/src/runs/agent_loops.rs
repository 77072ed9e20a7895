//! Loops reported for recent agents, whose copies differ without progress.

use serde_json::{Value as Json, json};

use super::host::{HostTurn, call_turn};
use super::loops::{InsertedLoop, choose_call_turn, choose_turn, last_fresh_turns};
use super::rewording::repeat_text;
use super::{DrawInput, LoopDraw};
use crate::planted_loops::Rng;
use deadloop_corpus::transcript::fingerprint::system_event;
use deadloop_corpus::{Body, RecordedEvent};

/// Draws a line of random words.
fn draw_random_line(words: usize, rng: &mut Rng) -> String {
    const WORDS: [&str; 24] = [
        "account", "branch", "careful", "column", "delivery", "evening", "garden", "harbour",
        "index", "kitchen", "lantern", "letter", "market", "meadow", "number", "office", "quiet",
        "record", "season", "signal", "station", "summer", "valley", "window",
    ];
    let drawn = (0..words).filter_map(|_| rng.choose(&WORDS).copied());
    drawn.collect::<Vec<_>>().join(" ")
}

/// Inserts writes of different documents, each rejected with the same error.
pub(crate) fn insert_rejected_writes(input: &DrawInput<'_>, rng: &mut Rng) -> LoopDraw {
    let place = |at: usize, places: &[usize]| places[at + 1] + 1;
    let at = choose_turn(input, (place, |_| true), rng)?;
    let text = input.draw_text(rng)?.to_owned();
    let count = input.item.repeats.copies.draw(rng);
    let one = |_| {
        let (title, note) = (rng.uniform(2, 4), rng.uniform(8, 20));
        let body =
            json!({"title": draw_random_line(title, rng), "text": draw_random_line(note, rng)});
        let arguments = json!({"method": "POST", "path": "/v1/documents", "body": body});
        call_turn("http_request", arguments, &text, true)
    };
    Ok(InsertedLoop {
        onset: input.host.call_offsets()[at + 1] + 1,
        ..InsertedLoop::of_calls(input.host, at, 0, (0..count).map(one).collect())
    })
}

/// Inserts reads of a file in overlapping windows, where each round starts some lines later.
///
/// No two calls are equal, but from the second round on every line was read before.
pub(crate) fn insert_overlapping_windows(input: &DrawInput<'_>, rng: &mut Rng) -> LoopDraw {
    let calls_per_round = input.item.repeats.period.draw(rng);
    let rounds = input.item.repeats.copies.draw(rng);
    let place = |at: usize, places: &[usize]| places[at + 1] + calls_per_round;
    let at = choose_turn(input, (place, |_| true), rng)?;
    let step = rng.uniform(2 * rounds, 2 * rounds + 20);
    let later = rng.uniform(1, (step - 1) / rounds);
    let length = step * calls_per_round - later;
    let limit = step + rng.uniform(1, step / 2);
    let numbered = |number| format!("{number}: {}.", draw_random_line(8, rng));
    let lines: Vec<String> = (1..=length).map(numbered).collect();
    let one = |number: usize| {
        let offset = number * step % length;
        let window = &lines[offset..length.min(offset + limit)];
        let arguments = json!({"path": "docs/handbook.md", "offset": offset + 1, "limit": limit});
        call_turn("read_file", arguments, &window.join("\n"), false)
    };
    let turns = (0..calls_per_round * rounds).map(one).collect();
    Ok(InsertedLoop {
        onset: input.host.call_offsets()[at + 1] + calls_per_round,
        ..InsertedLoop::of_calls(input.host, at, 0, turns)
    })
}

/// The minimum number of chars of a result that carries information.
const MIN_INFORMATIVE_CHARS: usize = 30;

/// Inserts a growing command, which each call repeats once more than the previous call.
pub(crate) fn insert_growing_command(input: &DrawInput<'_>, rng: &mut Rng) -> LoopDraw {
    let at = choose_call_turn(input, rng)?;
    let turn = &last_fresh_turns(input.host, at, 1)?[0];
    let (_, arguments, result, _) = turn.exchange().ok_or("no result")?;
    if result.chars().count() < MIN_INFORMATIVE_CHARS {
        return Err("a result that says nothing");
    }
    let between = rng.choose(&[" && ", "; ", "\n"]).ok_or("no signs")?;
    let count = input.item.repeats.copies.draw(rng);
    let all = (2..=count).map(|times| repeat_text(arguments, times, between));
    let all: Option<Vec<Json>> = all.collect();
    let all = all.ok_or("arguments without a text")?;
    let turns = all.iter();
    let turns = turns.map(|other| turn.clone().without_text().with_arguments(other));
    Ok(InsertedLoop::of_calls(input.host, at, 1, turns.collect()))
}

/// Inserts rounds of the last calls, with the plan before each round and a compaction after it.
pub(crate) fn insert_replans(input: &DrawInput<'_>, rng: &mut Rng) -> LoopDraw {
    let at = choose_call_turn(input, rng)?;
    let period = input.item.repeats.period.draw(rng);
    let plan = input.draw_text(rng)?;
    let mut round = last_fresh_turns(input.host, at, period)?.to_vec();
    if let [first, others @ ..] = &mut round[..] {
        *first = first.clone().with_text(plan);
        for other in others {
            *other = other.clone().without_text();
        }
    }
    let summary = format!("Summary of what came before. {plan}");
    let mut compaction = system_event(&summary);
    let meta = json!({"compaction": true});
    compaction.rest.insert("meta".to_owned(), meta);
    if let Some(last) = round.last_mut() {
        last.events.push(compaction);
    }
    let mut kept = input.host.turns[..=at].to_vec();
    kept[at + 1 - period..].clone_from_slice(&round);
    let copies = input.item.repeats.copies.draw(rng);
    let turns = (1..copies).flat_map(|_| round.clone()).collect();
    Ok(InsertedLoop {
        kept,
        period: Some(period),
        ..InsertedLoop::of_calls(input.host, at, period, turns)
    })
}

/// Inserts the same answer to different questions.
pub(crate) fn insert_same_answers(input: &DrawInput<'_>, rng: &mut Rng) -> LoopDraw {
    const QUESTIONS: [&str; 10] = [
        "And what about the second order?",
        "Hello, I am the next in the queue: is the shop in Arlen open today?",
        "Please write to my colleague too.",
        "What does the express delivery cost?",
        "I did not ask for that. Which colours are left?",
        "Can you look at the other file as well?",
        "When does the last train leave?",
        "My account is locked, what can I do?",
        "Please translate the second paragraph.",
        "How many of them are there in all?",
    ];
    let at = choose_turn(input, (|at, _: &[usize]| at + 2, |_| true), rng)?;
    let text = input.draw_text(rng)?;
    let mut questions = QUESTIONS.to_vec();
    rng.shuffle(&mut questions);
    let count = input.item.repeats.copies.draw(rng);
    let question = |number: usize| {
        let one = questions[number % questions.len()];
        match number / questions.len() {
            0 => one.to_owned(),
            again => format!("{one} ({})", again + 1),
        }
    };
    let mut kept = input.host.turns[..=at].to_vec();
    let user = |number: usize| RecordedEvent::new(Body::User(question(number)));
    kept[at].events.push(user(0));
    let one = |number: usize| {
        let mut turn = HostTurn::new().with_text(text);
        if number < count {
            turn.events.push(user(number));
        }
        turn
    };
    Ok(InsertedLoop {
        kept,
        ..InsertedLoop::of_turns(input.host, at, 1, (1..=count).map(one).collect())
    })
}

/// Inserts turns of the host with the same text before each call.
pub(crate) fn insert_narration(input: &DrawInput<'_>, rng: &mut Rng) -> LoopDraw {
    let at = choose_turn(input, (|at, _: &[usize]| at + 2, |_| true), rng)?;
    let text = input.draw_text(rng)?;
    let count = input.item.repeats.copies.draw(rng);
    let works = |turn: &&HostTurn| turn.exchange().is_some();
    let own = input.host.turns[at + 1..].iter().take(count);
    let own = own.take_while(works);
    let said = |(number, turn): (usize, &HostTurn)| {
        let text = text.replace("{}", &(number + 1).to_string());
        turn.clone().with_text(&text)
    };
    let turns: Vec<HostTurn> = own.enumerate().map(said).collect();
    if turns.len() < count {
        return Err("too few calls behind a turn of the run");
    }
    Ok(InsertedLoop {
        at: at + count,
        ..InsertedLoop::of_turns(input.host, at, 1, turns)
    })
}
