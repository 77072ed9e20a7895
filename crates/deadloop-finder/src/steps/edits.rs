//! Finds edits that give a file contents that it had before.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::step::{RunStep, hash};

/// Names of the argument that holds a file.
const FILES: [&str; 7] = [
    "path",
    "file_path",
    "filePath",
    "filepath",
    "file",
    "filename",
    "target_file",
];
/// Names of the arguments that hold a piece of a file before and after an edit.
const PIECES: [(&str, &str); 6] = [
    ("old", "new"),
    ("old_string", "new_string"),
    ("oldString", "newString"),
    ("old_str", "new_str"),
    ("old_text", "new_text"),
    ("search", "replace"),
];
/// Names of the argument that holds all contents of a file.
const WHOLE: [&str; 3] = ["content", "contents", "file_text"];
/// Words in the names of tools that add to a file: equal texts are then no equal contents.
const ADDING: [&str; 3] = ["append", "insert", "add"];

/// A change of one file.
#[derive(Clone, Debug)]
pub(super) struct FileEdit {
    /// The hash of the file's name.
    file: u64,
    change: FileChange,
}

#[derive(Clone, Debug)]
enum FileChange {
    /// The hash of all contents.
    Whole(u64),
    /// The hashes of the lines that are replaced, before and after.
    Pieces(Vec<(u64, u64)>),
    /// Any other change.
    Other,
}

impl FileEdit {
    /// Returns the edit that the arguments of a writing tool describe. `tool` has the words of its name.
    pub(super) fn parse(tool: &[String], arguments: &str) -> Option<Self> {
        let fields: Map<String, Value> = serde_json::from_str(arguments).ok()?;
        let text = |name: &&str| fields.get(*name).and_then(Value::as_str);
        let file = hash(&FILES.iter().find_map(text)?);
        let many = fields.get("edits").and_then(Value::as_array);
        let many = many.into_iter().flatten().filter_map(Value::as_object);
        let pieces: Vec<_> = many.chain([&fields]).filter_map(piece).collect();
        // Some agents send every field, those without a use empty.
        let whole = WHOLE
            .iter()
            .find_map(text)
            .filter(|whole| !whole.is_empty());
        let adds = tool.iter().any(|word| ADDING.contains(&word.as_str()));
        let change = match whole {
            _ if !pieces.is_empty() => FileChange::Pieces(pieces),
            Some(whole) if !adds => FileChange::Whole(hash(&whole)),
            _ => FileChange::Other,
        };
        Some(Self { file, change })
    }
}

/// Returns the replaced lines, without those at both ends that stay. If nothing else is on one side, all lines count: a
/// line that is removed in one place and added in another was moved.
fn piece(fields: &Map<String, Value>) -> Option<(u64, u64)> {
    let text = |name: &str| fields.get(name).and_then(Value::as_str);
    let of = |(old, new): &(&str, &str)| Some((text(old)?, text(new)?));
    let (old, new) = PIECES.iter().find_map(of)?;
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

/// Marks the successful edits after which a file has contents that it had before.
pub(super) fn mark_restored(steps: &mut [RunStep]) {
    /// The net changes of a file, and the hashes of all its earlier contents. Successive changes of one place are one.
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
