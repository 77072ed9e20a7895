//! Reported loops of recent agents, whose copies differ without progress.

use serde_json::{Value as Json, json};

use super::host::{HostTurn, one_call};
use super::loops::{PlantedLoop, behind, behind_call, unit};
use super::rewording::grow;
use super::{Draw, DrawSpec};
use crate::planted_loops::Rng;
use deadloop_corpus::transcript::fingerprint::system_event;
use deadloop_corpus::{Body, RecordedEvent};

/// Draws a line of words that differs from any other.
fn line(words: usize, rng: &mut Rng) -> String {
    const WORDS: [&str; 24] = [
        "account", "branch", "careful", "column", "delivery", "evening", "garden", "harbour",
        "index", "kitchen", "lantern", "letter", "market", "meadow", "number", "office", "quiet",
        "record", "season", "signal", "station", "summer", "valley", "window",
    ];
    let drawn = (0..words).filter_map(|_| rng.pick(&WORDS).copied());
    drawn.collect::<Vec<_>>().join(" ")
}

/// Draws a series of documents, each rejected with the same error.
pub(crate) fn writes(asked: &DrawSpec<'_>, rng: &mut Rng) -> Draw<PlantedLoop> {
    let place = |at: usize, places: &[usize]| places[at + 1] + 1;
    let at = behind(asked, (place, |_| true), rng)?;
    let text = asked.text(rng)?.to_owned();
    let count = asked.item.repeats.copies.draw(rng);
    let one = |_| {
        let (title, note) = (rng.between(2, 4), rng.between(8, 20));
        let body = json!({"title": line(title, rng), "text": line(note, rng)});
        let arguments = json!({"method": "POST", "path": "/v1/documents", "body": body});
        one_call("http_request", arguments, &text, true)
    };
    Ok(PlantedLoop {
        onset: asked.host.places()[at + 1] + 1,
        ..PlantedLoop::of_calls(asked.host, at, 0, (0..count).map(one).collect())
    })
}

/// Draws reads of a file in overlapping windows. Each round starts some lines later than the one before. So no two
/// calls are equal, but from the second round on every line was read before.
pub(crate) fn windows(asked: &DrawSpec<'_>, rng: &mut Rng) -> Draw<PlantedLoop> {
    let a_round = asked.item.repeats.period.draw(rng);
    let rounds = asked.item.repeats.copies.draw(rng);
    let place = |at: usize, places: &[usize]| places[at + 1] + a_round;
    let at = behind(asked, (place, |_| true), rng)?;
    let step = rng.between(2 * rounds, 2 * rounds + 20);
    let later = rng.between(1, (step - 1) / rounds);
    let length = step * a_round - later;
    let limit = step + rng.between(1, step / 2);
    let lines: Vec<String> = (1..=length)
        .map(|number| format!("{number}: {}.", line(8, rng)))
        .collect();
    let one = |number: usize| {
        let offset = number * step % length;
        let window = &lines[offset..length.min(offset + limit)];
        let arguments = json!({"path": "docs/handbook.md", "offset": offset + 1, "limit": limit});
        one_call("read_file", arguments, &window.join("\n"), false)
    };
    let turns = (0..a_round * rounds).map(one).collect();
    Ok(PlantedLoop {
        onset: asked.host.places()[at + 1] + a_round,
        ..PlantedLoop::of_calls(asked.host, at, 0, turns)
    })
}

/// The number of chars from which a result surely carries information.
const TELLING: usize = 30;

/// Draws a growing command: each call holds one more copy of the command.
pub(crate) fn growing(asked: &DrawSpec<'_>, rng: &mut Rng) -> Draw<PlantedLoop> {
    let at = behind_call(asked, rng)?;
    let turn = &unit(asked.host, at, 1)?[0];
    let (_, arguments, result, _) = turn.pair().ok_or("no result")?;
    if result.chars().count() < TELLING {
        return Err("a result that says nothing");
    }
    let between = rng.pick(&[" && ", "; ", "\n"]).ok_or("no signs")?;
    let count = asked.item.repeats.copies.draw(rng);
    let all = (2..=count).map(|times| grow(arguments, times, between));
    let all: Option<Vec<Json>> = all.collect();
    let all = all.ok_or("arguments without a text")?;
    let turns = all.iter();
    let turns = turns.map(|other| turn.clone().silent().asking(other));
    Ok(PlantedLoop::of_calls(asked.host, at, 1, turns.collect()))
}

/// Draws rounds of the last calls, with the plan before each round and a compaction after it.
pub(crate) fn replanned(asked: &DrawSpec<'_>, rng: &mut Rng) -> Draw<PlantedLoop> {
    let at = behind_call(asked, rng)?;
    let period = asked.item.repeats.period.draw(rng);
    let plan = asked.text(rng)?;
    let mut round = unit(asked.host, at, period)?.to_vec();
    if let [first, others @ ..] = &mut round[..] {
        *first = first.clone().with_text(plan);
        for other in others {
            *other = other.clone().silent();
        }
    }
    let summary = format!("Summary of what came before. {plan}");
    let mut compaction = system_event(&summary);
    compaction
        .rest
        .insert("meta".to_owned(), json!({"compaction": true}));
    if let Some(last) = round.last_mut() {
        last.events.push(compaction);
    }
    let mut kept = asked.host.turns[..=at].to_vec();
    kept[at + 1 - period..].clone_from_slice(&round);
    let copies = asked.item.repeats.copies.draw(rng);
    let turns = (1..copies).flat_map(|_| round.clone()).collect();
    Ok(PlantedLoop {
        kept,
        period: Some(period),
        ..PlantedLoop::of_calls(asked.host, at, period, turns)
    })
}

/// Draws the same answer to several users.
pub(crate) fn answered(asked: &DrawSpec<'_>, rng: &mut Rng) -> Draw<PlantedLoop> {
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
    let at = behind(asked, (|at, _: &[usize]| at + 2, |_| true), rng)?;
    let text = asked.text(rng)?;
    let mut questions = QUESTIONS.to_vec();
    rng.shuffle(&mut questions);
    let count = asked.item.repeats.copies.draw(rng);
    let question = |number: usize| {
        let one = questions[number % questions.len()];
        match number / questions.len() {
            0 => one.to_owned(),
            again => format!("{one} ({})", again + 1),
        }
    };
    let mut kept = asked.host.turns[..=at].to_vec();
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
        ..PlantedLoop::of_turns(asked.host, at, 1, (1..=count).map(one).collect())
    })
}

/// Draws turns of the host, with the same text before each call.
pub(crate) fn narrated(asked: &DrawSpec<'_>, rng: &mut Rng) -> Draw<PlantedLoop> {
    let at = behind(asked, (|at, _: &[usize]| at + 2, |_| true), rng)?;
    let text = asked.text(rng)?;
    let count = asked.item.repeats.copies.draw(rng);
    let works = |turn: &&HostTurn| turn.pair().is_some();
    let own = asked.host.turns[at + 1..]
        .iter()
        .take(count)
        .take_while(works);
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
        ..PlantedLoop::of_turns(asked.host, at, 1, turns)
    })
}
