//! Passes a live stream through a guard: reads, judges and copies it. The caller brings the input, the
//! output, signals and threads.

use std::io::{self, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::input::Input;
use crate::commands::repair::Live;
use deadloop_corpus::{Arrival, Problem, Quiet, StreamFormat, StreamReader};
use deadloop_detect::{Alarm, Calls, Chars, Event, Guard, Guards, Pushed, TextChannel};

/// What is known about a stream so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// Bytes read.
    pub(crate) bytes: u64,
    /// Chars of thinking that were judged.
    pub(crate) reasoning: Chars,
    /// Chars of the answer that were judged.
    pub(crate) answer: Chars,
    /// Tool calls that were judged.
    pub(crate) calls: Calls,
    /// The format of the stream; `None` until it is recognised.
    pub(crate) format: Option<StreamFormat>,
    /// Lines that could not be read.
    pub(crate) bad_lines: u64,
    /// The first of these lines.
    pub(crate) problems: Vec<Problem>,
    /// The errors that the server reported in the stream.
    pub(crate) errors: Vec<String>,
    /// The model that the stream named last.
    pub(crate) model: Option<String>,
    /// The alarms of guards that only warn or observe.
    pub(crate) warnings: Vec<Alarm>,
    /// Why the stream would be aborted.
    pub(crate) alarm: Option<Alarm>,
}

/// [`Seen`], for the thread that reads and the one that waits for Ctrl-C.
#[derive(Debug, Default)]
pub(crate) struct Shared(Mutex<Seen>);

impl Shared {
    /// What is known now.
    pub(crate) fn seen(&self) -> Seen {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Seen> {
        // If a thread panicked, the counts are still right.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A stream, its guard and what is known so far.
pub(crate) struct Watching<'a> {
    guard: Guard,
    /// The guards of all models, if the stream may name its model.
    guards: Option<Guards>,
    reader: StreamReader,
    /// The repairers of the stream; their output is then the copy.
    mender: Option<Live>,
    /// How long nothing has come, since `began`.
    quiet: Quiet,
    began: Instant,
    shared: &'a Shared,
}

impl<'a> Watching<'a> {
    /// `shared` is updated before anything is copied.
    pub(crate) fn new(guard: Guard, reader: StreamReader, shared: &'a Shared) -> Self {
        Self {
            guard,
            guards: None,
            reader,
            mender: None,
            quiet: Quiet::default(),
            began: Instant::now(),
            shared,
        }
    }

    /// The same, with a repaired stream: text that is certain goes to the copy as JSON lines.
    pub(crate) fn mending(mut self, mender: Option<Live>) -> Self {
        self.mender = mender;
        self
    }

    /// The same, but from the place where the stream names a model on, with the guard of that model.
    pub(crate) fn by_model(mut self, guards: Guards) -> Self {
        self.guards = Some(guards);
        self
    }

    /// Watches `input` until it ends or the guard alarms. Its bytes are written to `copy` as they arrive,
    /// up to the alarm. `told` is called with new problems and warnings.
    ///
    /// # Errors
    /// Returns an error if `input` cannot be read or `copy` cannot be written.
    pub(crate) fn run(
        mut self,
        mut input: impl Input,
        mut copy: impl Write,
        told: impl Fn(&[Problem], &[Alarm]),
    ) -> io::Result<()> {
        let (mut named, mut warned) = (0, 0);
        loop {
            let came = input.next()?;
            let ended = came.as_ref().is_some_and(Vec::is_empty);
            let arrived = came.as_deref().unwrap_or_default();
            let mut stop = self.silence();
            if stop.is_none() && came.is_some() {
                match arrived {
                    [] => self.reader.end(),
                    _ => self.reader.feed(arrived),
                }
                stop = self.judge(arrived.len() as u64);
            }
            let warnings = self.shared.lock().warnings[warned..].to_vec();
            told(&self.reader.problems()[named..], &warnings);
            named = self.reader.problems().len();
            warned += warnings.len();
            let kept = self.keep(stop, arrived);
            match &mut self.mender {
                None => copy.write_all(&arrived[..kept])?,
                Some(mender) => {
                    if stop.is_none() && ended {
                        mender.finish();
                    }
                    copy.write_all(&mender.take())?;
                }
            }
            copy.flush()?;
            if stop.is_some() || ended {
                return Ok(());
            }
        }
    }

    /// Tells the guard how long nothing has come. Returns the byte after which the stream would be aborted.
    fn silence(&mut self) -> Option<u64> {
        let silent = self.quiet.since(since(self.began))?;
        self.tell(&Event::Silence(silent), &mut self.shared.lock())
    }

    /// Passes the guard an event that is not part of the stream.
    fn tell(&mut self, event: &Event<'_>, seen: &mut Seen) -> Option<u64> {
        let Pushed { decision, warnings } = self.guard.push(event);
        seen.warnings.extend(warnings);
        seen.alarm = Some(decision.into_alarm()?);
        Some(seen.bytes)
    }

    /// Passes the guard the events that have arrived. Returns the byte after which the stream would be
    /// aborted.
    fn judge(&mut self, read: u64) -> Option<u64> {
        let mut stop = None;
        let mut seen = self.shared.lock();
        seen.bytes += read;
        while stop.is_none()
            && let Some(arrival) = self.reader.next_event()
        {
            follow(
                &self.reader,
                &mut seen.model,
                (&self.guards, &mut self.guard),
            );
            let event = arrival.event.seen();
            self.quiet.heard(&event, since(self.began));
            let mut before = Chars(0);
            let chars = match event {
                Event::Text(TextChannel::Reasoning, _) => Some(&mut seen.reasoning),
                Event::Text(..) => Some(&mut seen.answer),
                _ => None,
            };
            if let (Some(chars), Event::Text(_, text)) = (chars, event) {
                before = std::mem::replace(chars, *chars + Chars::of(text));
            }
            let Pushed { decision, warnings } = self.guard.push(&event);
            seen.warnings.extend(warnings);
            if let Some(alarm) = decision.into_alarm() {
                stop = Some(match event {
                    Event::Text(_, text) => {
                        let known = alarm.exact.since(before.into());
                        self.end(&arrival, text, Chars(known))
                    }
                    _ => arrival.end,
                });
                seen.alarm = Some(alarm);
            }
            if let (Some(mender), None) = (&mut self.mender, stop) {
                mender.push(&event);
            }
            seen.calls = seen.calls + Calls(u64::from(matches!(event, Event::Call { .. })));
        }
        // The stream is over; a detector of endings has to know.
        if read == 0 && stop.is_none() {
            stop = self.tell(&Event::Closed, &mut seen);
        }
        follow(
            &self.reader,
            &mut seen.model,
            (&self.guards, &mut self.guard),
        );
        let told = seen.errors.len();
        seen.errors.extend_from_slice(&self.reader.errors()[told..]);
        seen.format = self.reader.format();
        seen.bad_lines = self.reader.bad_lines();
        let named = seen.problems.len();
        seen.problems
            .extend_from_slice(&self.reader.problems()[named..]);
        stop
    }

    /// The byte at which the copy ends for an alarm at char `known` of an event. It is the end of the event.
    /// But plain text comes in pieces of any length, so there it is that very char.
    fn end(&self, arrival: &Arrival, text: &str, known: Chars) -> u64 {
        if self.reader.format() != Some(StreamFormat::Text) {
            return arrival.end;
        }
        let chars = usize::try_from(known.0).unwrap_or(usize::MAX);
        let after = text.char_indices().nth(chars);
        arrival.end - after.map_or(0, |(at, _)| (text.len() - at) as u64)
    }

    /// How many of the bytes that have just arrived are copied. A server-sent event is copied with the blank
    /// line that ends it, if that has arrived.
    fn keep(&self, stop: Option<u64>, arrived: &[u8]) -> usize {
        let Some(stop) = stop else {
            return arrived.len();
        };
        let start = self.shared.lock().bytes - arrived.len() as u64;
        // The alarm may be about text that was held back, and that was copied before.
        let kept = usize::try_from(stop.saturating_sub(start)).unwrap_or(arrived.len());
        let blank = match &arrived[kept..] {
            [b'\n', ..] => 1,
            [b'\r', b'\n', ..] => 2,
            _ => 0,
        };
        match self.reader.format() {
            Some(StreamFormat::Sse) => kept + blank,
            _ => kept,
        }
    }
}

/// The milliseconds since `began`.
fn since(began: Instant) -> u64 {
    u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// Takes a fresh guard if the stream names another model than before.
fn follow(
    reader: &StreamReader,
    known: &mut Option<String>,
    (guards, guard): (&Option<Guards>, &mut Guard),
) {
    let named = reader.model();
    if named.is_none() || named == known.as_deref() {
        return;
    }
    *known = named.map(str::to_owned);
    if let (Some(guards), Some(model)) = (guards, named) {
        *guard = guards.guard(model);
    }
}

#[cfg(test)]
mod tests {
    use super::super::input::read;
    use super::*;
    use deadloop_corpus::ThinkOptions;
    use deadloop_detect::Settings;
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

    /// What is seen of a stream that comes in pieces of `size` bytes, and its copy.
    fn watch(bytes: &[u8], size: usize) -> (Seen, Vec<u8>) {
        let shared = Shared::default();
        let reader = StreamReader::new("x", None, ThinkOptions::default());
        let guard = Guard::new(Settings::default().guard()).unwrap();
        let mut copy = Vec::new();
        let pipe = Pipe {
            bytes,
            size,
            interrupt: false,
        };
        Watching::new(guard, reader, &shared)
            .run(pipe, &mut copy, |_, _| ())
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
                (seen.answer, seen.alarm.map(|a| a.delivered)),
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
