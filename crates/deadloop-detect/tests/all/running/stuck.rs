//! The slow twin of `openhands`: the history is written down whole, and its end is looked at.

use serde_json::{Map, Value as Json};

#[derive(Clone, PartialEq)]
enum Entry {
    Act(String),
    Seen(String, bool),
    Message(String),
}

/// The history of what was kept of a run.
fn history(kept: &[&Json], sdk: bool) -> Vec<Entry> {
    let text = |event: &Json, field: &str| event[field].as_str().unwrap_or("").to_owned();
    let mut all = Vec::new();
    let mut open: Vec<(String, String, String)> = Vec::new();
    let (mut said, mut silent) = (String::new(), false);
    for event in kept {
        match text(event, "type").as_str() {
            kind @ ("turn" | "user") => {
                if silent {
                    all.push(Entry::Message(said.trim().into()));
                }
                (said, silent) = (String::new(), kind == "turn");
                if kind == "user" && sdk {
                    all.clear();
                }
            }
            "answer" | "reasoning" => said += &text(event, "text"),
            "tool_call" => {
                silent = false;
                let called = super::past::key(event);
                let thought = if sdk { said.trim() } else { "" };
                open.push((text(event, "id"), text(event, "name"), called.clone()));
                all.push(Entry::Act(format!("{called}\0{thought}")));
            }
            "tool_result" => {
                let Some(i) = open.iter().position(|(id, ..)| *id == text(event, "id")) else {
                    continue;
                };
                let (_, name, called) = open.remove(i);
                let shell = [
                    "bash",
                    "execute_bash",
                    "shell",
                    "exec_command",
                    "run_shell_command",
                    "terminal",
                    "sql",
                    "ctf",
                ];
                let error = event["error"] == true;
                let what = if !sdk && shell.contains(&name.to_lowercase().as_str()) {
                    format!("{called}\0{error}")
                } else {
                    text(event, "content")
                };
                all.push(Entry::Seen(what, error));
            }
            _ => {}
        }
    }
    all
}

/// The scenario that is met.
pub(crate) fn openhands(kept: &[&Json], params: &Map<String, Json>) -> Option<&'static str> {
    let number = |name: &str, default: u64| {
        params.get(name).and_then(Json::as_u64).unwrap_or(default) as usize
    };
    let sdk = params
        .get("version")
        .is_some_and(|version| version == "sdk");
    let all = history(kept, sdk);
    let from = if sdk {
        all.len().saturating_sub(number("scan", 20))
    } else {
        0
    };
    let all = &all[from..];
    if all.len() < 3 {
        return None;
    }
    let acts: Vec<&Entry> = all.iter().filter(|e| matches!(e, Entry::Act(_))).collect();
    let seen: Vec<(&String, bool)> = all
        .iter()
        .filter_map(|e| match e {
            Entry::Seen(what, error) => Some((what, *error)),
            _ => None,
        })
        .collect();
    let ends = |n: usize| {
        Some((
            &acts[acts.len().checked_sub(n)?..],
            &seen[seen.len().checked_sub(n)?..],
        ))
    };
    let period = |k: usize, n: usize| {
        ends(n).is_some_and(|(a, s)| (k..n).all(|i| a[i] == a[i - k] && s[i].0 == s[i - k].0))
    };
    let errors = number("action_error", 3) + usize::from(sdk);
    let fails = ends(errors)
        .is_some_and(|(a, s)| a.windows(2).all(|p| p[0] == p[1]) && s.iter().all(|s| s.1));
    let talk = number("monologue", 3);
    let message = |i: &usize| matches!(all[*i], Entry::Message(_));
    let alone = if sdk {
        all.len() >= talk && (all.len() - talk..all.len()).all(|i| message(&i))
    } else {
        let at: Vec<usize> = (0..all.len()).filter(message).collect();
        at.len().checked_sub(talk).is_some_and(|from| {
            let at = &at[from..];
            let between = &all[at[0]..at[at.len() - 1]];
            at.iter().all(|i| all[*i] == all[at[0]])
                && !between.iter().any(|e| matches!(e, Entry::Seen(..)))
        })
    };
    if period(1, number("action_observation", 4)) {
        Some("same-call-same-result")
    } else if fails {
        Some("error-retry")
    } else if alone {
        Some("monologue")
    } else {
        period(2, number("alternating", 6)).then_some("cycle")
    }
}
