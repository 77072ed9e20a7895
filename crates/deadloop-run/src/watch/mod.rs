//! Passes a live stream through a guard.
//!
//! The stream is read, judged and copied. The caller brings the input, the output, signals and threads.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use deadloop_corpus::{Problem, StreamFormat};
use deadloop_detect::{Alarm, BlindMember, Feeds};
use deadloop_stream::{RefusedCall, ResponseCounts, ResponseEvent, WatchStep, WatchedResponse};

use crate::repair::LiveRepair;

mod input;
mod parts;
mod record;

pub use input::{Input, ThreadedInput};
pub use parts::{WatchParts, WatchThink};
pub use record::{StreamRecording, WatchRecord};

/// The model of a stream that does not name one.
pub const UNNAMED: &str = "unknown";

/// The state of a watched stream so far.
#[derive(Clone, Debug, Default)]
pub struct WatchState {
    /// Bytes read.
    pub bytes: u64,
    /// The counts of the judged events.
    pub heard: ResponseCounts,
    /// The format of the stream; `None` until it is recognised.
    pub format: Option<StreamFormat>,
    /// The number of lines that could not be read.
    pub bad_lines: u64,
    /// The first of the bad lines.
    pub problems: Vec<Problem>,
    /// The errors that the server reported in the stream.
    pub errors: Vec<String>,
    /// The model that the stream named first.
    pub model: Option<String>,
    /// The alarms of guards that only warn or observe.
    pub warnings: Vec<Alarm>,
    /// The calls that must not be run.
    pub refused: Vec<RefusedCall>,
    /// The tools of the calls whose arguments no repairer could mend.
    pub unmended: Vec<String>,
    /// The alarm that would abort the stream.
    pub alarm: Option<Alarm>,
    /// The guards that this stream can never feed, with `--strict`.
    pub blind: Vec<BlindMember>,
}

/// A [`WatchState`], shared by the reading thread and the thread that waits for Ctrl-C.
#[derive(Debug, Default)]
pub struct SharedWatch {
    seen: Mutex<WatchState>,
    stopped: AtomicBool,
}

impl SharedWatch {
    /// Returns a copy of the current state.
    pub fn seen(&self) -> WatchState {
        self.lock().clone()
    }

    /// Ends the watch now. The state so far stays.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::SeqCst);
    }

    /// Returns whether [`stop`](Self::stop) was called.
    pub fn stopped(&self) -> bool {
        self.stopped.load(Ordering::SeqCst)
    }

    fn lock(&self) -> MutexGuard<'_, WatchState> {
        // If a thread panicked, the counts are still right.
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An event to report while the stream goes on.
pub enum WatchNews<'a> {
    /// A line that could not be read.
    Problem(&'a Problem),
    /// An alarm that only warns or observes.
    Warning(&'a Alarm),
    /// A call that must not be run.
    Refused(&'a RefusedCall),
    /// Guards that this stream can never feed.
    Blind(&'a [BlindMember]),
}

/// A function that returns the guards of a model that a stream can never feed.
pub type BlindMembersFn = Box<dyn Fn(Option<&str>, Feeds) -> Vec<BlindMember> + Send>;

/// A stream with its guard and its state so far.
pub struct StreamWatch<'a> {
    watched: WatchedResponse,
    /// The repairers of the stream, whose output replaces the copy.
    mender: Option<LiveRepair>,
    record: Option<WatchRecord>,
    /// The search for blind guards, until it has run.
    blind: Option<BlindMembersFn>,
    /// Whether a blind guard ends the watch.
    strict: bool,
    began: Instant,
    shared: &'a SharedWatch,
}

impl<'a> StreamWatch<'a> {
    /// Creates a watch. `shared` is updated before anything is copied.
    pub fn new(watched: WatchedResponse, shared: &'a SharedWatch) -> Self {
        Self {
            watched,
            mender: None,
            record: None,
            blind: None,
            strict: false,
            began: Instant::now(),
            shared,
        }
    }

    /// Watches `input` until it ends or the guard stops it. Its bytes are written to `copy` as they arrive, up to the
    /// alarm. `told` is called with each event to report.
    ///
    /// # Errors
    /// Returns an error if `input` cannot be read, or if `copy` or the record cannot be written.
    pub fn run(
        mut self,
        mut input: impl Input,
        mut copy: impl Write,
        told: impl Fn(WatchNews<'_>),
    ) -> io::Result<()> {
        let mut named = 0;
        loop {
            let came = input.next()?;
            let ended = came.as_ref().is_some_and(Vec::is_empty);
            let step = self.step(came.as_deref());
            let problems = self.watched.problems();
            problems[named..]
                .iter()
                .for_each(|problem| told(WatchNews::Problem(problem)));
            named = problems.len();
            step.warnings
                .iter()
                .for_each(|alarm| told(WatchNews::Warning(alarm)));
            step.refused
                .iter()
                .for_each(|refused| told(WatchNews::Refused(refused)));
            let (stop, kept) = (step.decision.stops(), step.kept);
            self.note(step);
            if self.is_blind(&told) {
                return Ok(());
            }
            match &mut self.mender {
                None => copy.write_all(&came.unwrap_or_default()[..kept])?,
                Some(mender) => {
                    if !stop && ended {
                        mender.finish();
                    }
                    copy.write_all(&mender.take())?;
                }
            }
            copy.flush()?;
            if stop || ended || self.shared.stopped() {
                let (model, now) = (self.watched.model().unwrap_or(UNNAMED), since(self.began));
                let record = self.record;
                return record.map_or(Ok(()), |record| record.finish(model, now));
            }
        }
    }

    /// Handles a read: bytes, an empty slice at the end, or `None` after a silence.
    fn step(&mut self, came: Option<&[u8]>) -> WatchStep {
        let now = since(self.began);
        let (mender, record) = (&mut self.mender, &mut self.record);
        let each = |told: &ResponseEvent<'_>| {
            if let Some(record) = &mut *record {
                record.push(told, now);
            }
            if let (Some(mender), true) = (&mut *mender, told.goes_on) {
                mender.push(&told.event);
            }
        };
        match came {
            None => self.watched.silent_each(now, each),
            Some([]) => self.watched.end_each(now, each),
            Some(bytes) => self.watched.feed_each(bytes, now, each),
        }
    }

    /// Updates the shared state.
    fn note(&self, step: WatchStep) {
        let (watched, mut seen) = (&self.watched, self.shared.lock());
        seen.bytes = watched.bytes();
        seen.heard = watched.counts();
        seen.format = watched.format();
        seen.bad_lines = watched.bad_lines();
        seen.problems = watched.problems().to_vec();
        seen.errors = watched.errors().to_vec();
        seen.model = watched.model().map(str::to_owned);
        seen.alarm = watched.alarm().cloned();
        seen.unmended = self
            .mender
            .iter()
            .flat_map(LiveRepair::refused)
            .cloned()
            .collect();
        seen.warnings.extend(step.warnings);
        seen.refused.extend(step.refused);
    }

    /// Searches once for guards that the stream can never feed, as soon as the stream's kind is known. Returns
    /// whether they end the watch.
    fn is_blind(&mut self, told: &impl Fn(WatchNews<'_>)) -> bool {
        let heard = self.watched.counts() != ResponseCounts::default();
        let (Some(feeds), true) = (self.watched.feeds(), heard) else {
            return false;
        };
        let Some(blind) = self.blind.take() else {
            return false;
        };
        let blind = blind(self.watched.model(), feeds);
        if blind.is_empty() {
            return false;
        }
        told(WatchNews::Blind(&blind));
        self.shared.lock().blind = blind;
        self.strict
    }
}

/// Returns the milliseconds since `began`.
fn since(began: Instant) -> u64 {
    u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::input::read;
    use super::*;
    use deadloop_corpus::{StreamReader, ThinkOptions};
    use deadloop_detect::{Chars, Guard, Settings};
    use std::io::{ErrorKind, Read};

    /// Gives `size` bytes a read, and an interruption before each.
    struct Pipe<'a> {
        bytes: &'a [u8],
        size: usize,
        interrupt: bool,
    }

    impl Read for Pipe<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.interrupt = !self.interrupt;
            if self.interrupt {
                return Err(ErrorKind::Interrupted.into());
            }
            let (now, later) = self.bytes.split_at(self.size.min(self.bytes.len()));
            self.bytes = later;
            buffer[..now.len()].copy_from_slice(now);
            Ok(now.len())
        }
    }

    impl Input for Pipe<'_> {
        fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
            read(self).map(Some)
        }
    }

    /// Returns the observations on a stream in pieces of `size` bytes, and its copy.
    fn watch(bytes: &[u8], size: usize) -> (WatchState, Vec<u8>) {
        let shared = SharedWatch::default();
        let reader = StreamReader::new("x", None, ThinkOptions::default());
        let guard = Guard::new(Settings::default().guard()).unwrap();
        let watched = WatchedResponse::with(guard, reader);
        let mut copy = Vec::new();
        let pipe = Pipe {
            bytes,
            size,
            interrupt: false,
        };
        StreamWatch::new(watched, &shared)
            .run(pipe, &mut copy, |_| ())
            .unwrap();
        (shared.seen(), copy)
    }

    #[test]
    fn the_copy_of_text_ends_at_the_char_however_it_came() {
        // A part of a tag is held back where the alarm becomes known.
        for start in ["<think>", "", "<think>\u{fffd}"] {
            let stream = start.to_owned() + &"再想一想<".repeat(1000);
            let thought = &stream[if start.is_empty() { 0 } else { 7 }..];
            // The copies begin after what follows the tag.
            let known = 180 + start.trim_start_matches("<think>").chars().count();
            let end = thought.char_indices().nth(known).unwrap().0 + stream.len() - thought.len();
            for size in [1, 2, 5, 700, stream.len()] {
                let (seen, copy) = watch(stream.as_bytes(), size);
                assert_eq!(
                    seen.alarm.unwrap().exact,
                    Chars(known as u64).into(),
                    "{start} {size}"
                );
                // Byte by byte, two of the next char have gone out before `<` was known to be text.
                assert!((end..=end + 2).contains(&copy.len()), "{start} {size}");
                assert!(stream.as_bytes().starts_with(&copy));
            }
        }
    }

    #[test]
    fn the_copy_of_events_ends_with_the_line_however_it_came() {
        let event = "data: {\"choices\":[{\"delta\":{\"content\":\"再想一想！\"}}]}\r\n\r\n";
        let stream = event.repeat(1000);
        for size in [1, 2, 5, 700, stream.len()] {
            let (seen, copy) = watch(stream.as_bytes(), size);
            assert_eq!(
                (seen.heard.answer, seen.alarm.map(|a| a.delivered)),
                (Chars(180), Some(Chars(180).into()))
            );
            // The blank line goes with it where it has come.
            let whole = event.len() * 36;
            assert!(
                [whole, whole - 2].contains(&copy.len()),
                "{size}: {}",
                copy.len()
            );
            assert!(stream.as_bytes().starts_with(&copy));
        }
        let (seen, copy) = watch(event.as_bytes(), 3);
        assert_eq!(
            (seen.bytes, copy.as_slice()),
            (event.len() as u64, event.as_bytes())
        );
        assert!(seen.alarm.is_none());
    }
}
