//! Names of settings, and their differences in words.

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

/// A parameter that differs, in words.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Difference {
    /// The member of the guard, after the model if it is not of all models.
    of: String,
    /// The meaning of the parameter, or `added` and `removed` for the member itself.
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
        let shown = |text: &str| visible(text).into_owned();
        Self {
            of: shown(&of),
            what: what.to_owned(),
            param: shown(&changed.param),
            from: shown(&value(&changed.from)),
            to: shown(&value(&changed.to)),
            words: shown(changed.words.as_deref().unwrap_or_default()),
        }
    }
}

impl SettingRow {
    /// Returns the guard of the settings file. `None` if the file cannot be read, and for `never`.
    pub(crate) fn guard(&self) -> Option<&Setting> {
        let parsed = self.guard.get_or_init(|| {
            let settings = Settings::parse(self.toml.as_deref()?).ok()?;
            Some(settings.guard().clone())
        });
        parsed.as_ref()
    }
}

impl ReportData {
    /// Returns the name of a setting: its label, or its short name, or its id.
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

    /// Returns the differences of a setting from the guard in its short name.
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

    /// Returns the guards with a name, the one in use first.
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

/// Returns the meaning of a parameter, `guard.parameter`, from its detector's description.
pub(crate) fn parameter_subject(parameter: &str) -> Option<&'static str> {
    let changed = ParamChange {
        guard: member(parameter).to_owned(),
        param: short(parameter).to_owned(),
        ..ParamChange::default()
    };
    Some(subject(changed.param()?))
}

/// Returns the member of a guard to which a parameter belongs.
pub(crate) fn member(parameter: &str) -> &str {
    parameter.rsplit_once('.').map_or("", |(member, _)| member)
}

/// Returns a parameter's name without its guard.
pub(crate) fn short(parameter: &str) -> &str {
    parameter.rsplit('.').next().unwrap_or(parameter)
}
