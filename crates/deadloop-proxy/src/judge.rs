//! [`Judge`]: the bytes of one response through its guard, and the byte after which it is ended.

use std::time::Instant;

use deadloop_corpus::{Ending, Quiet, StreamFormat, StreamReader};
use deadloop_detect::{Alarm, Event, Guard, Pushed};

use crate::ProxyOptions;

/// The longest line that is watched, in bytes. A longer one is passed on and counted. Events of the APIs are far shorter,
/// but for those that repeat a whole request or answer.
const LINE: usize = 1 << 20;

/// One response under watch.
pub(crate) struct Judge<'a> {
    options: &'a ProxyOptions,
    guard: Guard,
    /// Those of guards of models that were named before.
    warnings: Vec<Alarm>,
    reader: StreamReader,
    model: String,
    /// Bytes of the response so far.
    bytes: u64,
    ending: Ending,
    /// How long nothing has come, since `began`.
    quiet: Quiet,
    began: Instant,
}

/// What happens to the bytes that have just arrived.
pub(crate) enum Verdict {
    /// All of them are passed on.
    Pass,
    /// The first of them, this many, are passed on, then the ending.
    Stop(usize, Vec<u8>, Box<Alarm>),
}

impl<'a> Judge<'a> {
    /// `format` as the response's content type says.
    pub(crate) fn new(options: &'a ProxyOptions, format: StreamFormat) -> Self {
        let model = "unknown".to_owned();
        let think = options.think.options(&model);
        let rules = options.think.clone();
        let reader = StreamReader::new("upstream", Some(format), think).with_lines_up_to(LINE);
        Self {
            guard: options.guards.guard(&model),
            warnings: Vec::new(),
            reader: reader.splitting_by(move |model| rules.options(model)),
            options,
            model,
            bytes: 0,
            ending: Ending::default(),
            quiet: Quiet::default(),
            began: Instant::now(),
        }
    }

    /// The model that the stream named last.
    pub(crate) fn model(&self) -> &str {
        &self.model
    }

    /// How many lines no guard could read, so far.
    pub(crate) fn unread(&self) -> u64 {
        self.reader.bad_lines()
    }

    /// Takes the alarms that only warn or observe and have not been asked for yet, in their order.
    pub(crate) fn warnings(&mut self) -> Vec<Alarm> {
        std::mem::take(&mut self.warnings)
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
        self.push(&Event::Silence(silent))
    }

    fn push(&mut self, event: &Event<'_>) -> Option<Alarm> {
        let Pushed { decision, warnings } = self.guard.push(event);
        self.warnings.extend(warnings);
        decision.into_alarm()
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
            let Some(alarm) = self.push(&event) else {
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
        self.ending.saw(arrived);
        Verdict::Pass
    }

    /// Passes on the first `kept` bytes that arrived, then the ending.
    fn stop(&mut self, kept: usize, arrived: &[u8], alarm: Alarm) -> Verdict {
        self.ending.saw(&arrived[..kept]);
        Verdict::Stop(kept, self.ending.bytes(), Box::new(alarm))
    }

    /// Takes a fresh guard if the stream names another model than before.
    fn follow(&mut self) {
        if let Some(named) = self.reader.model().filter(|named| *named != self.model) {
            self.model = named.to_owned();
            self.guard = self.options.guards.guard(&self.model);
        }
    }
}
