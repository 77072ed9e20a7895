//! The meter: converts counts to facts.
//!
//! A fact is omitted if an earlier one had as few new pairs and as many markers.

use std::sync::Arc;

use super::markers::{LastTokens, Markers};
use super::recent::{CirclingWindow, WindowCounts};
use super::tokens::{CirclingToken, CirclingTokenizer};
use super::{CODE, HISTORY, MARKERS, MAX_NEW, MIN_MARKERS, START_AFTER, WINDOW};
use crate::measure::fact::{Bound, Bounds, Clock, Fact};
use crate::measure::meter::{Recipe, TextMeter};
use crate::settings::params::Params;
use crate::settings::value::Value;
use crate::stream::{Chars, Kind};
use crate::text::sentence::Sentence;

/// The denominator of both measures: new pairs per thousand pairs, and markers per thousand chars.
const MILLE: u64 = 1000;

/// The maximum average number of chars per pair of words. Text with fewer pairs is not prose.
const CHARS_A_PAIR: u64 = 40;

/// The parameters, shared by all meters of a recipe. Lengths are in chars.
struct CirclingParams {
    window: u64,
    history: u64,
    markers: Markers,
    max_new: u64,
    min_markers: u64,
    start_after: u64,
    skip_code: bool,
}

/// Returns the recipe of circling meters.
pub(super) fn recipe(params: &Params) -> Recipe {
    let names = params.items(MARKERS).iter().filter_map(Value::as_text);
    let shared = Arc::new(CirclingParams {
        window: params.count(WINDOW),
        history: params.count(HISTORY),
        markers: Markers::new(names),
        max_new: params.count(MAX_NEW),
        min_markers: params.count(MIN_MARKERS),
        start_after: params.count(START_AFTER),
        skip_code: params.text(CODE) == "skip",
    });
    Recipe::text(params, move || {
        Box::new(CirclingMeter::new(Arc::clone(&shared)))
    })
}

/// A meter of one stream.
struct CirclingMeter {
    params: Arc<CirclingParams>,
    tokens: CirclingTokenizer,
    last: LastTokens,
    recent: CirclingWindow,
    frontier: CirclingFrontier,
    sentence: Sentence,
}

impl CirclingMeter {
    fn new(params: Arc<CirclingParams>) -> Self {
        Self {
            tokens: CirclingTokenizer::new(params.skip_code),
            last: LastTokens::default(),
            recent: CirclingWindow::new(params.window, params.history),
            frontier: CirclingFrontier::default(),
            sentence: Sentence::default(),
            params,
        }
    }

    /// Adds a token. Returns a fact if some setting may need it.
    fn add(&mut self, token: CirclingToken) -> Option<Fact> {
        let pair = self.last.push(token.hash);
        let marker = self.params.markers.end(&self.last);
        let counts = self.recent.push(pair, marker, token.end);
        let due = token.end >= self.params.window.max(self.params.start_after)
            && CHARS_A_PAIR * counts.pairs >= self.params.window;
        let (new, markers) = due.then(|| self.measure(counts))?;
        let asked = new <= self.params.max_new && markers >= self.params.min_markers;
        (asked && self.frontier.is_new(new, markers)).then(|| self.fact(token.end, (new, markers)))
    }

    /// Returns the new pairs per thousand, rounded up, and the markers per thousand chars, rounded down. So they
    /// compare with whole thresholds like the exact fractions. Without a list of markers, the number of markers always
    /// suffices.
    fn measure(&self, counts: WindowCounts) -> (u64, u64) {
        let new = (MILLE * counts.new).div_ceil(counts.pairs.max(1));
        let markers = if self.params.markers.is_empty() {
            MILLE
        } else {
            MILLE * counts.markers / self.params.window
        };
        (new, markers)
    }

    fn fact(&self, end: u64, (new, markers): (u64, u64)) -> Fact {
        let bound = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
        let mut bounds = Bounds::from([(MAX_NEW, bound(new))]);
        if !self.params.markers.is_empty() {
            bounds.add(MIN_MARKERS, Bound::Fixed(bound(markers)));
        }
        Fact {
            at: self.tokens.read(),
            until: self.tokens.read(),
            clock: Clock::Chars,
            kind: Kind::NearRepeat,
            bounds,
            asked: Vec::new(),
            check: "circling",
            onset: Chars(end - self.params.window + 1).into(),
            period: Chars(0).into(),
            copies: Bound::Fixed(0),
            unit: self.sentence.text(),
        }
    }
}

impl TextMeter for CirclingMeter {
    fn push(&mut self, piece: &str, facts: &mut Vec<Fact>) {
        for c in piece.chars() {
            self.sentence.read(c);
            for token in self.tokens.push(c).into_iter().flatten() {
                facts.extend(self.add(token));
            }
        }
    }
}

/// The Pareto frontier of the reported facts. Facts that no setting needs are left out.
struct CirclingFrontier {
    /// For each number of markers per thousand chars, the lowest share of new pairs of the facts with at least as many
    /// markers.
    least: Vec<u64>,
}

impl Default for CirclingFrontier {
    fn default() -> Self {
        // This is above every share, so no setting accepts it.
        let least = vec![MILLE + 1; MILLE as usize + 1];
        Self { least }
    }
}

impl CirclingFrontier {
    fn is_new(&mut self, new: u64, markers: u64) -> bool {
        let last = usize::try_from(markers).map_or(self.least.len() - 1, |m| m.min(MILLE as usize));
        if self.least[last] <= new {
            return false;
        }
        let mut lower = self.least[..=last].iter_mut().rev();
        while let Some(least) = lower.next().filter(|least| **least > new) {
            *least = new;
        }
        true
    }
}
