//! A live stream of one generation: bytes in as they arrive, events out as soon as they are known.
//!
//! [`StreamReader`] takes plain text, JSON lines and server-sent events, and tells them apart. It does
//! no I/O and never fails: what cannot be read is counted and named, and reading goes on.
//!
//! | to find | look in |
//! |---|---|
//! | how the format is recognised from the first bytes | `head` |
//! | text, its cut chars and its `<think>` | `text` |
//! | bytes cut into lines, lines into JSON objects | `lines`, `frames` |
//! | what an object of some API says | `families` |

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;

use crate::wire::WireFault;
use deadloop_detect::OwnedEvent;

use crate::{MAX_LINE, Place, Problem, ThinkOptions};

pub mod families;
mod frames;
mod head;
mod lines;
mod objects;
pub mod said;
mod text;

pub use frames::{Frame, Framed, Frames, object};
use objects::Objects;
use text::Text;

deadloop_detect::words! {
    /// How a stream is written.
    pub enum StreamFormat {
        /// Plain text: the answer, and before it what is between `<think>` and `</think>`.
        Text = "text",
        /// One JSON object a line: events as in a transcript, or an API's chunks.
        Jsonl = "jsonl",
        /// Server-sent events whose `data` are such objects. Bare objects are taken too.
        Sse = "sse",
    }
}

/// One event of a stream, and where it ended there.
#[derive(Clone, Debug, PartialEq)]
pub struct Arrival {
    /// What arrived; no text of it is empty.
    pub event: OwnedEvent,
    /// Bytes from the start of the stream to the end of the line that held the event, its line
    /// ending included; in plain text, to the end of the event's own last char.
    pub end: u64,
}

/// How the texts of a model are split.
pub type ThinkOf = Box<dyn Fn(&str) -> ThinkOptions + Send + Sync>;

/// Most bad lines that are kept with their places; further ones are only counted.
const NAMED: usize = 20;

/// Reads one stream. [`feed`](Self::feed) it what arrived and call [`next_event`](Self::next_event)
/// until it returns `None`; at the end of the stream call [`end`](Self::end) and take the rest. Where
/// the bytes were cut makes no difference, except that plain text becomes one event for each cut.
///
/// Memory is bounded by what is fed at once, and by one line of at most [`MAX_LINE`] bytes or of as many as
/// [`with_lines_up_to`](Self::with_lines_up_to) says. A longer line is a bad line.
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
    stage: Stage,
    think: ThinkOptions,
    by_model: Option<ThinkOf>,
    /// The longest line, in bytes.
    limit: usize,
    ready: VecDeque<Arrival>,
    bad: Bad,
    ended: bool,
}

enum Stage {
    /// Too few bytes to tell the format.
    Head(Vec<u8>),
    Text(Text),
    Objects(Box<Objects>),
}

impl StreamReader {
    /// A reader of a stream that problems call `name`. `format`: none to tell it by the first
    /// bytes. `think`: how text that may hold `<think>` is split.
    pub fn new(
        name: impl Into<PathBuf>,
        format: Option<StreamFormat>,
        think: ThinkOptions,
    ) -> Self {
        Self {
            stage: format.map_or(Stage::Head(Vec::new()), |f| Stage::of(f, f, think.clone())),
            think,
            by_model: None,
            limit: MAX_LINE,
            ready: VecDeque::new(),
            bad: Bad::new(name.into()),
            ended: false,
        }
    }

    /// Returns the reader with other options for the time after the stream has named its model.
    /// Plain text names none.
    #[must_use]
    pub fn splitting_by(
        mut self,
        by_model: impl Fn(&str) -> ThinkOptions + Send + Sync + 'static,
    ) -> Self {
        let by_model: ThinkOf = Box::new(by_model);
        match &mut self.stage {
            Stage::Objects(objects) => objects.split_by(Some(by_model)),
            _ => self.by_model = Some(by_model),
        }
        self
    }

    /// Bounds the bytes of a line, instead of [`MAX_LINE`]. Call it before anything is fed; plain text has no lines.
    #[must_use]
    pub fn with_lines_up_to(mut self, bytes: usize) -> Self {
        self.limit = bytes;
        if let Stage::Objects(objects) = &mut self.stage {
            objects.limit(bytes);
        }
        self
    }

    /// The first model that the stream has named.
    pub fn model(&self) -> Option<&str> {
        match &self.stage {
            Stage::Objects(objects) => objects.model(),
            _ => None,
        }
    }

    /// Whether events as in a transcript have come: these may be a whole run of an agent.
    pub fn tells_runs(&self) -> bool {
        match &self.stage {
            Stage::Objects(objects) => objects.tells_runs(),
            _ => false,
        }
    }

    /// What the server said went wrong, the first such messages.
    pub fn errors(&self) -> &[String] {
        match &self.stage {
            Stage::Objects(objects) => objects.errors(),
            _ => &[],
        }
    }

    /// The next bytes of the stream.
    pub fn feed(&mut self, bytes: &[u8]) {
        match &mut self.stage {
            Stage::Head(head) => {
                head.extend_from_slice(bytes);
                self.decide();
            }
            Stage::Text(text) => text.feed(bytes, &mut self.ready, &mut self.bad),
            Stage::Objects(objects) => objects.feed(bytes),
        }
    }

    /// The stream has ended: what was held back is passed on.
    pub fn end(&mut self) {
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        self.decide();
        match &mut self.stage {
            Stage::Head(_) => {}
            Stage::Text(text) => text.end(&mut self.ready, &mut self.bad),
            Stage::Objects(objects) => objects.end(),
        }
    }

    /// The next event that is known; none until more is fed.
    pub fn next_event(&mut self) -> Option<Arrival> {
        if let Stage::Objects(objects) = &mut self.stage {
            objects.read(&mut self.ready, &mut self.bad);
        }
        self.ready.pop_front()
    }

    /// Returns the format; `None` until it is recognised.
    pub fn format(&self) -> Option<StreamFormat> {
        match &self.stage {
            Stage::Head(_) => None,
            Stage::Text(_) => Some(StreamFormat::Text),
            Stage::Objects(objects) => Some(objects.format()),
        }
    }

    /// How many lines could not be read; in plain text, how many sequences that are not UTF-8.
    pub fn bad_lines(&self) -> u64 {
        self.bad.count
    }

    /// The first of them, with their places.
    pub fn problems(&self) -> &[Problem] {
        &self.bad.named
    }

    fn decide(&mut self) {
        let Stage::Head(head) = &mut self.stage else {
            return;
        };
        if let Some(format) = head::tell(head, self.ended) {
            let head = std::mem::take(head);
            // ToldEvent by content, a stream may hold both kinds of lines.
            let taken = match format {
                StreamFormat::Jsonl => StreamFormat::Sse,
                other => other,
            };
            self.stage = Stage::of(format, taken, self.think.clone());
            if let Stage::Objects(objects) = &mut self.stage {
                objects.limit(self.limit);
                objects.split_by(self.by_model.take());
            }
            self.feed(&head);
        }
    }
}

impl Stage {
    /// To read a stream that is called `format`, with all that `taken` allows.
    fn of(format: StreamFormat, taken: StreamFormat, think: ThinkOptions) -> Self {
        match taken {
            StreamFormat::Text => Self::Text(Text::new(think)),
            StreamFormat::Jsonl | StreamFormat::Sse => {
                let fields = taken == StreamFormat::Sse;
                Self::Objects(Box::new(Objects::new(format, fields, MAX_LINE, think)))
            }
        }
    }
}

/// What could not be read.
struct Bad {
    stream: Arc<PathBuf>,
    count: u64,
    named: Vec<Problem>,
}

impl Bad {
    fn new(stream: PathBuf) -> Self {
        Self {
            stream: Arc::new(stream),
            count: 0,
            named: Vec::new(),
        }
    }

    /// Notes what is wrong with a line, counted from 1.
    fn note(&mut self, line: u64, fault: WireFault) {
        self.count += 1;
        if self.named.len() < NAMED {
            let place = Place::new(Arc::clone(&self.stream), line);
            self.named.push(fault.at(place));
        }
    }
}
