//! [`Judge`]: the bytes of one response through its guard, and the byte after which it is ended.

use std::time::Instant;

use deadloop_corpus::{Quiet, StreamFormat, StreamReader};
use deadloop_detect::{Alarm, Event, Guard};

use crate::ProxyOptions;
use crate::ending::Ending;

/// The longest line whose fields an ending repeats, in bytes: the chunk of a stream is far shorter.
const LONGEST: usize = 64 << 10;

/// One response under watch.
pub(crate) struct Judge<'a> {
    options: &'a ProxyOptions,
    guard: Guard,
    reader: StreamReader,
    model: String,
    /// Bytes of the response so far.
    bytes: u64,
    lines: Lines,
    /// How long nothing has come, since `began`.
    quiet: Quiet,
    began: Instant,
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
    pub(crate) fn new(options: &'a ProxyOptions, format: StreamFormat) -> Self {
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
            lines: Lines::default(),
            quiet: Quiet::default(),
            began: Instant::now(),
        }
    }

    /// The model that the stream named last.
    pub(crate) fn model(&self) -> &str {
        &self.model
    }

    /// Judges that nothing has come for a while.
    pub(crate) fn silence(&mut self) -> Verdict {
        match self.silent() {
            Some(alarm) => self.stop(0, &[], alarm),
            None => Verdict::Pass,
        }
    }

    fn silent(&mut self) -> Option<Alarm> {
        let silent = self.quiet.since(self.now())?;
        self.guard.push(&Event::Silence(silent))
    }

    /// Milliseconds.
    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Judges what has arrived; nothing: the response has ended.
    pub(crate) fn judge(&mut self, arrived: &[u8]) -> Verdict {
        if let Some(alarm) = self.silent() {
            return self.stop(0, arrived, alarm);
        }
        let before = self.bytes;
        self.bytes += arrived.len() as u64;
        match arrived {
            [] => self.reader.end(),
            _ => self.reader.feed(arrived),
        }
        while let Some(arrival) = self.reader.next_event() {
            self.follow();
            let event = arrival.event.seen();
            self.quiet.heard(&event, self.now());
            let Some(alarm) = self.guard.push(&event) else {
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
            return self.stop(kept + if sse { blank } else { 0 }, arrived, alarm);
        }
        self.lines.take(arrived);
        Verdict::Pass
    }

    /// So many of the bytes that arrived go on, then the ending.
    fn stop(&mut self, kept: usize, arrived: &[u8], alarm: Alarm) -> Verdict {
        let sse = self.reader.format() == Some(StreamFormat::Sse);
        self.lines.take(&arrived[..kept]);
        let ending = Ending::of(&self.lines.first, &self.lines.last, sse);
        let mut bytes = self.lines.gap(sse).to_vec();
        bytes.extend(ending.bytes());
        Verdict::Stop(kept, bytes, Box::new(alarm))
    }

    /// Another model than before is watched by a guard of its own, a fresh one.
    fn follow(&mut self) {
        if let Some(named) = self.reader.model().filter(|named| *named != self.model) {
            self.model = named.to_owned();
            self.guard = self.options.guards.guard(&self.model);
        }
    }
}

/// The first and the last line with an object, for what an ending has to repeat.
#[derive(Default)]
struct Lines {
    first: Vec<u8>,
    last: Vec<u8>,
    now: Vec<u8>,
    /// Whether the bytes end with a blank line.
    blank: bool,
}

impl Lines {
    fn take(&mut self, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            if self.now.len() + piece.len() <= LONGEST {
                self.now.extend_from_slice(piece);
            }
            if !piece.ends_with(b"\n") {
                continue;
            }
            let line = self.now.trim_ascii();
            self.blank = line.is_empty();
            let object = line
                .strip_prefix(b"data:")
                .unwrap_or(line)
                .trim_ascii_start();
            if object.starts_with(b"{") {
                self.last.clear();
                self.last.extend_from_slice(object);
                if self.first.is_empty() {
                    self.first.clone_from(&self.last);
                }
            }
            self.now.clear();
        }
    }

    /// What lies between the bytes that were passed on and the next event.
    fn gap(&self, sse: bool) -> &'static [u8] {
        match (self.now.is_empty(), self.blank || !sse) {
            (true, true) => b"",
            (true, false) => b"\n",
            (false, _) if sse => b"\n\n",
            (false, _) => b"\n",
        }
    }
}
