//! Passes a live stream through a guard, and copies it.
//!
//! The caller brings the input, the output, signals and threads.

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

/// The name of the model of a stream that names none.
pub const UNNAMED: &str = "unknown";

/// The state of a watched stream: the counts and alarms so far.
#[derive(Clone, Debug, Default)]
pub struct WatchState {
    /// Number of bytes read.
    pub bytes: u64,
    /// Counts of the text, calls and other events that the guard received.
    pub received: ResponseCounts,
    /// The format of the stream. `None` until it is recognised.
    pub format: Option<StreamFormat>,
    /// The number of lines that could not be read.
    pub bad_lines: u64,
    /// The problems of the first unreadable lines.
    pub problems: Vec<Problem>,
    /// The errors that the server sent in the stream.
    pub errors: Vec<String>,
    /// The first model name in the stream.
    pub model: Option<String>,
    /// The alarms of guards that only warn or observe.
    pub warnings: Vec<Alarm>,
    /// The tool calls that the client must not run.
    pub refused: Vec<RefusedCall>,
    /// The tools of the calls whose arguments could not be repaired.
    pub unmended: Vec<String>,
    /// The alarm that would abort the stream.
    pub alarm: Option<Alarm>,
    /// The guards that cannot judge this kind of stream.
    pub blind: Vec<BlindMember>,
}

/// A [`WatchState`] shared by the reading thread and the thread that waits for Ctrl-C.
#[derive(Debug, Default)]
pub struct SharedWatch {
    state: Mutex<WatchState>,
    stopped: AtomicBool,
}

impl SharedWatch {
    /// Returns a copy of the current state.
    pub fn snapshot(&self) -> WatchState {
        self.lock().clone()
    }

    /// Ends the watch after the current read. The state stays.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::SeqCst);
    }

    /// Returns whether [`stop`](Self::stop) was called.
    pub fn stopped(&self) -> bool {
        self.stopped.load(Ordering::SeqCst)
    }

    fn lock(&self) -> MutexGuard<'_, WatchState> {
        // After a panic of the other thread, the counts are still right.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An event of the watch, reported while the stream continues.
pub enum WatchNews<'a> {
    /// A line that could not be read.
    Problem(&'a Problem),
    /// An alarm that only warns or observes.
    Warning(&'a Alarm),
    /// A tool call that the client must not run.
    Refused(&'a RefusedCall),
    /// Guards that cannot judge this kind of stream.
    Blind(&'a [BlindMember]),
}

/// A function that returns the blind guards of a model on a stream with the given feeds.
pub type BlindMembersFn = Box<dyn Fn(Option<&str>, Feeds) -> Vec<BlindMember> + Send>;

/// A watch over one stream: the guard, the copy and the state so far.
pub struct StreamWatch<'a> {
    watched: WatchedResponse,
    /// The repairers of the stream. Their output replaces the copy.
    mender: Option<LiveRepair>,
    record: Option<WatchRecord>,
    /// Finds blind guards. `None` after it was called.
    blind: Option<BlindMembersFn>,
    /// Whether a blind guard ends the watch.
    strict: bool,
    began: Instant,
    shared: &'a SharedWatch,
}

impl<'a> StreamWatch<'a> {
    /// Creates a watch without repairers and record. `shared` is updated before bytes are copied.
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
    /// alarm. `report` is called with each event to report.
    ///
    /// # Errors
    /// Returns an error if `input` cannot be read, or if `copy` or the record cannot be written.
    pub fn run(
        mut self,
        mut input: impl Input,
        mut copy: impl Write,
        report: impl Fn(WatchNews<'_>),
    ) -> io::Result<()> {
        let mut reported = 0;
        loop {
            let bytes = input.next()?;
            let ended = bytes.as_ref().is_some_and(Vec::is_empty);
            let step = self.process_read(bytes.as_deref());
            let problems = self.watched.problems();
            problems[reported..]
                .iter()
                .for_each(|problem| report(WatchNews::Problem(problem)));
            reported = problems.len();
            step.warnings
                .iter()
                .for_each(|alarm| report(WatchNews::Warning(alarm)));
            step.refused
                .iter()
                .for_each(|refused| report(WatchNews::Refused(refused)));
            let (stop, kept) = (step.decision.stops(), step.kept);
            self.update_shared(step);
            if self.find_blind_guards(&report) {
                return Ok(());
            }
            match &mut self.mender {
                None => copy.write_all(&bytes.unwrap_or_default()[..kept])?,
                Some(mender) => {
                    if !stop && ended {
                        mender.finish();
                    }
                    copy.write_all(&mender.take())?;
                }
            }
            copy.flush()?;
            if stop || ended || self.shared.stopped() {
                let (model, now) = (
                    self.watched.model().unwrap_or(UNNAMED),
                    ms_since(self.began),
                );
                let record = self.record;
                return record.map_or(Ok(()), |record| record.finish(model, now));
            }
        }
    }

    /// Passes one read to the guard: bytes, an empty slice at the end, or `None` after a silence.
    fn process_read(&mut self, bytes: Option<&[u8]>) -> WatchStep {
        let now = ms_since(self.began);
        let (mender, record) = (&mut self.mender, &mut self.record);
        let each = |item: &ResponseEvent<'_>| {
            if let Some(record) = &mut *record {
                record.push(item, now);
            }
            if let (Some(mender), true) = (&mut *mender, item.goes_on) {
                mender.push(&item.event);
            }
        };
        match bytes {
            None => self.watched.silent_each(now, each),
            Some([]) => self.watched.end_each(now, each),
            Some(bytes) => self.watched.feed_each(bytes, now, each),
        }
    }

    /// Updates the shared state after a step.
    fn update_shared(&self, step: WatchStep) {
        let (watched, mut seen) = (&self.watched, self.shared.lock());
        seen.bytes = watched.bytes();
        seen.received = watched.counts();
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

    /// Finds the guards that cannot judge this kind of stream, once the kind is known. Returns `true` if they end the
    /// watch.
    fn find_blind_guards(&mut self, report: &impl Fn(WatchNews<'_>)) -> bool {
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
        report(WatchNews::Blind(&blind));
        self.shared.lock().blind = blind;
        self.strict
    }
}

/// Returns the number of milliseconds since `start`.
fn ms_since(start: Instant) -> u64 {
    u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX)
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
        (shared.snapshot(), copy)
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
                (seen.received.answer, seen.alarm.map(|a| a.delivered)),
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
