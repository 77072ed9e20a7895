//! Are two sides comparable? The same transcripts, the same texts, the same labels, judged alike.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::side::{Judged, Side};
use crate::tally::Tally;

/// The error for two sides that were not measured on the same transcripts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not comparable: {}", .problems.join("\n"))]
pub struct NotComparable {
    /// Each of them says what is on both sides, and where they differ.
    pub problems: Vec<String>,
}

/// A transcript on both sides.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair<'a> {
    pub(crate) base: &'a Judged,
    pub(crate) new: &'a Judged,
    /// Whether it is the first of its copies, by id: estimates, intervals and tests count copies once.
    pub(crate) first: bool,
}

impl Pair<'_> {
    /// What it adds on both sides.
    pub(crate) fn adds(&self) -> [Tally; 2] {
        [self.base.adds, self.new.adds]
    }
}

/// What all of them add, on each side.
pub(crate) fn sum(pairs: &[Pair<'_>]) -> [Tally; 2] {
    let mut sides = [Tally::default(); 2];
    for pair in pairs {
        sides[0] += pair.base.adds;
        sides[1] += pair.new.adds;
    }
    sides
}

/// Transcripts that are named of each problem; the others are counted.
const NAMED: usize = 5;

/// Every transcript with what both sides said, in the order of BASE.
pub(crate) fn pairs<'a>(base: &'a Side, new: &'a Side) -> Result<Vec<Pair<'a>>, NotComparable> {
    let mut problems = judged_apart(base, new);
    let of = |row| (Judged::id(row), row);
    let other: BTreeMap<&str, &Judged> = new.rows.iter().map(of).collect();
    let known: BTreeSet<&str> = base.rows.iter().map(Judged::id).collect();
    let missing = |r: &&Judged| !other.contains_key(r.id());
    let more = |r: &&Judged| !known.contains(r.id());
    let (missing, more) = (
        base.rows.iter().filter(missing),
        new.rows.iter().filter(more),
    );
    only(missing, "BASE", &mut problems);
    only(more, "NEW", &mut problems);
    let both = base.rows.iter().filter_map(|base| {
        Some(Pair {
            base,
            new: other.get(base.id())?,
            first: true,
        })
    });
    let mut both: Vec<Pair<'a>> = both.collect();
    count_once(&mut both);
    differ(
        &both,
        "with another text",
        |r| r.text.clone(),
        &mut problems,
    );
    differ(
        &both,
        "of another model",
        |r| Some(r.model.clone()),
        &mut problems,
    );
    differ(
        &both,
        "in another group",
        |r| Some(r.cluster.clone()),
        &mut problems,
    );
    relabelled(&both, base, new, &mut problems);
    failed(&both, &mut problems);
    if problems.is_empty() {
        Ok(both)
    } else {
        Err(NotComparable { problems })
    }
}

/// Notes what is on one side alone.
fn only<'a>(rows: impl Iterator<Item = &'a Judged>, whose: &str, problems: &mut Vec<String>) {
    let named = rows.map(|row| row.transcript.clone()).collect();
    note(problems, &format!("only in {whose}"), named);
}

/// Finds the first of the copies that are here: filters may have left out the one that they are a copy of.
fn count_once(both: &mut [Pair<'_>]) {
    let mut firsts: BTreeMap<&str, &str> = BTreeMap::new();
    for Pair { base, .. } in both.iter() {
        let id = base.transcript.as_str();
        let first = firsts.entry(&base.original).or_insert(id);
        *first = id.min(first);
    }
    for Pair { base, first, .. } in both {
        *first = firsts.get(base.original.as_str()) == Some(&base.transcript.as_str());
    }
}

/// How many, which, and what about them.
fn note(problems: &mut Vec<String>, what: &str, named: Vec<String>) {
    let n = named.len();
    if n == 0 {
        return;
    }
    let more = if n > NAMED { ", …" } else { "" };
    let some: Vec<String> = named.into_iter().take(NAMED).collect();
    let s = if n == 1 { "" } else { "s" };
    problems.push(format!(
        "{n} transcript{s} {what}: {}{more}",
        some.join(", ")
    ));
}

fn judged_apart(base: &Side, new: &Side) -> Vec<String> {
    let how = |side: &Side| {
        let chunks = side.chunks.map_or("as recorded".into(), |n| n.to_string());
        format!("{:?}, chunks {chunks}", side.judge)
    };
    if base.judge == new.judge && base.chunks == new.chunks {
        return Vec::new();
    }
    vec![format!(
        "judged by other rules: BASE {}; NEW {}",
        how(base),
        how(new)
    )]
}

fn differ(
    both: &[Pair<'_>],
    what: &str,
    of: impl Fn(&Judged) -> Option<String>,
    problems: &mut Vec<String>,
) {
    let changed = both.iter().filter_map(|pair| {
        let (a, b) = (of(pair.base), of(pair.new));
        let shown = |x: Option<String>| x.unwrap_or_else(|| "none".into());
        let id = &pair.base.transcript;
        (a != b).then(|| format!("{id} (BASE {}, NEW {})", shown(a), shown(b)))
    });
    note(problems, what, changed.collect());
}

fn relabelled(both: &[Pair<'_>], base: &Side, new: &Side, problems: &mut Vec<String>) {
    let label = |side: &Side, id: &str| side.labels.get(id).cloned().unwrap_or(Value::Null);
    let changed = both.iter().filter_map(|pair| {
        let id = &pair.base.transcript;
        let (a, b) = (label(base, id), label(new, id));
        (a != b).then(|| format!("{id} ({})", parted(&a, &b)))
    });
    note(problems, "with another label", changed.collect());
}

/// Where two labels differ.
fn parted(a: &Value, b: &Value) -> String {
    let of = |v: &Value| match v {
        Value::Null => "none".to_owned(),
        _ => v["class"].as_str().unwrap_or_default().to_owned(),
    };
    if of(a) != of(b) {
        return format!("BASE {}, NEW {}", of(a), of(b));
    }
    let spans = |v: &Value| v["spans"].as_array().cloned().unwrap_or_default();
    let (a, b) = (spans(a), spans(b));
    if a.len() != b.len() {
        return format!("BASE {} spans, NEW {}", a.len(), b.len());
    }
    let fields = a.iter().zip(&b).flat_map(|(a, b)| {
        let fields = a.as_object().into_iter().flatten();
        let parted = fields.filter(|(name, x)| **x != b[name.as_str()]);
        parted.map(|(name, x)| format!("{name} {x} → {}", b[name]))
    });
    fields.collect::<Vec<_>>().join(", ")
}

fn failed(both: &[Pair<'_>], problems: &mut Vec<String>) {
    for (side, of) in [("BASE", 0), ("NEW", 1)] {
        let rows = both.iter().map(|pair| [pair.base, pair.new][of]);
        let errors = rows.filter_map(|row| {
            let error = row.error.as_ref()?;
            Some(format!("{} ({error})", row.transcript))
        });
        note(
            problems,
            &format!("on which the detector of {side} failed"),
            errors.collect(),
        );
    }
}
