//! [`changes`]: the parameters that differ between two settings.

use std::collections::BTreeMap;
use std::fmt;

use deadloop_replay::Plan;
use deadloop_replay::detect::harness::{Detector, Member, Param};
use deadloop_replay::detect::{Setting, Value};

use super::explanation::{explain_beyond_rules, subject};
use super::{Choices, ParamChange};

/// Returns the parameters that `settings.toml` changes: first those of all models, then those of each model with its
/// own table.
pub(super) fn of_choices(plan: &Plan, choices: &Choices) -> Vec<ParamChange> {
    let all = &choices.all;
    let (old, new) = (plan.setting(choices.in_use), plan.setting(all.cell));
    let mut changed = changes("*", &old, &new);
    for choice in choices.models.iter().filter(|model| model.cell != all.cell) {
        let old = plan.guard(choices.in_use, &choice.model);
        changed.extend(changes(
            &choice.model,
            &old,
            &plan.guard(choice.cell, &choice.model),
        ));
    }
    changed
}

/// Returns the parameters that differ between two settings, guard by guard.
///
/// Guards with the same detector are compared in order. A guard of `from` alone is one change of `detector`. A guard of
/// `to` alone is a change of `detector`, followed by its values that are not defaults.
pub fn changes(model: &str, from: &Setting, to: &Setting) -> Vec<ParamChange> {
    let (old, new) = (guards_by_key(from), guards_by_key(to));
    let mut all = Vec::new();
    let names = old
        .keys()
        .chain(new.keys().filter(|name| !old.contains_key(*name)));
    for name in names {
        let change = |param: &str, from: Option<String>, to: Option<String>| ParamChange {
            model: model.to_owned(),
            guard: column_name(name),
            param: param.to_owned(),
            from,
            to,
            words: new.get(name).and_then(|to| explain_beyond_rules(param, to)),
        };
        let detector = Some(name.0.to_owned());
        match (old.get(name), new.get(name)) {
            (Some(a), Some(b)) => {
                let (a, b) = (param_values(a), param_values(b));
                let differ = a
                    .iter()
                    .filter(|(param, value)| b.get(*param) != Some(*value));
                all.extend(differ.map(|(param, value)| {
                    change(param, Some(value.clone()), b.get(param).cloned())
                }));
            }
            (Some(_), None) => all.push(change("detector", detector, None)),
            (None, Some(b)) => {
                all.push(change("detector", None, detector));
                let set = param_values(b).into_iter().filter(|(param, value)| {
                    let param = b.detector.params.iter().find(|p| p.name == *param);
                    param.is_none_or(|p| Value::from(p.default).to_string() != *value)
                });
                all.extend(set.map(|(param, value)| change(&param, None, Some(value))));
            }
            (None, None) => {}
        }
    }
    all
}

impl ParamChange {
    /// Returns the registry's description of the parameter. `None` for the channel, and for a guard that is added or
    /// removed.
    pub fn param(&self) -> Option<&'static Param> {
        let detector = match self.guard.rsplit_once('-') {
            Some((name, n)) if n.parse::<usize>().is_ok() => name,
            _ => &self.guard,
        };
        Detector::find(detector)?.param(&self.param)
    }
}

/// Formats the change as an instruction.
///
/// Examples are `change periodic: copies in a row (min_copies): 3 -> 4`, `remove checkpoint` and `add periodic`. A
/// parameter of an added guard is `set …: 4`. The name of the model comes first if the change is for one model.
impl fmt::Display for ParamChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { guard, param, .. } = self;
        if self.model != "*" {
            write!(f, "{}: ", self.model)?;
        }
        let is_guard = param == "detector";
        let what = self.param().map_or("what is read", subject);
        let to = self.to.as_deref().unwrap_or_default();
        match (&self.from, &self.to) {
            (Some(_), None) if is_guard => write!(f, "remove {guard}")?,
            (None, Some(_)) if is_guard => write!(f, "add {guard}")?,
            (Some(old), Some(_)) => write!(f, "change {guard}: {what} ({param}): {old} -> {to}")?,
            _ => write!(f, "set {guard}: {what} ({param}): {to}")?,
        }
        match &self.words {
            Some(words) => write!(f, "  ({words})"),
            None => Ok(()),
        }
    }
}

/// Key of a guard in a setting: its detector's name, and its number among the guards with this detector, from 1.
type GuardKey<'a> = (&'a str, usize);

fn guards_by_key(setting: &Setting) -> BTreeMap<GuardKey<'_>, &Member> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let named = setting.members.iter().map(|member| {
        let nth = counts.entry(member.detector.name).or_default();
        *nth += 1;
        ((member.detector.name, *nth), member)
    });
    named.collect()
}

/// Formats the key of a guard as in the columns of scores.parquet: `periodic`, then `periodic-2`.
fn column_name((detector, nth): &GuardKey<'_>) -> String {
    match nth {
        1 => (*detector).to_owned(),
        _ => format!("{detector}-{nth}"),
    }
}

fn param_values(member: &Member) -> BTreeMap<String, String> {
    let channel = match (member.channel, member.detector.channels()) {
        (Some(channel), _) => channel.to_string(),
        // A detector of runs reads one channel.
        (None, [only]) => only.to_string(),
        (None, _) => "all".to_owned(),
    };
    let params = member
        .params
        .iter()
        .map(|(name, value)| (name.to_string(), value.to_string()));
    params.chain([("channel".to_owned(), channel)]).collect()
}
