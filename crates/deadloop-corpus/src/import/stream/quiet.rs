//! [`Quiet`]: how long a live stream has been silent, as a replay of its recording reports it
//! ([`stream`](crate::stream)).

use deadloop_detect::Event;

/// The shortest silence that is reported, in milliseconds.
const SHORTEST: u64 = 1000;

/// How long the model has sent nothing. The caller brings the clock: milliseconds since this value was made, which
/// never decrease.
///
/// The time that a tool takes is not silence, and neither is the time after the end.
#[derive(Debug, Default)]
pub struct Quiet {
    last: u64,
    /// Whether nobody waits for the model: a tool runs, or the stream has ended.
    others: bool,
}

impl Quiet {
    /// Takes an event that came at `now`.
    pub fn heard(&mut self, event: &Event<'_>, now: u64) {
        self.last = now;
        self.others = matches!(event, Event::Call { .. } | Event::Finish(_) | Event::Closed);
    }

    /// How long the model has been silent at `now`, in milliseconds. `None` below one second.
    pub fn since(&self, now: u64) -> Option<u64> {
        let silent = now.saturating_sub(self.last);
        (!self.others && silent >= SHORTEST).then_some(silent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadloop_detect::{Arguments, TextChannel};

    #[test]
    fn the_model_is_silent_and_a_tool_is_not() {
        let mut quiet = Quiet::default();
        let text = Event::Text(TextChannel::Answer, "x");
        assert_eq!((quiet.since(999), quiet.since(1000)), (None, Some(1000)));
        quiet.heard(&text, 1500);
        assert_eq!((quiet.since(2400), quiet.since(9500)), (None, Some(8000)));
        assert_eq!(quiet.since(0), None, "a clock that went back");
        let call = Event::Call {
            id: None,
            name: "ls",
            arguments: Arguments::Raw("{}"),
        };
        for over in [call, Event::Finish(None)] {
            quiet.heard(&over, 2000);
            assert_eq!(quiet.since(90_000), None);
        }
        quiet.heard(&Event::User("go on"), 3000);
        assert_eq!(quiet.since(5000), Some(2000));
    }
}
