//! Are two sides comparable? The same transcripts, the same texts, the same labels, judged alike.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::side::{Judged, Side};
use super::subject::{Comparable, ComparedSubject};

/// The error for two sides that were not measured on the same transcripts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not comparable: {}", .problems.join("\n"))]
pub struct NotComparable {
    /// Each of them says what is on both sides, and where they differ.
    pub problems: Vec<String>,
}

/// A transcript on both sides.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair<'a, A = ()> {
    pub(crate) base: &'a Judged,
    pub(crate) new: &'a Judged,
    /// Whether it is the first of its copies, by id: what says how sure a difference is counts copies once.
    pub(crate) first: bool,
    /// The places of both among the rows of their sides.
    at: [usize; 2],
    /// What it adds on both sides.
    pub(crate) adds: [A; 2],
}

impl<'a> Pair<'a> {
    /// The same with what it adds, of the counts of all rows of both sides.
    pub(crate) fn with<A: Comparable>(&self, base: &[A], new: &[A]) -> Pair<'a, A> {
        Pair {
            base: self.base,
            new: self.new,
            first: self.first,
            at: self.at,
            adds: A::pair(base[self.at[0]], new[self.at[1]]),
        }
    }
}

/// Transcripts that are named of each problem; the others are counted.
const NAMED: usize = 5;

/// Every transcript with what both sides said, in the order of BASE.
pub(crate) fn pairs<'a>(base: &'a Side, new: &'a Side) -> Result<Vec<Pair<'a>>, NotComparable> {
    let mut problems = judged_apart(base, new);
    if base.subject() != new.subject() {
        return Err(NotComparable { problems });
    }
    let subject = base.subject();
    let new_rows = new.rows.iter().enumerate();
    let other: BTreeMap<Key, (usize, &Judged)> = new_rows
        .map(|(at, row)| (row.key(subject), (at, row)))
        .collect();
    let known: BTreeSet<Key> = base.rows.iter().map(|row| row.key(subject)).collect();
    let missing = |r: &&Judged| !other.contains_key(&r.key(subject));
    let more = |r: &&Judged| !known.contains(&r.key(subject));
    let only = |rows: Vec<&Judged>, whose: &str, problems: &mut Vec<String>| {
        let named = rows.iter().map(|r| named(r.key(subject))).collect();
        note(problems, &format!("only in {whose}"), named);
    };
    only(
        base.rows.iter().filter(missing).collect(),
        "BASE",
        &mut problems,
    );
    only(new.rows.iter().filter(more).collect(), "NEW", &mut problems);
    let both = base.rows.iter().enumerate().filter_map(|(at, base)| {
        let (place, new) = other.get(&base.key(subject))?;
        Some(Pair {
            base,
            new,
            first: true,
            at: [at, *place],
            adds: [(); 2],
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
    failed(&both, subject, &mut problems);
    if problems.is_empty() {
        Ok(both)
    } else {
        Err(NotComparable { problems })
    }
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

/// What tells rows of a side apart: the transcript, and where several settings stand side by side, that of which it is.
type Key<'a> = (&'a str, &'a str);

impl Judged {
    fn key(&self, subject: ComparedSubject) -> Key<'_> {
        match subject {
            ComparedSubject::Guards => (&self.transcript, ""),
            _ => (&self.transcript, &self.part),
        }
    }
}

fn named((transcript, part): Key<'_>) -> String {
    match part {
        "" => transcript.to_owned(),
        part => format!("{transcript} ({part})"),
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
    let (a, b) = (base.subject(), new.subject());
    if a != b {
        let (a, b) = (a.name(), b.name());
        return vec![format!("other things: BASE has {a}, NEW has {b}")];
    }
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

fn failed(both: &[Pair<'_>], subject: ComparedSubject, problems: &mut Vec<String>) {
    let what = match subject {
        ComparedSubject::Repairs => "the repairer",
        _ => "the detector",
    };
    for (side, of) in [("BASE", 0), ("NEW", 1)] {
        let rows = both.iter().map(|pair| [pair.base, pair.new][of]);
        let errors = rows.filter_map(|row| {
            let error = row.error.as_ref()?;
            Some(format!("{} ({error})", row.transcript))
        });
        note(
            problems,
            &format!("on which {what} of {side} failed"),
            errors.collect(),
        );
    }
}
