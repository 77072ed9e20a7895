//! `pseudo`: an acknowledgement in place of an answer, or a confirmation in place of content.

use super::entry::detector;
use super::{Measurement, Refusal};
use crate::calls::{CallRepetition, fact, number};
use crate::measure::fact::Fact;
use crate::measure::meter::{Meter, Recipe};
use crate::settings::param::Param;
use crate::settings::params::Params;
use crate::stream::{Channel, Chars, Event, EventPlace, Fault, Kind, TextChannel};
use crate::text::phrases::{PHRASE_LISTS, phrases};

detector! {
    ENTRY = "pseudo", version 1,
    "no answer: an acknowledgement or a confirmation in its place",
    params: &PARAMS,
    check: check,
    measure: Measurement::Run(Channel::Answer, recipe),
    faults: &[Fault::Pseudo, Fault::Confirmation],
}

/// The maximum number of examined chars of an answer.
const MAX_EXAMINED: usize = 4096;

static PARAMS: [Param; 4] = [
    Param::words("lists", &["zh", "en"], PHRASE_LISTS)
        .doc("lists of phrases: acknowledgements in Chinese and English, and confirmations of users (-done)"),
    Param::texts("own", &[]).doc("more phrases"),
    Param::word("anchor", "start", &["start", "whole", "any"])
        .doc("where a phrase must stand: at the start, be the whole answer, anywhere"),
    Param::count("max_chars", 60, 1..=MAX_EXAMINED as i64)
        .at_least()
        .unit("chars")
        .doc("longest answer, blanks around it aside"),
];

fn check(params: &Params) -> Result<(), Refusal> {
    if phrases(params).is_empty() {
        Refusal::err("lists", "no list and no phrase: it would never fire")
    } else {
        Ok(())
    }
}

fn recipe(params: &Params) -> Recipe {
    let folded = |phrases: Vec<String>| -> Vec<String> {
        phrases.iter().map(|p| p.to_ascii_lowercase()).collect()
    };
    let done = {
        let mut only = params.clone();
        let lists = params.items("lists").iter();
        let of_done = |item: &&crate::settings::value::Value| {
            item.as_text().is_some_and(|n| n.ends_with("-done"))
        };
        only.set(
            "lists",
            crate::settings::value::Value::List(lists.filter(of_done).cloned().collect()),
        );
        only.set("own", crate::settings::value::Value::List(Vec::new()));
        folded(phrases(&only))
    };
    let all = folded(phrases(params));
    let anchor = params.text("anchor").to_owned();
    Recipe::run(move || {
        Box::new(PseudoMeter {
            all: all.clone(),
            done: done.clone(),
            anchor: anchor.clone(),
            ..PseudoMeter::default()
        })
    })
}

/// A meter of one stream.
#[derive(Default)]
struct PseudoMeter {
    all: Vec<String>,
    done: Vec<String>,
    anchor: String,
    answer: String,
    chars: usize,
    /// The position of the answer.
    from: Chars,
}

impl Meter for PseudoMeter {
    fn push(&mut self, event: &Event<'_>, place: EventPlace, facts: &mut Vec<Fact>) {
        match event {
            Event::Text(TextChannel::Answer, text) => {
                let room = MAX_EXAMINED.saturating_sub(self.chars.min(MAX_EXAMINED));
                self.answer.extend(text.chars().take(room));
                self.chars += text.chars().count();
            }
            Event::Finish(_) | Event::Closed | Event::Turn { .. } => {
                self.judge_answer(place, facts)
            }
            _ => {}
        }
    }
}

impl PseudoMeter {
    /// Reports a complete answer if it is a pseudo answer.
    fn judge_answer(&mut self, place: EventPlace, facts: &mut Vec<Fact>) {
        let answer = std::mem::take(&mut self.answer);
        let from = std::mem::replace(&mut self.from, place.answer);
        if std::mem::take(&mut self.chars) > MAX_EXAMINED {
            return;
        }
        let text = answer.trim().to_ascii_lowercase();
        let stands = |phrase: &&String| match self.anchor.as_str() {
            "whole" => text == **phrase,
            "any" => text.contains(phrase.as_str()),
            _ => text.starts_with(phrase.as_str()),
        };
        let Some(phrase) = self.all.iter().find(stands) else {
            return;
        };
        let kind = if self.done.contains(phrase) {
            Fault::Confirmation
        } else {
            Fault::Pseudo
        };
        let bounds = [("max_chars", number(text.chars().count() as u64))];
        let seen = CallRepetition::single(from, phrase.clone());
        facts.push(fact(place, (Kind::Fault(kind), "phrase"), bounds, seen));
    }
}
