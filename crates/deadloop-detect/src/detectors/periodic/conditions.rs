//! The conditions on a tail: thresholds and rows of rules.
//!
//! They are compiled once and shared.

use std::sync::LazyLock;

use regex::Regex;

use super::counting::counters::Pattern;
use super::meter::{LETTER, LETTER_OR_EMOJI};
use super::runs::{Tail, search::TailSearch};
use super::symbols::{ElementKind, PeriodicSymbols, fold::Fold, places::TailOrigin};
use crate::measure::fact::{Bound, Bounds, StructuralCondition};
use crate::settings::param::Threshold;
use crate::settings::params::Params;
use crate::settings::value::Value;
use crate::stream::Chars;

/// Conditions and symbols shared by the meters of one recipe.
pub(super) struct TailConditions {
    pub(super) want: TailSearch,
    pub(super) symbols: PeriodicSymbols,
    min_copies: u64,
    min_chars: u64,
    /// `min_chars` for units of special classes. 0 if `min_chars` applies.
    special: [(UnitClass, u64); 3],
    /// The pattern that the unit must match.
    pub(super) unit_holds: Option<&'static LazyLock<Regex>>,
    /// The minimum number of characters of a recycled stretch. 0 if recycled elements are not searched.
    pub(super) min_recycled: u64,
    /// `min_copies` inside code fences.
    pub(super) fenced_copies: Option<u64>,
    rows: Vec<RuleRow>,
    /// `min_chars` for tails whose numbers differ and count evenly. 0 if `min_chars` applies.
    min_counters: u64,
    /// `min_chars` for tails whose numbers differ and do not count evenly. 0 if such tails are not tested.
    min_numbers: u64,
    /// The percentage of numbers that must return for `min_numbers`. 0 if returning numbers are not counted.
    pub(super) min_returning: u64,
}

/// The class of a unit's content, for special thresholds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum UnitClass {
    /// A letter, or content without a special threshold.
    Named,
    /// No letter and no number, or a single character: `min_single`.
    Single,
    /// A number or a picture, and no letter: `min_bare`.
    Bare,
    /// Blanks to fill in: `min_form`.
    Form,
}

impl UnitClass {
    /// Returns the name of the threshold.
    fn threshold(self) -> &'static str {
        match self {
            Self::Named => "min_chars",
            Self::Single => "min_single",
            Self::Bare => "min_bare",
            Self::Form => "min_form",
        }
    }
}

/// A row of `rules`, with its index.
#[derive(Clone, Copy)]
pub(super) struct RuleRow {
    index: usize,
    max_period: u32,
    min_copies: u64,
    min_chars: u64,
}

impl TailTest {
    /// Returns whether this condition has the special threshold of the class `holds`.
    pub(super) fn is_for(self, holds: UnitClass) -> bool {
        match self {
            Self::Special(own) | Self::Counters(own) | Self::Numbers(own) => own == holds,
            Self::Plain | Self::Row(_) => false,
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
            "sentences" => ElementKind::Sentences,
            "clauses" => ElementKind::Clauses,
            "lines" => ElementKind::Lines,
            _ => ElementKind::Chars,
        };
        let min_chars = params.count("min_chars");
        let look = Self {
            want: TailSearch::new(1, |_| 2),
            symbols: PeriodicSymbols::new(fold, on, (skip || fenced_copies.is_some(), skip)),
            min_copies: params.count("min_copies"),
            min_chars,
            special: [UnitClass::Bare, UnitClass::Form, UnitClass::Single]
                .map(|class| (class, params.count(class.threshold()))),
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
        };
        let max_period = small(params.count("max_period"));
        Self {
            want: TailSearch::new(max_period, |lag| small(look.min_symbols(lag))),
            ..look
        }
    }

    /// Returns the ways to accept a tail of this lag: its row or the plain thresholds, and the special threshold of each
    /// class of its content. A sweep may need all, so all are reported.
    pub(super) fn asks(&self, lag: u32, holds: &[UnitClass]) -> impl Iterator<Item = TailTest> {
        let row = self.rows.iter().find(|row| lag <= row.max_period);
        let others = row.map_or(TailTest::Plain, |row| TailTest::Row(*row));
        let own = holds.iter().copied().map(TailTest::Special);
        std::iter::once(others).chain(own)
    }

    /// Returns the classes that have a special threshold. Of the classes of a unit, the first such one decides.
    pub(super) fn special_classes(&self) -> impl Iterator<Item = UnitClass> {
        let on = self.special.iter().filter(|(_, chars)| *chars > 0);
        on.map(|(class, _)| *class)
    }

    /// Returns the ways to accept the rest of a tail under this condition on its numbers.
    pub(super) fn asks_of(
        &self,
        part: Pattern,
        lag: u32,
        holds: &[UnitClass],
    ) -> impl Iterator<Item = TailTest> {
        let [plain, numbers, counters] = match part {
            Pattern::Any if self.symbols.count() => [false, true, false],
            // Without `min_counters`, the even parts cover the equal ones.
            Pattern::Equal if self.min_counters == 0 => [false; 3],
            Pattern::Even => [true, false, true],
            _ => [true, false, false],
        };
        // Special units are tested by their special thresholds too.
        let all = move |on: bool, ask: fn(UnitClass) -> TailTest| {
            let ways = [UnitClass::Named].into_iter().chain(holds.iter().copied());
            ways.map(ask).filter(move |_| on)
        };
        let plain = self.asks(lag, holds).filter(move |_| plain);
        plain
            .chain(all(numbers && self.min_numbers > 0, TailTest::Numbers))
            .chain(all(counters && self.min_counters > 0, TailTest::Counters))
    }

    /// Returns whether text of few different characters is searched.
    pub(super) fn finds_few_kinds(&self) -> bool {
        self.min_recycled > 0 && !self.symbols.are_elements()
    }

    /// Returns the characters that a tail needs.
    pub(super) fn chars(&self, ask: TailTest) -> u64 {
        match ask {
            TailTest::Row(row) => row.min_chars,
            TailTest::Special(class) => self.own_chars(class),
            TailTest::Counters(with) => self.min_counters.max(self.own_chars(with)),
            TailTest::Numbers(with) => self.min_numbers.max(self.own_chars(with)),
            TailTest::Plain => self.min_chars,
        }
    }

    /// Returns the characters that the special threshold of a class requires.
    fn own_chars(&self, holds: UnitClass) -> u64 {
        let own = self.special.iter().find(|(class, _)| *class == holds);
        own.map_or(0, |(_, chars)| *chars)
    }

    /// Returns the symbols that a tail of this lag needs. The characters of elements are not counted here.
    #[inline]
    pub(super) fn need(&self, lag: u32, ask: TailTest) -> u64 {
        let copies = match ask {
            TailTest::Row(row) => row.min_copies,
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
    pub(super) fn min_symbols(&self, lag: u32) -> u64 {
        // Every way to accept another part is among these.
        let parts = [Pattern::Even, Pattern::Any].into_iter();
        let parts = parts.take(if self.symbols.count() { 2 } else { 1 });
        let classes: Vec<UnitClass> = self.special_classes().collect();
        let asks = parts.flat_map(|part| self.asks_of(part, lag, &classes));
        asks.map(|ask| self.need(lag, ask))
            .min()
            .unwrap_or(u64::MAX)
    }

    /// Returns the bounds of thresholds for a part of a tail that is accepted in this way.
    pub(super) fn bounds(
        &self,
        part: Pattern,
        (run, at): (Tail, TailOrigin),
        (ask, holds): (TailTest, &[UnitClass]),
    ) -> Bounds {
        let mut bounds = Bounds::default();
        if !matches!(ask, TailTest::Row(_)) {
            bounds.add("min_copies", steps(run.start, run.lag));
        }
        let own = match ask {
            TailTest::Row(_) => None,
            TailTest::Plain => Some("min_chars"),
            TailTest::Special(class) => Some(class.threshold()),
            TailTest::Counters(_) => Some("min_counters"),
            TailTest::Numbers(_) => Some("min_numbers"),
        };
        let grows = self.chars_since(run, at.start);
        if let Some(own) = own {
            bounds.add(own, grows);
        }
        // A special unit bounds its special thresholds too. The ways to accept it need those before their own to be 0.
        let elsewhere = Bound::Exactly(Threshold::AT_MOST.elsewhere());
        for class in holds {
            let is_own = ask.is_for(*class);
            if own != Some(class.threshold()) {
                bounds.add(class.threshold(), if is_own { grows } else { elsewhere });
            }
            if is_own {
                break;
            }
        }
        if part == Pattern::Even && !matches!(ask, TailTest::Counters(_) | TailTest::Numbers(_)) {
            bounds.add("min_counters", elsewhere);
        }
        bounds
    }

    /// Returns the requirements of structural parameters on a tail that is accepted in this way. `fenced` is the number
    /// of copies required in a code fence, 0 outside. `tall` is the number of copies above which rows are too many for
    /// a grid, 0 if the unit has no rows.
    pub(super) fn requirements(
        &self,
        run: Tail,
        start: Chars,
        (ask, fenced, tall): (TailTest, u64, u64),
    ) -> Vec<StructuralCondition> {
        let copies = steps(run.start, run.lag);
        let of = |param: String, least: u64, bound| StructuralCondition {
            param,
            least: i64::try_from(least).unwrap_or(i64::MAX),
            bound,
        };
        let mut asked = Vec::new();
        if let TailTest::Row(row) = ask {
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
    fn chars_since(&self, run: Tail, start: Chars) -> Bound {
        if self.symbols.are_elements() {
            Bound::Units { from: start.into() }
        } else {
            steps(run.start, 1_u64)
        }
    }
}

pub(super) fn steps(from: u64, per: impl Into<u64>) -> Bound {
    let per = per.into();
    Bound::Steps { from, per }
}

/// A way to accept a tail.
#[derive(Clone, Copy)]
pub(super) enum TailTest {
    /// By `min_copies` and `min_chars`.
    Plain,
    /// By a row of `rules` in their place.
    Row(RuleRow),
    /// By `min_copies` and the special threshold of this class.
    Special(UnitClass),
    /// By `min_copies`, `min_counters` and the special threshold of this class.
    Counters(UnitClass),
    /// By `min_copies`, `min_numbers` and the special threshold of this class.
    Numbers(UnitClass),
}

fn row((index, row): (usize, &Value)) -> RuleRow {
    let field = |name| {
        row.field(name)
            .and_then(Value::as_int)
            .unwrap_or(1)
            .unsigned_abs()
    };
    RuleRow {
        index,
        max_period: small(field("max_period")),
        min_copies: field("min_copies"),
        min_chars: field("min_chars"),
    }
}

fn small(n: u64) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
