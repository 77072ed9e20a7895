//! [`Decision`]: what a guard wants done about an event; [`Pushed`]: that, and what was only noticed.

use crate::guard::alarm::Alarm;
use crate::guard::response::Response;

/// What a guard wants done about the event that it was pushed.
#[derive(Clone, Debug, Default, PartialEq)]
#[must_use = "a guard does nothing itself: whoever pushes has to refuse or to stop"]
pub enum Decision {
    /// Nothing: the stream goes on.
    #[default]
    Continue,
    /// The call is not to be run, and its caller is told so; the stream goes on. Of text of a call's arguments: the
    /// call that is being written. Any other event has no call to refuse: the alarm is reported, and nothing follows.
    Refuse(Alarm),
    /// The stream is over: nothing more is to be read, shown or run.
    Stop(Alarm),
}

/// The answer to one push: a decision, and the alarms that decide nothing.
///
/// Both come in one value, so that no second question can be forgotten. Of an event without an alarm it holds nothing
/// and allocates nothing.
///
/// ```
/// use deadloop_detect::{Decision, Guard, Pushed, Settings, TextChannel};
///
/// let text = "[[guard]]\ndetector = \"periodic\"\nresponse = \"warn\"";
/// let mut guard = Guard::new(Settings::parse(text)?.guard())?;
/// let Pushed { decision, warnings } = guard.push_text(TextChannel::Answer, &"so ".repeat(9000));
/// assert_eq!((decision, warnings.len()), (Decision::Continue, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[must_use = "a guard does nothing itself: whoever pushes has to refuse or to stop"]
pub struct Pushed {
    /// What is to be done.
    pub decision: Decision,
    /// The alarms that [warn](Response::Warn) or [observe](Response::Observe), in their order: of each member the
    /// first. A refusal that a stop has overtaken is the last of them.
    pub warnings: Vec<Alarm>,
}

impl Pushed {
    /// The alarm that stops or refuses.
    pub fn alarm(&self) -> Option<&Alarm> {
        self.decision.alarm()
    }

    /// The same, taken out.
    pub fn into_alarm(self) -> Option<Alarm> {
        self.decision.into_alarm()
    }

    /// The first alarm that stops or refuses, in the order of moments: that which a replay records. It is not
    /// always that of the decision, for a stop overtakes a refusal in the same event.
    pub fn first(&self) -> Option<&Alarm> {
        let refused = |alarm: &&Alarm| alarm.response.level() == Response::Stop;
        self.warnings.iter().find(refused).or(self.alarm())
    }
}

impl Decision {
    /// The alarm that stops or refuses.
    pub fn alarm(&self) -> Option<&Alarm> {
        match self {
            Self::Continue => None,
            Self::Refuse(alarm) | Self::Stop(alarm) => Some(alarm),
        }
    }

    /// The same, taken out.
    pub fn into_alarm(self) -> Option<Alarm> {
        match self {
            Self::Continue => None,
            Self::Refuse(alarm) | Self::Stop(alarm) => Some(alarm),
        }
    }

    /// Whether the stream is over.
    pub fn stops(&self) -> bool {
        matches!(self, Self::Stop(_))
    }
}

impl From<Decision> for Pushed {
    fn from(decision: Decision) -> Self {
        Self {
            decision,
            warnings: Vec::new(),
        }
    }
}
