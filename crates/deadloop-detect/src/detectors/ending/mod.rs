//! `ending`: a stream that ends before it is complete.
//!
//! It is the only detector that alarms at the end of a stream. The reader of the stream pushes the end as an event,
//! `Finish` or `Closed`.

use super::Measurement;
use super::entry::detector;
use crate::calls::{CallRepetition, fact};
use crate::measure::fact::{Bounds, Fact};
use crate::measure::meter::{Meter, Recipe};
use crate::settings::param::Param;
use crate::settings::params::Params;
use crate::stream::{Channel, Event, EventPlace, Fault, Kind, TextChannel};
use crate::text::json_prefix::JsonPrefix;

detector! {
    ENTRY = "ending", version 1,
    "the stream is over and lacks its end",
    params: &PARAMS,
    check: |_| Ok(()),
    measure: Measurement::Run(Channel::Answer, recipe),
    faults: &[Fault::Cut, Fault::NoDone, Fault::ErrorEvent, Fault::Stall, Fault::BrokenJson],
}

static PARAMS: [Param; 2] = [
    Param::words("need", &["finish"], &["finish", "done", "json"])
        .doc("what an ended stream has to have: a known finish reason, any end mark, an answer in JSON to its end"),
    Param::texts("reasons", &[
            "stop",
            "length",
            "tool_calls",
            "function_call",
            "end_turn",
            "tool_use",
            "max_tokens",
            "stop_sequence",
            "completed",
            "eos",
            "content_filter",
            "refusal",
            "repetition",
            "pause_turn",
            "max_output_tokens",
            "model_context_window_exceeded",
        ]).doc("finish reasons of streams that are whole"),
];

fn recipe(params: &Params) -> Recipe {
    let words = |name: &str| -> Vec<String> {
        let items = params.items(name).iter().filter_map(|item| item.as_text());
        items.map(str::to_owned).collect()
    };
    let (need, reasons) = (words("need"), words("reasons"));
    Recipe::run(move || {
        Box::new(EndingMeter {
            need: need.clone(),
            reasons: reasons.clone(),
            ..EndingMeter::default()
        })
    })
}

/// A meter of one stream.
#[derive(Default)]
struct EndingMeter {
    need: Vec<String>,
    reasons: Vec<String>,
    /// Whether a known finish reason arrived.
    finished: bool,
    /// Whether an end mark arrived.
    done: bool,
    reported: bool,
    answer: AnswerState,
    last: Option<char>,
}

/// The state of an answer that may be JSON.
#[derive(Default)]
struct AnswerState {
    /// Whether the answer begins like JSON. `None` before its first char.
    begun: Option<bool>,
    /// Whether the text so far cannot become JSON.
    broken: bool,
    json: JsonPrefix,
}

impl AnswerState {
    fn char(&mut self, c: char) {
        if self.begun.is_none() && !c.is_whitespace() {
            self.begun = Some(matches!(c, '{' | '['));
        }
        self.broken |= self.begun == Some(true) && self.json.breaks(c);
    }

    /// Returns the defect of an answer that begins like JSON but is not complete JSON.
    fn json_defect(&self) -> Option<&'static str> {
        match self.begun {
            Some(true) if self.broken => Some("JSON and nothing else"),
            Some(true) if !self.json.is_whole() => Some("JSON to its end"),
            _ => None,
        }
    }
}

impl Meter for EndingMeter {
    fn push(&mut self, event: &Event<'_>, place: EventPlace, facts: &mut Vec<Fact>) {
        match event {
            Event::Text(TextChannel::Answer, text) => {
                text.chars().for_each(|c| self.answer.char(c));
                self.last = text.trim_end().chars().next_back().or(self.last);
                self.begin();
            }
            Event::Text(..) | Event::Call { .. } | Event::Turn { .. } => self.begin(),
            Event::Finish(reason) => self.finish(*reason, place, facts),
            Event::Closed => self.report_close(place, facts),
            _ => {}
        }
    }
}

impl EndingMeter {
    /// Resets the end marks. Output after an end mark needs another end mark.
    fn begin(&mut self) {
        (self.finished, self.done) = (false, false);
    }

    fn needs(&self, what: &str) -> bool {
        self.need.iter().any(|word| word == what)
    }

    fn finish(&mut self, reason: Option<&str>, place: EventPlace, facts: &mut Vec<Fact>) {
        self.done = true;
        self.finished = reason.is_some_and(|r| self.reasons.iter().any(|known| known == r));
        let bad = self.needs("finish") && !self.finished;
        let kind = match reason {
            Some("error") => Fault::ErrorEvent,
            Some("timeout") => Fault::Stall,
            _ => self.kind(),
        };
        let said = || match reason {
            Some(reason) => format!("finish reason {reason}"),
            None => "no finish reason".to_owned(),
        };
        if let Some(what) = self.json().or_else(|| bad.then(said)) {
            self.report((kind, what), place, facts);
        }
    }

    fn report_close(&mut self, place: EventPlace, facts: &mut Vec<Fact>) {
        let missing = [
            (self.needs("finish") && !self.finished).then(|| "no finish reason".to_owned()),
            (self.needs("done") && !self.done).then(|| "no end mark".to_owned()),
            self.json(),
        ];
        if let Some(what) = missing.into_iter().flatten().next() {
            self.report((self.kind(), what), place, facts);
        }
    }

    /// Returns the defect of an answer that has to be JSON, if it has one.
    fn json(&self) -> Option<String> {
        let lacks = self.answer.json_defect().filter(|_| self.needs("json"))?;
        Some(format!("not {lacks}"))
    }

    /// Returns the kind of fault: broken JSON, a missing end mark after a text that looks complete, or a cut.
    fn kind(&self) -> Fault {
        let ends = |c: char| {
            matches!(
                c,
                '.' | '!' | '?' | '。' | '！' | '？' | '}' | ']' | ')' | '`' | '>'
            )
        };
        match self.last {
            _ if self.needs("json") && self.answer.broken => Fault::BrokenJson,
            Some(c) if ends(c) && self.answer.json_defect().is_none() => Fault::NoDone,
            _ => Fault::Cut,
        }
    }

    fn report(&mut self, (kind, what): (Fault, String), place: EventPlace, facts: &mut Vec<Fact>) {
        if std::mem::replace(&mut self.reported, true) {
            return;
        }
        let seen = CallRepetition::single(place.answer, what);
        facts.push(fact(
            place,
            (Kind::Fault(kind), "end"),
            Bounds::default(),
            seen,
        ));
    }
}
