//! How far two labellers agree: on the class of a transcript, and on where its loop stands.

use std::collections::{BTreeMap, BTreeSet};

use deadloop_replay::Seen;
use deadloop_replay::detect::{Channel, Unit};
use serde::Serialize;

use crate::tally::rank;
use crate::truth::{Class, LabelRow};

/// What two labellers said of one corpus.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Agreement {
    /// Transcripts that both labelled.
    pub both: u64,
    /// Transcripts that the first alone labelled.
    pub only_first: u64,
    /// Transcripts that the second alone labelled.
    pub only_second: u64,
    /// Transcripts that both labelled, by the first one's class, then the second one's; in the
    /// order of [`Class::ALL`].
    pub table: [[u64; CLASSES]; CLASSES],
    /// Share of those of one class; `None` where there are no such transcripts.
    pub agree: Option<f64>,
    /// Krippendorff's alpha of the classes, nominal: 1 is agreement, 0 what chance would give; none
    /// where nothing could differ.
    pub alpha: Option<f64>,
    /// Loops that both found and gave the same kind, of those to which both gave one.
    pub kinds: (u64, u64),
    /// Where both say that it loops: how far apart the onsets are.
    pub onsets: Onsets,
    /// Where both say that it loops: what the spans share.
    pub overlaps: Overlaps,
    /// Transcripts of different class: `(transcript, first, second)`, in order.
    pub differ: Vec<(String, Class, Class)>,
}

/// How far apart onsets are, each in the unit of its channel.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Onsets {
    /// Transcripts in which both have a loop in one channel.
    pub count: u64,
    /// Transcripts in which the loops are in different channels.
    pub elsewhere: u64,
    /// What they are counted in: `chars`, `calls` or `turns`; `positions` where loops of several units were compared.
    pub unit: &'static str,
    /// Of `count`: the very same place.
    pub exact: u64,
    /// Nearest-rank median of the distances; `None` where there are no distances.
    pub median: Option<u64>,
    /// Their upper quartile: two labellers are this far apart, so a tolerance below it measures the
    /// labels and not the detector.
    pub p75: Option<u64>,
    /// Their 90th percentile.
    pub p90: Option<u64>,
}

/// What spans share: the chars (calls, turns) in both over those in either, from the onset to the end.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Overlaps {
    /// Transcripts in which this could be decided: both ends known, from the label or the corpus.
    pub count: u64,
    /// Mean share.
    pub mean: Option<f64>,
    /// Nearest-rank median share.
    pub median: Option<f64>,
}

/// How many classes there are.
const CLASSES: usize = Class::ALL.len();

/// Holds two labellings against each other. `lengths` says how long the channels of a transcript
/// are, where that is known: a loop without an end goes on to there.
pub fn agreement(
    first: &[LabelRow],
    second: &[LabelRow],
    lengths: &BTreeMap<String, Seen>,
) -> Agreement {
    let (first, second) = (by_transcript(first), by_transcript(second));
    let mut found = Agreement {
        both: 0,
        only_first: first.keys().filter(|id| !second.contains_key(*id)).count() as u64,
        only_second: second.keys().filter(|id| !first.contains_key(*id)).count() as u64,
        table: [[0; CLASSES]; CLASSES],
        agree: None,
        alpha: None,
        kinds: (0, 0),
        onsets: Onsets::default(),
        overlaps: Overlaps::default(),
        differ: Vec::new(),
    };
    let mut classes = Vec::new();
    let mut spans = Spans::default();
    for (id, one) in &first {
        let Some(other) = second.get(id) else {
            continue;
        };
        let (a, b) = (class(one), class(other));
        classes.push((a, b));
        found.table[index(a)][index(b)] += 1;
        if a != b {
            found.differ.push(((*id).to_owned(), a, b));
        }
        if let (Some(one), Some(other)) = (loop_of(one), loop_of(other)) {
            spans.take(one, other, lengths.get(*id));
        }
    }
    found.both = classes.len() as u64;
    let same = classes.iter().filter(|(a, b)| a == b).count();
    found.agree = (!classes.is_empty()).then(|| same as f64 / classes.len() as f64);
    found.alpha = alpha(&classes);
    spans.into_figures(&mut found);
    found
}

fn by_transcript(rows: &[LabelRow]) -> BTreeMap<&str, Vec<&LabelRow>> {
    let mut all: BTreeMap<&str, Vec<&LabelRow>> = BTreeMap::new();
    for row in rows {
        all.entry(&row.transcript).or_default().push(row);
    }
    all
}

/// The class of the whole, as scoring takes it.
fn class(rows: &[&LabelRow]) -> Class {
    let has = |class: &Class| rows.iter().any(|row| row.class == *class);
    let order = [Class::Unsure, Class::Loop, Class::Transient, Class::Fault];
    order.into_iter().find(has).unwrap_or(Class::Clean)
}

fn index(class: Class) -> usize {
    Class::ALL.iter().position(|c| *c == class).unwrap_or(0)
}

/// The loop that begins first.
fn loop_of<'r>(rows: &[&'r LabelRow]) -> Option<&'r LabelRow> {
    let loops = rows.iter().filter(|row| row.class == Class::Loop);
    loops.min_by_key(|row| row.onset).copied()
}

/// What was told of the loops that both found.
#[derive(Default)]
struct Spans {
    kinds: (u64, u64),
    elsewhere: u64,
    units: BTreeSet<Unit>,
    distances: Vec<u64>,
    shares: Vec<f64>,
}

impl Spans {
    fn take(&mut self, one: &LabelRow, other: &LabelRow, length: Option<&Seen>) {
        if let (Some(a), Some(b)) = (one.kind, other.kind) {
            self.kinds.0 += u64::from(a == b);
            self.kinds.1 += 1;
        }
        if let (Some(a), Some(b)) = (one.channel, other.channel)
            && a != b
        {
            self.elsewhere += 1;
            return;
        }
        let (Some(a), Some(b)) = (one.onset, other.onset) else {
            return;
        };
        self.distances.push(a.abs_diff(b));
        let channel = one.channel.or(other.channel).unwrap_or(Channel::Answer);
        self.units.insert(channel.unit());
        let length = length.map(|seen| seen.count(channel));
        if let (Some(to_a), Some(to_b)) = (one.end.or(length), other.end.or(length)) {
            let shared = to_a.min(to_b).saturating_sub(a.max(b));
            let either = to_a.max(to_b).saturating_sub(a.min(b));
            self.shares
                .extend((either > 0).then(|| shared as f64 / either as f64));
        }
    }

    fn into_figures(mut self, found: &mut Agreement) {
        self.distances.sort_unstable();
        self.shares.sort_by(f64::total_cmp);
        let all = self.shares.len();
        found.kinds = self.kinds;
        found.onsets = Onsets {
            count: self.distances.len() as u64,
            elsewhere: self.elsewhere,
            unit: match self.units.iter().collect::<Vec<_>>()[..] {
                [] => Unit::Chars.name(),
                [unit] => unit.name(),
                _ => "positions",
            },
            exact: self.distances.iter().filter(|d| **d == 0).count() as u64,
            median: nearest(&self.distances, 0.5),
            p75: nearest(&self.distances, 0.75),
            p90: nearest(&self.distances, 0.9),
        };
        found.overlaps = Overlaps {
            count: all as u64,
            mean: (all > 0).then(|| self.shares.iter().sum::<f64>() / all as f64),
            median: nearest(&self.shares, 0.5),
        };
    }
}

/// The nearest rank among sorted values.
fn nearest<T: Copy>(sorted: &[T], q: f64) -> Option<T> {
    let rank = rank(q, sorted.len() as u64)?;
    sorted
        .get(usize::try_from(rank).ok()?.checked_sub(1)?)
        .copied()
}

/// Krippendorff's alpha for two labellers and names without an order (K. Krippendorff, "Computing
/// Krippendorff's Alpha-Reliability", 2011, part B). None where all are of one name: there is nothing
/// by which chance could be told from agreement.
pub fn alpha<T: Ord + Copy>(pairs: &[(T, T)]) -> Option<f64> {
    let names: BTreeSet<T> = pairs.iter().flat_map(|(a, b)| [*a, *b]).collect();
    let n = 2.0 * pairs.len() as f64;
    let times = |name: &T| {
        let in_pair = |(a, b): &(T, T)| usize::from(a == name) + usize::from(b == name);
        pairs.iter().map(in_pair).sum::<usize>() as f64
    };
    let squares: f64 = names.iter().map(|name| times(name) * times(name)).sum();
    let observed = 2.0 * pairs.iter().filter(|(a, b)| a != b).count() as f64 / n;
    let expected = (n * n - squares) / (n * (n - 1.0));
    (names.len() > 1).then(|| 1.0 - observed / expected)
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadloop_replay::detect::Kind;

    fn pairs(one: &str, other: &str) -> Vec<(char, char)> {
        one.chars().zip(other.chars()).collect()
    }

    #[test]
    fn alpha_is_that_of_the_worked_example() {
        // Krippendorff 2011, B: twelve articles, two observers. By hand: 3 of 12 differ; of 24 names
        // 4, 6, 6, 6 and 2 are alike: 1 - (6/24) / ((576 - 128) / (24 * 23)) = 0.692.
        let found = alpha(&pairs("aabbdcccedda", "babbbccceddd"));
        assert!((found.unwrap() - 0.691_964).abs() < 1e-6, "{found:?}");
        // A: ten units of 0 and 1, six alike, 14 zeros and 6 ones: 1 - (8/20) / (168 / 380) = 0.095.
        let found = alpha(&pairs("0100000010", "1110010000"));
        assert!((found.unwrap() - 0.095_238).abs() < 1e-6, "{found:?}");
    }

    #[test]
    fn alpha_at_its_ends() {
        assert_eq!(alpha(&pairs("ab", "ab")), Some(1.0));
        assert_eq!(alpha(&pairs("aaa", "aaa")), None);
        assert_eq!(alpha::<char>(&[]), None);
        assert!(alpha(&pairs("ab", "ba")).unwrap() < 0.0);
    }

    fn row(id: &str, class: Class, onset: Option<u64>, end: Option<u64>) -> LabelRow {
        LabelRow {
            onset,
            end,
            channel: onset.map(|_| Channel::Answer),
            kind: onset.map(|_| Kind::Paragraph),
            ..LabelRow::of(id, class, "me")
        }
    }

    #[test]
    fn figures_of_a_small_corpus() {
        let first = [
            row("a", Class::Loop, Some(100), None),
            row("b", Class::Clean, None, None),
            row("c", Class::Loop, Some(10), Some(30)),
            row("d", Class::Transient, Some(5), Some(9)),
            row("e", Class::Clean, None, None),
        ];
        let second = [
            row("a", Class::Transient, Some(3), Some(40)),
            row("a", Class::Loop, Some(120), None),
            row("b", Class::Clean, None, None),
            row("c", Class::Loop, Some(10), Some(20)),
            row("d", Class::Clean, None, None),
            row("f", Class::Unsure, None, None),
        ];
        let length = Seen::default().plus(Channel::Answer, 200);
        let found = agreement(&first, &second, &BTreeMap::from([("a".into(), length)]));
        assert_eq!((found.both, found.only_first, found.only_second), (4, 1, 1));
        assert_eq!(found.table[0], [2, 0, 0, 0, 0]);
        assert_eq!(found.table[2], [0, 1, 0, 0, 0]);
        assert_eq!(found.agree, Some(0.75));
        assert_eq!(found.differ, [("d".into(), Class::Transient, Class::Clean)]);
        assert_eq!((found.onsets.count, found.onsets.exact), (2, 1));
        assert_eq!((found.onsets.median, found.onsets.p75), (Some(0), Some(20)));
        // 80 of 100 chars, 10 of 20.
        assert_eq!(
            (found.overlaps.count, found.overlaps.median),
            (2, Some(0.5))
        );
        assert!((found.overlaps.mean.unwrap() - 0.65).abs() < 1e-9);
        assert_eq!(found.kinds, (2, 2));
    }

    #[test]
    fn every_class_has_its_place_in_the_table() {
        let rows = |by: &str| {
            Class::ALL
                .map(|class| LabelRow::of(class.name(), class, by))
                .to_vec()
        };
        let found = agreement(&rows("ann"), &rows("bob"), &BTreeMap::new());
        assert_eq!((found.both, found.agree), (5, Some(1.0)));
        let diagonal: Vec<u64> = (0..CLASSES).map(|at| found.table[at][at]).collect();
        assert_eq!(diagonal, [1; CLASSES]);
    }

    #[test]
    fn without_the_corpus_an_open_end_is_not_known() {
        let rows = [row("a", Class::Loop, Some(1), None)];
        let found = agreement(&rows, &rows, &BTreeMap::new());
        assert_eq!(found.overlaps, Overlaps::default());
        assert_eq!(found.onsets.exact, 1);
    }
}
