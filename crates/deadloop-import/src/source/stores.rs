//! [`find_stores`]: finds the places where agents store sessions on this machine.

use std::path::{Path, PathBuf};

use serde_json::Value;

/// An existing session store of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentStore {
    /// Name of the agent, for display.
    pub agent: &'static str,
    /// Folder or database file of the sessions.
    pub path: PathBuf,
}

/// Session stores of agents on Linux and macOS, from the documentation of each agent.
///
/// A line has the agent and the path below the home folder. Optionally it also has an environment variable that names
/// another folder, and the path below that folder.
const AGENT_STORES: &str = include_str!("stores.txt");

/// The list of Crush's projects, each with a database.
const CRUSH_PROJECTS: &str = ".local/share/crush/projects.json";

/// Finds the existing session stores of agents below a home folder.
///
/// `variable` returns the value of an environment variable, which may move a store.
pub fn find_stores(home: &Path, variable: impl Fn(&str) -> Option<PathBuf>) -> Vec<AgentStore> {
    let mut found: Vec<AgentStore> = Vec::new();
    let mut add = |agent: &'static str, path: PathBuf| {
        if path.exists() && !found.iter().any(|other| other.path == path) {
            found.push(AgentStore { agent, path });
        }
    };
    for store in AGENT_STORES.lines() {
        let mut parts = store.split(" | ");
        let (Some(agent), Some(below)) = (parts.next(), parts.next()) else {
            continue;
        };
        let moved = parts.next().zip(parts.next());
        let moved = moved.and_then(|(name, below)| Some(variable(name)?.join(below)));
        add(agent, moved.unwrap_or_else(|| home.join(below)));
    }
    for path in find_crush_databases(&home.join(CRUSH_PROJECTS)) {
        add("Crush", path);
    }
    found
}

/// Returns the paths of the databases of Crush's projects. The result is empty if the list of projects does not exist.
fn find_crush_databases(list: &Path) -> Vec<PathBuf> {
    let text = std::fs::read(list).unwrap_or_default();
    let list: Value = serde_json::from_slice(&text).unwrap_or_default();
    let projects = list.get("projects").and_then(Value::as_array);
    let folder = |project: &Value| Some(PathBuf::from(project.get("data_dir")?.as_str()?));
    let folders = projects.into_iter().flatten().filter_map(folder);
    folders.map(|folder| folder.join("crush.db")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stores_are_found_below_the_home_folder_or_where_a_variable_says() {
        let home = tempfile::tempdir().unwrap();
        let moved = tempfile::tempdir().unwrap();
        for folder in [
            ".claude/projects/-w",
            ".codex/sessions",
            ".pi/agent/sessions",
        ] {
            std::fs::create_dir_all(home.path().join(folder)).unwrap();
        }
        std::fs::create_dir_all(moved.path().join("sessions")).unwrap();
        std::fs::create_dir_all(home.path().join(".local/share/crush")).unwrap();
        std::fs::write(home.path().join(".local/share/crush/crush.db"), "x").unwrap();
        let project = home.path().join("work/.crush");
        std::fs::create_dir_all(&project).unwrap();
        std::fs::write(project.join("crush.db"), "x").unwrap();
        let gone = home.path().join("gone/.crush");
        let list = serde_json::json!({"projects": [{"path": "w", "data_dir": project}, {"data_dir": gone}]});
        let list_at = home.path().join(CRUSH_PROJECTS);
        std::fs::write(list_at, list.to_string()).unwrap();
        let told = |variable: &dyn Fn(&str) -> Option<PathBuf>| -> Vec<(&str, PathBuf)> {
            let stores = find_stores(home.path(), variable).into_iter();
            stores.map(|s| (s.agent, s.path)).collect()
        };
        let at = |below: &str| home.path().join(below);
        assert_eq!(
            told(&|_| None),
            [
                ("Claude Code", at(".claude/projects")),
                ("Codex", at(".codex/sessions")),
                ("pi", at(".pi/agent/sessions")),
                ("Crush", at(".local/share/crush/crush.db")),
                ("Crush", at("work/.crush/crush.db")),
            ]
        );
        let elsewhere = told(&|name| (name == "CODEX_HOME").then(|| moved.path().to_owned()));
        assert_eq!(elsewhere[1], ("Codex", moved.path().join("sessions")));
    }
}
