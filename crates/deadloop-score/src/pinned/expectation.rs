//! [`Expectation`]: the expected alarm of a case.

use deadloop_replay::detect::{
    Channel, ChannelLengths, Kind, RECOMMENDED, RECOMMENDED_AGENTS, Settings, Unit,
};
use serde::Deserialize;
use toml::Value;

use crate::truth::{Case, Truth};

/// The alarm that a case expects of a setting.
///
/// | field | meaning |
/// |---|---|
/// | `alarm` | `true`, `false`, or the char of the alarm; the default is `true` with `⟦alarm⟧` or `between` |
/// | `between` | first and last position at which the alarm is right: a number, or `onset`, `alarm`, `end` with a number added, as `"onset+600"` |
/// | `kind`, `channel` | the kind and the channel of the alarm |
/// | `detector`, `preset`, `params`, `ignore`, `prompt` | the guard; the default is the checked settings |
/// | `guard` | the name of a shipped guard: `recommended` or `recommended-agents` |
/// | `todo` | the reason why the expectation does not hold yet: it cannot fail, and is reported once it holds |
///
/// With `alarm = true` and no `between`, the alarm is right at `⟦alarm⟧`. Without that mark it is right from `⟦onset⟧`
/// on, and without any mark anywhere. Positions are chars of the channel of the mark. In a run, they are calls, or
/// turns if a turn is marked, whatever the channel of the alarm.
#[derive(Clone, Debug)]
pub struct Expectation {
    /// The settings with the guard. `None` for the checked settings.
    pub settings: Option<Settings>,
    /// The first and the last right position. `None` if no alarm is expected.
    pub between: Option<[PinnedPlace; 2]>,
    /// The expected kind of the alarm. `None` for any kind.
    pub kind: Option<Kind>,
    /// The expected channel of the alarm. `None` for any channel.
    pub channel: Option<Channel>,
    /// The reason why the expectation does not hold yet. `None` if it must hold.
    pub todo: Option<String>,
}

/// The marked positions of a case, in units of their channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CaseMarks {
    /// The channel with the marks, in which an alarm is expected. `None` for any channel.
    pub channel: Option<Channel>,
    /// The position of the first char of the second copy.
    pub onset: Option<u64>,
    /// The position at which the alarm is due.
    pub alarm: Option<u64>,
    /// The end of the loop, or the length of the text.
    pub end: Option<u64>,
}

impl CaseMarks {
    /// Returns the onset and the end of the first loop of a labelled transcript.
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

/// An alarm of a guard, to be compared with the expected one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FiredAlarm {
    /// The channel of the alarm.
    pub channel: Channel,
    /// The position of the alarm in its channel, in the channel's unit.
    pub at: u64,
    /// The lengths of all channels at the alarm.
    pub seen: ChannelLengths,
    /// The kind of loop that the alarm claims.
    pub kind: Kind,
}

/// Describes an alarm, or its absence, in a few words.
pub fn describe_alarm(fired: Option<FiredAlarm>) -> String {
    match fired {
        None => "no alarm".into(),
        Some(f) => format!("an alarm at {} of {}, {}", f.at, f.channel, f.kind),
    }
}

/// A position in a case: an offset from a mark, or from the start of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PinnedPlace {
    mark: Option<MarkName>,
    offset: i64,
}

deadloop_replay::detect::words! {
    /// The name of a mark in a case.
    enum MarkName {
        Onset = "onset",
        Alarm = "alarm",
        End = "end",
    }
}

/// The first position of the text.
const TEXT_START: PinnedPlace = PinnedPlace::new(None, 0);
/// A position after every text.
const NO_LIMIT: PinnedPlace = PinnedPlace::new(None, i64::MAX);

/// An expectation as written in the file.
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
    /// Parses an expectation. `marks` are the marks of the text, or `None` if the case names a transcript of a corpus.
    pub(super) fn new(table: ExpectationTable, marks: Option<&CaseMarks>) -> Result<Self, String> {
        let may_exist = |mark: MarkName| marks.is_none_or(|marks| marks.position(mark).is_some());
        let between = match &table.between {
            None => None,
            Some([from, to]) => Some([PinnedPlace::parse(from)?, PinnedPlace::parse(to)?]),
        };
        let named = between.iter().flatten().filter_map(|place| place.mark);
        if let Some(mark) = named.into_iter().find(|mark| !may_exist(*mark)) {
            return Err(format!("the text has no ⟦{}⟧", mark.name()));
        }
        if let (Some([from, to]), Some(marks)) = (&between, marks)
            && from.resolve(marks) > to.resolve(marks)
        {
            return Err("between ends before it begins".into());
        }
        let marked = |mark| marks.is_some_and(|marks| marks.position(mark).is_some());
        let default_range = || match () {
            () if marked(MarkName::Alarm) => [PinnedPlace::new(Some(MarkName::Alarm), 0); 2],
            () if marked(MarkName::Onset) => [PinnedPlace::new(Some(MarkName::Onset), 0), NO_LIMIT],
            () => [TEXT_START, NO_LIMIT],
        };
        let between = match (&table.alarm, between) {
            (Some(Value::Boolean(false)), Some(_)) => {
                return Err("alarm = false beside between; expected one of them".into());
            }
            (Some(Value::Boolean(false)), None) => None,
            (Some(Value::Boolean(true)), between) => Some(between.unwrap_or_else(default_range)),
            (Some(Value::Integer(at)), None) => Some([PinnedPlace::new(None, *at); 2]),
            (Some(_), _) => {
                return Err("alarm is true, false, or the char at which it is due".into());
            }
            (None, between) => between.or_else(|| marked(MarkName::Alarm).then(default_range)),
        };
        Ok(Self {
            between,
            kind: table.kind,
            channel: table.channel,
            settings: table.parse_settings()?,
            todo: table.todo,
        })
    }

    /// Returns whether an alarm, or its absence, is as expected.
    pub fn holds(&self, marks: &CaseMarks, fired_alarm: Option<FiredAlarm>) -> bool {
        match (&self.between, fired_alarm) {
            (None, fired_alarm) => fired_alarm.is_none(),
            (Some(_), None) => false,
            (Some([from, to]), Some(fired)) => {
                let is_counted = |channel: Channel| channel.unit() != Unit::Chars;
                let (at, channel) = match marks.channel {
                    Some(channel) if is_counted(channel) => (fired.seen.count(channel), true),
                    channel => (
                        fired.at,
                        channel.is_none_or(|channel| channel == fired.channel),
                    ),
                };
                let at = i64::try_from(at).unwrap_or(i64::MAX);
                let kind = self.kind.is_none_or(|kind| kind == fired.kind);
                let own = self.channel.is_none_or(|channel| channel == fired.channel);
                kind && own && channel && from.resolve(marks) <= at && at <= to.resolve(marks)
            }
        }
    }

    /// Describes the expected alarm in words.
    pub fn describe(&self, marks: &CaseMarks) -> String {
        let Some([from, to]) = &self.between else {
            return "no alarm".into();
        };
        let (from, to) = (from.resolve(marks), to.resolve(marks));
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

/// Returns the settings of a shipped guard by its name.
fn parse_shipped_guard(name: &str, has_detector: bool) -> Result<Settings, String> {
    let text = match name {
        _ if has_detector => {
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
    /// Parses the guard of the table in the same way as a settings file. `None` if the table names no guard.
    fn parse_settings(&self) -> Result<Option<Settings>, String> {
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
    const fn new(mark: Option<MarkName>, offset: i64) -> Self {
        Self { mark, offset }
    }

    fn parse(value: &Value) -> Result<Self, String> {
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
                let offset = &text[mark.name().len()..];
                let is_signed = offset.is_empty() || offset.starts_with(['+', '-']);
                let offset = Some(offset).filter(|_| !offset.is_empty());
                let offset = offset.map_or(Ok(0), str::parse);
                match (is_signed, offset) {
                    (true, Ok(offset)) => Ok(Self::new(Some(mark), offset)),
                    _ => Err(wrong()),
                }
            }
            _ => Err(wrong()),
        }
    }

    /// Returns the position in a case with these marks. A missing mark is at the start of the text.
    fn resolve(&self, marks: &CaseMarks) -> i64 {
        let mark = self.mark.and_then(|mark| marks.position(mark)).unwrap_or(0);
        i64::try_from(mark)
            .unwrap_or(i64::MAX)
            .saturating_add(self.offset)
    }
}
