//! [`Judge`]: one response under watch, and what of its bytes the client gets.

use std::time::Instant;

use deadloop_stream::detect::Alarm;
use deadloop_stream::{Prompted, Step, StreamFormat, StreamReader, Watched};

use crate::ProxyOptions;

/// The longest line that is watched, in bytes. What is longer is passed on and counted. Events of the APIs are far shorter,
/// but for those that repeat a whole request or answer.
const LINE: usize = 1 << 20;
/// What stands for the model's name where none is known.
const UNNAMED: &str = "unknown";

/// What followed an alarm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Followed {
    /// Nothing: it only warns or observes, or it is a refusal and there was no call to refuse.
    Nothing,
    /// The response was ended.
    Ended,
}

/// One response under watch.
pub(crate) struct Judge {
    watched: Watched,
    /// What nobody has asked for.
    news: Vec<(Alarm, Followed)>,
    over: bool,
    began: Instant,
}

impl Judge {
    /// `format` as the response's content type says, `asked` as the request says.
    pub(crate) fn new(options: &ProxyOptions, format: StreamFormat, asked: Prompted) -> Self {
        let rules = options.think.clone();
        let reader = StreamReader::new("upstream", Some(format), rules.options(UNNAMED));
        let reader = reader.with_lines_up_to(LINE);
        let reader = reader.splitting_by(move |model| rules.options(model));
        let watched = Watched::with(options.guards.guard(UNNAMED), reader)
            .by_model(options.guards.clone())
            .answering(asked)
            .stopping_at_refusals();
        Self {
            watched,
            news: Vec::new(),
            over: false,
            began: Instant::now(),
        }
    }

    /// The model that the response has named.
    pub(crate) fn model(&self) -> &str {
        self.watched.model().unwrap_or(UNNAMED)
    }

    /// How many lines of the stream no guard could read, so far.
    pub(crate) fn unread(&self) -> u64 {
        self.watched.bad_lines()
    }

    /// Takes the alarms that have not been asked for yet, in their order, and what followed each.
    pub(crate) fn news(&mut self) -> Vec<(Alarm, Followed)> {
        std::mem::take(&mut self.news)
    }

    /// Judges that nothing has come for a while; `bytes` become what the client gets. Whether the response ends there.
    pub(crate) fn silence(&mut self, bytes: &mut Vec<u8>) -> bool {
        bytes.clear();
        let step = self.watched.silent(self.now());
        self.follow(step, bytes)
    }

    /// Judges the bytes that have arrived (none: the response has ended), which become what the client gets. Whether the
    /// response ends there.
    pub(crate) fn judge(&mut self, bytes: &mut Vec<u8>) -> bool {
        let now = self.now();
        if bytes.is_empty() {
            let step = self.watched.end(now);
            // Nothing is added to a response that is over.
            return self.follow(step, &mut Vec::new());
        }
        let step = self.watched.feed(bytes, now);
        bytes.truncate(step.kept);
        if self.follow(step, bytes) {
            return true;
        }
        // Comments that only keep the connection open are no event: the guard hears how long there was none.
        let step = self.watched.silent(now);
        self.follow(step, bytes)
    }

    /// Notes what there is to tell, and ends the response at an alarm. Whether it ends here.
    fn follow(&mut self, step: Step, bytes: &mut Vec<u8>) -> bool {
        let refused = step.refused.into_iter().map(|refused| refused.alarm);
        let told = step.warnings.into_iter().chain(refused);
        self.news
            .extend(told.map(|alarm| (alarm, Followed::Nothing)));
        let Some(alarm) = self.watched.alarm().filter(|_| !self.over) else {
            return self.over;
        };
        self.news.push((alarm.clone(), Followed::Ended));
        bytes.extend(self.watched.ending());
        self.over = true;
        true
    }

    /// Milliseconds.
    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}
