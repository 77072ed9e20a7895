//! From text to ratios, and from ratios to facts: a fact is a step of a stair, so many samples in a
//! row and the lowest ratio among them.
//!
//! Deflate costs more than all else here, so few samples are taken where the loosest setting asks for `hold` in a
//! row: one in `hold`, the *probe*. A row that long holds a probe, so where the probe's ratio is too low there is
//! none. Where it is not, the samples since the one before are taken after all, the newest first, up to one that
//! is too low; and the next ones as they come, as long as the row goes on.

use std::sync::{Arc, Mutex, PoisonError};

use flate2::{Compress, Compression, FlushCompress, Status};

use super::{HOLD, REACH, against_history, ratio, times};
use crate::fact::{Bound, Clock, Fact};
use crate::hold::{Hold, Stretch};
use crate::meter::{Recipe, TextMeter};
use crate::params::Params;
use crate::sentence::Sentence;
use crate::stream::{Chars, Kind};

/// What the meters of one recipe share.
struct Look {
    window: u64,
    /// Chars before the window that are known; 0: the window is measured in itself.
    history: u64,
    stride: u64,
    /// Chars at the first sample.
    first: u64,
    level: u32,
    /// The lowest ratio that the loosest setting accepts.
    loosest: i64,
    hold: u64,
    /// Samples from probe to probe: `hold`, or as many as fit into as much text again as one sample reads.
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
        let history = match against_history(params) {
            true => params.count("history"),
            false => 0,
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

    /// Chars that a sample may read: its own, and those of the samples before it that were left out.
    fn keep(&self) -> u64 {
        self.window + self.history + (self.probe - 1) * self.stride
    }

    /// The ratio of the window that ends a text.
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
    /// The last chars: history and window, those of the samples left out, and those since the last sample.
    text: String,
    /// How many they are.
    held: u64,
    read: u64,
    next_sample: u64,
    hold: Hold<1>,
    /// Whether the last sample was taken and is part of a row.
    in_row: bool,
    /// The samples left out since the last one taken.
    left_out: u64,
}

impl CompressionMeter {
    fn new(look: Arc<Look>) -> Self {
        Self {
            text: String::new(),
            held: 0,
            read: 0,
            next_sample: look.first,
            // A stair goes down there: a low number is a high ratio.
            hold: Hold::new([-look.loosest], look.hold),
            in_row: false,
            left_out: 0,
            look,
        }
    }

    /// Takes as much of `piece` as there is before the next sample; gives back the rest.
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

    /// Drops what no sample will read. Not at each piece, which may be a char: only once there is as
    /// much to drop as to keep.
    fn forget(&mut self) {
        let keep = self.look.keep();
        if self.held < 2 * keep {
            return;
        }
        let from = start_of_last(&self.text, keep);
        self.text.drain(..from);
        self.held = keep;
    }

    /// The ratio of the window that ended so many samples ago.
    fn measure(&self, ago: u64) -> i64 {
        let end = start_of_last(&self.text, ago * self.look.stride);
        let mut deflate = self.look.idle.take(&self.look);
        let ratio = self.look.ratio(&self.text[..end], &mut deflate);
        self.look.idle.give_back(deflate);
        ratio
    }

    /// What is due at a sample: nothing between probes, unless a row goes on.
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

    /// Takes the samples that were left out just before this one, as far back as they make a row with it. They are
    /// fewer than any setting asks for, so they tell nothing yet.
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
            // A size does not tell what comes back, nor how often.
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

/// Deflate states that no stream measures with just now. A state is 0.3 MB of tables and keeps nothing from one
/// window to the next, so streams share them: there are as many as threads that measure at once.
#[derive(Default)]
struct Idle(Mutex<Vec<Deflate>>);

impl Idle {
    fn take(&self, look: &Look) -> Deflate {
        let idle = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        // Differences of sizes need no wrapper.
        idle.unwrap_or_else(|| Deflate::new(look.level, look.history == 0))
    }

    fn give_back(&self, deflate: Deflate) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(deflate);
    }
}

/// Deflate, of which only the size of what comes out counts.
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

    /// The deflated size of a text in bytes.
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
