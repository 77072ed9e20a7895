//! [`Refusing`]: one response under its guard, of which a refused call never reaches the client.
//!
//! A call that has gone on cannot be taken back in any API. So where a guard can refuse calls, the events of a call wait
//! until the guard has decided on it, and what follows them waits too. Then they go on as they came, or a text that says
//! what was refused goes on in their place. Only the refused one of several calls is replaced.
//!
//! | to find | look in |
//! |---|---|
//! | bytes into events as the wire has them | `wire_events` |
//! | the calls of a response, and what became of each | `calls` |
//! | how an API says it | `chat`, `responses`, `anthropic`, `lines` |

use std::collections::VecDeque;

use deadloop_detect::Alarm;
use serde_json::{Map, Value};

use crate::ending::written;
use crate::reader::families;
use crate::take::Object;
use crate::{Ending, Step, Watched};

pub(crate) mod anthropic;
mod calls;
pub(crate) mod chat;
pub(crate) mod lines;
pub(crate) mod responses;
mod wire_events;

pub(crate) use calls::WireCalls;
use wire_events::{WireEvents, object_of};

/// Most that waits, in bytes of memory: calls that are not decided, and what follows them. With more they go on.
const HELD: usize = 1 << 20;

/// How an API says that a call was refused.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Replacing {
    /// Whether the client runs the call that begins with this object. What a server runs itself cannot be refused.
    pub(crate) able: fn(&Object) -> bool,
    /// The object without the calls that are refused: each is replaced where it begins. `calls` are those that the pieces
    /// in the object are of, in their order. Any number of objects may come of it.
    pub(crate) replace: Replace,
}

/// See [`Replacing::replace`].
pub(crate) type Replace = fn(object: Object, calls: &[usize], all: &mut WireCalls) -> Vec<Object>;

/// One response under its guard: bytes in, and out what its client gets.
///
/// Where the guard of the response refuses no calls, every byte goes on at once, as [`Watched`] says. Where it does, events
/// go on when they are whole, and those of a call when the guard has decided on it. Of the order of events nothing
/// changes, and without a refusal no byte does; only comments may overtake events that wait, to keep a connection open.
///
/// At most 1 MiB waits. What exceeds it goes on undecided, and a call of it that is refused then ends the response. So does
/// a refused call that cannot be replaced: one that the server runs itself, or of an API that is not one of those above.
///
/// ```
/// use deadloop_stream::detect::{Guards, Settings};
/// use deadloop_stream::{Refusing, ThinkOptions, Watched};
///
/// let settings = Settings::parse("[[guard]]\ndetector = \"duplicate\"\nresponse = \"refuse\"")?;
/// let guards = Guards::new(&settings)?;
/// let watched = Watched::new(guards.clone(), |_| ThinkOptions::default());
/// let mut refusing = Refusing::new(watched, guards.refuses());
/// let call = r#"{"index": N, "id": "N", "function": {"name": "ls", "arguments": "{}"}}"#;
/// let mut got = Vec::new();
/// for n in ["0", "1", "2"] {
///     let chunk = format!(r#"{{"choices": [{{"delta": {{"tool_calls": [{call}]}}}}]}}"#);
///     let event = format!("data: {}\n\n", chunk.replace('N', n));
///     got.extend(refusing.feed(event.as_bytes(), 0).bytes);
/// }
/// got.extend(refusing.end(0).bytes);
/// let got = String::from_utf8(got)?;
/// assert_eq!(got.matches("tool_calls").count(), 2);
/// assert!(got.contains("This call was not run"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Refusing {
    watched: Watched,
    /// Whether some guard that may come refuses calls.
    refuses: bool,
    events: WireEvents,
    waiting: VecDeque<Waiting>,
    /// Bytes of those that wait.
    held: usize,
    calls: WireCalls,
    replacing: Option<Replacing>,
    /// Of what has gone on, where that is not what has come.
    ending: Ending,
    over: bool,
}

/// An event that waits.
#[derive(Debug)]
struct Waiting {
    bytes: Vec<u8>,
    /// The calls that it has pieces of.
    calls: Vec<usize>,
}

impl Waiting {
    /// Bytes that it takes.
    fn size(&self) -> usize {
        size_of::<Self>() + self.bytes.len() + size_of_val(self.calls.as_slice())
    }
}

/// What bytes that have arrived, or a silence, lead to.
#[derive(Debug, Default)]
#[must_use = "the client gets the bytes"]
pub struct Passed {
    /// What the client gets now.
    pub bytes: Vec<u8>,
    /// Why calls were replaced by a text: an alarm for each.
    pub replaced: Vec<Alarm>,
    /// The alarms that nothing follows: those that warn or observe, and refusals where there is no call to refuse.
    pub warnings: Vec<Alarm>,
    /// Why the response ends with these bytes, which then hold its [`Ending`]: the alarm that stops it, or that refuses a
    /// call which has gone on or cannot be replaced.
    pub ended: Option<Alarm>,
}

impl Refusing {
    /// A response of which nothing has come. `refuses` says whether any guard that the response may get refuses calls
    /// ([`Guards::refuses`](deadloop_detect::Guards::refuses)): without one nothing ever waits.
    pub fn new(watched: Watched, refuses: bool) -> Self {
        Self {
            watched,
            refuses,
            events: WireEvents::default(),
            waiting: VecDeque::new(),
            held: 0,
            calls: WireCalls::default(),
            replacing: None,
            ending: Ending::default(),
            over: false,
        }
    }

    /// The response under watch.
    pub fn watched(&self) -> &Watched {
        &self.watched
    }

    /// Takes the next bytes of the response, which came at `now`.
    pub fn feed(&mut self, bytes: &[u8], now: u64) -> Passed {
        let mut passed = Passed::default();
        if self.over {
            return passed;
        }
        if !self.refuses {
            let step = self.watched.feed(bytes, now);
            passed.bytes.extend_from_slice(&bytes[..step.kept]);
            self.decide(step, &mut passed);
            return passed;
        }
        let mut rest = bytes;
        while let Some(event) = self.events.next(&mut rest) {
            self.judge(event, now, &mut passed);
        }
        // What has no end is no event: it does not wait for one.
        if self.events.len() > HELD {
            let open = self.events.take();
            self.judge(open, now, &mut passed);
        }
        passed
    }

    /// Nothing has come up to `now`.
    pub fn silent(&mut self, now: u64) -> Passed {
        let mut passed = Passed::default();
        if !self.over {
            let step = self.watched.silent(now);
            self.decide(step, &mut passed);
        }
        passed
    }

    /// The response is over: nothing waits any more. Nothing is added to a response that is over, unless a call that cannot
    /// be replaced is left out.
    pub fn end(&mut self, now: u64) -> Passed {
        let mut passed = Passed::default();
        if self.over {
            return passed;
        }
        let open = self.events.take();
        self.judge(open, now, &mut passed);
        if self.over {
            return passed;
        }
        let step = self.watched.end(now);
        let ends = self.note(step, &mut passed);
        let stopped = self.watched.alarm().is_some();
        self.release(ends.is_none() || stopped, &mut passed);
        match ends {
            Some(alarm) if !self.waiting.is_empty() => self.finish(alarm, &mut passed),
            ends => passed.ended = ends,
        }
        self.over = true;
        passed
    }

    /// Takes an answer that is not streamed: all of it, one JSON object. Its refused calls are replaced. Without one no byte
    /// changes, and it never ends early: what cannot be replaced is told alone.
    pub fn answer(&mut self, body: &[u8], now: u64) -> Passed {
        let mut passed = Passed::default();
        if let Ok(object) = serde_json::from_slice::<Map<String, Value>>(body) {
            let line = Value::Object(object).to_string() + "\n";
            passed = self.feed(line.as_bytes(), now);
            let end = self.end(now);
            passed.bytes.extend(end.bytes);
            passed.replaced.extend(end.replaced);
            passed.warnings.extend(end.warnings);
            passed.ended = passed.ended.or(end.ended);
        }
        if passed.ended.is_some() {
            passed.warnings.append(&mut passed.replaced);
        }
        passed.warnings.extend(passed.ended.take());
        if passed.replaced.is_empty() {
            passed.bytes = body.to_vec();
        }
        passed
    }

    /// Asks the guard about an event, and passes on what is decided.
    fn judge(&mut self, bytes: Vec<u8>, now: u64, passed: &mut Passed) {
        if self.over || bytes.is_empty() {
            return;
        }
        let step = self.watched.feed(&bytes, now);
        let mut event = Waiting {
            calls: self.mentioned(&bytes),
            bytes,
        };
        event.bytes.truncate(step.kept);
        if wire_events::is_comment(&event.bytes) {
            self.pass(&event.bytes, passed);
        } else {
            self.held += event.size();
            self.waiting.push_back(event);
        }
        self.decide(step, passed);
    }

    /// The calls that the event has pieces of; none where the guard refuses nothing.
    fn mentioned(&mut self, bytes: &[u8]) -> Vec<usize> {
        let pieces = self.watched.pieces();
        if pieces.is_empty() || !self.watched.refuses() {
            return Vec::new();
        }
        let known: Vec<_> = pieces.iter().map(|piece| self.calls.find(piece)).collect();
        let mut able = false;
        if known.iter().any(Option::is_none) {
            let object = object_of(bytes);
            let family = object.as_ref().and_then(families::of);
            self.replacing = family.and_then(|family| family.replacing);
            let asked = object.zip(self.replacing);
            able = asked.is_some_and(|(object, replacing)| (replacing.able)(&object));
        }
        let pieces = pieces.iter();
        pieces.map(|piece| self.calls.take(piece, able)).collect()
    }

    /// Does what a step asks for, and passes on what no longer waits.
    fn decide(&mut self, step: Step, passed: &mut Passed) {
        let stop = self.note(step, passed);
        if let Some(alarm) = stop {
            self.release(self.watched.alarm().is_some(), passed);
            self.finish(alarm, passed);
            return;
        }
        if self.held > HELD {
            let waiting = self.waiting.iter().flat_map(|event| &event.calls);
            self.calls.gone(waiting.copied());
        }
        self.release(false, passed);
    }

    /// Notes what was decided. Returns the alarm that ends the response here.
    fn note(&mut self, step: Step, passed: &mut Passed) -> Option<Alarm> {
        passed.warnings.extend(step.warnings);
        self.calls.decided(self.watched.heard());
        let mut ends = self.watched.alarm().cloned();
        for refused in step.refused {
            match refused.number {
                None => passed.warnings.push(refused.alarm),
                // Its arguments were refused before.
                Some(number) if self.calls.is_refused(number) => {}
                Some(number) if self.calls.refuse(number, &refused) => {
                    passed.replaced.push(refused.alarm);
                }
                Some(_) => drop(ends.get_or_insert(refused.alarm)),
            }
        }
        ends
    }

    /// Passes on the events that wait for nothing, or all of them.
    fn release(&mut self, all: bool, passed: &mut Passed) {
        while let Some(event) = self
            .waiting
            .pop_front_if(|event| all || self.calls.know(&event.calls))
        {
            self.held -= event.size();
            let bytes = if self.calls.any_refused() {
                self.without_refused(&event).unwrap_or(event.bytes)
            } else {
                event.bytes
            };
            self.pass(&bytes, passed);
        }
    }

    /// The event without the calls that are refused; `None` if nothing changes.
    fn without_refused(&mut self, event: &Waiting) -> Option<Vec<u8>> {
        let replacing = self.replacing?;
        let object = object_of(&event.bytes)?;
        let before = object.clone();
        let after = (replacing.replace)(object, &event.calls, &mut self.calls);
        if let [only] = after.as_slice()
            && *only == before
        {
            return None;
        }
        let objects: Vec<Value> = after.into_iter().map(Value::Object).collect();
        let fields = !event.bytes.trim_ascii_start().starts_with(b"{");
        Some(written(&objects, fields).into_bytes())
    }

    fn pass(&mut self, bytes: &[u8], passed: &mut Passed) {
        self.ending.saw(bytes);
        passed.bytes.extend_from_slice(bytes);
    }

    /// The response ends here.
    fn finish(&mut self, alarm: Alarm, passed: &mut Passed) {
        let ending = if self.refuses {
            self.ending.bytes()
        } else {
            self.watched.ending()
        };
        passed.bytes.extend(ending);
        passed.ended = Some(alarm);
        self.over = true;
    }
}

#[cfg(test)]
mod tests;
