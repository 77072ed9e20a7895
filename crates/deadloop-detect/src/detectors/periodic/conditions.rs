//! The conditions on a tail: thresholds and rows of rules.
//!
//! They are compiled once and shared.

use std::sync::LazyLock;

use regex::Regex;

use super::counting::counters::Part;
use super::meter::{LETTER, LETTER_OR_EMOJI};
use super::runs::{Run, want::Want};
use super::symbols::{On, Symbols, fold::Fold, places::Origin};
use crate::measure::fact::{Bound, Bounds, StructuralCondition};
use crate::settings::param::Threshold;
use crate::settings::params::Params;
use crate::settings::value::Value;
use crate::stream::Chars;

/// Conditions and symbols shared by the meters of one recipe.
pub(super) struct TailConditions {
    pub(super) want: Want,
    pub(super) symbols: Symbols,
    min_copies: u64,
    min_chars: u64,
    /// `min_chars` for a single character and for units without letters or numbers. 0 if `min_chars` applies.
    min_single: u64,
    /// The pattern that the unit must match.
    pub(super) unit_holds: Option<&'static LazyLock<Regex>>,
    /// The minimum number of characters of a recycled stretch. 0 if recycled elements are not searched.
    pub(super) min_recycled: u64,
    /// `min_copies` inside code fences.
    pub(super) fenced_copies: Option<u64>,
    rows: Vec<Row>,
    /// `min_chars` for tails whose numbers differ and count evenly. 0 if `min_chars` applies.
    min_counters: u64,
    /// `min_chars` for tails whose numbers differ and do not count evenly. 0 if such tails are not tested.
    min_numbers: u64,
    /// The percentage of numbers that must return for `min_numbers`. 0 if returning numbers are not counted.
    pub(super) min_returning: u64,
    /// `min_chars` for units with a number and no letter. 0 if `min_chars` applies.
    pub(super) min_bare: u64,
    /// `min_chars` for units with blanks to fill in. 0 if `min_chars` applies.
    pub(super) min_form: u64,
}

/// The class of a unit's content, for special thresholds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Holds {
    /// A letter, or content without a special threshold.
    Named,
    /// No letter and no number, or a single character: `min_single`.
    Single,
    /// A number or a picture, and no letter: `min_bare`.
    Bare,
    /// Blanks to fill in: `min_form`.
    Form,
}

/// A row of `rules`, with its index.
#[derive(Clone, Copy)]
pub(super) struct Row {
    index: usize,
    max_period: u32,
    min_copies: u64,
    min_chars: u64,
}

impl Ask {
    /// Returns whether this condition is only for units of the class `holds`, either bare units or forms.
    pub(super) fn is_for(self, holds: Holds) -> bool {
        match self {
            Self::Bare => holds == Holds::Bare,
            Self::Form => holds == Holds::Form,
            Self::Counters(own) | Self::Numbers(own) => holds == own,
            _ => false,
        }
    }
}

impl TailConditions {
    pub(super) fn new(params: &Params) -> Self {
        let code = params.get("code");
        let skip = code.and_then(Value::as_text) == Some("skip");
        let fenced_copies = code.and_then(Value::as_int).map(i64::unsigned_abs);
        let fold = match params.text("fold") {
            "lists" => Fold::Lists,
            "digits" => Fold::Digits,
            "markers" => Fold::Markers,
            "numerals" => Fold::Numerals,
            "counters" => Fold::Counters,
            "indent" => Fold::Indent,
            _ => Fold::None,
        };
        let on = match params.text("on") {
            "sentences" => On::Sentences,
            "clauses" => On::Clauses,
            "lines" => On::Lines,
            _ => On::Chars,
        };
        let min_chars = params.count("min_chars");
        let look = Self {
            want: Want::new(1, |_| 2),
            symbols: Symbols::new(fold, on, (skip || fenced_copies.is_some(), skip)),
            min_copies: params.count("min_copies"),
            min_chars,
            min_single: params.count("min_single"),
            unit_holds: match params.text("unit_holds") {
                "letter" => Some(&LETTER),
                "letter-or-emoji" => Some(&LETTER_OR_EMOJI),
                _ => None,
            },
            min_recycled: params.count("min_recycled"),
            fenced_copies,
            rows: params.items("rules").iter().enumerate().map(row).collect(),
            min_counters: params.count("min_counters"),
            min_numbers: params.count("min_numbers"),
            min_returning: params.count("min_returning"),
            min_bare: params.count("min_bare"),
            min_form: params.count("min_form"),
        };
        let max_period = small(params.count("max_period"));
        Self {
            want: Want::new(max_period, |lag| small(look.least(lag))),
            ..look
        }
    }

    /// Returns the ways to accept a tail of this lag: its row or the plain thresholds, and the special threshold of its
    /// content. A sweep may need both, so both are reported.
    pub(super) fn asks(&self, lag: u32, holds: Holds) -> impl Iterator<Item = Ask> {
        let row = self.rows.iter().find(|row| lag <= row.max_period);
        let others = row.map_or(Ask::Plain, |row| Ask::Row(*row));
        let ask = match holds {
            Holds::Bare => Ask::Bare,
            Holds::Form => Ask::Form,
            _ => Ask::Single,
        };
        let own = self.own(holds).then_some(ask);
        std::iter::once(others).chain(own)
    }

    /// Returns whether units of this class have a special threshold.
    fn own(&self, holds: Holds) -> bool {
        match holds {
            Holds::Named => false,
            Holds::Single => self.min_single > 0,
            Holds::Bare => self.min_bare > 0,
            Holds::Form => self.min_form > 0,
        }
    }

    /// Returns the ways to accept the rest of a tail under this condition on its numbers.
    pub(super) fn asks_of(&self, part: Part, lag: u32, holds: Holds) -> impl Iterator<Item = Ask> {
        let [plain, numbers, counters] = match part {
            Part::Any if self.symbols.count() => [false, true, false],
            // Without `min_counters`, the even parts cover the equal ones.
            Part::Equal if self.min_counters == 0 => [false; 3],
            Part::Even => [true, false, true],
            _ => [true, false, false],
        };
        // Special units are tested by their special threshold too.
        let own = self.own(holds).then_some(holds);
        let both = move |on: bool, ask: fn(Holds) -> Ask| {
            let ways = std::iter::once(Holds::Named).chain(own).map(ask);
            ways.filter(move |_| on)
        };
        let plain = self.asks(lag, holds).filter(move |_| plain);
        plain
            .chain(both(numbers && self.min_numbers > 0, Ask::Numbers))
            .chain(both(counters && self.min_counters > 0, Ask::Counters))
    }

    /// Returns the characters that a tail needs.
    pub(super) fn chars(&self, ask: Ask) -> u64 {
        match ask {
            Ask::Row(row) => row.min_chars,
            Ask::Single => self.min_single,
            Ask::Bare => self.min_bare,
            Ask::Form => self.min_form,
            Ask::Counters(with) => self.min_counters.max(self.own_chars(with)),
            Ask::Numbers(with) => self.min_numbers.max(self.own_chars(with)),
            Ask::Plain => self.min_chars,
        }
    }

    /// Returns the characters that the special threshold of a class requires.
    fn own_chars(&self, holds: Holds) -> u64 {
        match holds {
            Holds::Named => 0,
            Holds::Single => self.min_single,
            Holds::Bare => self.min_bare,
            Holds::Form => self.min_form,
        }
    }

    /// Returns the symbols that a tail of this lag needs. The characters of elements are not counted here.
    #[inline]
    pub(super) fn need(&self, lag: u32, ask: Ask) -> u64 {
        let copies = match ask {
            Ask::Row(row) => row.min_copies,
            _ => self.min_copies,
        };
        let symbols = if self.symbols.are_elements() {
            0
        } else {
            self.chars(ask)
        };
        symbols.max(copies * u64::from(lag))
    }

    /// Returns the minimum number of symbols that any tail of this lag needs.
    #[inline]
    pub(super) fn least(&self, lag: u32) -> u64 {
        // Every way to accept another part is among these.
        let parts = [Part::Even, Part::Any].into_iter();
        let parts = parts.take(if self.symbols.count() { 2 } else { 1 });
        let of = |part| {
            let each = [Holds::Single, Holds::Bare, Holds::Form].into_iter();
            each.flat_map(move |holds| self.asks_of(part, lag, holds))
        };
        let asks = parts.flat_map(of);
        asks.map(|ask| self.need(lag, ask))
            .min()
            .unwrap_or(u64::MAX)
    }

    /// Returns the bounds of thresholds for a part of a tail that is accepted in this way.
    pub(super) fn bounds(
        &self,
        part: Part,
        (run, at): (Run, Origin),
        (ask, holds): (Ask, Holds),
    ) -> Bounds {
        let mut bounds = Bounds::default();
        if !matches!(ask, Ask::Row(_)) {
            bounds.add("min_copies", steps(run.start, run.lag));
        }
        let own = match ask {
            Ask::Row(_) => None,
            Ask::Plain => Some("min_chars"),
            Ask::Single => Some("min_single"),
            Ask::Bare => Some("min_bare"),
            Ask::Form => Some("min_form"),
            Ask::Counters(_) => Some("min_counters"),
            Ask::Numbers(_) => Some("min_numbers"),
        };
        let grows = self.chars_since(run, at.start);
        if let Some(own) = own {
            bounds.add(own, grows);
        }
        // A special unit bounds its special threshold too. Other ways need that threshold to be 0.
        let held = match holds {
            Holds::Named => None,
            Holds::Single => Some("min_single"),
            Holds::Bare => Some("min_bare"),
            Holds::Form => Some("min_form"),
        };
        let elsewhere = Bound::Exactly(Threshold::AT_MOST.elsewhere());
        if let Some(held) = held.filter(|held| own != Some(*held)) {
            bounds.add(held, if ask.is_for(holds) { grows } else { elsewhere });
        }
        if part == Part::Even && !matches!(ask, Ask::Counters(_) | Ask::Numbers(_)) {
            bounds.add("min_counters", elsewhere);
        }
        bounds
    }

    /// Returns the requirements of structural parameters on a tail that is accepted in this way. `fenced` is the number
    /// of copies required in a code fence, 0 outside. `tall` is the number of copies above which rows are too many for
    /// a grid, 0 if the unit has no rows.
    pub(super) fn asked(
        &self,
        run: Run,
        start: Chars,
        (ask, fenced, tall): (Ask, u64, u64),
    ) -> Vec<StructuralCondition> {
        let copies = steps(run.start, run.lag);
        let of = |param: String, least: u64, bound| StructuralCondition {
            param,
            least: i64::try_from(least).unwrap_or(i64::MAX),
            bound,
        };
        let mut asked = Vec::new();
        if let Ask::Row(row) = ask {
            let rule = |name| format!("rules[{}].{name}", row.index);
            asked.push(of(rule("min_copies"), row.min_copies, copies));
            asked.push(of(
                rule("min_chars"),
                row.min_chars,
                self.chars_since(run, start),
            ));
        }
        if fenced > 0 {
            asked.push(of("code".into(), fenced, copies));
        }
        if tall > 0 {
            asked.push(of("min_bare, of rows".into(), tall, copies));
        }
        asked
    }

    /// Returns the bound on the characters of a growing tail. With elements all characters count, else the compared
    /// ones.
    fn chars_since(&self, run: Run, start: Chars) -> Bound {
        if self.symbols.are_elements() {
            Bound::Units { from: start.into() }
        } else {
            steps(run.start, 1)
        }
    }
}

pub(super) fn steps(from: u64, per: u32) -> Bound {
    let per = u64::from(per);
    Bound::Steps { from, per }
}

/// A way to accept a tail.
#[derive(Clone, Copy)]
pub(super) enum Ask {
    /// By `min_copies` and `min_chars`.
    Plain,
    /// By a row of `rules` in their place.
    Row(Row),
    /// By `min_copies` and `min_single`.
    Single,
    /// By `min_copies` and `min_bare`.
    Bare,
    /// By `min_copies` and `min_form`.
    Form,
    /// By `min_copies`, `min_counters` and the special threshold of this class.
    Counters(Holds),
    /// By `min_copies`, `min_numbers` and the special threshold of this class.
    Numbers(Holds),
}

fn row((index, row): (usize, &Value)) -> Row {
    let field = |name| {
        row.field(name)
            .and_then(Value::as_int)
            .unwrap_or(1)
            .unsigned_abs()
    };
    Row {
        index,
        max_period: small(field("max_period")),
        min_copies: field("min_copies"),
        min_chars: field("min_chars"),
    }
}

fn small(n: u64) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
