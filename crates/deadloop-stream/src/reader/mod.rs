//! Reader of one generation's live stream: bytes in, events out.
//!
//! [`StreamReader`] takes plain text, JSON lines and server-sent events, and recognises the format. It does no I/O and
//! never fails: unreadable parts are counted and reported, and reading goes on.
//!
//! | to find | look in |
//! |---|---|
//! | recognition of the format from the first bytes | `head` |
//! | text, its cut chars and its `<think>` | `text` |
//! | bytes into lines, lines into JSON objects | `lines`, `frames` |
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
use objects::Objects;
use text::PlainText;

deadloop_detect::words! {
    /// The format of a stream.
    pub enum StreamFormat {
        /// Plain text: the answer, after thinking between `<think>` and `</think>`, if any.
        Text = "text",
        /// JSON lines, one object each: events as in a transcript, or an API's chunks.
        Jsonl = "jsonl",
        /// Server-sent events with an object as in JSON lines as their `data`. Bare objects are read too.
        Sse = "sse",
    }
}

/// An event of a stream, and the position of its end.
#[derive(Clone, Debug, PartialEq)]
pub struct Arrival {
    /// The event. Texts are never empty.
    pub event: OwnedEvent,
    /// Bytes from the start of the stream to the end of the line that held the event, its line
    /// ending included; in plain text, to the end of the event's own last char.
    pub end: u64,
}

/// Function from a model's name to the options by which its texts are split.
pub type ThinkLookup = Box<dyn Fn(&str) -> ThinkOptions + Send + Sync>;

/// The maximum number of bad lines that are kept with their places. Further ones are only counted.
const MAX_NAMED: usize = 20;

/// Reader of one stream.
///
/// Pass each arriving piece to [`feed`](Self::feed) and call [`next_event`](Self::next_event) until it returns `None`.
/// At the end of the stream call [`end`](Self::end) and take the remaining events. The events do not depend on how the
/// bytes were cut, except that plain text becomes one event for each cut.
///
/// Memory is bounded by the size of one `feed` and of one line, which has at most [`MAX_LINE`] bytes or the limit of
/// [`with_lines_up_to`](Self::with_lines_up_to). A longer line is a bad line.
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
    /// The longest line, in bytes.
    limit: usize,
    ready: VecDeque<Arrival>,
    bad: BadParts,
    ended: bool,
}

enum ReaderStage {
    /// The first bytes, too few to recognise the format.
    Head(Vec<u8>),
    Text(PlainText),
    Objects(Box<Objects>),
}

impl StreamReader {
    /// Returns a reader of a stream that problems call `name`. Without a `format`, the first bytes show it. `think`
    /// says how text that may hold `<think>` is split.
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

    /// Returns the reader with think options by model, which apply once the stream has named its model. Plain text
    /// names none.
    #[must_use]
    pub fn splitting_by(
        mut self,
        by_model: impl Fn(&str) -> ThinkOptions + Send + Sync + 'static,
    ) -> Self {
        let by_model: ThinkLookup = Box::new(by_model);
        match &mut self.stage {
            ReaderStage::Objects(objects) => objects.split_by(Some(by_model)),
            _ => self.by_model = Some(by_model),
        }
        self
    }

    /// Sets the limit on the bytes of a line, [`MAX_LINE`] by default. Call it before anything is fed. Plain text has
    /// no lines.
    #[must_use]
    pub fn with_lines_up_to(mut self, bytes: usize) -> Self {
        self.limit = bytes;
        if let ReaderStage::Objects(objects) = &mut self.stage {
            objects.limit(bytes);
        }
        self
    }

    /// Returns the first model that the stream has named.
    pub fn model(&self) -> Option<&str> {
        match &self.stage {
            ReaderStage::Objects(objects) => objects.model(),
            _ => None,
        }
    }

    /// Returns whether events in the form of a transcript have come, which may be a whole agent run.
    pub(crate) fn tells_runs(&self) -> bool {
        match &self.stage {
            ReaderStage::Objects(objects) => objects.tells_runs(),
            _ => false,
        }
    }

    /// Returns the server's first error messages.
    pub fn errors(&self) -> &[String] {
        match &self.stage {
            ReaderStage::Objects(objects) => objects.errors(),
            _ => &[],
        }
    }

    /// Takes the next bytes of the stream.
    pub fn feed(&mut self, bytes: &[u8]) {
        match &mut self.stage {
            ReaderStage::Head(head) => {
                head.extend_from_slice(bytes);
                self.decide();
            }
            ReaderStage::Text(text) => text.feed(bytes, &mut self.ready, &mut self.bad),
            ReaderStage::Objects(objects) => objects.feed(bytes),
        }
    }

    /// Ends the stream, so that held back text is passed on.
    pub fn end(&mut self) {
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        self.decide();
        match &mut self.stage {
            ReaderStage::Head(_) => {}
            ReaderStage::Text(text) => text.end(&mut self.ready, &mut self.bad),
            ReaderStage::Objects(objects) => objects.end(),
        }
    }

    /// Returns the next finished event. `None` until more is fed.
    pub fn next_event(&mut self) -> Option<Arrival> {
        if let ReaderStage::Objects(objects) = &mut self.stage {
            objects.read(&mut self.ready, &mut self.bad);
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

    /// Returns the number of unreadable lines; in plain text, of byte sequences that are not UTF-8.
    pub fn bad_lines(&self) -> u64 {
        self.bad.count
    }

    /// Returns the first problems with unreadable lines.
    pub fn problems(&self) -> &[Problem] {
        &self.bad.named
    }

    fn decide(&mut self) {
        let ReaderStage::Head(head) = &mut self.stage else {
            return;
        };
        if let Some(format) = head::recognize(head, self.ended) {
            let head = std::mem::take(head);
            // A stream that was recognised by its content may have both kinds of lines.
            let taken = match format {
                StreamFormat::Jsonl => StreamFormat::Sse,
                other => other,
            };
            self.stage = ReaderStage::new(format, taken, self.think.clone());
            if let ReaderStage::Objects(objects) = &mut self.stage {
                objects.limit(self.limit);
                objects.split_by(self.by_model.take());
            }
            self.feed(&head);
        }
    }
}

impl ReaderStage {
    /// Returns the stage that reads the format `taken` of a stream named `format`.
    fn new(format: StreamFormat, taken: StreamFormat, think: ThinkOptions) -> Self {
        match taken {
            StreamFormat::Text => Self::Text(PlainText::new(think)),
            StreamFormat::Jsonl | StreamFormat::Sse => {
                let fields = taken == StreamFormat::Sse;
                Self::Objects(Box::new(Objects::new(format, fields, MAX_LINE, think)))
            }
        }
    }
}

/// The unreadable parts of a stream.
struct BadParts {
    stream: Arc<PathBuf>,
    count: u64,
    named: Vec<Problem>,
}

impl BadParts {
    fn new(stream: PathBuf) -> Self {
        Self {
            stream: Arc::new(stream),
            count: 0,
            named: Vec::new(),
        }
    }

    /// Records the fault of a line, counted from 1.
    fn note(&mut self, line: u64, fault: WireFault) {
        self.count += 1;
        if self.named.len() < MAX_NAMED {
            let place = Place::new(Arc::clone(&self.stream), line);
            self.named.push(fault.at(place));
        }
    }
}
