//! [`Expectation`]: the expected alarm of a case.

use deadloop_replay::detect::{
    Channel, ChannelLengths, Kind, RECOMMENDED, RECOMMENDED_AGENTS, Settings, Unit,
};
use serde::Deserialize;
use toml::Value;

use crate::truth::{Case, Truth};

/// The expected alarm of a setting.
///
/// | field | meaning |
/// |---|---|
/// | `alarm` | `true`, `false`, or the char of the alarm; the default is `true` with `⟦alarm⟧` or `between` |
/// | `between` | first and last position at which the alarm is right: a number, or `onset`, `alarm`, `end` with a number added, as `"onset+600"` |
/// | `kind`, `channel` | the kind and the channel of the alarm |
/// | `detector`, `preset`, `params`, `ignore`, `prompt` | the guard; the default is the checked settings |
/// | `guard` | the guard by the name of one that ships: `recommended` or `recommended-agents` |
/// | `todo` | why the expectation does not hold yet: it cannot fail, and is reported once it holds |
///
/// With `alarm = true` and no `between` the alarm is right at `⟦alarm⟧`, or from `⟦onset⟧` on, or anywhere. Positions
/// are chars of the channel of the mark. In a run they are calls, or turns if a turn is marked, whatever the channel of
/// the alarm.
#[derive(Clone, Debug)]
pub struct Expectation {
    /// The guard. `None` for the checked settings.
    pub settings: Option<Settings>,
    /// First and last right position. `None` if no alarm is expected.
    pub between: Option<[PinnedPlace; 2]>,
    /// The alarm's kind.
    pub kind: Option<Kind>,
    /// The alarm's channel.
    pub channel: Option<Channel>,
    /// The reason why the expectation does not hold yet.
    pub todo: Option<String>,
}

/// The marked positions of a case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CaseMarks {
    /// The channel of the marks, in which an alarm is expected. `None` for any channel.
    pub channel: Option<Channel>,
    /// The first char of the second copy.
    pub onset: Option<u64>,
    /// The position at which the alarm is due.
    pub alarm: Option<u64>,
    /// The length of the text, or the end of the loop.
    pub end: Option<u64>,
}

impl CaseMarks {
    /// Returns the positions of the first loop of a labelled transcript.
    pub fn of_loop(case: &Case) -> Self {
        let span = case.truth.as_ref().and_then(Truth::first_loop);
        span.map_or(Self::default(), |span| Self {
            channel: Some(span.channel),
            onset: Some(span.onset.count()),
            alarm: None,
            end: Some(span.end.count()),
        })
    }
}

/// An alarm, compared with the expected one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FiredAlarm {
    /// The channel of the alarm.
    pub channel: Channel,
    /// The position in the channel, in its unit.
    pub at: u64,
    /// The lengths of all channels at the alarm.
    pub seen: ChannelLengths,
    /// The kind of loop.
    pub kind: Kind,
}

/// Describes an alarm in a few words. `None` means no alarm.
pub fn alarm_words(fired: Option<FiredAlarm>) -> String {
    match fired {
        None => "no alarm".into(),
        Some(f) => format!("an alarm at {} of {}, {}", f.at, f.channel, f.kind),
    }
}

/// A position in a text: an offset from a mark, or from the start of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PinnedPlace {
    mark: Option<MarkName>,
    add: i64,
}

deadloop_replay::detect::words! {
    enum MarkName {
        Onset = "onset",
        Alarm = "alarm",
        End = "end",
    }
}

const START: PinnedPlace = PinnedPlace::new(None, 0);
const ANYWHERE: PinnedPlace = PinnedPlace::new(None, i64::MAX);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ExpectationTable {
    detector: Option<String>,
    preset: Option<String>,
    guard: Option<String>,
    #[serde(default)]
    params: toml::Table,
    ignore: Option<Value>,
    prompt: Option<Value>,
    alarm: Option<Value>,
    between: Option<[Value; 2]>,
    kind: Option<Kind>,
    channel: Option<Channel>,
    todo: Option<String>,
}

impl Expectation {
    /// Reads an expectation. `marks` are those of the text, or `None` if they are not known yet.
    pub(super) fn read(table: ExpectationTable, marks: Option<&CaseMarks>) -> Result<Self, String> {
        let known = |mark: MarkName| marks.is_none_or(|marks| marks.position(mark).is_some());
        let between = match &table.between {
            None => None,
            Some([from, to]) => Some([PinnedPlace::read(from)?, PinnedPlace::read(to)?]),
        };
        let places = between.iter().flatten().filter_map(|place| place.mark);
        if let Some(mark) = places.into_iter().find(|mark| !known(*mark)) {
            return Err(format!("the text has no ⟦{}⟧", mark.name()));
        }
        if let (Some([from, to]), Some(marks)) = (&between, marks)
            && from.at(marks) > to.at(marks)
        {
            return Err("between ends before it begins".into());
        }
        let marked = |mark| marks.is_some_and(|marks| marks.position(mark).is_some());
        let where_marked = || match () {
            () if marked(MarkName::Alarm) => [PinnedPlace::new(Some(MarkName::Alarm), 0); 2],
            () if marked(MarkName::Onset) => [PinnedPlace::new(Some(MarkName::Onset), 0), ANYWHERE],
            () => [START, ANYWHERE],
        };
        let between = match (&table.alarm, between) {
            (Some(Value::Boolean(false)), Some(_)) => {
                return Err("alarm = false beside between; expected one of them".into());
            }
            (Some(Value::Boolean(false)), None) => None,
            (Some(Value::Boolean(true)), between) => Some(between.unwrap_or_else(where_marked)),
            (Some(Value::Integer(at)), None) => Some([PinnedPlace::new(None, *at); 2]),
            (Some(_), _) => {
                return Err("alarm is true, false, or the char at which it is due".into());
            }
            (None, between) => between.or_else(|| marked(MarkName::Alarm).then(where_marked)),
        };
        Ok(Self {
            between,
            kind: table.kind,
            channel: table.channel,
            settings: table.settings()?,
            todo: table.todo,
        })
    }

    /// Returns whether an alarm, or its absence, is the expected one.
    pub fn holds(&self, marks: &CaseMarks, said: Option<FiredAlarm>) -> bool {
        match (&self.between, said) {
            (None, said) => said.is_none(),
            (Some(_), None) => false,
            (Some([from, to]), Some(fired)) => {
                let counted = |channel: Channel| channel.unit() != Unit::Chars;
                let (at, channel) = match marks.channel {
                    Some(channel) if counted(channel) => (fired.seen.count(channel), true),
                    channel => (
                        fired.at,
                        channel.is_none_or(|channel| channel == fired.channel),
                    ),
                };
                let at = i64::try_from(at).unwrap_or(i64::MAX);
                let kind = self.kind.is_none_or(|kind| kind == fired.kind);
                let own = self.channel.is_none_or(|channel| channel == fired.channel);
                kind && own && channel && from.at(marks) <= at && at <= to.at(marks)
            }
        }
    }

    /// Describes the expected alarm in words.
    pub fn wanted(&self, marks: &CaseMarks) -> String {
        let Some([from, to]) = &self.between else {
            return "no alarm".into();
        };
        let (from, to) = (from.at(marks), to.at(marks));
        let channel = self.channel.map(|channel| format!(" in {channel}"));
        let kind = self.kind.map(|kind| format!(", {kind}"));
        let kind = channel.unwrap_or_default() + &kind.unwrap_or_default();
        match (from, to) {
            (0, i64::MAX) => format!("an alarm{kind}"),
            (from, i64::MAX) => format!("an alarm from {from} on{kind}"),
            (from, to) if from == to => format!("an alarm at {from}{kind}"),
            (from, to) => format!("an alarm from {from} to {to}{kind}"),
        }
    }
}

/// Returns a guard that ships, by its name.
fn parse_shipped_guard(name: &str, detector: bool) -> Result<Settings, String> {
    let text = match name {
        _ if detector => {
            return Err("guard and detector name a guard each; expected one of them".into());
        }
        "recommended" => RECOMMENDED.to_owned(),
        // The guard for runs reads their text too.
        "recommended-agents" => format!("{RECOMMENDED}\n{RECOMMENDED_AGENTS}"),
        _ => {
            return Err(format!(
                "unknown guard {name:?}; expected recommended or recommended-agents"
            ));
        }
    };
    Settings::parse(&text).map_err(|e| e.what)
}

impl ExpectationTable {
    /// Parses the named guard as a settings file would be.
    fn settings(&self) -> Result<Option<Settings>, String> {
        if let Some(guard) = &self.guard {
            return parse_shipped_guard(guard, self.detector.is_some()).map(Some);
        }
        let Some(detector) = &self.detector else {
            let others = self.preset.is_some() || self.ignore.is_some() || self.prompt.is_some();
            return if others || !self.params.is_empty() {
                Err("preset, params, ignore and prompt need a detector beside them".into())
            } else {
                Ok(None)
            };
        };
        let given = [
            ("detector", Some(detector.clone().into())),
            ("preset", self.preset.clone().map(Value::from)),
            ("ignore", self.ignore.clone()),
            ("prompt", self.prompt.clone()),
            ("params", Some(Value::Table(self.params.clone()))),
        ];
        let given = given.into_iter();
        let guard: toml::Table = given
            .filter_map(|(key, value)| Some((key.to_owned(), value?)))
            .collect();
        let file = toml::Table::from_iter([("guard".to_owned(), vec![guard].into())]);
        let settings = Settings::parse(&file.to_string()).map_err(|e| e.what)?;
        Ok(Some(settings))
    }
}

impl CaseMarks {
    fn position(&self, mark: MarkName) -> Option<u64> {
        match mark {
            MarkName::Onset => self.onset,
            MarkName::Alarm => self.alarm,
            MarkName::End => self.end,
        }
    }
}

impl PinnedPlace {
    const fn new(mark: Option<MarkName>, add: i64) -> Self {
        Self { mark, add }
    }

    fn read(value: &Value) -> Result<Self, String> {
        let wrong = || {
            format!(
                "between: {value} is no place; expected a number, or onset, alarm or end with a number added, as \"onset+600\""
            )
        };
        match value {
            Value::Integer(at) => Ok(Self::new(None, *at)),
            Value::String(text) => {
                let text: String = text.split_whitespace().collect();
                let mark = MarkName::ALL
                    .into_iter()
                    .find(|m| text.starts_with(m.name()));
                let mark = mark.ok_or_else(wrong)?;
                let add = &text[mark.name().len()..];
                let signed = add.is_empty() || add.starts_with(['+', '-']);
                let add = if add.is_empty() { Ok(0) } else { add.parse() };
                match (signed, add) {
                    (true, Ok(add)) => Ok(Self::new(Some(mark), add)),
                    _ => Err(wrong()),
                }
            }
            _ => Err(wrong()),
        }
    }

    /// Returns the char of the position. A missing mark counts as the start of the text.
    fn at(&self, marks: &CaseMarks) -> i64 {
        let mark = self.mark.and_then(|mark| marks.position(mark)).unwrap_or(0);
        i64::try_from(mark)
            .unwrap_or(i64::MAX)
            .saturating_add(self.add)
    }
}
