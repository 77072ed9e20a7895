//! Turns occurrences into facts: one for each count that a setting may ask for. A fact is left out if every
//! setting that accepts it also accepts an earlier one.

use std::sync::Arc;

use super::MAX_COUNT;
use super::grams::{Grams, Window};
use super::structure::Structures;
use super::symbols::{By, Code, Symbol, Symbols};
use crate::fact::{Bound, Clock, Fact, UNIT_CHARS};
use crate::meter::{Recipe, TextMeter};
use crate::params::Params;
use crate::repeated::{Recent, SHORT, kind};
use crate::stream::Chars;
use crate::value::Value;

/// What all meters of one recipe share.
struct Look {
    symbols: Symbols,
    n: usize,
    window: Window,
    min_count: u32,
    /// The largest mean gap, in symbols; [`u64::MAX`] without a bound, as below.
    max_gap: u64,
    max_distinct: u64,
}

/// What recurrence meters are made from.
pub(super) fn recipe(params: &Params) -> Recipe {
    let look = Arc::new(Look::new(params));
    Recipe::new(move || Box::new(RecurrenceMeter::new(Arc::clone(&look))))
}

impl Look {
    fn new(params: &Params) -> Self {
        let by = match params.text("by") {
            "words" => By::Words,
            "sentences" => By::Sentences,
            "lines" => By::Lines,
            _ => By::Chars,
        };
        let or_none = |name| match params.count(name) {
            0 => u64::MAX,
            bound => bound,
        };
        let reset_on = params.items("reset_on").iter().filter_map(Value::as_text);
        let lengths = (params.count("min_len"), or_none("max_len"));
        let code = match params.text("code") {
            "ticks" => Code::Ticks,
            word => Code::Lines {
                skip: word == "skip",
            },
        };
        let window = params.count("window");
        let small = |n| usize::try_from(n).unwrap_or(usize::MAX);
        Self {
            symbols: Symbols::new(by, lengths, Structures::named(reset_on), code),
            n: small(params.count("n")).max(1),
            window: match params.text("window_in") {
                "chars" => Window::Chars(window),
                _ => Window::Symbols(small(window)),
            },
            min_count: u32::try_from(params.count("min_count")).unwrap_or(MAX_COUNT),
            max_gap: or_none("max_gap"),
            max_distinct: or_none("max_distinct"),
        }
    }
}

/// Follows one stream.
struct RecurrenceMeter {
    symbols: Symbols,
    counter: Counter,
}

/// Counts the symbols of one stream.
struct Counter {
    look: Arc<Look>,
    grams: Grams,
    recent: Recent,
    told: Told,
    /// The hashes of the different texts between the occurrences; kept to reuse its memory.
    between: Vec<u64>,
}

/// The last few occurrences of an n-gram.
struct Seen {
    count: u32,
    /// Symbols from the first of them to the last.
    symbols: u64,
    /// How many different texts are between them.
    distinct: usize,
    /// The chars before the first and before the second of them.
    starts: (u64, u64),
}

impl Seen {
    /// The mean gap, rounded up, if all gaps together are `whole`.
    fn mean(&self, whole: u64) -> u64 {
        whole.div_ceil(u64::from(self.count - 1))
    }
}

impl RecurrenceMeter {
    fn new(look: Arc<Look>) -> Self {
        Self {
            symbols: look.symbols,
            counter: Counter {
                grams: Grams::new(look.n, look.window),
                recent: Recent::default(),
                told: Told::default(),
                between: Vec::new(),
                look,
            },
        }
    }
}

impl Counter {
    fn symbol(&mut self, symbol: Symbol, facts: &mut Vec<Fact>) {
        let times = self.grams.push(symbol, self.recent.read());
        if times >= self.look.min_count {
            self.recurred(facts);
        }
    }

    /// Makes facts of the last occurrences of the n-gram that has just been completed.
    fn recurred(&mut self, facts: &mut Vec<Fact>) {
        if self.grams.goes_on(MAX_COUNT - 1) {
            return;
        }
        let even = self.grams.even(MAX_COUNT - 1);
        if even.is_some_and(|(gap, gaps)| self.told.has_even(gap, gaps)) {
            return;
        }
        let look = Arc::clone(&self.look);
        let furthest = look.max_gap.saturating_mul(u64::from(MAX_COUNT - 1));
        self.between.clear();
        let (mut symbols, mut second) = (0, self.grams.last_start());
        let mut repeated = None;
        for (count, gap) in (2..=MAX_COUNT).zip(self.grams.gaps()) {
            symbols += gap.symbols;
            if !self.between.contains(&gap.between) {
                self.between.push(gap.between);
            }
            // Both only grow, so no further occurrence can meet the thresholds.
            if symbols > furthest || self.between.len() as u64 > look.max_distinct {
                break;
            }
            let seen = Seen {
                count,
                symbols,
                distinct: self.between.len(),
                starts: (gap.start, std::mem::replace(&mut second, gap.start)),
            };
            let mean = seen.mean(symbols);
            let asked = count >= look.min_count && mean <= look.max_gap;
            if asked && self.told.is_news(count, mean, seen.distinct) {
                let repeated = repeated.get_or_insert_with(|| self.repeated());
                facts.push(self.fact(&seen, repeated));
            }
        }
        self.told.even = even.or(self.told.even);
    }

    /// The repeated unit, from the last occurrence but one to the last, and the same text up to the end of
    /// the last occurrence, in which a list number that the unit cuts is whole. If the last occurrence but
    /// one is no longer kept, both are the text of the last, which begins with the same symbols.
    fn repeated(&self) -> (String, String) {
        let (last, read) = (self.grams.last_start(), self.recent.read());
        let before = self.grams.gaps().next().map_or(last, |gap| gap.start);
        let (from, to) = if before < self.recent.base() {
            (last, read)
        } else {
            (before, last)
        };
        (self.recent.text(from, to), self.recent.text(from, read))
    }

    fn fact(&self, seen: &Seen, (unit, whole): &(String, String)) -> Fact {
        let (first, second) = seen.starts;
        let period = seen.mean(self.grams.last_start() - first);
        let bound = |n: u64| Bound::Fixed(i64::try_from(n).unwrap_or(i64::MAX));
        Fact {
            at: self.recent.read(),
            until: self.recent.read(),
            clock: Clock::Chars,
            kind: kind(whole, period < SHORT),
            bounds: vec![
                Bound::Exactly(i64::from(seen.count)),
                bound(seen.mean(seen.symbols)),
                bound(seen.distinct as u64),
            ],
            asked: Vec::new(),
            check: "recurrence",
            onset: Chars(second).into(),
            period: Chars(period).into(),
            copies: Bound::Fixed(i64::from(seen.count)),
            unit: unit.chars().take(UNIT_CHARS).collect(),
        }
    }
}

/// The facts so far, to leave out those that no setting needs.
#[derive(Default)]
struct Told {
    /// By count and by number of different texts between: the least mean gap of the facts with that count and
    /// no more different texts.
    least: Vec<Vec<u64>>,
    /// The length and number of the last equal gaps. A loop repeats them; looking at them again is needless.
    even: Option<(u64, u32)>,
}

impl Told {
    fn is_news(&mut self, count: u32, mean: u64, distinct: usize) -> bool {
        let count = count as usize;
        if self.least.len() <= count {
            self.least.resize(count + 1, Vec::new());
        }
        let least = &mut self.least[count];
        least.resize(count, u64::MAX);
        if least[distinct] <= mean {
            return false;
        }
        for known in &mut least[distinct..] {
            *known = mean.min(*known);
        }
        true
    }

    /// Whether at least as many equal gaps, at most as long, have been looked at.
    fn has_even(&self, gap: u64, gaps: u32) -> bool {
        self.even
            .is_some_and(|(shortest, most)| shortest <= gap && gaps <= most)
    }
}

impl TextMeter for RecurrenceMeter {
    fn push(&mut self, piece: &str, facts: &mut Vec<Fact>) {
        let Self { symbols, counter } = self;
        counter.recent.begin(piece);
        for c in piece.chars() {
            let at = counter.recent.read();
            counter.recent.step();
            if symbols.read(c, at, |symbol| counter.symbol(symbol, facts)) {
                counter.grams.reset();
            }
        }
    }
}
