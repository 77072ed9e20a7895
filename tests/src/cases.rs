//! The cases of `tests/cases/`: texts with the answer written inside them, live and replayed.

use std::path::PathBuf;

use deadloop_detect::{Channel, Kind, Settings};
use deadloop_score::{Expect, Fired, Marks, Pinned, Subject, parse_pinned};

use crate::replayed::{Seen, live, replay};

/// Runs every case of every file in `tests/cases/`, at least one each; gives back how many
/// expectations there were.
pub fn run_all() -> usize {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("cases");
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .expect("the cases are committed")
        .map(|entry| entry.expect("a readable folder").path())
        .collect();
    paths.sort();
    let mut failures = Vec::new();
    let mut count = 0;
    for path in paths {
        let text = std::fs::read_to_string(&path).expect("readable");
        let cases = parse_pinned(&text).unwrap_or_else(|e| panic!("{}:{e}", path.display()));
        assert!(!cases.is_empty(), "{}: no case", path.display());
        for case in &cases {
            let Subject::Text(pieces, marks) = &case.subject else {
                panic!("{}: a case of the kit has a text", case.name);
            };
            count += case.expect.len();
            let failed = |expect| failure(case, expect, (pieces, marks));
            failures.extend(case.expect.iter().filter_map(failed));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    count
}

fn failure(
    case: &Pinned,
    expect: &Expect,
    (pieces, marks): (&Vec<(Channel, String)>, &Marks),
) -> Option<String> {
    let settings = expect.settings.clone().unwrap_or_default();
    let setting = settings.for_model(&case.model);
    let seen = replay(setting, pieces);
    for size in [1, 17, usize::MAX] {
        if live(setting, pieces, size) != seen {
            return Some(format!(
                "{}: live in chunks of {size} is not replay",
                case.name
            ));
        }
    }
    match (expect.holds(marks, seen.as_ref().map(fired)), &expect.todo) {
        (true, None) | (false, Some(_)) => None,
        (true, Some(_)) => Some(format!(
            "{}: no longer a todo: take the mark off",
            case.name
        )),
        (false, None) => {
            let (who, wanted) = (who(&settings), expect.wanted(marks));
            Some(format!("{}: {who}: {seen:?}, expected {wanted}", case.name))
        }
    }
}

fn fired(seen: &Seen) -> Fired {
    let kind = Kind::ALL.into_iter().find(|kind| kind.name() == seen.kind);
    Fired {
        channel: seen.channel,
        at: seen.at,
        kind: kind.expect("an alarm has a kind of the list"),
    }
}

fn who(settings: &Settings) -> String {
    settings.guard().member_names().join(" + ")
}
