//! `malformed`: unclosed, misspelt or misplaced tags, control text, and arguments that are not JSON.
//!
//! A meter keeps at most sixteen open tags, and at most 64 chars of the tag that it reads.

use super::entry::detector;
use super::{Measurement, Refusal};
use crate::measure::fact::{Bound, Bounds, Clock, Fact, UNIT_CHARS};
use crate::measure::meter::{PER, Recipe, TextMeter};
use crate::settings::param::Param;
use crate::settings::params::Params;
use crate::stream::Fault;
use crate::stream::{Chars, Kind};
use crate::text::json_prefix::JsonPrefix;

mod names;

use names::{KnownNames, NameSpelling};

detector! {
    ENTRY = "malformed", version 1,
    "broken tags and arguments: and control text",
    params: &PARAMS,
    check: check,
    measure: Measurement::Text(recipe),
    faults: &[
        Fault::Unclosed,
        Fault::EarlyClose,
        Fault::Nested,
        Fault::Crossed,
        Fault::Case,
        Fault::Misspelt,
        Fault::NumberMismatch,
        Fault::LeakedControl,
        Fault::BrokenJson,
    ],
}

static PARAMS: [Param; 5] = [
    Param::texts("tags", &[
            "create_note",
            "save_material",
            "call_orchestrator",
            "web_search",
            "confirm",
            "id",
            "content",
        ]).doc("the names of tags, without a number behind them; others are text"),
    Param::words("look", &["tags", "names", "control"], &["tags", "names", "control", "json"])
        .doc("what is looked for: tags without a partner, misspelt names, control text, text that is no JSON (for the channel arguments)"),
    Param::count("max_open", 2000, 1..=10_000_000)
        .at_most()
        .unit("chars")
        .doc("a tag that is still open after this many chars counts as not closed"),
    Param::count("edits", 2, 0..=2)
        .at_least()
        .unit("edits")
        .doc("a name within this many edits of a known one is misspelt; 0: only if its case differs"),
    PER,
];

fn check(params: &Params) -> Result<(), Refusal> {
    let refuse = |param, reason: &str| {
        Err(Refusal {
            param,
            reason: reason.into(),
        })
    };
    if params.items("look").is_empty() {
        return refuse("look", "nothing: it would never fire");
    }
    let odd = |name: &str| name.is_empty() || !name.chars().all(is_letter) || name.len() > MAX_TAG;
    if params
        .items("tags")
        .iter()
        .filter_map(|item| item.as_text())
        .any(odd)
    {
        return refuse(
            "tags",
            "a name that is none; expected letters, digits and _, 60 at most",
        );
    }
    Ok(())
}

fn is_letter(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// The maximum length of a name and of the text of a tag, in chars.
const MAX_TAG: usize = 60;
/// The maximum number of open tags that are tracked.
const MAX_OPEN_TAGS: usize = 16;

fn recipe(params: &Params) -> Recipe {
    let items = params
        .items("tags")
        .iter()
        .filter_map(|item| item.as_text());
    let names = KnownNames::new(items.map(str::to_owned).collect());
    let looks = |word: &str| {
        params
            .items("look")
            .iter()
            .any(|item| item.as_text() == Some(word))
    };
    let checks = EnabledChecks {
        tags: looks("tags"),
        names: looks("names"),
        control: looks("control"),
        json: looks("json"),
    };
    Recipe::text(params, move || {
        Box::new(MalformedMeter {
            checks,
            names: names.clone(),
            read: 0,
            partial_tag: None,
            open: Vec::new(),
            json: JsonPrefix::default(),
        })
    })
}

/// The enabled checks.
#[derive(Clone, Copy)]
struct EnabledChecks {
    tags: bool,
    names: bool,
    control: bool,
    json: bool,
}

/// An open tag.
struct OpenTag {
    name: usize,
    number: String,
    /// The number of chars read up to the end of the tag.
    at: u64,
}

/// A meter of one text.
struct MalformedMeter {
    checks: EnabledChecks,
    names: KnownNames,
    /// The number of chars read.
    read: u64,
    /// The tag in progress, from its `<` on.
    partial_tag: Option<String>,
    open: Vec<OpenTag>,
    json: JsonPrefix,
}

impl TextMeter for MalformedMeter {
    fn push(&mut self, piece: &str, facts: &mut Vec<Fact>) {
        let mut told = self.read;
        for c in piece.chars() {
            let before = self.read;
            self.read += 1;
            if self.checks.json && self.json.breaks(c) {
                facts.push(self.certain_fact(Fault::BrokenJson, self.read, c.to_string()));
            }
            if self.tag_ends(c) {
                let tag = self.partial_tag.take().unwrap_or_default();
                // The oldest tag may have been open for too long.
                self.report_unclosed(told, before, facts);
                told = before;
                self.tag(&tag, facts);
            }
        }
        self.report_unclosed(told, self.read, facts);
    }
}

impl MalformedMeter {
    /// Reads a char. Returns whether it ends a tag.
    fn tag_ends(&mut self, c: char) -> bool {
        match (&mut self.partial_tag, c) {
            (partial_tag, '<') => {
                *partial_tag = Some("<".to_owned());
                false
            }
            (Some(partial_tag), '>') => {
                partial_tag.push('>');
                true
            }
            (Some(partial_tag), c) if partial_tag.chars().count() <= MAX_TAG + 2 => {
                partial_tag.push(c);
                false
            }
            (partial_tag, _) => {
                *partial_tag = None;
                false
            }
        }
    }

    /// Reports the stretch from `from` to `to` in which the outermost tag was open.
    fn report_unclosed(&self, from: u64, to: u64, facts: &mut Vec<Fact>) {
        let Some(open) = self.open.first().filter(|_| self.checks.tags) else {
            return;
        };
        let at = from.max(open.at) + 1;
        if at <= to {
            let name = self.names.name(open.name).to_owned();
            let steps = Bound::Steps {
                from: open.at,
                per: 1,
            };
            let mut fact = self.certain_fact(Fault::Unclosed, at, name);
            fact.bounds.add("max_open", steps);
            fact.until = to;
            fact.onset = Chars(open.at).into();
            facts.push(fact);
        }
    }

    /// Reads a complete tag, and reports its faults.
    fn tag(&mut self, tag: &str, facts: &mut Vec<Fact>) {
        let start = self.read.saturating_sub(tag.chars().count() as u64);
        let mut tell = |this: &Self, fault, edits: Option<i64>| {
            let mut fact = this.certain_fact(fault, this.read, tag.to_owned());
            fact.onset = Chars(start).into();
            if let Some(edits) = edits {
                fact.bounds.add("edits", Bound::Fixed(edits));
            }
            facts.push(fact);
        };
        if tag.starts_with("<|") && tag.ends_with("|>") && tag.len() > 4 {
            if self.checks.control {
                tell(self, Fault::LeakedControl, None);
            }
            return;
        }
        let inside = &tag[1..tag.len() - 1];
        let (closing, inside) = match inside.strip_prefix('/') {
            Some(rest) => (true, rest),
            None => (false, inside),
        };
        let name = inside.split_ascii_whitespace().next().unwrap_or("");
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let number = name[stem.len()..].to_owned();
        let Some((spelt, known)) = self.names.find(stem) else {
            return;
        };
        match spelt {
            NameSpelling::Exact => {}
            _ if !self.checks.names => return,
            NameSpelling::Case => tell(self, Fault::Case, Some(0)),
            NameSpelling::Edits(edits) => tell(self, Fault::Misspelt, Some(edits)),
        }
        if !self.checks.tags {
            return;
        }
        if !closing {
            if self.open.len() < MAX_OPEN_TAGS {
                let at = self.read;
                self.open.push(OpenTag {
                    name: known,
                    number,
                    at,
                });
            }
            return;
        }
        match self.open.iter().rposition(|open| open.name == known) {
            None => tell(self, Fault::EarlyClose, None),
            Some(at) => {
                if at + 1 < self.open.len() {
                    tell(self, Fault::Crossed, None);
                } else if self.open[at].number != number {
                    tell(self, Fault::NumberMismatch, None);
                }
                self.open.remove(at);
            }
        }
    }

    /// Returns a fact at `at` that all settings accept.
    fn certain_fact(&self, fault: Fault, at: u64, unit: String) -> Fact {
        Fact {
            at,
            until: at,
            clock: Clock::Chars,
            kind: Kind::Fault(fault),
            bounds: Bounds::default(),
            asked: Vec::new(),
            check: "form",
            onset: Chars(at.saturating_sub(1)).into(),
            period: Chars(0).into(),
            copies: Bound::Fixed(1),
            unit: unit.chars().take(UNIT_CHARS).collect(),
        }
    }
}
