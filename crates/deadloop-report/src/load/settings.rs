//! Settings as the files name them, and what each is to the reader.

use crate::data::{ReportData, Role, SettingRow};
use deadloop_score::{NEVER, Results};
use std::collections::{BTreeMap, HashMap};

/// Settings as they are met, by id.
pub(super) struct Settings {
    /// The settings, in the order in which they were met.
    pub(super) list: Vec<SettingRow>,
    /// Their places by id.
    pub(super) index: HashMap<String, usize>,
    names: BTreeMap<String, Vec<String>>,
    width: usize,
}

impl Settings {
    /// The names of the manifest, and the parameters of the scores.
    pub(super) fn of(results: &Results, data: &mut ReportData) -> Self {
        let names = results
            .scores
            .names()
            .filter_map(|name| name.strip_prefix("p."));
        data.parameters = names.map(str::to_owned).collect();
        let names = results.manifest.settings.clone();
        Self {
            list: Vec::new(),
            index: HashMap::new(),
            names,
            width: data.parameters.len(),
        }
    }

    /// Whether it is more to the reader than a cell.
    pub(super) fn is_named(&self, id: &str) -> bool {
        self.role(id).0 != Role::Cell
    }

    /// The index of a setting, which is new where it was not met before.
    pub(super) fn at(&mut self, id: &str) -> usize {
        if let Some(at) = self.index.get(id) {
            return *at;
        }
        let (role, label) = self.role(id);
        let params = vec![None; self.width];
        self.list.push(SettingRow {
            id: id.to_owned(),
            label,
            role,
            params,
        });
        self.index.insert(id.to_owned(), self.list.len() - 1);
        self.list.len() - 1
    }

    /// The name of the chosen setting is not that of a setting.
    fn role(&self, id: &str) -> (Role, Option<String>) {
        if id == NEVER {
            return (Role::Never, None);
        }
        let Some(names) = self.names.get(id) else {
            return (Role::Cell, None);
        };
        let in_use = names.iter().any(|name| IN_USE.contains(&name.as_str()));
        let is_label = |name: &&str| !IN_USE.contains(name) && **name != *CHOSEN;
        let labels: Vec<&str> = names.iter().map(String::as_str).filter(is_label).collect();
        let label = (!labels.is_empty()).then(|| labels.join(", "));
        match (in_use, label) {
            (true, label) => (Role::InUse, Some(label.unwrap_or_else(|| "in use".into()))),
            (false, Some(label)) => (Role::Named, Some(label)),
            (false, None) => (Role::Cell, None),
        }
    }
}

/// What the setting in use is called in a manifest.
const IN_USE: [&str; 2] = ["in use", "current"];
/// The name of the chosen setting in a manifest.
const CHOSEN: &str = "chosen";
