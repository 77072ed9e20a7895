//! Finds edits that restore earlier contents of a file.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::step::{RunStep, hash};

/// Names of the argument with the path of a file.
const PATH_NAMES: [&str; 7] = [
    "path",
    "file_path",
    "filePath",
    "filepath",
    "file",
    "filename",
    "target_file",
];
/// Names of the arguments with the text before and after an edit.
const PIECE_NAMES: [(&str, &str); 6] = [
    ("old", "new"),
    ("old_string", "new_string"),
    ("oldString", "newString"),
    ("old_str", "new_str"),
    ("old_text", "new_text"),
    ("search", "replace"),
];
/// Names of the argument with all contents of a file.
const CONTENT_NAMES: [&str; 3] = ["content", "contents", "file_text"];
/// Words in the names of tools that append to a file. Their argument is not all of the contents.
const APPENDERS: [&str; 3] = ["append", "insert", "add"];

/// An edit of one file.
#[derive(Clone, Debug)]
pub(super) struct FileEdit {
    /// The hash of the path.
    file: u64,
    change: FileChange,
}

/// The change that an edit makes.
#[derive(Clone, Debug)]
enum FileChange {
    /// A replacement of all contents: their hash.
    Whole(u64),
    /// Replacements of lines: the hashes of the lines before and after.
    Pieces(Vec<(u64, u64)>),
    /// Any other change.
    Other,
}

impl FileEdit {
    /// Parses an edit from the arguments of a writing tool. `tool` holds the words of its name.
    pub(super) fn parse(tool: &[String], arguments: &str) -> Option<Self> {
        let fields: Map<String, Value> = serde_json::from_str(arguments).ok()?;
        let text = |name: &&str| fields.get(*name).and_then(Value::as_str);
        let file = hash(&PATH_NAMES.iter().find_map(text)?);
        let many = fields.get("edits").and_then(Value::as_array);
        let many = many.into_iter().flatten().filter_map(Value::as_object);
        let pieces: Vec<_> = many.chain([&fields]).filter_map(replaced_lines).collect();
        // Some agents send every field, and leave unused ones empty.
        let whole = CONTENT_NAMES
            .iter()
            .find_map(text)
            .filter(|whole| !whole.is_empty());
        let adds = tool.iter().any(|word| APPENDERS.contains(&word.as_str()));
        let change = match whole {
            _ if !pieces.is_empty() => FileChange::Pieces(pieces),
            Some(whole) if !adds => FileChange::Whole(hash(&whole)),
            _ => FileChange::Other,
        };
        Some(Self { file, change })
    }
}

/// Returns the hashes of the replaced lines, before and after. Equal lines at both ends are ignored. If one side has no
/// other lines, all lines count, so that a removal here and an addition elsewhere are compared as a move.
fn replaced_lines(fields: &Map<String, Value>) -> Option<(u64, u64)> {
    let text = |name: &str| fields.get(name).and_then(Value::as_str);
    let both = |(old, new): &(&str, &str)| Some((text(old)?, text(new)?));
    let (old, new) = PIECE_NAMES.iter().find_map(both)?;
    if old.is_empty() || old == new {
        return None;
    }
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let same = |(a, b): &(&&str, &&str)| a == b;
    let start = old.iter().zip(&new).take_while(same).count();
    let ends = old[start..].iter().rev().zip(new[start..].iter().rev());
    let end = ends.take_while(same).count();
    let inner = (&old[start..old.len() - end], &new[start..new.len() - end]);
    let (old, new) = match inner {
        ([], _) | (_, []) => (&old[..], &new[..]),
        inner => inner,
    };
    Some((hash(&old), hash(&new)))
}

/// Marks the successful edits that restore earlier contents of a file.
pub(super) fn mark_restored(steps: &mut [RunStep]) {
    /// The net changes of a file, and the hashes of all its earlier states. Consecutive changes of the same lines are
    /// merged.
    type History = (Vec<(u64, u64)>, HashSet<u64>);
    let mut files: HashMap<u64, History> = HashMap::new();
    for (at, step) in (1..).zip(steps) {
        let edit = step.edit.as_ref().filter(|_| step.succeeded());
        let Some(edit) = edit else { continue };
        let (changes, known) = files.entry(edit.file).or_default();
        known.insert(hash(changes));
        match &edit.change {
            FileChange::Whole(whole) => *changes = vec![(0, *whole)],
            FileChange::Other => changes.push((0, at)),
            FileChange::Pieces(pieces) => {
                for &(old, new) in pieces {
                    match changes.iter_mut().rfind(|change| change.1 == old) {
                        Some(change) => change.1 = new,
                        None => changes.push((old, new)),
                    }
                }
                changes.retain(|(old, new)| old != new);
            }
        }
        step.restores = known.contains(&hash(changes));
    }
}
