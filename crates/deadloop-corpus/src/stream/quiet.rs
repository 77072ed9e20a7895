//! [`Quiet`]: how long a live stream has been silent, told as a replay of its recording tells it
//! ([`stream`](crate::stream)).

use deadloop_detect::Event;

/// The shortest silence that is told, in milliseconds.
const SHORTEST: u64 = 1000;

/// How long nothing came, by a clock of whoever reads: milliseconds since it was made, which never go back.
///
/// The time that a tool takes is none, and neither is what comes after the end.
#[derive(Debug, Default)]
pub struct Quiet {
    last: u64,
    /// Whether the model is waited for no more.
    others: bool,
}

impl Quiet {
    /// An event came.
    pub fn heard(&mut self, event: &Event<'_>, now: u64) {
        self.last = now;
        self.others = matches!(event, Event::Call { .. } | Event::Finish(_) | Event::Closed);
    }

    /// How long the model has been silent, from a second on.
    pub fn since(&self, now: u64) -> Option<u64> {
        let silent = now.saturating_sub(self.last);
        (!self.others && silent >= SHORTEST).then_some(silent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadloop_detect::{Arguments, Channel};

    #[test]
    fn the_model_is_silent_and_a_tool_is_not() {
        let mut quiet = Quiet::default();
        let text = Event::Text(Channel::Answer, "x");
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
