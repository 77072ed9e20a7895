//! Reported loops of recent agents, whose copies differ without progress.

use serde_json::{Value as Json, json};

use super::host::{HostTurn, one_call};
use super::loops::{PlantedLoop, draw_call_place, draw_place, last_turns};
use super::rewording::grow;
use super::{Draw, DrawSpec};
use crate::planted_loops::Rng;
use deadloop_corpus::transcript::fingerprint::system_event;
use deadloop_corpus::{Body, RecordedEvent};

/// Draws a line of words that differs from any other.
fn draw_line(words: usize, rng: &mut Rng) -> String {
    const WORDS: [&str; 24] = [
        "account", "branch", "careful", "column", "delivery", "evening", "garden", "harbour",
        "index", "kitchen", "lantern", "letter", "market", "meadow", "number", "office", "quiet",
        "record", "season", "signal", "station", "summer", "valley", "window",
    ];
    let drawn = (0..words).filter_map(|_| rng.pick(&WORDS).copied());
    drawn.collect::<Vec<_>>().join(" ")
}

/// Draws a series of documents, each rejected with the same error.
pub(crate) fn plant_rejected_writes(spec: &DrawSpec<'_>, rng: &mut Rng) -> Draw<PlantedLoop> {
    let place = |at: usize, places: &[usize]| places[at + 1] + 1;
    let at = draw_place(spec, (place, |_| true), rng)?;
    let text = spec.draw_text(rng)?.to_owned();
    let count = spec.item.repeats.copies.draw(rng);
    let one = |_| {
        let (title, note) = (rng.between(2, 4), rng.between(8, 20));
        let body = json!({"title": draw_line(title, rng), "text": draw_line(note, rng)});
        let arguments = json!({"method": "POST", "path": "/v1/documents", "body": body});
        one_call("http_request", arguments, &text, true)
    };
    Ok(PlantedLoop {
        onset: spec.host.places()[at + 1] + 1,
        ..PlantedLoop::of_calls(spec.host, at, 0, (0..count).map(one).collect())
    })
}

/// Draws reads of a file in overlapping windows. Each round starts some lines later than the one before. So no two
/// calls are equal, but from the second round on every line was read before.
pub(crate) fn plant_overlapping_windows(spec: &DrawSpec<'_>, rng: &mut Rng) -> Draw<PlantedLoop> {
    let a_round = spec.item.repeats.period.draw(rng);
    let rounds = spec.item.repeats.copies.draw(rng);
    let place = |at: usize, places: &[usize]| places[at + 1] + a_round;
    let at = draw_place(spec, (place, |_| true), rng)?;
    let step = rng.between(2 * rounds, 2 * rounds + 20);
    let later = rng.between(1, (step - 1) / rounds);
    let length = step * a_round - later;
    let limit = step + rng.between(1, step / 2);
    let numbered = |number| format!("{number}: {}.", draw_line(8, rng));
    let lines: Vec<String> = (1..=length).map(numbered).collect();
    let one = |number: usize| {
        let offset = number * step % length;
        let window = &lines[offset..length.min(offset + limit)];
        let arguments = json!({"path": "docs/handbook.md", "offset": offset + 1, "limit": limit});
        one_call("read_file", arguments, &window.join("\n"), false)
    };
    let turns = (0..a_round * rounds).map(one).collect();
    Ok(PlantedLoop {
        onset: spec.host.places()[at + 1] + a_round,
        ..PlantedLoop::of_calls(spec.host, at, 0, turns)
    })
}

/// The minimum number of chars of a result that surely carries information.
const MIN_INFORMATIVE_CHARS: usize = 30;

/// Draws a growing command: each call holds one more copy of the command.
pub(crate) fn plant_growing_command(spec: &DrawSpec<'_>, rng: &mut Rng) -> Draw<PlantedLoop> {
    let at = draw_call_place(spec, rng)?;
    let turn = &last_turns(spec.host, at, 1)?[0];
    let (_, arguments, result, _) = turn.pair().ok_or("no result")?;
    if result.chars().count() < MIN_INFORMATIVE_CHARS {
        return Err("a result that says nothing");
    }
    let between = rng.pick(&[" && ", "; ", "\n"]).ok_or("no signs")?;
    let count = spec.item.repeats.copies.draw(rng);
    let all = (2..=count).map(|times| grow(arguments, times, between));
    let all: Option<Vec<Json>> = all.collect();
    let all = all.ok_or("arguments without a text")?;
    let turns = all.iter();
    let turns = turns.map(|other| turn.clone().without_text().with_arguments(other));
    Ok(PlantedLoop::of_calls(spec.host, at, 1, turns.collect()))
}

/// Draws rounds of the last calls, with the plan before each round and a compaction after it.
pub(crate) fn plant_replans(spec: &DrawSpec<'_>, rng: &mut Rng) -> Draw<PlantedLoop> {
    let at = draw_call_place(spec, rng)?;
    let period = spec.item.repeats.period.draw(rng);
    let plan = spec.draw_text(rng)?;
    let mut round = last_turns(spec.host, at, period)?.to_vec();
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
    let mut kept = spec.host.turns[..=at].to_vec();
    kept[at + 1 - period..].clone_from_slice(&round);
    let copies = spec.item.repeats.copies.draw(rng);
    let turns = (1..copies).flat_map(|_| round.clone()).collect();
    Ok(PlantedLoop {
        kept,
        period: Some(period),
        ..PlantedLoop::of_calls(spec.host, at, period, turns)
    })
}

/// Draws the same answer to several users.
pub(crate) fn plant_same_answers(spec: &DrawSpec<'_>, rng: &mut Rng) -> Draw<PlantedLoop> {
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
    let at = draw_place(spec, (|at, _: &[usize]| at + 2, |_| true), rng)?;
    let text = spec.draw_text(rng)?;
    let mut questions = QUESTIONS.to_vec();
    rng.shuffle(&mut questions);
    let count = spec.item.repeats.copies.draw(rng);
    let question = |number: usize| {
        let one = questions[number % questions.len()];
        match number / questions.len() {
            0 => one.to_owned(),
            again => format!("{one} ({})", again + 1),
        }
    };
    let mut kept = spec.host.turns[..=at].to_vec();
    let user = |number: usize| RecordedEvent::new(Body::User(question(number)));
    kept[at].events.push(user(0));
    let one = |number: usize| {
        let mut turn = HostTurn::new().with_text(text);
        if number < count {
            turn.events.push(user(number));
        }
        turn
    };
    Ok(PlantedLoop {
        kept,
        ..PlantedLoop::of_turns(spec.host, at, 1, (1..=count).map(one).collect())
    })
}

/// Draws turns of the host, with the same text before each call.
pub(crate) fn plant_narration(spec: &DrawSpec<'_>, rng: &mut Rng) -> Draw<PlantedLoop> {
    let at = draw_place(spec, (|at, _: &[usize]| at + 2, |_| true), rng)?;
    let text = spec.draw_text(rng)?;
    let count = spec.item.repeats.copies.draw(rng);
    let works = |turn: &&HostTurn| turn.pair().is_some();
    let own = spec.host.turns[at + 1..].iter().take(count);
    let own = own.take_while(works);
    let said = |(number, turn): (usize, &HostTurn)| {
        let text = text.replace("{}", &(number + 1).to_string());
        turn.clone().with_text(&text)
    };
    let turns: Vec<HostTurn> = own.enumerate().map(said).collect();
    if turns.len() < count {
        return Err("too few calls behind a turn of the run");
    }
    Ok(PlantedLoop {
        at: at + count,
        ..PlantedLoop::of_turns(spec.host, at, 1, turns)
    })
}
