//! [`ResponseGuard`]: the guard of one response.

use std::time::Instant;

use deadloop_stream::detect::Alarm;
use deadloop_stream::{PromptInfo, StreamFormat, StreamReader, WatchStep, WatchedResponse};

use crate::ProxyOptions;

/// The longest line that is watched, in bytes. A longer one is passed on and counted. The events of the APIs are far
/// shorter, except those that repeat a whole request or answer.
const MAX_LINE_BYTES: usize = 1 << 20;
/// The name of an unknown model.
const UNKNOWN_MODEL: &str = "unknown";

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
    ended: bool,
    began: Instant,
}

impl ResponseGuard {
    /// Starts to watch a response. Its content type implies `format`, and `prompt` is the request's prompt.
    pub(crate) fn new(options: &ProxyOptions, format: StreamFormat, prompt: PromptInfo) -> Self {
        let rules = options.think.clone();
        let reader = StreamReader::new("upstream", Some(format), rules.options(UNKNOWN_MODEL));
        let reader = reader.with_lines_up_to(MAX_LINE_BYTES);
        let reader = reader.splitting_by(move |model| rules.options(model));
        let watched = WatchedResponse::with(options.guards.guard(UNKNOWN_MODEL), reader)
            .by_model(options.guards.clone())
            .answering(prompt)
            .stopping_at_refusals();
        Self {
            watched,
            news: Vec::new(),
            ended: false,
            began: Instant::now(),
        }
    }

    /// Returns the model that the response names.
    pub(crate) fn model(&self) -> &str {
        self.watched.model().unwrap_or(UNKNOWN_MODEL)
    }

    /// Returns the number of lines so far that no guard could read.
    pub(crate) fn unread(&self) -> u64 {
        self.watched.bad_lines()
    }

    /// Takes the alarms that were not taken yet, in order, each with its consequence.
    pub(crate) fn take_alarms(&mut self) -> Vec<(Alarm, AlarmEffect)> {
        std::mem::take(&mut self.news)
    }

    /// Reports to the guard that no bytes have arrived for a while, and sets `bytes` to the bytes for the client.
    /// Returns whether the response ends after them.
    pub(crate) fn judge_silence(&mut self, bytes: &mut Vec<u8>) -> bool {
        bytes.clear();
        let step = self.watched.silent(self.now());
        self.take_step(step, bytes)
    }

    /// Passes bytes of the response to the guard, and replaces them by the bytes for the client. Empty `bytes` mark the
    /// end of the response. Returns whether the response ends after them.
    pub(crate) fn judge(&mut self, bytes: &mut Vec<u8>) -> bool {
        let now = self.now();
        if bytes.is_empty() {
            let step = self.watched.end(now);
            // No bytes can be added after the end of a response.
            return self.take_step(step, &mut Vec::new());
        }
        let step = self.watched.feed(bytes, now);
        bytes.truncate(step.kept);
        if self.take_step(step, bytes) {
            return true;
        }
        // Comments that keep the connection open are not events, so they do not end a silence.
        let step = self.watched.silent(now);
        self.take_step(step, bytes)
    }

    /// Collects new alarms, and ends the response at an alarm that stops it. Returns whether the response ends here.
    fn take_step(&mut self, step: WatchStep, bytes: &mut Vec<u8>) -> bool {
        let refused = step.refused.into_iter().map(|refused| refused.alarm);
        let alarms = step.warnings.into_iter().chain(refused);
        self.news
            .extend(alarms.map(|alarm| (alarm, AlarmEffect::Nothing)));
        let Some(alarm) = self.watched.alarm().filter(|_| !self.ended) else {
            return self.ended;
        };
        self.news.push((alarm.clone(), AlarmEffect::Ended));
        bytes.extend(self.watched.ending());
        self.ended = true;
        true
    }

    /// Returns the milliseconds since the start.
    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}
