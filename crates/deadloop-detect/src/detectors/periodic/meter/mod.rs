//! The meter of one stream, from text to facts.
//!
//! A fact is about a tail of copies of one unit. It extends from the first character at which the loosest setting
//! accepts the tail to the last character that continues it. Copies and characters grow along it, so that one fact
//! serves all thresholds.
//!
//! | to find | look in |
//! |---|---|
//! | the meter | here |
//! | facts of a tail | `facts` |
//! | the repeated unit of a tail | `unit` |
//! | symbols that are not chars: their positions, texts and numbers | `folded_symbols` |
//! | facts that depend on numbers or on recurring elements | `number_facts` |

use std::sync::Arc;

use super::conditions::TailConditions;
use super::counting::few_kinds::FewKinds;
use super::runs::Tails;
use super::symbols::PeriodicSymbols;
use crate::measure::fact::Fact;
use crate::measure::meter::{Recipe, TextMeter};
use crate::settings::params::Params;

use folded_symbols::FoldedSymbols;

mod facts;
mod folded_symbols;
mod number_facts;
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
    symbols: PeriodicSymbols,
    runs: Tails,
    /// The state for symbols that are not chars.
    folded: FoldedSymbols,
    /// The search for few different characters, if a setting needs it.
    few: Option<FewKinds>,
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
            runs: Tails::new(&look.want),
            folded: FoldedSymbols::new(&look),
            few: look
                .finds_few_kinds()
                .then(|| FewKinds::new(look.min_recycled)),
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

    /// Reads the added symbols, and reports the tails that end.
    fn read(&mut self, fenced: bool) {
        let look = Arc::clone(&self.look);
        while self.runs.read(&look.want) {
            self.emit_ended(fenced);
        }
    }
}

impl TextMeter for PeriodicMeter {
    fn push(&mut self, piece: &str, facts: &mut Vec<Fact>) {
        if self.look.symbols.are_plain() {
            self.chars(piece);
        } else {
            self.symbols(piece);
        }
        self.tell_going_on(self.symbols.is_fenced());
        self.emit_few_kinds(piece);
        // If several are accepted at one char, the shortest period is reported.
        self.found.sort_by_key(|(lag, _)| *lag);
        facts.extend(self.found.drain(..).map(|(_, fact)| fact));
    }
}
