//! [`FoldedSymbols`]: the state of a meter whose symbols are not simply the characters of the text.

use std::ops::RangeInclusive;
use std::sync::Arc;

use super::super::conditions::TailConditions;
use super::super::counting::{
    counters::Counters, element_reuse::ElementReuse, number_reuse::NumberReuse,
};
use super::super::runs::{Tail, Tails};
use super::super::symbols::{MOST, SymbolSink, elements::KeptElements, places::SymbolPlaces};
use super::PeriodicMeter;

/// Positions, texts and numbers of the kept symbols.
pub(super) struct FoldedSymbols {
    /// Positions of symbols in the text, if symbols are not its characters.
    pub(super) places: Option<SymbolPlaces>,
    /// Texts of the kept symbols, if they are elements.
    pub(super) elements: KeptElements,
    /// Values of numbers, if numbers must count evenly.
    pub(super) counters: Option<Counters>,
    /// The search for recycled elements, if a setting needs it.
    pub(super) recycled: Option<ElementReuse>,
    /// The count of returning numbers, if a setting needs it.
    pub(super) returning: Option<NumberReuse>,
    /// The number and the text of the current recycled stretch's first element, if that element was dropped.
    pub(super) first: (u64, String),
}

impl FoldedSymbols {
    pub(super) fn new(look: &TailConditions) -> Self {
        let symbols = &look.symbols;
        Self {
            places: (!symbols.are_chars()).then(SymbolPlaces::default),
            elements: KeptElements::new(symbols.are_elements()),
            counters: symbols.count().then(|| Counters::new(look.want.max_lag)),
            recycled: (look.min_recycled > 0 && symbols.are_elements())
                .then(|| ElementReuse::new(look.want.max_lag)),
            returning: (look.min_returning > 0).then(|| NumberReuse::new(look.min_returning)),
            first: (0, String::new()),
        }
    }
}

impl PeriodicMeter {
    /// Reads text whose symbols are not simply its chars.
    pub(super) fn symbols(&mut self, piece: &str) {
        let look = Arc::clone(&self.look);
        let mut rest = piece;
        while let Some(first) = rest.chars().next() {
            let fenced = self.symbols.is_fenced();
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
            self.runs.reserve(&look.want, block.len() + MOST);
            self.symbols.read(
                block,
                &mut Receiver {
                    runs: &mut self.runs,
                    folded: &mut self.folded,
                },
            );
            if self.symbols.is_fenced() != fenced {
                self.tell_going_on(fenced);
            }
        }
        self.read(self.symbols.is_fenced());
    }

    /// Drops old symbols and their positions, except for the origins of current tails.
    fn forget(&mut self) {
        let all: Vec<Tail> = self.runs.current().collect();
        let left = |run: &Tail| match &self.folded.counters {
            Some(counters) => counters.left(*run),
            None => vec![*run],
        };
        let left = all.iter().flat_map(left);
        let origins = left.map(|run| (run, self.origin(run))).collect();
        if let Some(stretch) = self
            .folded
            .recycled
            .as_ref()
            .and_then(ElementReuse::current_stretch)
        {
            self.folded.first = (stretch.first, self.first_of(stretch));
        }
        let old = self.runs.forget(&self.look.want);
        let folded = &mut self.folded;
        if let Some(places) = &mut folded.places {
            places.origins = origins;
            places.ends.drain(..old);
        }
        if let Some(counters) = &mut folded.counters {
            counters.forget(old, &all);
        }
        if let Some(returning) = &mut folded.returning {
            returning.forget(old);
        }
        folded.elements.forget(old);
    }
}

/// A receiver of the symbols of a text.
struct Receiver<'a> {
    runs: &'a mut Tails,
    folded: &'a mut FoldedSymbols,
}

impl SymbolSink for Receiver<'_> {
    #[inline]
    fn symbol(&mut self, symbol: u32, value: u64, at: u64) {
        self.runs.add(symbol);
        if let Some(counters) = &mut self.folded.counters {
            counters.add(value);
        }
        if let Some(returning) = &mut self.folded.returning {
            returning.symbol(at);
        }
        let Some(places) = &mut self.folded.places else {
            return;
        };
        places.ends.push(at);
        if let Some(recycled) = &mut self.folded.recycled {
            let start = |number| places.end_of(self.runs.base(), number);
            recycled.add(symbol, value, start);
        }
    }

    #[inline]
    fn chars(&mut self, text: &str, at: RangeInclusive<u64>) {
        let count = at.clone().count();
        self.runs.add_chars(text);
        if let Some(counters) = &mut self.folded.counters {
            counters.add_worthless(count);
        }
        if let Some(returning) = &mut self.folded.returning {
            at.clone().for_each(|at| returning.symbol(at));
        }
        if let Some(places) = &mut self.folded.places {
            places.ends.extend(at);
        }
    }

    #[inline]
    fn number(&mut self, value: u64, at: u64, in_time: bool) {
        if let Some(returning) = &mut self.folded.returning {
            returning.number(value, at, in_time);
        }
    }

    fn marker(&mut self, at: u64) {
        if let Some(places) = &mut self.folded.places {
            places.mark(at);
        }
    }

    #[inline]
    fn elements(&mut self) -> &mut KeptElements {
        &mut self.folded.elements
    }
}
