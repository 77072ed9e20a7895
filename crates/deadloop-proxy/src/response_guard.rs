//! [`ResponseGuard`]: the guard of one response.

use std::time::Instant;

use deadloop_stream::detect::Alarm;
use deadloop_stream::{PromptInfo, StreamFormat, StreamReader, WatchStep, WatchedResponse};

use crate::ProxyOptions;

/// The maximum length of a watched line, in bytes. A longer one is only forwarded and counted.
///
/// Events of the APIs are far shorter, except those that repeat a whole request or answer.
const MAX_LINE_BYTES: usize = 1 << 20;
/// The name of an unknown model.
const UNKNOWN_MODEL: &str = "unknown";

/// The effect of an alarm on the response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlarmEffect {
    /// No effect, because the guard only warns or observes, or refuses a call and there was none.
    Nothing,
    /// The response was ended.
    Ended,
}

/// A response under its guard.
pub(crate) struct ResponseGuard {
    watched: WatchedResponse,
    /// The alarms that were not yet reported.
    new_alarms: Vec<(Alarm, AlarmEffect)>,
    ended: bool,
    started: Instant,
}

impl ResponseGuard {
    /// Starts to watch a response, whose content type implies `format`.
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
            new_alarms: Vec::new(),
            ended: false,
            started: Instant::now(),
        }
    }

    /// Returns the model named in the response, or `unknown`.
    pub(crate) fn model(&self) -> &str {
        self.watched.model().unwrap_or(UNKNOWN_MODEL)
    }

    /// Returns the number of lines so far that the guard could not read.
    pub(crate) fn unread(&self) -> u64 {
        self.watched.bad_lines()
    }

    /// Returns the alarms since the last call, in order, each with its effect.
    pub(crate) fn take_alarms(&mut self) -> Vec<(Alarm, AlarmEffect)> {
        std::mem::take(&mut self.new_alarms)
    }

    /// Reports to the guard that no bytes have arrived for a while, and sets `bytes` to the bytes to send to the
    /// client. Returns whether the response ends after these bytes.
    pub(crate) fn check_silence(&mut self, bytes: &mut Vec<u8>) -> bool {
        bytes.clear();
        let step = self.watched.silent(self.elapsed_ms());
        self.apply_step(step, bytes)
    }

    /// Passes bytes of the response to the guard, and replaces them with the bytes to send to the client. Empty `bytes`
    /// mark the end of the response. Returns whether the response ends after these bytes.
    pub(crate) fn check_bytes(&mut self, bytes: &mut Vec<u8>) -> bool {
        let now = self.elapsed_ms();
        if bytes.is_empty() {
            let step = self.watched.end(now);
            // No bytes can be added after the end of a response.
            return self.apply_step(step, &mut Vec::new());
        }
        let step = self.watched.feed(bytes, now);
        bytes.truncate(step.kept);
        if self.apply_step(step, bytes) {
            return true;
        }
        // Comments that keep the connection open are not events, so they do not end a silence.
        let step = self.watched.silent(now);
        self.apply_step(step, bytes)
    }

    /// Collects new alarms, and ends the response if one stops it. Returns whether the response has ended.
    fn apply_step(&mut self, step: WatchStep, bytes: &mut Vec<u8>) -> bool {
        let refused = step.refused.into_iter().map(|refused| refused.alarm);
        let alarms = step.warnings.into_iter().chain(refused);
        self.new_alarms
            .extend(alarms.map(|alarm| (alarm, AlarmEffect::Nothing)));
        let Some(alarm) = self.watched.alarm().filter(|_| !self.ended) else {
            return self.ended;
        };
        self.new_alarms.push((alarm.clone(), AlarmEffect::Ended));
        bytes.extend(self.watched.ending());
        self.ended = true;
        true
    }

    /// Returns the number of milliseconds since the start of watching.
    fn elapsed_ms(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}
