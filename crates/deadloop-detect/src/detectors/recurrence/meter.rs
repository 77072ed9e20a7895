//! The meter: converts occurrences to facts, one for each count that a setting may require.
//!
//! A fact is omitted if every setting that accepts it also accepts an earlier one.

use std::sync::Arc;

use super::MAX_COUNT;
use super::grams::GramWindow;
use super::structure::StructureSet;
use super::symbols::{CodeDefinition, RecurrenceSymbols, Symbol, SymbolUnit};
use crate::measure::fact::{Bound, Bounds, Clock, Fact, UNIT_CHARS};
use crate::measure::meter::{Recipe, TextMeter};
use crate::settings::params::Params;
use crate::settings::value::Value;
use crate::stream::{Chars, Kind};
use crate::text::recent_text::{RecentText, SHORT, kind};

/// The parameters, shared by all meters of a recipe.
struct RecurrenceParams {
    symbols: RecurrenceSymbols,
    n: usize,
    window: usize,
    min_count: u32,
    /// The maximum mean gap, in symbols. [`u64::MAX`] without a limit.
    max_gap: u64,
    max_distinct: u64,
}

/// Returns the recipe of recurrence meters.
pub(super) fn recipe(params: &Params) -> Recipe {
    let shared = Arc::new(RecurrenceParams::new(params));
    Recipe::text(params, move || {
        Box::new(RecurrenceMeter::new(Arc::clone(&shared)))
    })
}

impl RecurrenceParams {
    fn new(params: &Params) -> Self {
        let by = match params.text("by") {
            "words" => SymbolUnit::Words,
            "sentences" => SymbolUnit::Sentences,
            "lines" => SymbolUnit::Lines,
            _ => SymbolUnit::Chars,
        };
        let or_none = |name| match params.count(name) {
            0 => u64::MAX,
            bound => bound,
        };
        let reset_on = params.items("reset_on").iter().filter_map(Value::as_text);
        let code = match params.text("code") {
            "ticks" => CodeDefinition::Ticks,
            word => CodeDefinition::Lines {
                skip: word == "skip",
            },
        };
        let small = |n| usize::try_from(n).unwrap_or(usize::MAX);
        Self {
            symbols: RecurrenceSymbols::new(by, StructureSet::from_names(reset_on), code),
            n: small(params.count("n")).max(1),
            window: small(params.count("window")),
            min_count: u32::try_from(params.count("min_count")).unwrap_or(MAX_COUNT),
            max_gap: or_none("max_gap"),
            max_distinct: or_none("max_distinct"),
        }
    }

    /// Returns for each count the maximum distance, in symbols, from the first occurrence to the last that the loosest
    /// setting accepts.
    fn max_spans(&self) -> [u64; MAX_COUNT as usize + 1] {
        let mut accepted = [0; MAX_COUNT as usize + 1];
        for count in self.min_count..=MAX_COUNT {
            accepted[count as usize] = self.max_gap.saturating_mul(u64::from(count - 1));
        }
        accepted
    }
}

/// A meter of one stream.
struct RecurrenceMeter {
    symbols: RecurrenceSymbols,
    counter: SymbolCounter,
}

/// A counter of the symbols of one stream.
struct SymbolCounter {
    params: Arc<RecurrenceParams>,
    grams: GramWindow,
    recent: RecentText,
    frontier: RecurrenceFrontier,
    /// The hashes of the distinct texts between the occurrences. The buffer is reused.
    between: Vec<u64>,
}

/// The last few occurrences of an n-gram.
struct Occurrences {
    count: u32,
    /// The number of symbols from the first occurrence to the last.
    symbols: u64,
    /// The number of different texts between the occurrences.
    distinct: usize,
    /// The number of chars before the first and before the second occurrence.
    starts: (u64, u64),
}

impl Occurrences {
    /// Returns the mean of gaps with the sum `whole`, rounded up.
    fn mean(&self, whole: u64) -> u64 {
        whole.div_ceil(u64::from(self.count - 1))
    }
}

impl RecurrenceMeter {
    fn new(params: Arc<RecurrenceParams>) -> Self {
        Self {
            symbols: params.symbols,
            counter: SymbolCounter {
                grams: GramWindow::new(params.n, params.window),
                recent: RecentText::default(),
                frontier: RecurrenceFrontier::default(),
                between: Vec::new(),
                params,
            },
        }
    }
}

impl SymbolCounter {
    /// Reads a char that is a symbol.
    #[inline]
    fn char(&mut self, c: char, facts: &mut Vec<Fact>) {
        let symbol = Symbol::of_char(c, self.recent.read());
        self.recent.step();
        self.symbol(symbol, facts);
    }

    #[inline]
    fn symbol(&mut self, symbol: Symbol, facts: &mut Vec<Fact>) {
        let times = self.grams.push(symbol);
        if times >= self.params.min_count {
            self.report_recurrences(facts);
        }
    }

    /// Reports facts about the last occurrences of the last n-gram.
    fn report_recurrences(&mut self, facts: &mut Vec<Fact>) {
        if self.grams.continues(MAX_COUNT - 1) {
            return;
        }
        let even = self.grams.equal_gaps(MAX_COUNT - 1);
        if even.is_some_and(|(gap, gaps)| self.frontier.has_even(gap, gaps)) {
            return;
        }
        let params = Arc::clone(&self.params);
        self.between.clear();
        let (mut before, mut count) = (0, 1);
        let mut repeated = None;
        for gaps in self.grams.gaps() {
            if !self.between.contains(&gaps.between) {
                self.between.push(gaps.between);
            }
            let distinct = self.between.len();
            if distinct as u64 > params.max_distinct || count == MAX_COUNT {
                break;
            }
            let most = u64::from(MAX_COUNT - count).min(gaps.count);
            self.frontier.prepare(distinct, &params);
            let start = |back| self.grams.start(gaps.occurrence(back));
            for back in 1..=most {
                let symbols = before + back * gaps.symbols;
                let count = count + back as u32;
                if self.frontier.is_new(count, symbols, distinct) {
                    let seen = Occurrences {
                        count,
                        symbols,
                        distinct,
                        starts: (start(back), start(back - 1)),
                    };
                    let repeated = repeated
                        .get_or_insert_with(|| RepeatedText::read(&self.grams, &mut self.recent));
                    facts.push(self.fact(&seen, repeated));
                }
            }
            (before, count) = (before + most * gaps.symbols, count + most as u32);
        }
        self.frontier.even = even.or(self.frontier.even);
    }

    fn fact(&self, seen: &Occurrences, repeated: &RepeatedText) -> Fact {
        let (first, second) = seen.starts;
        let period = seen.mean(self.grams.last_start() - first);
        let bound = |n: u64| Bound::Fixed(i64::try_from(n).unwrap_or(i64::MAX));
        Fact {
            at: self.recent.read(),
            until: self.recent.read(),
            clock: Clock::Chars,
            kind: match repeated.kind {
                Kind::Paragraph if period < SHORT => Kind::ShortSequence,
                kind => kind,
            },
            bounds: Bounds::from([
                ("min_count", Bound::Exactly(i64::from(seen.count))),
                ("max_gap", bound(seen.mean(seen.symbols))),
                ("max_distinct", bound(seen.distinct as u64)),
            ]),
            asked: Vec::new(),
            check: "recurrence",
            onset: Chars(second).into(),
            period: Chars(period).into(),
            copies: Bound::Fixed(i64::from(seen.count)),
            unit: repeated.unit.clone(),
        }
    }
}

/// The repeated text and its kind.
struct RepeatedText {
    unit: String,
    /// The kind if the unit is long.
    kind: Kind,
}

impl RepeatedText {
    /// Returns the unit, from the second last occurrence to the last, and its kind. The kind depends on the text up to
    /// the end of the last occurrence, so that list numbers are complete. If the second last occurrence was dropped,
    /// the last one is used, which begins with the same symbols.
    fn read(grams: &GramWindow, recent: &mut RecentText) -> Self {
        let (last, read) = (grams.last_start(), recent.read());
        let gaps = grams.gaps().next();
        let before = gaps.map_or(last, |gaps| grams.start(gaps.occurrence(1)));
        let (from, to) = if before < recent.base() {
            (last, read)
        } else {
            (before, last)
        };
        let from = from.max(recent.base());
        let shown = to.min(from + UNIT_CHARS as u64);
        Self {
            unit: recent.text(from, shown).to_owned(),
            kind: kind(recent.text(from, read), false),
        }
    }
}

/// The Pareto frontier of the reported facts. Facts that no setting needs are left out.
#[derive(Default)]
struct RecurrenceFrontier {
    /// The maximum distance, in symbols, from the first occurrence to the last of a fact that some setting needs. It is
    /// indexed by the number of distinct texts between, from 1 on, and by count. Each reported fact lowers it below its
    /// own distance, also for more distinct texts.
    most: Vec<[u64; MAX_COUNT as usize + 1]>,
    /// The length and the number of the last equal gaps. A loop repeats them, so they are not examined again.
    even: Option<(u64, u32)>,
}

impl RecurrenceFrontier {
    /// Allocates entries for up to `distinct` distinct texts.
    fn prepare(&mut self, distinct: usize, params: &RecurrenceParams) {
        while self.most.len() < distinct {
            let next = self.most.last().copied();
            self.most.push(next.unwrap_or_else(|| params.max_spans()));
        }
    }

    /// Returns whether a setting needs the fact that `count` occurrences lie within `symbols` symbols. If so, records
    /// it.
    #[inline]
    fn is_new(&mut self, count: u32, symbols: u64, distinct: usize) -> bool {
        let index = count as usize;
        if symbols > self.most[distinct - 1][index] {
            return false;
        }
        let gaps = u64::from(count - 1);
        let mean = symbols.div_ceil(gaps);
        for most in &mut self.most[distinct - 1..] {
            most[index] = most[index].min((mean - 1) * gaps);
        }
        true
    }

    /// Returns whether at least as many equal gaps of at most this length were already handled.
    fn has_even(&self, gap: u64, gaps: u32) -> bool {
        self.even
            .is_some_and(|(shortest, most)| shortest <= gap && gaps <= most)
    }
}

impl TextMeter for RecurrenceMeter {
    fn push(&mut self, piece: &str, facts: &mut Vec<Fact>) {
        let Self { symbols, counter } = self;
        counter.recent.begin(piece);
        if symbols.are_elements() {
            let before = counter.recent.read();
            symbols.read_all(piece, before, |symbol, read| {
                counter.recent.read_to(read);
                counter.symbol(symbol, facts);
            });
            return counter.recent.read_to_end();
        }
        let mut rest = piece;
        while !rest.is_empty() {
            let (quiet, others) = rest.split_at(symbols.quiet(rest));
            if symbols.are_read() {
                quiet.chars().for_each(|c| counter.char(c, facts));
            } else {
                quiet.chars().for_each(|_| counter.recent.step());
            }
            let mut others = others.chars();
            if let Some(c) = others.next() {
                let at = counter.recent.read();
                counter.recent.step();
                if symbols.read(c, at, |symbol| counter.symbol(symbol, facts)) {
                    counter.grams.reset();
                }
            }
            rest = others.as_str();
        }
    }
}
