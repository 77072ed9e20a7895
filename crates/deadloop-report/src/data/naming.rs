//! What a setting is called.

use super::written::detector;
use super::{ReportData, Role, SettingRow};
use deadloop_score::replay::detect::Value;
use std::collections::BTreeSet;

impl ReportData {
    /// What a setting is called: its label, or the values in which it differs from the one in use, or its id.
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
        let differences = self.differences(this);
        if differences.is_empty() {
            this.id.clone()
        } else {
            differences.join(", ")
        }
    }

    /// What a setting is called and its id, where that is not the same.
    pub(crate) fn described(&self, setting: usize) -> String {
        let name = self.describe(setting);
        match self.settings.get(setting) {
            Some(this) if this.id != name => format!("{name} ({})", this.id),
            _ => name,
        }
    }

    fn varying(&self) -> &[bool] {
        self.varying.get_or_init(|| {
            let mut cells = self
                .settings
                .iter()
                .filter(|setting| setting.role == Role::Cell);
            let Some(first) = cells.next() else {
                return Vec::new();
            };
            let mut varying = vec![false; self.parameters.len()];
            for cell in cells {
                for (at, varies) in varying.iter_mut().enumerate() {
                    *varies |= cell.params.get(at) != first.params.get(at);
                }
            }
            varying
        })
    }

    /// The members that a setting has.
    fn members(&self, setting: &SettingRow) -> BTreeSet<&str> {
        let values = self.parameters.iter().zip(&setting.params);
        let there = values.filter(|(_, value)| value.is_some());
        there.map(|(name, _)| member(name)).collect()
    }

    /// `parameter=value` for each value in which a setting differs from the one in use, or from the detector's default
    /// where the one in use lacks the member; without one in use, for each that is not the same in all cells. Where
    /// there are several members, the first of each says whose it is. A setting that is the one in use without some of
    /// its members is `only` the others.
    fn differences(&self, this: &SettingRow) -> Vec<String> {
        let base = self.in_use().and_then(|at| self.settings.get(at));
        let (own, old) = (self.members(this), base.map(|base| self.members(base)));
        let differs = |at: usize, name: &str, value: &str| match (base, &old) {
            (Some(base), Some(old)) if old.contains(member(name)) => {
                base.params.get(at).and_then(Option::as_deref) != Some(value)
            }
            (Some(_), _) => !is_default(name, value),
            (None, _) => self.varying().get(at) == Some(&true),
        };
        let several = self.members_of_all() > 1;
        let mut all = Vec::new();
        for name in &own {
            let before = all.len();
            for (at, parameter) in self.parameters.iter().enumerate() {
                let value = this.params.get(at).and_then(Option::as_deref);
                let Some(value) = value.filter(|_| member(parameter) == *name) else {
                    continue;
                };
                if differs(at, parameter, value) {
                    let whose = if several && all.len() == before {
                        format!("{name}: ")
                    } else {
                        String::new()
                    };
                    let base = base.and_then(|base| base.params.get(at)?.as_deref());
                    all.push(format!(
                        "{whose}{}={}",
                        short(parameter),
                        beyond(base, value)
                    ));
                }
            }
            let is_new = old.as_ref().is_some_and(|old| !old.contains(name));
            if is_new && all.len() == before {
                all.push((*name).to_owned());
            }
        }
        if all.is_empty() && old.is_some_and(|old| own.len() < old.len() && !own.is_empty()) {
            let own: Vec<&str> = own.into_iter().collect();
            all.push(format!("only {}", own.join(" + ")));
        }
        all
    }

    fn members_of_all(&self) -> usize {
        let members: BTreeSet<&str> = self.parameters.iter().map(|name| member(name)).collect();
        members.len()
    }
}

/// A value in short: of a list that begins as that of what is in use does, what it has besides.
fn beyond(base: Option<&str>, value: &str) -> String {
    let begins = base.and_then(|list| list.strip_suffix(']'));
    let begins = begins.filter(|begins| begins.contains('{'));
    match begins.and_then(|begins| value.strip_prefix(begins)) {
        Some(more) => format!("[…{more}"),
        None => value.to_owned(),
    }
}

/// Whether a value, as the scores write it, is the default of the detector's parameter.
fn is_default(parameter: &str, value: &str) -> bool {
    let detector = detector(member(parameter));
    let param = detector.and_then(|detector| detector.param(short(parameter)));
    param.is_some_and(|param| match Value::from(param.default) {
        Value::Text(text) => text == value,
        other => match other.as_number() {
            Some(number) => value.parse() == Ok(number),
            None => other.to_string() == value,
        },
    })
}

/// The member of a guard that a parameter is of.
pub(crate) fn member(parameter: &str) -> &str {
    parameter.rsplit_once('.').map_or("", |(member, _)| member)
}

/// A parameter's name without its guard.
pub(crate) fn short(parameter: &str) -> &str {
    parameter.rsplit('.').next().unwrap_or(parameter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_that_goes_on_is_told_from_where_it_does() {
        let (base, more) = ("[{ a = 1 }]", "[{ a = 1 }, { b = 2 }]");
        assert_eq!(beyond(Some(base), more), "[…, { b = 2 }]");
        assert_eq!(beyond(Some(more), base), base);
        assert_eq!(beyond(Some("[]"), base), base);
        assert_eq!(beyond(Some("[3]"), "[3, 4]"), "[3, 4]");
        assert_eq!(beyond(None, "12"), "12");
    }
}
