//! The meter: converts tokens to facts.
//!
//! A fact holds a number of consecutive samples, and the highest shares among them. Longer stretches have higher shares
//! (see [`SampleTracker`]).

use std::collections::VecDeque;
use std::sync::Arc;

use super::recent::NoveltyWindow;
use super::tokens::{NoveltyToken, NoveltyTokenizer};
use super::{HOLD, SHARES};
use crate::measure::fact::{Bound, Bounds, Clock, Fact};
use crate::measure::meter::{Recipe, TextMeter};
use crate::measure::sample_tracker::{SampleStretch, SampleTracker};
use crate::settings::param::DECIMAL;
use crate::settings::params::Params;
use crate::stream::{Chars, Kind};
use crate::text::hash::{BASE, spread};
use crate::text::sentence::LazySentence;

/// The parameters, shared by all meters of a recipe. Lengths are in chars, and an n-gram has `n` tokens.
struct NoveltyParams {
    fold: bool,
    n: usize,
    window: u64,
    history: u64,
    stride: u64,
    /// The maximum shares of the loosest setting, in millionths, in the order of [`SHARES`].
    loosest: [i64; SHARES.len()],
    /// The minimum number of consecutive samples of the loosest setting.
    hold: u64,
}

/// The maximum number of chars that are read before old items are dropped.
const AT_ONCE: u64 = 1024;

/// Returns the recipe of novelty meters.
pub(super) fn recipe(params: &Params) -> Recipe {
    let look = Arc::new(NoveltyParams::new(params));
    Recipe::text(params, move || {
        Box::new(NoveltyMeter::new(Arc::clone(&look)))
    })
}

impl NoveltyParams {
    fn new(params: &Params) -> Self {
        Self {
            fold: params.text("numbers") == "fold",
            n: usize::try_from(params.count("n")).unwrap_or(1),
            window: params.count("window"),
            history: params.count("history"),
            stride: params.count("stride").max(1),
            loosest: SHARES.map(|name| super::number(params, name)),
            hold: params.count(HOLD),
        }
    }

    /// Returns the position of the first sample, in chars.
    fn first(&self) -> u64 {
        (self.window + self.history.min(self.window)).next_multiple_of(self.stride)
    }
}

/// A meter of one stream.
struct NoveltyMeter {
    look: Arc<NoveltyParams>,
    tokens: NoveltyTokenizer,
    grams: RollingGram,
    recent_tokens: NoveltyWindow,
    recent_grams: NoveltyWindow,
    hold: SampleTracker<{ SHARES.len() }>,
    sentence: LazySentence,
    read: u64,
    next_sample: u64,
}

impl NoveltyMeter {
    fn new(look: Arc<NoveltyParams>) -> Self {
        Self {
            tokens: NoveltyTokenizer::new(look.fold),
            grams: RollingGram::new(look.n),
            recent_tokens: NoveltyWindow::default(),
            recent_grams: NoveltyWindow::default(),
            hold: SampleTracker::new(look.loosest, look.hold),
            sentence: LazySentence::default(),
            read: 0,
            next_sample: look.first(),
            look,
        }
    }

    /// Returns the start of a text up to the next sample, and its number of chars.
    fn before_sample<'t>(&self, text: &'t str) -> (&'t str, u64) {
        let most = (self.next_sample - self.read).min(AT_ONCE);
        let mut rest = text.chars();
        // The last sample was taken, so `most` is at least 1.
        let last = usize::try_from(most - 1).unwrap_or(usize::MAX);
        match rest.nth(last) {
            Some(_) => (&text[..text.len() - rest.as_str().len()], most),
            None => (text, text.chars().count() as u64),
        }
    }

    /// Reads text without a sample before its end.
    fn read(&mut self, text: &str, chars: u64) {
        let Self {
            tokens,
            grams,
            recent_tokens,
            recent_grams,
            ..
        } = self;
        tokens.read(text, |token| {
            recent_tokens.push(token);
            if let Some(gram) = grams.push(token) {
                recent_grams.push(gram);
            }
        });
        self.read += chars;
        // Old items are dropped between samples, which may be far apart.
        self.advance();
    }

    fn advance(&mut self) {
        let window = self.read.saturating_sub(self.look.window);
        let history = window.saturating_sub(self.look.history);
        self.recent_tokens.advance(window, history);
        self.recent_grams.advance(window, history);
    }

    fn sample(&mut self, facts: &mut Vec<Fact>) {
        self.advance();
        let (new, all) = self.recent_grams.new_in_window();
        let (tokens, grams) = (self.recent_tokens.distinct(), self.recent_grams.distinct());
        // A window without an n-gram has no shares.
        let sample = (all > 0).then(|| [share((new, all)), share(tokens), share(grams)]);
        for stretch in self.hold.push(sample) {
            facts.push(self.fact(stretch));
        }
    }

    fn fact(&mut self, stretch: SampleStretch<{ SHARES.len() }>) -> Fact {
        let samples = stretch.samples as u64;
        let first = self.read - (samples - 1) * self.look.stride;
        let onset = first.saturating_sub(self.look.window);
        let period = self.recent_grams.distance();
        let copies = (self.read - onset).checked_div(period).map_or(0, |n| n + 1);
        let mut bounds = Bounds::from([(HOLD, fixed_bound(samples))]);
        for (param, highest) in SHARES.into_iter().zip(stretch.highest) {
            bounds.add(param, Bound::Fixed(highest));
        }
        Fact {
            at: self.read,
            until: self.read,
            clock: Clock::Chars,
            kind: Kind::NearRepeat,
            bounds,
            asked: Vec::new(),
            check: "novelty",
            onset: Chars(onset).into(),
            period: Chars(period).into(),
            copies: fixed_bound(copies),
            unit: self.sentence.text(),
        }
    }
}

impl TextMeter for NoveltyMeter {
    fn push(&mut self, piece: &str, facts: &mut Vec<Fact>) {
        let mut rest = piece;
        while !rest.is_empty() {
            let (text, chars) = self.before_sample(rest);
            self.read(text, chars);
            self.sentence.push(text);
            rest = &rest[text.len()..];
            if self.read == self.next_sample {
                self.sample(facts);
                self.next_sample += self.look.stride;
            }
        }
    }
}

/// Returns a share in millionths, rounded up. So it compares with a setting like the exact share.
fn share((part, all): (u64, u64)) -> i64 {
    let millionths = (part * DECIMAL.unsigned_abs()).div_ceil(all.max(1));
    i64::try_from(millionths).unwrap_or(i64::MAX)
}

fn fixed_bound(count: u64) -> Bound {
    Bound::Fixed(i64::try_from(count).unwrap_or(i64::MAX))
}

/// The last `n` tokens and their rolling hash.
struct RollingGram {
    tokens: VecDeque<NoveltyToken>,
    n: usize,
    hash: u64,
    /// [`BASE`] to the power `n`: the factor of the hash of a leaving token.
    leaving: u64,
}

impl RollingGram {
    fn new(n: usize) -> Self {
        Self {
            tokens: VecDeque::with_capacity(n + 1),
            n,
            hash: 0,
            leaving: (0..n).fold(1, |power: u64, _| power.wrapping_mul(BASE)),
        }
    }

    /// Adds a token. Returns the n-gram that it completes.
    fn push(&mut self, token: NoveltyToken) -> Option<NoveltyToken> {
        self.tokens.push_back(token);
        self.hash = self.hash.wrapping_mul(BASE).wrapping_add(token.hash);
        if self.tokens.len() > self.n
            && let Some(old) = self.tokens.pop_front()
        {
            let gone = old.hash.wrapping_mul(self.leaving);
            self.hash = self.hash.wrapping_sub(gone);
        }
        let first = self.tokens.front()?;
        (self.tokens.len() == self.n).then(|| NoveltyToken {
            hash: spread(self.hash),
            start: first.start,
        })
    }
}
