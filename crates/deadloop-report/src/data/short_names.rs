//! Short names of settings by their differences from others.

use std::collections::{BTreeMap, BTreeSet};

use deadloop_score::replay::detect::harness::{Member, Params};
use deadloop_score::replay::detect::{Setting, Value};

use super::naming::{brief, differences, in_short};

fn columns_of(setting: &Setting) -> BTreeMap<String, String> {
    let columns = setting.columns().into_iter();
    columns
        .map(|(name, value)| (name, value.to_string()))
        .collect()
}

/// Returns a guard of the same detectors with default parameters.
fn defaults(setting: &Setting) -> Setting {
    let members = setting.members.iter().map(|m| m.detector);
    Setting {
        members: members
            .map(|detector| Member::new(detector, Params::defaults(detector.params)))
            .collect(),
    }
}

/// Returns a name for each setting: its differences from the one in use.
pub fn beside(in_use: &Setting, settings: &[&Setting]) -> Vec<String> {
    let value = |(name, value)| match value {
        Value::Text(text) => (name, text),
        value => (name, value.to_string()),
    };
    let values = |setting: &Setting| -> Vec<(String, String)> {
        setting.columns().into_iter().map(value).collect()
    };
    // Names say the detector if it is not in use.
    let detectors = |setting: &Setting| -> Vec<&str> {
        setting.members.iter().map(|m| m.detector.name).collect()
    };
    let used = detectors(in_use);
    let several = used.len() > 1 || settings.iter().any(|setting| detectors(setting) != used);
    let base = values(in_use);
    let name = |setting: &&Setting| {
        let named = in_short(differences(&values(setting), &base, several));
        named.unwrap_or_else(|| "as in use".to_owned())
    };
    settings.iter().map(name).collect()
}

/// Returns a name for each setting: its detectors if the settings differ in them, and its values of the parameters that
/// differ.
pub fn differing(settings: &[&Setting]) -> Vec<String> {
    let columns: Vec<BTreeMap<String, String>> = settings.iter().map(|s| columns_of(s)).collect();
    let family = |s: &Setting| {
        s.members
            .iter()
            .map(|m| m.detector.name)
            .collect::<Vec<_>>()
            .join(" + ")
    };
    let families: BTreeSet<String> = settings.iter().map(|s| family(s)).collect();
    let one = |(setting, own): (&&Setting, &BTreeMap<String, String>)| {
        let kin = settings
            .iter()
            .zip(&columns)
            .filter(|(other, _)| family(other) == family(setting));
        let mut kin: Vec<&BTreeMap<String, String>> = kin.map(|(_, columns)| columns).collect();
        // A setting alone in its family is compared with the defaults of its detectors.
        let defaults = columns_of(&defaults(setting));
        kin.extend((kin.len() == 1 && families.len() > 1).then_some(&defaults));
        let differs = |(name, value): &(&String, &String)| {
            kin.iter().any(|other| other.get(*name) != Some(*value))
        };
        let parts = own
            .iter()
            .filter(differs)
            .map(|(name, value)| format!("{name}={}", brief(value)));
        let lead = (families.len() > 1).then(|| family(setting));
        in_short(lead.into_iter().chain(parts).collect()).unwrap_or_default()
    };
    settings.iter().zip(&columns).map(one).collect()
}
