//! The slow reference of `openhands`, which keeps the whole history.

use serde_json::{Map, Value as Json};

#[derive(Clone, PartialEq)]
enum Entry {
    Act(String),
    Seen(String, bool),
    Message,
}

/// Returns the history of a run.
fn history(kept: &[&Json]) -> Vec<Entry> {
    let text = |event: &Json, field: &str| event[field].as_str().unwrap_or("").to_owned();
    let mut all = Vec::new();
    let mut open: Vec<String> = Vec::new();
    let (mut said, mut silent) = (String::new(), false);
    for event in kept {
        match text(event, "type").as_str() {
            kind @ ("turn" | "user") => {
                if silent {
                    all.push(Entry::Message);
                }
                (said, silent) = (String::new(), kind == "turn");
                if kind == "user" {
                    all.clear();
                }
            }
            "answer" | "reasoning" => said += &text(event, "text"),
            "tool_call" => {
                silent = false;
                let called = super::history::key(event);
                open.push(text(event, "id"));
                all.push(Entry::Act(format!("{called}\0{}", said.trim())));
            }
            "tool_result" => {
                let Some(i) = open.iter().position(|id| *id == text(event, "id")) else {
                    continue;
                };
                open.remove(i);
                all.push(Entry::Seen(text(event, "content"), event["error"] == true));
            }
            _ => {}
        }
    }
    all
}

/// Returns the scenario that the history meets.
pub(crate) fn openhands(kept: &[&Json], params: &Map<String, Json>) -> Option<&'static str> {
    let number = |name: &str, default: u64| {
        params.get(name).and_then(Json::as_u64).unwrap_or(default) as usize
    };
    let all = history(kept);
    let all = &all[all.len().saturating_sub(number("scan", 20))..];
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
    let errors = number("action_error", 3) + 1;
    let fails = ends(errors)
        .is_some_and(|(a, s)| a.windows(2).all(|p| p[0] == p[1]) && s.iter().all(|s| s.1));
    let talk = number("monologue", 3);
    let silent = |entry: &Entry| matches!(entry, Entry::Message);
    let alone = all.len() >= talk && all[all.len() - talk..].iter().all(silent);
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
