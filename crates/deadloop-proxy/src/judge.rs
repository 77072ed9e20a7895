//! [`Judge`]: the bytes of one response through its guard, and the byte after which it is ended.

use deadloop_corpus::{Ending, StreamFormat, StreamReader};
use deadloop_detect::{Alarm, Guard};

use crate::Options;

/// One response under watch.
pub(crate) struct Judge<'a> {
    options: &'a Options,
    guard: Guard,
    reader: StreamReader,
    model: String,
    /// Bytes of the response so far.
    bytes: u64,
    ending: Ending,
}

/// What became of the bytes that have just arrived.
pub(crate) enum Verdict {
    /// All of them go on.
    Pass,
    /// So many of them do, then the ending.
    Stop(usize, Vec<u8>, Box<Alarm>),
}

impl<'a> Judge<'a> {
    /// `format` as the response's content type says.
    pub(crate) fn new(options: &'a Options, format: StreamFormat) -> Self {
        let model = "unknown".to_owned();
        let think = options.think.options(&model);
        let rules = options.think.clone();
        let reader = StreamReader::new("upstream", Some(format), think);
        Self {
            guard: options.guards.guard(&model),
            reader: reader.splitting_by(move |model| rules.options(model)),
            options,
            model,
            bytes: 0,
            ending: Ending::default(),
        }
    }

    /// The model that the stream named last.
    pub(crate) fn model(&self) -> &str {
        &self.model
    }

    /// Judges what has arrived; nothing: the response has ended.
    pub(crate) fn judge(&mut self, arrived: &[u8]) -> Verdict {
        let before = self.bytes;
        self.bytes += arrived.len() as u64;
        match arrived {
            [] => self.reader.end(),
            _ => self.reader.feed(arrived),
        }
        while let Some(arrival) = self.reader.next_event() {
            self.follow();
            let Some(alarm) = self.guard.push(&arrival.event.seen()) else {
                continue;
            };
            // What was held back and is known only now went on before.
            let kept = usize::try_from(arrival.end.saturating_sub(before)).unwrap_or(usize::MAX);
            let kept = kept.min(arrived.len());
            let blank = match &arrived[kept..] {
                [b'\n', ..] => 1,
                [b'\r', b'\n', ..] => 2,
                _ => 0,
            };
            let sse = self.reader.format() == Some(StreamFormat::Sse);
            let kept = kept + if sse { blank } else { 0 };
            self.ending.saw(&arrived[..kept]);
            return Verdict::Stop(kept, self.ending.bytes(), Box::new(alarm));
        }
        self.ending.saw(arrived);
        Verdict::Pass
    }

    /// Another model than before is watched by a guard of its own, a fresh one.
    fn follow(&mut self) {
        if let Some(named) = self.reader.model().filter(|named| *named != self.model) {
            self.model = named.to_owned();
            self.guard = self.options.guards.guard(&self.model);
        }
    }
}
