//! [`Decision`]: a guard's decision about an event. [`PushResult`]: a decision with warnings.

use crate::guard::alarm::Alarm;
use crate::guard::response::Response;

/// A guard's decision about a pushed event.
#[derive(Clone, Debug, Default, PartialEq)]
#[must_use = "a guard does nothing itself: whoever pushes has to refuse or to stop"]
pub enum Decision {
    /// The stream continues.
    #[default]
    Continue,
    /// The call must not run, and the stream continues. The caller reports the refusal to the model. For a piece of
    /// arguments, the call that it belongs to is refused. For other events, the alarm has no further effect.
    Refuse(Alarm),
    /// The stream is stopped: no more text may be read or shown, and no call may run.
    Stop(Alarm),
}

/// The result of a push: the decision, and the alarms that do not decide.
///
/// Without an alarm, nothing is allocated.
///
/// ```
/// use deadloop_detect::{Decision, Guard, PushResult, Settings, TextChannel};
///
/// let text = "[[guard]]\ndetector = \"periodic\"\nresponse = \"warn\"";
/// let mut guard = Guard::new(Settings::parse(text)?.guard())?;
/// let PushResult { decision, warnings } = guard.push_text(TextChannel::Answer, &"so ".repeat(9000));
/// assert_eq!((decision, warnings.len()), (Decision::Continue, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[must_use = "a guard does nothing itself: whoever pushes has to refuse or to stop"]
pub struct PushResult {
    /// The decision.
    pub decision: Decision,
    /// The alarms that [warn](Response::Warn) or [observe](Response::Observe), in order, at most one for each member. A
    /// refusal that a stop overrides is the last of them.
    pub warnings: Vec<Alarm>,
}

impl PushResult {
    /// Returns the alarm that stops or refuses.
    pub fn alarm(&self) -> Option<&Alarm> {
        self.decision.alarm()
    }

    /// Returns the alarm that stops or refuses, by value.
    pub fn into_alarm(self) -> Option<Alarm> {
        self.decision.into_alarm()
    }

    /// Returns the first alarm of the event that stops or refuses. A replay records this alarm. The decision may hold a
    /// later one, since a stop overrides a refusal.
    pub fn first(&self) -> Option<&Alarm> {
        let refused = |alarm: &&Alarm| alarm.response.level() == Response::Stop;
        self.warnings.iter().find(refused).or(self.alarm())
    }
}

impl Decision {
    /// Returns the alarm that stops or refuses.
    pub fn alarm(&self) -> Option<&Alarm> {
        match self {
            Self::Continue => None,
            Self::Refuse(alarm) | Self::Stop(alarm) => Some(alarm),
        }
    }

    /// Returns the alarm that stops or refuses, by value.
    pub fn into_alarm(self) -> Option<Alarm> {
        match self {
            Self::Continue => None,
            Self::Refuse(alarm) | Self::Stop(alarm) => Some(alarm),
        }
    }

    /// Returns whether the stream is stopped.
    pub fn stops(&self) -> bool {
        matches!(self, Self::Stop(_))
    }
}

impl From<Decision> for PushResult {
    fn from(decision: Decision) -> Self {
        Self {
            decision,
            warnings: Vec::new(),
        }
    }
}
