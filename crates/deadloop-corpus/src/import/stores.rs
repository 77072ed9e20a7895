//! [`agent_stores`]: the places of agents' sessions on this machine.

use std::path::{Path, PathBuf};

use serde_json::Value;

/// An existing store of sessions of one agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentStore {
    /// The agent's name for people.
    pub agent: &'static str,
    /// The folder or file with its sessions. Some agents use a database.
    pub path: PathBuf,
}

/// A place for an agent's sessions.
struct Known {
    agent: &'static str,
    /// The path below the home folder.
    below: &'static str,
    /// The variable with another folder, and the path below that folder.
    moved: Option<(&'static str, &'static str)>,
}

const fn known(agent: &'static str, below: &'static str) -> Known {
    Known {
        agent,
        below,
        moved: None,
    }
}

const fn moved(known: Known, variable: &'static str, below: &'static str) -> Known {
    Known {
        moved: Some((variable, below)),
        ..known
    }
}

/// The known places, from each agent's documentation for Linux and macOS.
const STORES: [Known; 19] = [
    moved(
        known("Claude Code", ".claude/projects"),
        "CLAUDE_CONFIG_DIR",
        "projects",
    ),
    known("Claude Code", ".config/claude/projects"),
    moved(known("Codex", ".codex/sessions"), "CODEX_HOME", "sessions"),
    known("Codex", ".codex/archived_sessions"),
    known("Gemini CLI", ".gemini/tmp"),
    known("Qwen Code", ".qwen/projects"),
    known("Copilot CLI", ".copilot/session-state"),
    known("pi", ".pi/agent/sessions"),
    known("OpenClaw", ".openclaw/agents"),
    known("Continue", ".continue/sessions"),
    moved(
        known("Goose", ".local/share/goose/sessions"),
        "XDG_DATA_HOME",
        "goose/sessions",
    ),
    known("LM Studio", ".lmstudio/conversations"),
    known("Cursor", ".cursor/projects"),
    known("Cursor", ".config/Cursor/User/globalStorage/state.vscdb"),
    known(
        "Cursor",
        "Library/Application Support/Cursor/User/globalStorage/state.vscdb",
    ),
    moved(
        known("OpenCode", ".local/share/opencode/opencode.db"),
        "XDG_DATA_HOME",
        "opencode/opencode.db",
    ),
    known("Crush", ".local/share/crush/crush.db"),
    moved(
        known("llm", ".config/io.datasette.llm/logs.db"),
        "LLM_USER_PATH",
        "logs.db",
    ),
    known(
        "llm",
        "Library/Application Support/io.datasette.llm/logs.db",
    ),
];

/// The list of Crush's projects. Each project has a database.
const CRUSH_PROJECTS: &str = ".local/share/crush/projects.json";

/// Finds the existing stores of agents below a home folder.
///
/// `variable` returns the value of an environment variable, with which some agents change the place.
pub fn agent_stores(home: &Path, variable: impl Fn(&str) -> Option<PathBuf>) -> Vec<AgentStore> {
    let mut found: Vec<AgentStore> = Vec::new();
    let mut add = |agent: &'static str, path: PathBuf| {
        if path.exists() && !found.iter().any(|other| other.path == path) {
            found.push(AgentStore { agent, path });
        }
    };
    for store in STORES {
        let moved = store
            .moved
            .and_then(|(name, below)| Some(variable(name)?.join(below)));
        add(store.agent, moved.unwrap_or_else(|| home.join(store.below)));
    }
    for path in crush_projects(&home.join(CRUSH_PROJECTS)) {
        add("Crush", path);
    }
    found
}

/// Returns the databases of Crush's projects. Empty without the list of projects.
fn crush_projects(list: &Path) -> Vec<PathBuf> {
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
            let stores = agent_stores(home.path(), variable).into_iter();
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
