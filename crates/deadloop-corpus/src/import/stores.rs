//! Where agents keep their sessions on the machine that they run on.

use std::path::{Path, PathBuf};

/// Sessions of one agent that are there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentStore {
    /// The agent, as people call it.
    pub agent: &'static str,
    /// The folder or file with its sessions.
    pub path: PathBuf,
    /// Whether they can be read; some keep them in a database.
    pub readable: bool,
}

/// A place where an agent keeps sessions.
struct Known {
    agent: &'static str,
    /// Below the home folder, or below the folder that a variable names.
    below: &'static str,
    /// The variable that names another folder, and what is below that.
    moved: Option<(&'static str, &'static str)>,
    readable: bool,
}

const fn known(agent: &'static str, below: &'static str) -> Known {
    Known {
        agent,
        below,
        moved: None,
        readable: true,
    }
}

/// The places, by what each agent's documentation says of Linux and macOS.
const STORES: [Known; 17] = [
    Known {
        moved: Some(("CLAUDE_CONFIG_DIR", "projects")),
        ..known("Claude Code", ".claude/projects")
    },
    known("Claude Code", ".config/claude/projects"),
    Known {
        moved: Some(("CODEX_HOME", "sessions")),
        ..known("Codex", ".codex/sessions")
    },
    known("Codex", ".codex/archived_sessions"),
    known("Gemini CLI", ".gemini/tmp"),
    known("Qwen Code", ".qwen/projects"),
    known("Copilot CLI", ".copilot/session-state"),
    known("pi", ".pi/agent/sessions"),
    known("OpenClaw", ".openclaw/agents"),
    known("Continue", ".continue/sessions"),
    known("Goose", ".local/share/goose/sessions"),
    known("LM Studio", ".lmstudio/conversations"),
    known("Cursor", ".cursor/projects"),
    Known {
        readable: false,
        ..known("OpenCode", ".local/share/opencode/opencode.db")
    },
    Known {
        readable: false,
        ..known("Crush", ".local/share/crush/crush.db")
    },
    Known {
        readable: false,
        ..known("Goose", ".local/share/goose/sessions/sessions.db")
    },
    Known {
        readable: false,
        ..known("Cursor", ".config/Cursor/User/globalStorage/state.vscdb")
    },
];

/// The stores of agents that are there, below a home folder. `variable`: the value of a variable of the
/// environment, by which some agents keep them elsewhere.
pub fn agent_stores(home: &Path, variable: impl Fn(&str) -> Option<PathBuf>) -> Vec<AgentStore> {
    let mut found: Vec<AgentStore> = Vec::new();
    for store in STORES {
        let moved = store
            .moved
            .and_then(|(name, below)| Some(variable(name)?.join(below)));
        let path = moved.unwrap_or_else(|| home.join(store.below));
        let known = found.iter().any(|other| other.path == path);
        if path.exists() && !known {
            found.push(AgentStore {
                agent: store.agent,
                path,
                readable: store.readable,
            });
        }
    }
    found
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
        let told = |variable: &dyn Fn(&str) -> Option<PathBuf>| -> Vec<(&str, PathBuf, bool)> {
            let stores = agent_stores(home.path(), variable).into_iter();
            stores.map(|s| (s.agent, s.path, s.readable)).collect()
        };
        let at = |below: &str| home.path().join(below);
        assert_eq!(
            told(&|_| None),
            [
                ("Claude Code", at(".claude/projects"), true),
                ("Codex", at(".codex/sessions"), true),
                ("pi", at(".pi/agent/sessions"), true),
                ("Crush", at(".local/share/crush/crush.db"), false),
            ]
        );
        let elsewhere = told(&|name| (name == "CODEX_HOME").then(|| moved.path().to_owned()));
        assert_eq!(elsewhere[1], ("Codex", moved.path().join("sessions"), true));
    }
}
