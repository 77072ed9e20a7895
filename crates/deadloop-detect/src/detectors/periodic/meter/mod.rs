//! The meter of one stream, from text to facts.
//!
//! A fact is a stretch of text that ends in copies of one unit. It reaches from the first character at which the
//! loosest setting accepts it to the last one that continues it. Copies and characters grow along it, so that one fact
//! answers every threshold. `facts` builds the facts, `unit` describes the repeated unit.

use std::ops::RangeInclusive;
use std::sync::Arc;

use super::conditions::TailConditions;
use super::counters::Counters;
use super::elements::Elements;
use super::places::Places;
use super::recycled::Recycled;
use super::returning::Returning;
use super::runs::{Run, Runs, grow};
use super::symbols::{MOST, Out, Symbols};
use crate::measure::fact::Fact;
use crate::measure::meter::{Recipe, TextMeter};
use crate::settings::params::Params;

mod facts;
mod unit;

pub(super) use unit::{LETTER, LETTER_OR_EMOJI};

/// Returns the recipe of periodic meters.
pub(super) fn recipe(params: &Params) -> Recipe {
    let look = Arc::new(TailConditions::new(params));
    Recipe::text(params, move || {
        Box::new(PeriodicMeter::new(Arc::clone(&look)))
    })
}

/// The meter of one stream.
struct PeriodicMeter {
    look: Arc<TailConditions>,
    symbols: Symbols,
    runs: Runs,
    /// Positions of symbols in the text, if symbols are not its characters.
    places: Option<Places>,
    /// Texts of the kept symbols, if they are elements.
    elements: Elements,
    /// Values of numbers, if numbers must count evenly.
    counters: Option<Counters>,
    /// The search for recycled elements, if a setting needs it.
    recycled: Option<Recycled>,
    /// The count of returning numbers, if a setting needs it.
    returning: Option<Returning>,
    /// The number and the text of the current recycled stretch's first element, if that element was dropped.
    first: (u64, String),
    /// Tails whose units lack the required letter: lag and first symbol.
    without_letter: Vec<(u32, u64)>,
    /// The number of steps whose facts were emitted.
    told: u64,
    /// Facts of the current piece, with their lags.
    found: Vec<(u32, Fact)>,
}

impl PeriodicMeter {
    fn new(look: Arc<TailConditions>) -> Self {
        Self {
            symbols: look.symbols,
            runs: Runs::new(&look.want),
            places: (!look.symbols.are_chars()).then(Places::default),
            elements: Elements::new(look.symbols.are_elements()),
            counters: (look.symbols.count()).then(|| Counters::new(look.want.max_lag)),
            recycled: (look.min_recycled > 0).then(|| Recycled::new(look.want.max_lag)),
            returning: (look.min_returning > 0).then(|| Returning::new(look.min_returning)),
            first: (0, String::new()),
            without_letter: Vec::new(),
            told: 0,
            found: Vec::new(),
            look,
        }
    }

    fn chars(&mut self, piece: &str) {
        let look = Arc::clone(&self.look);
        let mut rest = piece;
        while let Some(first) = rest.chars().next() {
            if self.runs.room(&look.want) == 0 {
                self.runs.forget(&look.want);
            }
            // A text of `room` bytes has at most `room` chars.
            let room = self.runs.room(&look.want);
            let (block, after) =
                rest.split_at(rest.floor_char_boundary(room).max(first.len_utf8()));
            rest = after;
            self.runs.reserve(&look.want, block.len());
            self.runs.add_chars(block);
            self.read(false);
        }
    }

    fn symbols(&mut self, piece: &str) {
        let look = Arc::clone(&self.look);
        let mut rest = piece;
        while let Some(first) = rest.chars().next() {
            let fenced = self.symbols.fenced();
            let mut most = self.runs.room(&look.want).saturating_sub(MOST);
            if most == 0 {
                self.read(fenced);
                self.tell_going_on(fenced);
                self.forget();
                most = self.runs.room(&look.want).saturating_sub(MOST);
            }
            if self.symbols.follow_fences() {
                // The text before a fence is reported before the fence opens or closes.
                self.read(fenced);
                most = 0;
            }
            // A text of `most` bytes has at most `most` chars, and these complete at most MOST symbols more.
            let cut = rest.floor_char_boundary(most).max(first.len_utf8());
            let (block, after) = rest.split_at(cut);
            rest = after;
            self.reserve(block.len());
            self.symbols.read(
                block,
                &mut Taken {
                    runs: &mut self.runs,
                    places: &mut self.places,
                    elements: &mut self.elements,
                    counters: &mut self.counters,
                    recycled: &mut self.recycled,
                    returning: &mut self.returning,
                },
            );
            if self.symbols.fenced() != fenced {
                self.tell_going_on(fenced);
            }
        }
        self.read(self.symbols.fenced());
    }

    /// Reserves room for the symbols of a text of `bytes` bytes.
    fn reserve(&mut self, bytes: usize) {
        let (want, more) = (&self.look.want, bytes + MOST);
        self.runs.reserve(want, more);
        if let Some(places) = &mut self.places {
            grow(&mut places.ends, more, want.most_kept());
        }
        if let Some(counters) = &mut self.counters {
            counters.reserve(more, want.most_kept());
        }
    }

    /// Reads the added symbols, and reports the tails that end.
    fn read(&mut self, fenced: bool) {
        let look = Arc::clone(&self.look);
        while self.runs.read(&look.want) {
            self.tell_ended(fenced);
        }
    }

    /// Drops old symbols and their positions, except for the origins of current tails.
    fn forget(&mut self) {
        let all: Vec<Run> = self.runs.going_on().collect();
        let left = |run: &Run| match &self.counters {
            Some(counters) => counters.left(*run),
            None => vec![*run],
        };
        let left = all.iter().flat_map(left);
        let origins = left.map(|run| (run, self.origin(run))).collect();
        if let Some(stretch) = self.recycled.as_ref().and_then(Recycled::going_on) {
            self.first = (stretch.first, self.first_of(stretch));
        }
        let old = self.runs.forget(&self.look.want);
        if let Some(places) = &mut self.places {
            places.origins = origins;
            places.ends.drain(..old);
        }
        if let Some(counters) = &mut self.counters {
            counters.forget(old, &all);
        }
        if let Some(returning) = &mut self.returning {
            returning.forget(old);
        }
        self.elements.forget(old);
    }
}

/// The parts of a meter that receive symbols.
struct Taken<'a> {
    runs: &'a mut Runs,
    places: &'a mut Option<Places>,
    elements: &'a mut Elements,
    counters: &'a mut Option<Counters>,
    recycled: &'a mut Option<Recycled>,
    returning: &'a mut Option<Returning>,
}

impl Out for Taken<'_> {
    #[inline]
    fn symbol(&mut self, symbol: u32, value: u64, at: u64) {
        self.runs.add(symbol);
        if let Some(counters) = self.counters {
            counters.add(value);
        }
        if let Some(returning) = self.returning {
            returning.symbol(at);
        }
        let Some(places) = self.places else {
            return;
        };
        places.ends.push(at);
        if let Some(recycled) = self.recycled {
            let start = |number| places.end_of(self.runs.base(), number);
            recycled.add(symbol, value, start);
        }
    }

    #[inline]
    fn chars(&mut self, text: &str, at: RangeInclusive<u64>) {
        let count = at.clone().count();
        self.runs.add_chars(text);
        if let Some(counters) = self.counters {
            counters.add_worthless(count);
        }
        if let Some(returning) = self.returning {
            at.clone().for_each(|at| returning.symbol(at));
        }
        if let Some(places) = self.places {
            places.ends.extend(at);
        }
    }

    #[inline]
    fn number(&mut self, value: u64, at: u64) {
        if let Some(returning) = self.returning {
            returning.number(value, at);
        }
    }

    fn marker(&mut self, at: u64) {
        if let Some(places) = self.places {
            places.mark(at);
        }
    }

    #[inline]
    fn elements(&mut self) -> &mut Elements {
        self.elements
    }
}

impl TextMeter for PeriodicMeter {
    fn push(&mut self, piece: &str, facts: &mut Vec<Fact>) {
        if self.look.symbols.are_plain() {
            self.chars(piece);
        } else {
            self.symbols(piece);
        }
        self.tell_going_on(self.symbols.fenced());
        // Where several are accepted at one char, the shortest period is reported.
        self.found.sort_by_key(|(lag, _)| *lag);
        facts.extend(self.found.drain(..).map(|(_, fact)| fact));
    }
}
