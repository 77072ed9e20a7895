//! [`GuardTable`]: a `[[guard]]` table, checked against its detector.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use serde::Deserialize;

use super::{LocatedValue, SettingsError};
use crate::detectors::{DETECTORS, Detector};
use crate::guard::response::Response;
use crate::measure::ignore::IGNORE;
use crate::measure::prompt::PROMPT;
use crate::measure::text_scope::PER;
use crate::settings::param::Domain;
use crate::settings::params::Params;
use crate::settings::setting::{Member, Setting};
use crate::settings::suggestion::did_you_mean;
use crate::settings::value::Value;
use crate::stream::Channel;

/// A `[[guard]]` table of a settings file or a grid, before its values are checked.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GuardTable {
    /// The name of the detector.
    pub detector: LocatedValue<String>,
    /// The preset that the parameters override.
    pub preset: Option<LocatedValue<String>>,
    /// The channel. The default is `reasoning` and `answer`, or the channel of a run detector.
    pub channel: Option<LocatedValue<String>>,
    /// The response to alarms. The default is that of the detector.
    pub response: Option<LocatedValue<String>>,
    // Keys that became parameters. `share` moves them to `params`.
    per: Option<LocatedValue<Value>>,
    ignore: Option<LocatedValue<Value>>,
    prompt: Option<LocatedValue<Value>>,
    /// The mean number of chars in a token. If present, values of `params` in chars are in tokens.
    pub chars_per_token: Option<LocatedValue<f64>>,
    /// Whether the guard is enabled.
    #[serde(default = "enabled_by_default")]
    pub enabled: bool,
    /// The parameters by name.
    #[serde(default)]
    pub params: BTreeMap<LocatedValue<String>, LocatedValue<Value>>,
}

fn enabled_by_default() -> bool {
    true
}

impl GuardTable {
    fn param(&mut self, name: &str) -> Option<&mut LocatedValue<Value>> {
        let mut params = self.params.iter_mut();
        let named = params.find(|(param, _)| param.get_ref() == name);
        named.map(|(_, value)| value)
    }

    /// Sets a parameter that is not in the table.
    fn fill(&mut self, name: &str, value: LocatedValue<Value>) {
        if self.param(name).is_none() {
            self.params.insert(value.with(name), value);
        }
    }

    /// Adds patterns before those of the table.
    fn add_ignore(&mut self, list: LocatedValue<Value>) {
        match self.param(IGNORE.name) {
            Some(own) => *own = own.with(join_lists(list.get_ref(), own.get_ref())),
            None => self.fill(IGNORE.name, list),
        }
    }

    fn move_old_keys(&mut self) {
        for (name, value) in [
            (PER.name, self.per.take()),
            (PROMPT.name, self.prompt.take()),
        ] {
            if let Some(value) = value {
                self.fill(name, value);
            }
        }
        if let Some(list) = self.ignore.take() {
            self.add_ignore(list);
        }
    }

    /// Returns whether the detector has the parameter `ignore`.
    fn takes_ignore(&self) -> bool {
        let detector = Detector::find(self.detector.get_ref());
        detector.is_some_and(|detector| detector.param(IGNORE.name).is_some())
    }
}

/// Applies `ignore` and `prompt` of a file to its guards that have these parameters. A guard gets the patterns of the
/// file in addition to its own, and the `prompt` of the file if it has none.
///
/// # Errors
/// The file has `ignore`, but no guard with this parameter.
pub fn share<'t>(
    tables: impl IntoIterator<Item = &'t mut GuardTable>,
    ignore: Option<&LocatedValue<Vec<String>>>,
    prompt: Option<&LocatedValue<String>>,
    text: &str,
) -> Result<(), SettingsError> {
    let mut found = false;
    for table in tables {
        table.move_old_keys();
        if !table.takes_ignore() {
            continue;
        }
        found = true;
        if let Some(ignore) = ignore {
            let patterns = ignore.get_ref().iter().cloned().map(Value::Text);
            table.add_ignore(ignore.with(Value::List(patterns.collect())));
        }
        if let Some(prompt) = prompt {
            let word = Value::Text(prompt.get_ref().clone());
            table.fill(PROMPT.name, prompt.with(word));
        }
    }
    match ignore {
        Some(ignore) if !found => {
            let what = "ignore: no guard looks for repetition in a text";
            Err(SettingsError::at(text, ignore.span(), what))
        }
        _ => Ok(()),
    }
}

/// Joins two lists without duplicates. If the second is a list of lists, as in a grid, joins the first one with each of
/// them.
fn join_lists(first: &Value, second: &Value) -> Value {
    let Value::List(own) = second else {
        return second.clone();
    };
    if own.iter().any(|item| matches!(item, Value::List(_))) {
        return Value::List(own.iter().map(|own| join_lists(first, own)).collect());
    }
    let mut all = first.items().to_vec();
    let new = own.iter().filter(|item| !first.items().contains(item));
    all.extend(new.cloned());
    Value::List(all)
}

/// Returns the guard of a list of `[[guard]]` tables, after checking each table.
pub(super) fn setting(tables: &[GuardTable], text: &str) -> Result<Setting, SettingsError> {
    // Disabled guards are checked, too, since they may be enabled later.
    let all = tables
        .iter()
        .map(|table| Ok((table.enabled, member(table, text)?)));
    let all: Vec<(bool, Member)> = all.collect::<Result<_, _>>()?;
    let on = all.into_iter().filter(|(enabled, _)| *enabled);
    Ok(Setting {
        members: on.map(|(_, member)| member).collect(),
    })
}

/// Reads a `[[guard]]` table and checks its parameters.
fn member(table: &GuardTable, text: &str) -> Result<Member, SettingsError> {
    let (mut member, named) = resolve(table, text)?;
    let ratio = ratio(table, &named, member.detector, text)?;
    let mut spans = BTreeMap::new();
    for (name, item) in named {
        let value = item.get_ref().clone();
        let value = match ratio.filter(|_| is_in_chars(member.detector, name)) {
            Some(ratio) => in_chars(value, ratio),
            None => value,
        };
        spans.insert(name.get_ref().clone(), item.span());
        member.params.set(name.get_ref(), value);
    }
    member.check().map_err(|refusal| {
        let span = spans
            .get(refusal.param)
            .cloned()
            .unwrap_or_else(|| table.detector.span());
        SettingsError::at(text, span, format!("{}: {}", refusal.param, refusal.reason))
    })?;
    Ok(member)
}

/// The allowed range of the mean number of chars in a token.
const TOKEN: RangeInclusive<f64> = 0.1..=100.0;

/// Returns the number of chars in a token, if the table has the key and a parameter in tokens.
fn ratio(
    table: &GuardTable,
    named: &RawParams<'_>,
    detector: &'static Detector,
    text: &str,
) -> Result<Option<f64>, SettingsError> {
    let Some(ratio) = &table.chars_per_token else {
        return Ok(None);
    };
    let error = |what: String| SettingsError::at(text, ratio.span(), what);
    if !TOKEN.contains(ratio.get_ref()) {
        let what = format!(
            "chars_per_token {} is not from {} to {}",
            ratio.get_ref(),
            TOKEN.start(),
            TOKEN.end()
        );
        return Err(error(what));
    }
    let is_rows = |name: &str| {
        let param = detector.param(name);
        param.is_some_and(|param| matches!(param.domain, Domain::Rows(_)))
    };
    if let Some((rows, _)) = named.iter().find(|(name, _)| is_rows(name.get_ref())) {
        let what = format!("{} is in chars beside it", rows.get_ref());
        return Err(error(format!(
            "chars_per_token: {what}; write all of this guard in chars"
        )));
    }
    if !named.iter().any(|(name, _)| is_in_chars(detector, name)) {
        let what = "chars_per_token: no parameter that stands here is in chars";
        return Err(error(what.to_owned()));
    }
    Ok(Some(*ratio.get_ref()))
}

/// Returns whether a parameter is in chars.
fn is_in_chars(detector: &'static Detector, name: &LocatedValue<String>) -> bool {
    let param = detector.param(name.get_ref());
    param.is_some_and(|param| param.unit == "chars")
}

/// Converts numbers of tokens into numbers of chars, rounded to the nearest. Other values are unchanged.
fn in_chars(value: Value, ratio: f64) -> Value {
    match value {
        // Floats are exact below 2^53, and all bounds of parameters are lower.
        Value::Int(tokens) => Value::Int((tokens as f64 * ratio).round() as i64),
        Value::List(all) => Value::List(all.into_iter().map(|v| in_chars(v, ratio)).collect()),
        other => other,
    }
}

/// The unparsed parameters of a `[[guard]]` table, all known to its detector.
pub type RawParams<'a> = Vec<(&'a LocatedValue<String>, &'a LocatedValue<Value>)>;

/// Looks up the detector, the channel and the preset of a `[[guard]]` table. Returns the member without the parameters
/// of the table, and these parameters. `text` is the file, for positions in errors.
pub fn resolve<'a>(
    table: &'a GuardTable,
    text: &str,
) -> Result<(Member, RawParams<'a>), SettingsError> {
    let name = table.detector.get_ref();
    let detector = Detector::find(name).ok_or_else(|| {
        let what = format!("unknown detector \"{name}\"");
        unknown_word(
            &table.detector,
            &what,
            DETECTORS.iter().map(|d| d.name),
            text,
        )
    })?;
    let params = start(detector, table.preset.as_ref(), text)?;
    let member = Member {
        detector,
        channel: channel(detector, table.channel.as_ref(), text)?,
        params,
        response: response(detector, table.response.as_ref(), text)?,
    };
    let known = |(name, item): (&'a LocatedValue<String>, _)| match detector.param(name.get_ref()) {
        Some(_) => Some(Ok((name, item))),
        None if detector.gone.contains(&name.get_ref().as_str()) => None,
        None => {
            let what = format!(
                "unknown parameter \"{}\" of {}",
                name.get_ref(),
                detector.name
            );
            let params = detector.params.iter().map(|p| p.name);
            Some(Err(unknown_word(name, &what, params, text)))
        }
    };
    let named = table.params.iter().filter_map(known);
    Ok((member, named.collect::<Result<_, _>>()?))
}

/// Returns the defaults, changed by a preset if there is one.
fn start(
    detector: &'static Detector,
    preset: Option<&LocatedValue<String>>,
    text: &str,
) -> Result<Params, SettingsError> {
    let Some(wanted) = preset else {
        return Ok(detector.defaults());
    };
    let all = detector
        .presets()
        .map_err(|what| SettingsError::at(text, wanted.span(), what))?;
    let Some(found) = all.iter().find(|p| p.name == *wanted.get_ref()) else {
        let what = format!("{} has no preset \"{}\"", detector.name, wanted.get_ref());
        return Err(unknown_word(
            wanted,
            &what,
            all.iter().map(|p| p.name.as_str()),
            text,
        ));
    };
    Ok(detector.with(found))
}

/// Returns the response of the table, or that of the detector.
fn response(
    detector: &'static Detector,
    name: Option<&LocatedValue<String>>,
    text: &str,
) -> Result<Response, SettingsError> {
    let Some(name) = name else {
        return Ok(detector.response);
    };
    Response::named(name.get_ref()).ok_or_else(|| {
        let what = format!("there is no response \"{}\"", name.get_ref());
        unknown_word(name, &what, Response::NAMES, text)
    })
}

/// Returns the channel of the table. Rejects one that the detector cannot read.
fn channel(
    detector: &'static Detector,
    name: Option<&LocatedValue<String>>,
    text: &str,
) -> Result<Option<Channel>, SettingsError> {
    let Some(name) = name else { return Ok(None) };
    let may = detector.all_channels();
    let found = may.iter().find(|c| c.name() == name.get_ref());
    found.map(|channel| Some(*channel)).ok_or_else(|| {
        let known = Channel::ALL.iter().any(|c| c.name() == name.get_ref());
        let is = if known { "does not read" } else { "has no" };
        let what = format!("{} {is} channel \"{}\"", detector.name, name.get_ref());
        unknown_word(name, &what, may.iter().map(|c| c.name()), text)
    })
}

/// Returns the error of a word that is not in `known`. The message has `what`, the nearest known word, and all known
/// words.
fn unknown_word<'a>(
    word: &LocatedValue<String>,
    what: &str,
    known: impl IntoIterator<Item = &'a str>,
    text: &str,
) -> SettingsError {
    let known: Vec<&str> = known.into_iter().collect();
    let hint = did_you_mean(word.get_ref(), known.iter().copied());
    let what = format!("{what}{hint}; expected one of: {}", known.join(", "));
    SettingsError::at(text, word.span(), what)
}
