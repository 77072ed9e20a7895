//! [`ResponseGuard`]: the guard of one response.

use std::time::Instant;

use deadloop_stream::detect::Alarm;
use deadloop_stream::{PromptInfo, StreamFormat, StreamReader, WatchStep, WatchedResponse};

use crate::ProxyOptions;

/// The longest line that is watched, in bytes. A longer one is passed on and counted. The events of the APIs are far
/// shorter, except those that repeat a whole request or answer.
const LINE: usize = 1 << 20;
/// The name of an unknown model.
const UNNAMED: &str = "unknown";

/// The consequence of an alarm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlarmEffect {
    /// No consequence: the guard only warns or observes, or it refuses a call and there was none to refuse.
    Nothing,
    /// The response was ended.
    Ended,
}

/// A response with its guard.
pub(crate) struct ResponseGuard {
    watched: WatchedResponse,
    /// The alarms that were not taken yet.
    news: Vec<(Alarm, AlarmEffect)>,
    over: bool,
    began: Instant,
}

impl ResponseGuard {
    /// Starts to watch a response. Its content type implies `format`, and `asked` is the request's prompt.
    pub(crate) fn new(options: &ProxyOptions, format: StreamFormat, asked: PromptInfo) -> Self {
        let rules = options.think.clone();
        let reader = StreamReader::new("upstream", Some(format), rules.options(UNNAMED));
        let reader = reader.with_lines_up_to(LINE);
        let reader = reader.splitting_by(move |model| rules.options(model));
        let watched = WatchedResponse::with(options.guards.guard(UNNAMED), reader)
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

    /// Returns the model that the response names.
    pub(crate) fn model(&self) -> &str {
        self.watched.model().unwrap_or(UNNAMED)
    }

    /// Returns the number of lines so far that no guard could read.
    pub(crate) fn unread(&self) -> u64 {
        self.watched.bad_lines()
    }

    /// Takes the alarms that were not taken yet, in order, each with its consequence.
    pub(crate) fn news(&mut self) -> Vec<(Alarm, AlarmEffect)> {
        std::mem::take(&mut self.news)
    }

    /// Reports to the guard that no bytes have arrived for a while, and sets `bytes` to the bytes for the client.
    /// Returns whether the response ends after them.
    pub(crate) fn silence(&mut self, bytes: &mut Vec<u8>) -> bool {
        bytes.clear();
        let step = self.watched.silent(self.now());
        self.follow(step, bytes)
    }

    /// Passes bytes of the response to the guard, and replaces them by the bytes for the client. Empty `bytes` mark the
    /// end of the response. Returns whether the response ends after them.
    pub(crate) fn judge(&mut self, bytes: &mut Vec<u8>) -> bool {
        let now = self.now();
        if bytes.is_empty() {
            let step = self.watched.end(now);
            // No bytes can be added after the end of a response.
            return self.follow(step, &mut Vec::new());
        }
        let step = self.watched.feed(bytes, now);
        bytes.truncate(step.kept);
        if self.follow(step, bytes) {
            return true;
        }
        // Comments that keep the connection open are not events, so they do not end a silence.
        let step = self.watched.silent(now);
        self.follow(step, bytes)
    }

    /// Collects new alarms, and ends the response at an alarm that stops it. Returns whether the response ends here.
    fn follow(&mut self, step: WatchStep, bytes: &mut Vec<u8>) -> bool {
        let refused = step.refused.into_iter().map(|refused| refused.alarm);
        let told = step.warnings.into_iter().chain(refused);
        self.news
            .extend(told.map(|alarm| (alarm, AlarmEffect::Nothing)));
        let Some(alarm) = self.watched.alarm().filter(|_| !self.over) else {
            return self.over;
        };
        self.news.push((alarm.clone(), AlarmEffect::Ended));
        bytes.extend(self.watched.ending());
        self.over = true;
        true
    }

    /// Returns the milliseconds since the start.
    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}
