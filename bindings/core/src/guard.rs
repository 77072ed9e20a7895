//! [`Guard`]: the live guard of the packages, and its [`Decision`].

use deadloop_detect::{Alarm, Channel, Decision as Decided, Event, PushResult, TextChannel};
use deadloop_stream::PromptInfo;
use serde::Serialize;
use std::sync::Arc;

use crate::{Utf16Decoder, Utf16Positions};

/// The guard of one stream or run.
///
/// Text may come as UTF-16 that is cut inside a char ([`Utf16Decoder`]). With [`counting_utf16`](Self::counting_utf16),
/// alarms also have positions in units of UTF-16.
#[derive(Debug)]
pub struct Guard {
    guard: deadloop_detect::Guard,
    /// The prompt of the watched response.
    asked: Arc<PromptInfo>,
    lanes: [Utf16Decoder; LANES],
    /// The positions in UTF-16. `None` if they are not counted.
    pairs: Option<Box<[Utf16Positions; LANES]>>,
}

/// The number of channels of text.
const LANES: usize = TextChannel::ALL.len();

/// Passes the user's messages to a fresh guard.
pub(crate) fn pass_prompt(guard: &mut deadloop_detect::Guard, asked: &PromptInfo) {
    for text in &asked.user {
        // Nothing has been generated that could be stopped.
        let _ = guard.push(&Event::User(text));
    }
}

impl Guard {
    /// Creates a guard and passes it the user's messages.
    pub(crate) fn with_prompt(mut guard: deadloop_detect::Guard, asked: &Arc<PromptInfo>) -> Self {
        pass_prompt(&mut guard, asked);
        Self {
            guard,
            asked: Arc::clone(asked),
            lanes: Default::default(),
            pairs: None,
        }
    }

    /// Adds positions in UTF-16 to the guard's alarms.
    #[must_use]
    pub fn counting_utf16(mut self) -> Self {
        self.pairs = Some(Box::default());
        self
    }

    /// Returns a fresh guard for another answer to the same request.
    #[must_use]
    pub fn fresh(&self) -> Self {
        let guard = Self::with_prompt(self.guard.fresh(), &self.asked);
        match self.pairs {
            Some(_) => guard.counting_utf16(),
            None => guard,
        }
    }

    /// Takes the next chunk of a channel of text, by its place in [`TextChannel::ALL`].
    pub fn push(&mut self, lane: usize, text: &str) -> Decision {
        let Some(channel) = TextChannel::ALL.get(lane) else {
            return Decision::default();
        };
        if self.lanes[lane].holds() {
            let held = self.lanes[lane].end().unwrap_or("");
            return self.take(lane, *channel, &format!("{held}{text}"));
        }
        self.take(lane, *channel, text)
    }

    /// Takes the next chunk of a channel in UTF-16, which may end inside a char.
    pub fn push_utf16(&mut self, lane: usize, units: &[u16]) -> Decision {
        let (Some(channel), Some(own)) = (TextChannel::ALL.get(lane), self.lanes.get_mut(lane))
        else {
            return Decision::default();
        };
        let text = own.text(units);
        self.take(lane, *channel, &text)
    }

    /// Returns whether the next chunk of a channel has to come as UTF-16, because half of a char was held back.
    pub fn holds(&self, lane: usize) -> bool {
        self.lanes.get(lane).is_some_and(Utf16Decoder::holds)
    }

    fn take(&mut self, lane: usize, channel: TextChannel, text: &str) -> Decision {
        if let Some(pairs) = &mut self.pairs {
            pairs[lane].count(text);
        }
        self.decide(&Event::Text(channel, text))
    }

    /// Takes an event that is not text. A held back half of a char is then final, unless the event is a silence.
    pub fn event(&mut self, event: &Event<'_>) -> Decision {
        if !matches!(event, Event::Silence(_)) {
            for (lane, channel) in TextChannel::ALL.into_iter().enumerate() {
                let Some(rest) = self.lanes[lane].end() else {
                    continue;
                };
                let mut decision = self.take(lane, channel, rest);
                if decision.action == Action::Stop {
                    return decision;
                }
                let then = self.event(event);
                decision.warnings.extend(then.warnings);
                return Decision {
                    warnings: decision.warnings,
                    ..then
                };
            }
        }
        self.decide(event)
    }

    fn decide(&mut self, event: &Event<'_>) -> Decision {
        self.guard.push(event).into()
    }

    /// Returns the alarm that has stopped the stream, if one has.
    pub fn alarm(&self) -> Option<&Alarm> {
        self.guard.stopped()
    }

    /// Returns an alarm as JSON, with positions in UTF-16 if they are counted, are of text, and are known.
    pub fn alarm_json(&self, alarm: &Alarm) -> String {
        json(&self.read(alarm))
    }

    /// Returns a decision as JSON (`action`, `alarm` or null, `warnings`) if it needs an action or a report.
    pub fn report(&self, decision: &Decision) -> Option<String> {
        (!decision.is_quiet()).then(|| self.decision_json(decision))
    }

    fn decision_json(&self, decision: &Decision) -> String {
        decision.written(|alarm| self.read(alarm))
    }

    fn read<'a>(&self, alarm: &'a Alarm) -> AlarmJson<'a> {
        let lane = TextChannel::ALL
            .iter()
            .position(|lane| *lane == alarm.channel);
        let pairs = self.pairs.as_ref().zip(lane).map(|(all, lane)| &all[lane]);
        let units = |chars: deadloop_detect::Units| pairs.and_then(|p| p.units(chars.count()));
        AlarmJson {
            exact_utf16: units(alarm.exact),
            delivered_utf16: units(alarm.delivered),
            onset_utf16: units(alarm.onset),
            ..AlarmJson::from_alarm(alarm)
        }
    }
}

/// The action that an event requires of the caller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// No action: the stream continues.
    #[default]
    Continue,
    /// The pushed call must not run. The stream continues.
    Refuse,
    /// The stream must end.
    Stop,
}

/// The decision of a guard on an event.
#[derive(Clone, Debug, Default, PartialEq)]
#[must_use]
pub struct Decision {
    /// The required action.
    pub action: Action,
    /// The alarm behind a refusal or a stop.
    pub alarm: Option<Box<Alarm>>,
    /// New alarms that only warn or observe.
    pub warnings: Vec<Alarm>,
}

impl From<PushResult> for Decision {
    fn from(PushResult { decision, warnings }: PushResult) -> Self {
        let (action, alarm) = match decision {
            Decided::Continue => (Action::Continue, None),
            Decided::Refuse(alarm) => (Action::Refuse, Some(Box::new(alarm))),
            Decided::Stop(alarm) => (Action::Stop, Some(Box::new(alarm))),
        };
        Self {
            action,
            alarm,
            warnings,
        }
    }
}

impl Action {
    /// Returns the action's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Continue => "continue",
            Self::Refuse => "refuse",
            Self::Stop => "stop",
        }
    }
}

impl Decision {
    /// Returns the decision as JSON: `action`, `alarm` or null, `warnings`.
    pub fn json(&self) -> String {
        self.written(AlarmJson::from_alarm)
    }

    fn written<'a>(&'a self, read: impl Fn(&'a Alarm) -> AlarmJson<'a>) -> String {
        #[derive(Serialize)]
        struct DecisionJson<'a> {
            action: Action,
            alarm: Option<AlarmJson<'a>>,
            warnings: Vec<AlarmJson<'a>>,
        }
        json(&DecisionJson {
            action: self.action,
            alarm: self.alarm.as_deref().map(&read),
            warnings: self.warnings.iter().map(&read).collect(),
        })
    }

    /// Returns whether the decision needs neither an action nor a report.
    pub fn is_quiet(&self) -> bool {
        self.action == Action::Continue && self.warnings.is_empty()
    }
}

/// An alarm in the form that the packages read: its fields, and its texts for a log, a user and a model.
#[derive(Serialize)]
struct AlarmJson<'a> {
    #[serde(flatten)]
    alarm: &'a Alarm,
    what: String,
    log_line: String,
    user_message: String,
    refusal: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    exact_utf16: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    delivered_utf16: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    onset_utf16: Option<u64>,
}

impl<'a> AlarmJson<'a> {
    fn from_alarm(alarm: &'a Alarm) -> Self {
        Self {
            alarm,
            what: alarm.what(),
            log_line: alarm.log_line(),
            user_message: alarm.user_message(),
            refusal: alarm.refusal(),
            exact_utf16: None,
            delivered_utf16: None,
            onset_utf16: None,
        }
    }
}

/// Returns an alarm as JSON: its fields, and its texts for a log (`log_line`), for a user (`user_message`) and for a
/// model (`refusal`).
pub fn alarm_json(alarm: &Alarm) -> String {
    json(&AlarmJson::from_alarm(alarm))
}

/// Writes plain data as JSON. This cannot fail, since all keys are text.
fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// Returns the names of the channels of text, for errors.
pub fn lanes() -> String {
    TextChannel::ALL.map(TextChannel::name).join(", ")
}

/// Returns the index of a channel of text in [`TextChannel::ALL`].
///
/// # Errors
/// Returns the names of the channels if `channel` is not one of them. If `text` is one, the message adds that the two
/// arguments are swapped.
pub fn lane(channel: &str, text: impl FnOnce() -> String) -> Result<usize, String> {
    let place = |name: &str| TextChannel::ALL.iter().position(|c| c.name() == name);
    place(channel).ok_or_else(|| {
        let hint = match (
            place(&text()),
            Channel::ALL.iter().any(|c| c.name() == channel),
        ) {
            (Some(_), _) => "; the text comes first, then its channel: push(text, channel)",
            (None, true) => "; calls and turns have methods of their own: call(...), turn()",
            (None, false) => "",
        };
        let channel: String = channel.chars().take(40).collect();
        format!(
            "no channel of text is called {channel:?}; expected one of: {}{hint}",
            lanes()
        )
    })
}

/// Converts seconds to milliseconds.
///
/// # Errors
/// The seconds are negative or not a number.
pub fn millis(seconds: f64) -> Result<u64, String> {
    let millis = seconds * 1000.0;
    match (0.0..1e15).contains(&millis) {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // just looked at
        true => Ok(millis.round() as u64),
        false => Err(format!(
            "silence of {seconds} seconds; expected a number from 0 on"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Guards;
    use deadloop_detect::Arguments;

    const SENTENCE: &str = "Wait, let me check the roads once more. ";

    fn call(guard: &mut Guard) -> Decision {
        guard.event(&Event::Call {
            id: None,
            name: "ls",
            arguments: Arguments::Raw("{}"),
        })
    }

    fn guard(response: &str) -> Guard {
        let text = format!(
            "[[guard]]\ndetector = \"duplicate\"\nresponse = \"{response}\"\n[guard.params]\nn = 3"
        );
        Guards::parse(&text, "settings").unwrap().guard("")
    }

    #[test]
    fn each_response_is_an_action() {
        for (response, action, goes_on) in [
            ("stop", Action::Stop, false),
            ("refuse", Action::Refuse, true),
            ("warn", Action::Continue, true),
            ("observe", Action::Continue, true),
        ] {
            let mut guard = guard(response);
            assert!(call(&mut guard).is_quiet() && call(&mut guard).is_quiet());
            let third = call(&mut guard);
            assert_eq!(third.action, action, "{response}");
            assert_eq!(third.alarm.is_some(), action != Action::Continue);
            assert_eq!(
                third.warnings.len(),
                usize::from(action == Action::Continue)
            );
            assert_eq!(guard.alarm().is_some(), !goes_on);
        }
    }

    #[test]
    fn a_half_that_stays_alone_counts_when_something_else_comes() {
        let settings = "[[guard]]\ndetector = \"periodic\"\n[guard.params]\nmin_copies = 3\nmin_chars = 4\nmin_single = 4";
        let mut guard = Guards::parse(settings, "settings").unwrap().guard("");
        let half = [0xD83D_u16];
        for _ in 0..3 {
            assert!(guard.push_utf16(1, &half).is_quiet());
        }
        assert!(guard.event(&Event::Silence(2000)).is_quiet());
        assert!(guard.holds(1));
        let mut other = guard.fresh();
        // The fourth half is known to be alone at the end alone.
        assert!(guard.push_utf16(1, &half).is_quiet());
        assert_eq!(guard.event(&Event::Finish(None)).action, Action::Stop);
        assert!(other.push(1, "\u{FFFD}\u{FFFD}\u{FFFD}").is_quiet());
        assert_eq!(other.push(1, "\u{FFFD}").action, Action::Stop);
    }

    #[test]
    fn positions_in_utf16_are_told_where_they_are_asked_for() {
        let text = "ab😀c".repeat(400);
        let guards = Guards::recommended().unwrap();
        let mut plain = guards.guard("");
        let decision = plain.push(1, &text);
        let json = plain.decision_json(&decision);
        assert!(json.starts_with("{\"action\":\"stop\",\"alarm\":{\"detector\""));
        assert!(!json.contains("utf16"));
        let mut counting = guards.guard("").counting_utf16();
        let decision = counting.push(1, &text);
        let alarm: serde_json::Value =
            serde_json::from_str(&counting.alarm_json(&decision.alarm.unwrap())).unwrap();
        let exact = alarm["exact"].as_u64().unwrap();
        let units: String = text.chars().take(exact as usize).collect();
        assert_eq!(alarm["exact_utf16"], units.encode_utf16().count());
        assert_eq!(alarm["delivered_utf16"], text.encode_utf16().count());
    }

    #[test]
    fn channels_that_carry_no_text_are_refused() {
        let error = |channel, text: &str| lane(channel, || text.to_owned()).unwrap_err();
        assert_eq!(lane("answer", || "reasoning".to_owned()), Ok(1));
        assert!(error("tools", SENTENCE).ends_with("methods of their own: call(...), turn()"));
        assert!(error("thought", "x").ends_with("expected one of: reasoning, answer, arguments"));
        assert!(error(SENTENCE, "answer").ends_with("push(text, channel)"));
    }
}
