//! Turns text into ratios and ratios into facts. A fact says how many samples in a row there were, and the lowest ratio
//! among them; longer rows have lower ratios, so facts form the steps of a stair (see [`Hold`]).
//!
//! Deflate costs more than all else here, so most samples are skipped. If the loosest setting asks for `hold` samples in
//! a row, only one sample in `hold` is taken, the *probe*: every row of that length contains a probe. If the probe's
//! ratio is too low, there is no such row. If it is high enough, the skipped samples before it are taken after all, from
//! the newest back to one that is too low. Then every sample is taken for as long as the row lasts.

use std::sync::{Arc, Mutex, PoisonError};

use flate2::{Compress, Compression, FlushCompress, Status};

use super::{HOLD, REACH, against_history, ratio, times};
use crate::fact::{Bound, Clock, Fact};
use crate::hold::{Hold, Stretch};
use crate::meter::{Recipe, TextMeter};
use crate::params::Params;
use crate::sentence::Sentence;
use crate::stream::{Chars, Kind};

/// What all meters of one recipe share. Lengths are in chars.
struct Look {
    window: u64,
    /// The length of the text before the window that it is measured against; 0: it is measured alone.
    history: u64,
    stride: u64,
    /// The position of the first sample.
    first: u64,
    /// Deflate's level of effort, up to 9.
    level: u32,
    /// The lowest ratio that the loosest setting accepts, in millionths.
    loosest: i64,
    /// The fewest samples in a row that the loosest setting accepts.
    hold: u64,
    /// Samples from one probe to the next: `hold`, or fewer, so that the text kept is at most twice that of one sample.
    probe: u64,
    idle: Idle,
}

/// What compression meters are made from.
pub(super) fn recipe(params: &Params) -> Recipe {
    let look = Arc::new(Look::new(params));
    Recipe::new(move || Box::new(CompressionMeter::new(Arc::clone(&look))))
}

impl Look {
    fn new(params: &Params) -> Self {
        let (window, stride) = (params.count("window"), params.count("stride").max(1));
        let from = match params.count("min_chars") {
            0 => window,
            n => n,
        };
        let history = if against_history(params) {
            params.count("history")
        } else {
            0
        };
        let hold = params.count(HOLD);
        Self {
            window,
            history,
            stride,
            first: from.next_multiple_of(stride),
            level: u32::try_from(params.count("level")).unwrap_or(6),
            loosest: ratio(params),
            probe: hold.min(1 + (window + history) / stride).max(1),
            idle: Idle::default(),
            hold,
        }
    }

    /// How many chars are kept: those of a sample, and those of the skipped samples before it.
    fn keep(&self) -> u64 {
        self.window + self.history + (self.probe - 1) * self.stride
    }

    /// The ratio of the window at the end of a text, in millionths.
    fn ratio(&self, text: &str, deflate: &mut Deflate) -> i64 {
        let window = start_of_last(text, self.window);
        let bytes = text.as_bytes();
        let alone = deflate.size(&bytes[window..]);
        if self.history == 0 {
            return times((bytes.len() - window) as u64, alone);
        }
        let history = start_of_last(&text[..window], self.history);
        let from = history.max(bytes.len().saturating_sub(REACH));
        if from >= window {
            return times(alone, alone);
        }
        let both = deflate.size(&bytes[from..]);
        let added = both.saturating_sub(deflate.size(&bytes[from..window]));
        times(alone, added.clamp(1, alone))
    }
}

/// Follows one stream.
struct CompressionMeter {
    look: Arc<Look>,
    /// The last chars: history and window, those of skipped samples, and those since the last sample.
    text: String,
    /// The length of `text` in chars.
    held: u64,
    /// All chars so far.
    read: u64,
    /// The position of the next sample.
    next_sample: u64,
    hold: Hold<1>,
    /// Whether the last sample was taken and is part of a row.
    in_row: bool,
    /// How many samples were skipped since the last one taken.
    left_out: u64,
}

impl CompressionMeter {
    fn new(look: Arc<Look>) -> Self {
        Self {
            text: String::new(),
            held: 0,
            read: 0,
            next_sample: look.first,
            // `Hold` looks for low numbers, so ratios are negated.
            hold: Hold::new([-look.loosest], look.hold),
            in_row: false,
            left_out: 0,
            look,
        }
    }

    /// Takes the part of `piece` before the next sample; returns the rest.
    fn take<'a>(&mut self, piece: &'a str) -> &'a str {
        let missing = self.next_sample - self.read;
        let wanted = usize::try_from(missing).unwrap_or(usize::MAX);
        let (chars, end) = match piece.char_indices().nth(wanted) {
            Some((end, _)) => (missing, end),
            None => (Chars::of(piece).0, piece.len()),
        };
        self.text.push_str(&piece[..end]);
        self.held += chars;
        self.read += chars;
        self.forget();
        &piece[end..]
    }

    /// Drops text that no sample will read, once there is as much to drop as to keep: a piece may be a
    /// single char, so dropping at each would be slow.
    fn forget(&mut self) {
        let keep = self.look.keep();
        if self.held < 2 * keep {
            return;
        }
        let from = start_of_last(&self.text, keep);
        self.text.drain(..from);
        self.held = keep;
    }

    /// The ratio of the window that ended `ago` samples before this one, in millionths.
    fn measure(&self, ago: u64) -> i64 {
        let end = start_of_last(&self.text, ago * self.look.stride);
        let mut deflate = self.look.idle.take(&self.look);
        let ratio = self.look.ratio(&self.text[..end], &mut deflate);
        self.look.idle.give_back(deflate);
        ratio
    }

    /// Takes the sample that is due, or skips it: between probes, samples are taken only while a row lasts.
    fn sample(&mut self, facts: &mut Vec<Fact>) {
        if !self.in_row && self.left_out + 1 < self.look.probe {
            self.left_out += 1;
            return;
        }
        let sample = self.measure(0);
        self.in_row = sample >= self.look.loosest;
        if self.in_row {
            self.catch_up();
        }
        self.left_out = 0;
        for stretch in self.hold.push(Some([-sample])) {
            facts.push(self.fact(stretch));
        }
    }

    /// Takes the skipped samples just before this one, as far back as they make a row with it. They are fewer than any
    /// setting asks for, so they make no fact.
    fn catch_up(&mut self) {
        let (left_out, loosest) = (self.left_out, self.look.loosest);
        let each = (1..=left_out).map(|ago| self.measure(ago));
        let row: Vec<i64> = each.take_while(|x| *x >= loosest).collect();
        for sample in row.iter().rev() {
            self.hold.push(Some([-sample]));
        }
    }

    fn fact(&self, stretch: Stretch<1>) -> Fact {
        let samples = stretch.samples as u64;
        let first = self.read - (samples - 1) * self.look.stride;
        let [highest] = stretch.highest;
        let count = i64::try_from(samples).unwrap_or(i64::MAX);
        let from = start_of_last(&self.text, self.look.window);
        Fact {
            at: self.read,
            until: self.read,
            clock: Clock::Chars,
            kind: Kind::NearRepeat,
            bounds: vec![Bound::Fixed(-highest), Bound::Fixed(count)],
            asked: Vec::new(),
            check: "compression",
            onset: Chars(first.saturating_sub(self.look.window)).into(),
            // A compressed size says neither what is repeated nor how often.
            period: Chars(0).into(),
            copies: Bound::Fixed(0),
            unit: Sentence::of(&self.text[from..]),
        }
    }
}

impl TextMeter for CompressionMeter {
    fn push(&mut self, piece: &str, facts: &mut Vec<Fact>) {
        let mut rest = piece;
        while !rest.is_empty() {
            rest = self.take(rest);
            if self.read == self.next_sample {
                self.sample(facts);
                self.next_sample += self.look.stride;
            }
        }
    }
}

/// Where the last `chars` chars of a text begin, in bytes.
fn start_of_last(text: &str, chars: u64) -> usize {
    let before = usize::try_from(chars).unwrap_or(usize::MAX);
    match before.checked_sub(1) {
        None => text.len(),
        Some(n) => text.char_indices().rev().nth(n).map_or(0, |(i, _)| i),
    }
}

/// Deflate states that no stream uses at the moment. A state is 0.3 MB of tables and keeps nothing from one window to
/// the next, so streams share them: there are only as many states as threads that measure at once.
#[derive(Default)]
struct Idle(Mutex<Vec<Deflate>>);

impl Idle {
    fn take(&self, look: &Look) -> Deflate {
        let idle = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        // Against history only differences of sizes count, so the zlib wrapper is left out.
        idle.unwrap_or_else(|| Deflate::new(look.level, look.history == 0))
    }

    fn give_back(&self, deflate: Deflate) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(deflate);
    }
}

/// A deflate state whose output is thrown away: only its size counts.
struct Deflate {
    state: Compress,
    scratch: Vec<u8>,
}

impl Deflate {
    fn new(level: u32, wrapper: bool) -> Self {
        Self {
            state: Compress::new(Compression::new(level), wrapper),
            scratch: vec![0; 4096],
        }
    }

    /// The deflated size of a text, in bytes.
    fn size(&mut self, text: &[u8]) -> u64 {
        self.state.reset();
        loop {
            let done = usize::try_from(self.state.total_in()).unwrap_or(usize::MAX);
            let rest = text.get(done..).unwrap_or_default();
            let finish = FlushCompress::Finish;
            match self.state.compress(rest, &mut self.scratch, finish) {
                Ok(Status::Ok) => {}
                Ok(_) | Err(_) => return self.state.total_out(),
            }
        }
    }
}
