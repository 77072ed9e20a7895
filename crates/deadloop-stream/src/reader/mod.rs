//! [`StreamReader`]: reads one response's live stream, bytes in, events out.
//!
//! The reader takes plain text, JSON lines and server-sent events, and recognises the format. It does no I/O and never
//! fails: unreadable parts are counted, reported and skipped.
//!
//! | to find | look in |
//! |---|---|
//! | recognition of the format by the first bytes | `head` |
//! | plain text: incomplete chars, `<think>` | `text` |
//! | splitting of bytes into lines and JSON objects | `lines`, `frames` |
//! | the parsers of each API's objects | `families` |

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;

use crate::wire::WireFault;
use deadloop_detect::OwnedEvent;

use crate::{MAX_LINE, Place, Problem, ThinkOptions};

pub mod content;
pub mod families;
mod frames;
mod head;
mod lines;
mod objects;
mod text;

pub use frames::{Frame, FrameResult, Frames, object};
use objects::ObjectReader;
use text::PlainTextReader;

deadloop_detect::words! {
    /// The format of a stream.
    pub enum StreamFormat {
        /// Plain text: an answer, possibly after thinking in `<think>` and `</think>`.
        Text = "text",
        /// JSON lines with one object each: events of a transcript, or chunks of an API.
        Jsonl = "jsonl",
        /// Server-sent events whose `data` is an object, as in JSON lines. Bare objects are read too.
        Sse = "sse",
    }
}

/// An event of a stream, and the position of its end.
#[derive(Clone, Debug, PartialEq)]
pub struct Arrival {
    /// The event in the form that detectors take. Texts are never empty.
    pub event: OwnedEvent,
    /// The byte offset in the stream after the line that held the event, its line end included. In plain text, the
    /// offset after the event's last char.
    pub end: u64,
}

/// Function that returns the split options for a model's name.
pub type ThinkLookup = Box<dyn Fn(&str) -> ThinkOptions + Send + Sync>;

/// The maximum number of problems and error messages that are kept. Further ones are only counted.
const MAX_REPORTED_PARTS: usize = 20;

/// Reader of one stream.
///
/// Pass each arriving piece to [`feed`](Self::feed), then call [`next_event`](Self::next_event) until it returns `None`.
/// At the end of the stream call [`end`](Self::end) and take the remaining events. The events do not depend on how the
/// bytes were cut, except that each piece of plain text becomes its own event.
///
/// Memory is bounded by the size of one `feed` and of one line, which has at most [`MAX_LINE`] bytes or the limit of
/// [`with_lines_up_to`](Self::with_lines_up_to). A longer line counts as unreadable.
///
/// ```
/// use deadloop_stream::detect::{OwnedEvent, TextChannel};
/// use deadloop_stream::{StreamReader, ThinkOptions};
///
/// let mut reader = StreamReader::new("stdin", None, ThinkOptions::default());
/// reader.feed(b"data: {\"choices\":[{\"delta\":{\"content\":\"4");
/// assert_eq!(reader.next_event(), None);
/// reader.feed(b"2\"}}]}\n");
/// let event = reader.next_event().map(|arrival| arrival.event);
/// assert_eq!(event, Some(OwnedEvent::Text(TextChannel::Answer, "42".into())));
/// ```
pub struct StreamReader {
    stage: ReaderStage,
    think: ThinkOptions,
    by_model: Option<ThinkLookup>,
    /// The maximum length of a line, in bytes.
    limit: usize,
    ready: VecDeque<Arrival>,
    bad: BadParts,
    ended: bool,
}

enum ReaderStage {
    /// The first bytes, while the format is not recognised.
    Head(Vec<u8>),
    Text(PlainTextReader),
    Objects(Box<ObjectReader>),
}

impl StreamReader {
    /// Returns a reader of a stream that is called `name` in problems. Without a `format`, it is recognised by the
    /// first bytes. `think` are the options for splitting text that may contain `<think>`.
    pub fn new(
        name: impl Into<PathBuf>,
        format: Option<StreamFormat>,
        think: ThinkOptions,
    ) -> Self {
        Self {
            stage: format.map_or(ReaderStage::Head(Vec::new()), |f| {
                ReaderStage::new(f, f, think.clone())
            }),
            think,
            by_model: None,
            limit: MAX_LINE,
            ready: VecDeque::new(),
            bad: BadParts::new(name.into()),
            ended: false,
        }
    }

    /// Sets a function from model name to think options, applied once the stream names its model. Plain text never
    /// does.
    #[must_use]
    pub fn splitting_by(
        mut self,
        by_model: impl Fn(&str) -> ThinkOptions + Send + Sync + 'static,
    ) -> Self {
        let by_model: ThinkLookup = Box::new(by_model);
        match &mut self.stage {
            ReaderStage::Objects(objects) => objects.set_think_lookup(Some(by_model)),
            _ => self.by_model = Some(by_model),
        }
        self
    }

    /// Sets the maximum length of a line in bytes, by default [`MAX_LINE`]. Must be called before [`feed`](Self::feed).
    /// Ignored for plain text.
    #[must_use]
    pub fn with_lines_up_to(mut self, bytes: usize) -> Self {
        self.limit = bytes;
        if let ReaderStage::Objects(objects) = &mut self.stage {
            objects.set_limit(bytes);
        }
        self
    }

    /// Returns the first model named in the stream.
    pub fn model(&self) -> Option<&str> {
        match &self.stage {
            ReaderStage::Objects(objects) => objects.model(),
            _ => None,
        }
    }

    /// Returns whether transcript events have come, so that the stream may be an agent run.
    pub(crate) fn may_be_run(&self) -> bool {
        match &self.stage {
            ReaderStage::Objects(objects) => objects.may_be_run(),
            _ => false,
        }
    }

    /// Returns the server's error messages, at most 20.
    pub fn errors(&self) -> &[String] {
        match &self.stage {
            ReaderStage::Objects(objects) => objects.errors(),
            _ => &[],
        }
    }

    /// Adds the next bytes of the stream.
    pub fn feed(&mut self, bytes: &[u8]) {
        match &mut self.stage {
            ReaderStage::Head(head) => {
                head.extend_from_slice(bytes);
                self.recognize_format();
            }
            ReaderStage::Text(text) => text.feed(bytes, &mut self.ready, &mut self.bad),
            ReaderStage::Objects(objects) => objects.feed(bytes),
        }
    }

    /// Ends the stream and releases held back text.
    pub fn end(&mut self) {
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        self.recognize_format();
        match &mut self.stage {
            ReaderStage::Head(_) => {}
            ReaderStage::Text(text) => text.end(&mut self.ready, &mut self.bad),
            ReaderStage::Objects(objects) => objects.end(),
        }
    }

    /// Returns the next finished event. `None` until more bytes are fed.
    pub fn next_event(&mut self) -> Option<Arrival> {
        if let ReaderStage::Objects(objects) = &mut self.stage {
            objects.read_until_event(&mut self.ready, &mut self.bad);
        }
        self.ready.pop_front()
    }

    /// Returns the format. `None` until it is recognised.
    pub fn format(&self) -> Option<StreamFormat> {
        match &self.stage {
            ReaderStage::Head(_) => None,
            ReaderStage::Text(_) => Some(StreamFormat::Text),
            ReaderStage::Objects(objects) => Some(objects.format()),
        }
    }

    /// Returns the number of unreadable lines. In plain text, the number of byte sequences that are not UTF-8.
    pub fn bad_lines(&self) -> u64 {
        self.bad.count
    }

    /// Returns the first problems with unreadable lines, at most 20.
    pub fn problems(&self) -> &[Problem] {
        &self.bad.problems
    }

    fn recognize_format(&mut self) {
        let ReaderStage::Head(head) = &mut self.stage else {
            return;
        };
        if let Some(format) = head::recognize(head, self.ended) {
            let head = std::mem::take(head);
            // A stream that was recognised by its content may have both kinds of lines.
            let parsed_as = match format {
                StreamFormat::Jsonl => StreamFormat::Sse,
                other => other,
            };
            self.stage = ReaderStage::new(format, parsed_as, self.think.clone());
            if let ReaderStage::Objects(objects) = &mut self.stage {
                objects.set_limit(self.limit);
                objects.set_think_lookup(self.by_model.take());
            }
            self.feed(&head);
        }
    }
}

impl ReaderStage {
    /// Returns the stage for a stream of the reported `format`, read as the format `parsed_as`.
    fn new(format: StreamFormat, parsed_as: StreamFormat, think: ThinkOptions) -> Self {
        match parsed_as {
            StreamFormat::Text => Self::Text(PlainTextReader::new(think)),
            StreamFormat::Jsonl | StreamFormat::Sse => {
                let fields = parsed_as == StreamFormat::Sse;
                Self::Objects(Box::new(ObjectReader::new(format, fields, MAX_LINE, think)))
            }
        }
    }
}

/// Count and first problems of a stream's unreadable parts.
struct BadParts {
    stream: Arc<PathBuf>,
    count: u64,
    problems: Vec<Problem>,
}

impl BadParts {
    fn new(stream: PathBuf) -> Self {
        Self {
            stream: Arc::new(stream),
            count: 0,
            problems: Vec::new(),
        }
    }

    /// Records the fault of a line, whose number counts from 1.
    fn record_fault(&mut self, line: u64, fault: WireFault) {
        self.count += 1;
        if self.problems.len() < MAX_REPORTED_PARTS {
            let place = Place::new(Arc::clone(&self.stream), line);
            self.problems.push(fault.at(place));
        }
    }
}
