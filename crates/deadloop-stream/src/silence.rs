//! [`SilenceTimer`]: reports the silences of a live stream.
//!
//! It reports them at the same times as a replay of the recording does ([`stream`](crate::stream())).

use deadloop_detect::{Event, TextChannel};

use crate::events::report_times_before;

/// The minimum length of a reported silence, in milliseconds.
const MIN_SILENCE_MS: u64 = 1000;

/// Timer of a model's silences. The caller passes in the time as milliseconds since the request, which must not
/// decrease.
///
/// A silence is reported each second of its first two minutes, then each ten seconds of its first hour, and at its end,
/// when the model continues. The time that a tool takes is not silence, nor is the time after the end.
#[derive(Debug, Default)]
pub struct SilenceTimer {
    /// The time of the last event, in milliseconds since the request.
    last_ms: u64,
    /// The longest reported length of the current silence, in milliseconds.
    reported: u64,
    /// Whether no model output is awaited, because a tool runs or the stream has ended.
    is_idle: bool,
    /// The number of calls without a result since the model's last output. A tool runs while it is above 0.
    running_calls: u64,
    /// Whether arguments have arrived as text, but their call has not.
    writing: bool,
}

impl SilenceTimer {
    /// Returns the silences to report at `now` if no event has arrived, as lengths in milliseconds in ascending order.
    pub fn report_silences(&mut self, now: u64) -> Vec<u64> {
        if self.is_idle {
            Vec::new()
        } else {
            self.take_unreported(now.saturating_sub(self.last_ms).saturating_add(1))
        }
    }

    /// Records an event at `now` and returns the silences to report before it: the lengths not reported yet, and the
    /// whole length if the event is model output.
    ///
    /// A call whose arguments came as text gets the time of their last piece, however late the call itself follows.
    pub fn on_event(&mut self, event: &Event<'_>, now: u64) -> Vec<u64> {
        let written = self.writing && matches!(event, Event::Call { .. });
        self.writing = match event {
            Event::Text(TextChannel::Arguments, _) => true,
            Event::Text(..) => self.writing,
            _ => false,
        };
        if written {
            self.update_awaited(event);
            return Vec::new();
        }
        let silent = now.saturating_sub(self.last_ms);
        let of_model = matches!(
            event,
            Event::Text(..) | Event::Call { .. } | Event::Finish(_)
        );
        let mut reported = Vec::new();
        if of_model && silent >= MIN_SILENCE_MS {
            reported = self.take_unreported(silent);
            reported.extend((self.reported < silent).then_some(silent));
        }
        self.last_ms = now;
        self.reported = 0;
        self.update_awaited(event);
        reported
    }

    /// Updates whether the model or a tool is awaited after an event.
    fn update_awaited(&mut self, event: &Event<'_>) {
        self.running_calls = match event {
            Event::Call { .. } => self.running_calls.saturating_add(1),
            Event::Result { .. } => self.running_calls.saturating_sub(1),
            Event::Text(..) | Event::Turn { .. } | Event::User(_) => 0,
            _ => self.running_calls,
        };
        self.is_idle = match event {
            Event::Call { .. } | Event::Finish(_) | Event::Closed => true,
            Event::Result { .. } => self.running_calls > 0,
            _ => false,
        };
    }

    /// Returns the lengths below `end_ms` that were not reported yet, and marks them as reported.
    fn take_unreported(&mut self, end_ms: u64) -> Vec<u64> {
        if end_ms <= MIN_SILENCE_MS {
            return Vec::new();
        }
        let reported = self.reported;
        let new: Vec<u64> = report_times_before(end_ms)
            .filter(|length| *length > reported)
            .collect();
        self.reported = new.last().copied().unwrap_or(reported);
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadloop_detect::Arguments;

    const CALL: Event<'static> = Event::Call {
        id: None,
        name: "ls",
        arguments: Arguments::Raw("{}"),
    };

    #[test]
    fn the_model_is_silent_and_a_tool_is_not() {
        let mut quiet = SilenceTimer::default();
        let text = Event::Text(TextChannel::Answer, "x");
        assert_eq!(quiet.report_silences(999), [0; 0]);
        assert_eq!(quiet.report_silences(1000), [1000]);
        assert_eq!(quiet.on_event(&text, 1500), [1500]);
        assert_eq!(quiet.report_silences(2400), [0; 0]);
        assert_eq!(quiet.report_silences(4700), [1000, 2000, 3000]);
        assert_eq!(quiet.report_silences(4800), [0; 0], "told once");
        assert_eq!(quiet.report_silences(0), [0; 0], "a clock that went back");
        assert_eq!(quiet.on_event(&CALL, 5500), [4000]);
        assert_eq!(quiet.report_silences(90_000), [0; 0], "a tool runs");
        assert_eq!(quiet.on_event(&Event::User("go on"), 91_000), [0; 0]);
        assert_eq!(quiet.report_silences(93_000), [1000, 2000]);
        let end = quiet.on_event(&Event::Finish(None), 93_000);
        assert_eq!(end, [0; 0], "told as 2000");
        assert_eq!(quiet.report_silences(900_000), [0; 0]);
    }

    #[test]
    fn while_one_of_several_tools_runs_nobody_waits_for_the_model() {
        let mut quiet = SilenceTimer::default();
        let result = Event::Result {
            id: None,
            content: "",
            error: None,
            cut: None,
        };
        for event in [CALL, CALL, result] {
            assert_eq!(quiet.on_event(&event, 0), [0; 0]);
        }
        assert_eq!(quiet.report_silences(12_000), [0; 0], "the second one runs");
        assert_eq!(quiet.on_event(&result, 12_000), [0; 0]);
        assert_eq!(quiet.report_silences(13_500), [1000], "both have ended");
    }

    #[test]
    fn what_is_told_late_is_told_as_in_a_replay() {
        for gap in [0, 999, 1000, 1001, 2000, 125_000, 130_000, 4_000_000] {
            let text = Event::Text(TextChannel::Answer, "x");
            let at_once = SilenceTimer::default().on_event(&text, gap);
            let mut quiet = SilenceTimer::default();
            let waits = (0..gap).step_by(700);
            let mut reported: Vec<u64> = waits.flat_map(|now| quiet.report_silences(now)).collect();
            reported.extend(quiet.on_event(&text, gap));
            assert_eq!(reported, at_once, "{gap}");
        }
    }
}
