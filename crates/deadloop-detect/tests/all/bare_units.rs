//! Compares `periodic` and its `min_bare` with a slow reference, which searches all periods at each char.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use crate::common;

use common::{alarm, allowed, params_of, twins};
use deadloop_detect::Value;
use deadloop_detect::harness::{Member, Params};
use proptest::prelude::*;

/// Returns the length of the tail with this period. `None` without two copies, or with a shorter period.
fn tail(text: &[char], period: usize) -> Option<usize> {
    let matches = |period: usize| {
        let places = (period..text.len()).rev();
        places.take_while(|i| text[*i] == text[i - period]).count()
    };
    let own = matches(period);
    let shorter = |p: usize| matches(p) + p >= own + period;
    (own >= period && !(1..period).any(shorter)).then_some(own + period)
}

/// Escapes of chars and classes, and two other texts.
const ESCAPES: [&str; 6] = [r"\x0A", r"\u{1F600}", r"\pL", "&#160;", r"\pM{", "&amp;"];

/// Returns the minimum number of copies for a unit of rows.
fn rows_need(unit: &str) -> usize {
    let rows = match unit.matches('\n').count() {
        0 => unit.matches([']', '}']).count(),
        lines => lines,
    };
    if rows == 0 {
        return 0;
    }
    if unit.contains('\n') && unit.contains(char::is_alphabetic) {
        return (unit.chars().count() + 5).div_ceil(rows);
    }
    let is_between = |c: char| c.is_whitespace() || ",;|[](){}&".contains(c);
    let cells = unit.split(is_between).filter(|cell| !cell.is_empty());
    let lengths: Vec<usize> = cells.map(|cell| cell.chars().count()).collect();
    let wide = match lengths.len() {
        cells if cells > rows => cells / rows + cells / rows / 4,
        _ => lengths.into_iter().max().unwrap_or(0),
    };
    (wide + 5).div_ceil(rows).max(if rows > 2 { 8 } else { 0 })
}

fn fires(params: &Params, text: &[char], period: usize) -> bool {
    let Some(length) = tail(text, period) else {
        return false;
    };
    let count = |name| params.count(name) as usize;
    // The last complete copy is a rotation of the first.
    let start = text.len() - length;
    let end = start + length / period * period;
    let unit: String = text[end - period..end].iter().collect();
    let letter = unit.contains(char::is_alphabetic);
    let number = unit.contains(char::is_numeric);
    let bare = (number || unit.contains('🟩')) && !letter;
    let blanks = unit.matches("[ ]").count() + unit.matches(": __").count();
    let lines = unit.matches('_').count() >= 20 && unit.replace(['_', '\n', ' '], "").is_empty();
    let twice = unit.repeat(2);
    let is_unit = |escape: &&str| escape.len() == unit.len() && twice.contains(*escape);
    let single = period == 1 || ESCAPES[..4].iter().any(is_unit);
    let form = unit.contains('\n') && (blanks > 0 && unit.chars().count() <= 80 * blanks || lines);
    // Rows of at least 20 equal letters.
    let one_letter = unit.chars().find(|c| c.is_alphabetic()).is_some_and(|c| {
        let own = unit.matches(c).count();
        let alone = unit
            .chars()
            .all(|other| other == c || other.is_whitespace());
        unit.contains('\n') && own >= 20 && alone
    });
    let copies = length / period;
    let (chars, least) = match () {
        () if (one_letter || !single && bare) && count("min_bare") > 0 => {
            (count("min_bare"), rows_need(&unit))
        }
        () if form && count("min_form") > 0 => (count("min_form"), 0),
        () if (single || !number && !letter) && count("min_single") > 0 => (count("min_single"), 0),
        () => (count("min_chars"), 0),
    };
    length >= chars && copies >= count("min_copies").max(least)
}

fn slow(params: &Params, text: &str) -> Option<u64> {
    let all: Vec<char> = text.chars().collect();
    let longest = params.count("max_period") as usize;
    (1..=all.len()).find_map(|end| {
        let fires = (1..=longest.min(end)).any(|period| fires(params, &all[..end], period));
        fires.then_some(end as u64)
    })
}

fn fast(params: &Params, text: &str, size: usize) -> Option<u64> {
    let member = allowed("periodic", params);
    alarm(&member, text, size).map(|alarm| alarm.exact.count())
}

fn params() -> impl Strategy<Value = Params> {
    let or_none = |most: i64| prop_oneof![Just(0), 1..most];
    let counts = (2..4_i64, 1..60_i64, or_none(90), or_none(90));
    let counts = (counts, 1..60_i64, or_none(120));
    counts.prop_map(|((copies, chars, single, bare), longest, form)| {
        let all = [
            ("min_copies", copies),
            ("min_chars", chars),
            ("min_single", single),
            ("min_bare", bare),
            ("min_form", form),
            ("max_period", longest),
        ];
        params_of("periodic", &all.map(|(name, n)| (name, Value::Int(n))))
    })
}

/// Generates rows of cells, with and without letters. Some rows are repeated.
fn text() -> impl Strategy<Value = String> {
    let cell = prop::sample::select(vec![
        "0 ", "1,", "0", "x ", "- ", "]", "\n", " 12", "🟩", "[ ]", "x: __",
    ]);
    let cell = prop_oneof![9 => cell, 1 => Just("____________________"), 1 => Just("AAAAAAAAAAAAAAAAAAAA")];
    let escape = prop::sample::select(&ESCAPES[..]).prop_map(|escape| vec![escape]);
    let unit = prop_oneof![6 => prop::collection::vec(cell, 1..7), 1 => escape];
    let stretch = (unit, 1..16_usize).prop_map(|(unit, copies)| unit.concat().repeat(copies));
    prop::collection::vec(stretch, 0..5).prop_map(|parts| format!("!{}!", parts.concat()))
}

twins!(params(), text(), fast, slow);

/// A setting that fires on sentences with folded numbers.
fn fires_on_rows(rows: &str) -> bool {
    let settings = deadloop_detect::Settings::parse(deadloop_detect::RECOMMENDED).unwrap();
    let member = |member: &Member| alarm(member, rows, 7).is_some();
    settings.guard().members.iter().any(member)
}

#[test]
fn the_recommended_guard_lets_a_grid_pass_and_stops_rows_without_end() {
    for wide in [10, 20, 50] {
        let rows = [("0,", "],\n["), ("0 ", "\n"), ("1, ", "],\n  [")];
        for (cell, end) in rows.into_iter().chain([("0,", "],[")]) {
            let row = cell.repeat(wide) + end;
            assert!(!fires_on_rows(&row.repeat(wide * 6 / 5)), "{wide} {cell}");
            assert!(fires_on_rows(&row.repeat(40 + 3 * wide)), "{wide} {cell:?}");
        }
    }
}
