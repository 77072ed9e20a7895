//! [`Judge`]: one response under watch, and what of its bytes the client gets.

use std::time::Instant;

use deadloop_stream::detect::{Alarm, Decision};
use deadloop_stream::{Step, StreamFormat, StreamReader, Watched};

use crate::ProxyOptions;

/// The longest line that is watched, in bytes. A longer one is passed on and counted. Events of the APIs are far shorter,
/// but for those that repeat a whole request or answer.
const LINE: usize = 1 << 20;
/// What stands for the model's name where none is known.
const UNNAMED: &str = "unknown";

/// One response under watch.
pub(crate) struct Judge {
    watched: Watched,
    /// Those that nobody has asked for.
    warnings: Vec<Alarm>,
    began: Instant,
}

/// What happens to the bytes that have just arrived.
pub(crate) enum Verdict {
    /// All of them are passed on.
    Pass,
    /// The first of them, this many, are passed on, then the ending.
    Stop(usize, Vec<u8>, Box<Alarm>),
}

impl Judge {
    /// `format` as the response's content type says.
    pub(crate) fn new(options: &ProxyOptions, format: StreamFormat) -> Self {
        let rules = options.think.clone();
        let reader = StreamReader::new("upstream", Some(format), rules.options(UNNAMED))
            .with_lines_up_to(LINE);
        let reader = reader.splitting_by(move |model| rules.options(model));
        let guard = options.guards.guard(UNNAMED);
        Self {
            watched: Watched::with(guard, reader).by_model(options.guards.clone()),
            warnings: Vec::new(),
            began: Instant::now(),
        }
    }

    /// The model that the stream has named.
    pub(crate) fn model(&self) -> &str {
        self.watched.model().unwrap_or(UNNAMED)
    }

    /// How many lines no guard could read, so far.
    pub(crate) fn unread(&self) -> u64 {
        self.watched.bad_lines()
    }

    /// Takes the alarms that only warn or observe and have not been asked for yet, in their order.
    pub(crate) fn warnings(&mut self) -> Vec<Alarm> {
        std::mem::take(&mut self.warnings)
    }

    /// Judges that nothing has come for a while.
    pub(crate) fn silence(&mut self) -> Verdict {
        let step = self.watched.silent(self.now());
        self.verdict(step)
    }

    /// Judges what has arrived; nothing: the response has ended.
    pub(crate) fn judge(&mut self, arrived: &[u8]) -> Verdict {
        let now = self.now();
        if arrived.is_empty() {
            let step = self.watched.end(now);
            return self.verdict(step);
        }
        // Line by line: nothing that came after a refused call in the same read goes on.
        let mut before = 0;
        for line in arrived.split_inclusive(|byte| *byte == b'\n') {
            let step = self.watched.feed(line, now);
            if let Verdict::Stop(kept, ending, alarm) = self.verdict(step) {
                return Verdict::Stop(before + kept, ending, alarm);
            }
            before += line.len();
        }
        // Comments that only keep the connection open are no event: the guard hears how long there was none.
        match self.silence() {
            Verdict::Stop(_, ending, alarm) => Verdict::Stop(arrived.len(), ending, alarm),
            Verdict::Pass => Verdict::Pass,
        }
    }

    /// A call that was passed on cannot be taken back: a refusal ends the response, as a stop does.
    fn verdict(&mut self, step: Step) -> Verdict {
        self.warnings.extend(step.warnings);
        match step.decision {
            Decision::Continue => Verdict::Pass,
            Decision::Refuse(alarm) | Decision::Stop(alarm) => {
                Verdict::Stop(step.kept, self.watched.ending(), Box::new(alarm))
            }
        }
    }

    /// Milliseconds.
    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}
