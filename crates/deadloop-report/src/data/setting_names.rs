//! Names of settings, and descriptions of their differences.

use super::short_names::{NamedGuard, brief, nearest_guard, short_name};
use super::{ALL_MODELS, ReportData, Role, SettingRow};
use crate::visible::visible;
use deadloop_score::choose::{ParamChange, in_words, subject};
use deadloop_score::replay::detect::{Setting, Settings};
use serde::Serialize;

/// The differences of a setting from a known guard.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Differences {
    /// The name of the known guard.
    from: String,
    list: Vec<Difference>,
}

/// A parameter that differs between two settings, described in words.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Difference {
    /// The member of the guard, after the model if only that model has the difference.
    of: String,
    /// The meaning of the parameter. `added` or `removed` for the member itself.
    what: String,
    param: String,
    from: String,
    to: String,
    /// The meaning of the new value. Empty if the value needs no words.
    words: String,
}

impl Difference {
    pub(crate) fn new(changed: &ParamChange) -> Self {
        let (param, is_guard) = (changed.param(), changed.param == "detector");
        let what = match (param, &changed.to) {
            (Some(param), _) => subject(param),
            (None, None) if is_guard => "removed",
            (None, Some(_)) if is_guard => "added",
            _ => "what is read",
        };
        let value = |value: &Option<String>| match (value, param) {
            (None, _) => "–".to_owned(),
            (Some(value), Some(param)) => brief(&in_words(param, value)),
            (Some(value), None) => brief(value),
        };
        let of = match changed.model.as_str() {
            ALL_MODELS => changed.guard.clone(),
            model => format!("{model}: {}", changed.guard),
        };
        let escape = |text: &str| visible(text).into_owned();
        Self {
            of: escape(&of),
            what: what.to_owned(),
            param: escape(&changed.param),
            from: escape(&value(&changed.from)),
            to: escape(&value(&changed.to)),
            words: escape(changed.words.as_deref().unwrap_or_default()),
        }
    }
}

impl SettingRow {
    /// Returns the guard in the settings file. `None` if the file cannot be parsed, and for `never`.
    pub(crate) fn guard(&self) -> Option<&Setting> {
        let parsed = self.guard.get_or_init(|| {
            let settings = Settings::parse(self.toml.as_deref()?).ok()?;
            Some(settings.guard().clone())
        });
        parsed.as_ref()
    }
}

impl ReportData {
    /// Returns the name of a setting for people: its label, or its short name, or its id.
    pub fn describe(&self, setting: usize) -> String {
        let Some(this) = self.settings.get(setting) else {
            return String::new();
        };
        if let Some(label) = &this.label {
            return match self.in_use_is() {
                _ if this.role != Role::InUse => label.clone(),
                "in use" if label == "in use" || self.settings.len() < 2 => label.clone(),
                "in use" => format!("in use ({label})"),
                is => is.to_owned(),
            };
        }
        let name = this.guard().map(|own| short_name(own, self.named_guards()));
        name.unwrap_or_else(|| this.id.clone())
    }

    /// Returns the differences of a setting from the known guard in its short name. `None` if its file cannot be
    /// parsed.
    pub(crate) fn differences(&self, setting: usize) -> Option<Differences> {
        let own = self.settings.get(setting)?.guard()?;
        let (from, changes) = nearest_guard(own, self.named_guards());
        Some(Differences {
            from: if from.is_empty() {
                self.in_use_is().to_owned()
            } else {
                visible(&from).into_owned()
            },
            list: changes.iter().map(Difference::new).collect(),
        })
    }

    /// Returns the guards with a name, the guard in use first.
    fn named_guards(&self) -> &[NamedGuard] {
        self.named_guards.get_or_init(|| {
            let named = |role: Role| {
                let settings = self.settings.iter().filter(move |one| one.role == role);
                settings.filter_map(move |one| {
                    let label = one.label.clone().filter(|_| role == Role::Named);
                    let (name, guard) = (label.unwrap_or_default(), one.guard()?.clone());
                    Some(NamedGuard { name, guard })
                })
            };
            named(Role::InUse).chain(named(Role::Named)).collect()
        })
    }
}

/// Returns the meaning of a parameter given as `guard.parameter`, according to its detector.
pub(crate) fn parameter_subject(parameter: &str) -> Option<&'static str> {
    let changed = ParamChange {
        guard: guard_of(parameter).to_owned(),
        param: param_of(parameter).to_owned(),
        ..ParamChange::default()
    };
    Some(subject(changed.param()?))
}

/// Returns the guard of a parameter given as `guard.parameter`.
pub(crate) fn guard_of(parameter: &str) -> &str {
    parameter.rsplit_once('.').map_or("", |(member, _)| member)
}

/// Returns the name of a parameter given as `guard.parameter`, without its guard.
pub(crate) fn param_of(parameter: &str) -> &str {
    parameter.rsplit('.').next().unwrap_or(parameter)
}
