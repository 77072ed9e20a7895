//! The pairs of outcomes that a comparison compares.

use std::collections::BTreeMap;
use std::sync::Arc;

use deadloop_tables::{JoinType, join, texts};
use serde_json::Value;

use super::side::Side;
use crate::files::outcomes::OutcomeLine;
use crate::tally::Tally;

/// The error for two sides that differ in their transcripts or in how alarms are judged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not comparable: {}", .problems.join("\n"))]
pub struct NotComparable {
    /// The reasons why the sides are not comparable, a sentence each.
    pub problems: Vec<String>,
}

/// The outcomes of one transcript on both sides.
#[derive(Clone, Debug)]
pub(crate) struct TranscriptPair {
    pub(crate) base: OutcomeLine,
    pub(crate) new: OutcomeLine,
    /// The transcript's counts on each side.
    pub(crate) tallies: [Tally; 2],
    /// Whether the transcript is the first of its copies by id. Estimates, intervals and tests count only the first
    /// copy.
    pub(crate) is_first: bool,
}

/// Sums the tallies of all pairs, side by side.
pub(crate) fn sum_tallies(pairs: &[&TranscriptPair]) -> [Tally; 2] {
    [0, 1].map(|side| pairs.iter().map(|pair| pair.tallies[side]).sum())
}

/// The maximum number of transcripts that a problem lists by id.
const MAX_LISTED_IDS: usize = 5;

/// Pairs the transcripts of two sides, in the order of BASE. Fails if transcripts, texts or labels differ.
pub(crate) fn pair_up(base: &Side, new: &Side) -> Result<Vec<TranscriptPair>, NotComparable> {
    let mut problems = check_judging(base, new);
    for (whose, side, other) in [("BASE", base, new), ("NEW", new, base)] {
        let only = join(&side.rows, &other.rows, KEY_COLUMN, JoinType::Anti);
        let ids = texts(&only, KEY_COLUMN).flatten().map(str::to_owned);
        add_problem(&mut problems, &format!("only in {whose}"), ids.collect());
    }
    let own = join(&base.rows, &new.rows, KEY_COLUMN, JoinType::Semi);
    let ids = own.select([KEY_COLUMN]).unwrap_or_default();
    let other = join(&ids, &new.rows, KEY_COLUMN, JoinType::Inner);
    let sides = OutcomeLine::read(&own).into_iter();
    let sides = sides.zip(OutcomeLine::read(&other));
    let mut both: Vec<TranscriptPair> = sides
        .map(|(base, new)| TranscriptPair {
            tallies: [base.tally(), new.tally()],
            base,
            new,
            is_first: true,
        })
        .collect();
    flag_first_copies(&mut both);
    let fields: [(&str, PairedField); 3] = [
        ("with another text", |row| row.text.as_deref()),
        ("of another model", |row| row.model.as_deref()),
        ("in another group", |row| Some(row.cluster())),
    ];
    for (what, field) in fields {
        check_field(&both, what, field, &mut problems);
    }
    check_labels(&both, &mut problems);
    check_failures(&both, &mut problems);
    if problems.is_empty() {
        Ok(both)
    } else {
        Err(NotComparable { problems })
    }
}

/// A getter of a field that must be equal on both sides.
type PairedField = fn(&OutcomeLine) -> Option<&str>;

/// The column that identifies the rows of a side.
const KEY_COLUMN: &str = "transcript";

/// Sets `is_first` of each pair. A filter may have left out the original of a copy.
fn flag_first_copies(both: &mut [TranscriptPair]) {
    let original = |row: &OutcomeLine| row.copy_of.clone().or(row.transcript.clone());
    let mut firsts: BTreeMap<Option<Arc<str>>, Option<Arc<str>>> = BTreeMap::new();
    for TranscriptPair { base, .. } in both.iter() {
        let first = firsts
            .entry(original(base))
            .or_insert(base.transcript.clone());
        *first = base.transcript.clone().min(first.take());
    }
    for TranscriptPair { base, is_first, .. } in both {
        *is_first = firsts.get(&original(base)) == Some(&base.transcript);
    }
}

/// Adds a problem with the number of transcripts that have it, and some of their ids.
fn add_problem(problems: &mut Vec<String>, what: &str, ids: Vec<String>) {
    let n = ids.len();
    if n == 0 {
        return;
    }
    let more = if n > MAX_LISTED_IDS { ", …" } else { "" };
    let some: Vec<String> = ids.into_iter().take(MAX_LISTED_IDS).collect();
    let s = if n == 1 { "" } else { "s" };
    problems.push(format!(
        "{n} transcript{s} {what}: {}{more}",
        some.join(", ")
    ));
}

fn check_judging(base: &Side, new: &Side) -> Vec<String> {
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

fn check_field(
    both: &[TranscriptPair],
    what: &str,
    field: PairedField,
    problems: &mut Vec<String>,
) {
    let changed = both.iter().filter_map(|pair| {
        let (a, b) = (field(&pair.base), field(&pair.new));
        let [base, new] = [a, b].map(|x| x.unwrap_or("none"));
        (a != b).then(|| format!("{} (BASE {base}, NEW {new})", pair.base.id()))
    });
    add_problem(problems, what, changed.collect());
}

fn check_labels(both: &[TranscriptPair], problems: &mut Vec<String>) {
    let label = |row: &OutcomeLine| -> Value {
        let json = row.label.as_deref().map(serde_json::from_str);
        json.and_then(Result::ok).unwrap_or_default()
    };
    let changed = both.iter().filter(|pair| pair.base.label != pair.new.label);
    let listed = changed.map(|pair| {
        let differing = describe_difference(&label(&pair.base), &label(&pair.new));
        format!("{} ({differing})", pair.base.id())
    });
    add_problem(problems, "with another label", listed.collect());
}

/// Describes the difference between two labels: their classes, numbers of spans, or fields of spans.
fn describe_difference(a: &Value, b: &Value) -> String {
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
        let differing = fields.filter(|(name, x)| **x != b[name.as_str()]);
        differing.map(|(name, x)| format!("{name} {x} → {}", b[name]))
    });
    fields.collect::<Vec<_>>().join(", ")
}

fn check_failures(both: &[TranscriptPair], problems: &mut Vec<String>) {
    for (side, of) in [("BASE", 0), ("NEW", 1)] {
        let rows = both.iter().map(|pair| [&pair.base, &pair.new][of]);
        let errors = rows.filter_map(|row| Some(format!("{} ({})", row.id(), row.error.as_ref()?)));
        let what = format!("on which the detector of {side} failed");
        add_problem(problems, &what, errors.collect());
    }
}
