//! Names of settings.

use super::{ReportData, Role, SettingRow};
use deadloop_score::replay::detect::Value;
use deadloop_score::replay::detect::harness::Detector;
use std::collections::{BTreeMap, BTreeSet};

impl ReportData {
    /// Returns the name of a setting: its label, or its differences from the one in use, or its id.
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
        in_short(self.differences(this)).unwrap_or_else(|| this.id.clone())
    }

    /// Returns the name of a setting, and its id if that differs.
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

    /// Returns the differences of a setting from the one in use. Without one in use, the parameters that vary among
    /// cells.
    fn differences(&self, this: &SettingRow) -> Vec<String> {
        let own = self.values(this);
        let several = self.members_of_all() > 1;
        match self.in_use().and_then(|at| self.settings.get(at)) {
            Some(base) => differences(own, self.values(base), several),
            None => {
                let varies = |name: &str| {
                    let at = self.parameters.iter().position(|known| known == name);
                    at.is_some_and(|at| self.varying().get(at) == Some(&true))
                };
                by_member(own, several, &|name, value| {
                    varies(name).then(|| brief(value))
                })
            }
        }
    }

    fn members_of_all(&self) -> usize {
        let used = self.in_use().and_then(|at| self.settings.get(at));
        let used = used.into_iter().flat_map(|setting| self.values(setting));
        let all = self.parameters.iter().chain(used.map(|(name, _)| name));
        all.map(|name| member(name)).collect::<BTreeSet<_>>().len()
    }
}

/// Returns `parameter=value` for each value in which a setting differs from `base`. A member that `base` lacks is
/// compared with its detector's defaults. Both slices are parameters, `guard.parameter`, with their values. With
/// `several`, the first value of each member is preceded by the member's name. A setting that lacks some members of
/// `base` and is otherwise equal is named `only` with the remaining members.
pub fn differences(
    own: &[(String, String)],
    base: &[(String, String)],
    several: bool,
) -> Vec<String> {
    let members = |values: &[(String, String)]| -> BTreeSet<String> {
        values
            .iter()
            .map(|(name, _)| member(name).to_owned())
            .collect()
    };
    let (mine, old) = (members(own), members(base));
    let base: BTreeMap<&str, &str> = base.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
    let differs = |name: &str, value: &str| {
        let before = base.get(name).copied();
        let same = if old.contains(member(name)) {
            before == Some(value)
        } else {
            is_default(name, value)
        };
        (!same).then(|| brief(&beyond(before, value)))
    };
    let mut all = by_member(own, several, &differs);
    let said = |name: &str| {
        own.iter()
            .any(|(n, v)| member(n) == name && differs(n, v).is_some())
    };
    let silent = mine
        .iter()
        .filter(|name| !old.contains(*name) && !said(name));
    all.extend(silent.cloned());
    if all.is_empty() && mine.len() < old.len() && !mine.is_empty() {
        let mine: Vec<String> = mine.into_iter().collect();
        all.push(format!("only {}", mine.join(" + ")));
    }
    all
}

/// Formats the values for which `shown` returns a text, member by member.
fn by_member(
    own: &[(String, String)],
    several: bool,
    shown: &dyn Fn(&str, &str) -> Option<String>,
) -> Vec<String> {
    let members: BTreeSet<&str> = own.iter().map(|(name, _)| member(name)).collect();
    let mut all = Vec::new();
    for whose in members {
        let mut lead = if several {
            format!("{whose}: ")
        } else {
            String::new()
        };
        for (name, value) in own.iter().filter(|(name, _)| member(name) == whose) {
            if let Some(value) = shown(name, value) {
                all.push(format!("{lead}{}={value}", short(name)));
                lead.clear();
            }
        }
    }
    all
}

/// The maximum number of differences in a name. The settings file has all of them.
const SAID: usize = 4;
/// The longest value in a name, in chars.
const LONGEST: usize = 24;

/// Joins differences to a name. `None` if there are none.
pub fn in_short(mut differences: Vec<String>) -> Option<String> {
    // A single left-out difference takes as much room as the ellipsis.
    if differences.len() > SAID + 1 {
        differences.truncate(SAID);
        differences.push("…".into());
    }
    (!differences.is_empty()).then(|| differences.join(", "))
}

/// The longest single row of a list in a name, in chars without blanks.
const LONGEST_ROW: usize = 32;

/// Shortens a value for a name: a long list to its number of rows, another long value to its beginning. A list of one
/// short row, such as the parameters of a program, is kept.
pub fn brief(value: &str) -> String {
    if value.chars().count() <= LONGEST {
        return value.to_owned();
    }
    match value.matches('{').count() {
        0 => {
            let start: String = value.chars().take(LONGEST - 1).collect();
            format!("{start}…")
        }
        1 => {
            let row: String = value.chars().filter(|c| !c.is_whitespace()).collect();
            let row = row.trim_matches(['[', ']']);
            if row.chars().count() <= LONGEST_ROW {
                row.to_owned()
            } else {
                "1 row".to_owned()
            }
        }
        rows => format!("{rows} rows"),
    }
}

/// Shortens a list that extends the list in use to its additional rows. Other values are unchanged.
fn beyond(base: Option<&str>, value: &str) -> String {
    let begins = base.and_then(|list| list.strip_suffix(']'));
    let begins = begins.filter(|begins| begins.contains('{'));
    match begins.and_then(|begins| value.strip_prefix(begins)) {
        Some(more) => format!("[…{more}"),
        None => value.to_owned(),
    }
}

/// Returns the detector of a member. A guard's second member of the same detector is called `periodic-2`.
fn detector(member: &str) -> Option<&'static Detector> {
    let name = match member.rsplit_once('-') {
        Some((name, n)) if n.parse::<usize>().is_ok() => name,
        _ => member,
    };
    Detector::find(name)
}

/// Returns whether a value, in the form of the scores, is the default of the detector's parameter.
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

/// Returns the member of a guard to which a parameter belongs.
pub(crate) fn member(parameter: &str) -> &str {
    parameter.rsplit_once('.').map_or("", |(member, _)| member)
}

/// Returns a parameter's name without its guard.
pub(crate) fn short(parameter: &str) -> &str {
    parameter.rsplit('.').next().unwrap_or(parameter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_short_however_much_differs() {
        assert_eq!(in_short(Vec::new()), None);
        let all: Vec<String> = (0..7).map(|n| format!("p{n}=1")).collect();
        let name = in_short(all[..5].to_vec());
        assert_eq!(name.as_deref(), Some("p0=1, p1=1, p2=1, p3=1, p4=1"));
        let name = in_short(all);
        assert_eq!(name.as_deref(), Some("p0=1, p1=1, p2=1, p3=1, …"));
        assert_eq!(brief("[2000, 3000]"), "[2000, 3000]");
        assert_eq!(
            brief("[{ max_period = 50, min_copies = 5 }]"),
            "{max_period=50,min_copies=5}"
        );
        assert_eq!(brief("[{ max_period = 50, n = 5 }, { n = 2 }]"), "2 rows");
        assert_eq!(brief(&"x".repeat(40)), format!("{}…", "x".repeat(23)));
    }

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
