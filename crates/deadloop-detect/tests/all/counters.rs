//! Compares `periodic` and `fold = "counters"` with a slow reference, which searches all periods at each symbol.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::sync::LazyLock;

use crate::common;

use common::{alarm, allowed, params_of, twins};
use deadloop_detect::harness::Params;
use deadloop_detect::{Settings, Value};
use proptest::prelude::*;
use regex::Regex;

/// A char, or a number with its value, and the number of chars read when it was complete.
#[derive(Clone, Copy, PartialEq)]
struct Symbol {
    char: Option<char>,
    value: u64,
    known: usize,
}

/// The texts have no list markers.
fn symbols(text: &str) -> Vec<Symbol> {
    let mut all = Vec::new();
    let mut number: Option<u64> = None;
    for (i, c) in text.chars().enumerate() {
        let known = i + 1;
        if let Some(digit) = c.to_digit(10) {
            number = Some(number.unwrap_or(0) * 10 + u64::from(digit));
            continue;
        }
        let symbol = |char, value| Symbol { char, value, known };
        all.extend(number.take().map(|value| symbol(None, value)));
        all.push(symbol(Some(c), 0));
    }
    all
}

/// Returns the first symbol of the tail with this period. `None` without two copies, or with a shorter period.
fn tail(all: &[Symbol], period: usize) -> Option<usize> {
    let same = |i: usize, period: usize| all[i].char == all[i - period].char;
    let matches = |period: usize| {
        let pairs = (period..all.len()).rev();
        pairs.take_while(|i| same(*i, period)).count()
    };
    let own = matches(period);
    let length = own + period;
    let shorter = |p: usize| matches(p) + p >= length;
    (own >= period && !(1..period).any(shorter)).then(|| all.len() - length)
}

/// A number, or a time.
static NUMBER: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\d+(?::\d+)*").unwrap());

/// Returns whether at least this share of the numbers, in percent, is among the 30 numbers before. The texts are
/// shorter than the window.
fn enough_return(all: &[Symbol], least: usize) -> bool {
    let said = |one: &Symbol| one.char.map_or(one.value.to_string(), String::from);
    let text: String = all.iter().map(said).collect();
    let numbers: Vec<&str> = NUMBER.find_iter(&text).map(|it| it.as_str()).collect();
    let near = |i: usize| if numbers[i].contains(':') { 29 } else { 30 };
    let returns = |i: &usize| numbers[i.saturating_sub(near(*i))..*i].contains(&numbers[*i]);
    let returned = (0..numbers.len()).filter(returns).count();
    least == 0 || !numbers.is_empty() && 100 * returned >= least * numbers.len()
}

fn fires(params: &Params, all: &[Symbol], period: usize) -> bool {
    let Some(start) = tail(all, period) else {
        return false;
    };
    let count = |name| params.count(name) as usize;
    let value = |i: usize| all[i].value as i64;
    let step = |i: usize| value(i) - value(i - period);
    let last = |cuts: &dyn Fn(usize) -> bool, copies: usize| {
        let mut places = (start + copies * period..all.len()).rev();
        let cut = places.find(|i| cuts(*i));
        cut.map_or(start, |i| i + 1 - copies * period)
    };
    let even = last(&|i| step(i) != step(i - period), 2);
    let equal = last(&|i| step(i) != 0, 1);
    let accepts_of = |period: usize, from: usize, chars: usize| {
        let length = all.len() - from;
        length >= chars && length >= count("min_copies") * period
    };
    let accepts = |from, chars| accepts_of(period, from, chars);
    // Numbers with a cycle of a few copies.
    let round = |units: usize| {
        let whole = units * period;
        let from = last(&|i| value(i) != value(i - whole), units);
        whole <= count("max_period") && accepts_of(whole, from, count("min_chars"))
    };
    let (counters, numbers) = (count("min_counters"), count("min_numbers"));
    numbers > 0 && accepts(start, numbers) && enough_return(all, count("min_returning"))
        || counters > 0 && (accepts(even, counters) || accepts(equal, count("min_chars")))
        || counters == 0 && accepts(even, count("min_chars"))
        || (2..=6).any(round)
}

fn slow(params: &Params, text: &str) -> Option<u64> {
    let all = symbols(text);
    let longest = params.count("max_period") as usize;
    (1..=all.len()).find_map(|end| {
        let fires = (1..=longest.min(end)).any(|period| fires(params, &all[..end], period));
        fires.then(|| all[end - 1].known as u64)
    })
}

fn fast(params: &Params, text: &str, size: usize) -> Option<u64> {
    let member = allowed("periodic", params);
    alarm(&member, text, size).map(|alarm| alarm.exact.count())
}

fn params() -> impl Strategy<Value = Params> {
    let or_none = |most: i64| prop_oneof![Just(0), 1..most];
    let counts = (2..5_i64, 1..60_i64, or_none(90), or_none(120));
    let counts = (counts, 1..40_i64, or_none(100));
    counts.prop_map(|((copies, chars, counters, numbers), longest, returning)| {
        let all = [
            ("min_copies", copies),
            ("min_chars", chars),
            ("min_counters", counters),
            ("min_numbers", numbers),
            ("min_returning", returning),
            ("max_period", longest),
        ];
        let all = all.map(|(name, n)| (name, Value::Int(n)));
        let fold = ("fold", common::word("counters"));
        params_of("periodic", &[&all[..], &[fold]].concat())
    })
}

/// Generates units with numbers that stay, count, cycle or jump, and restart now and then.
fn text() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec!["x", "y", "xy", "yx-", "-", ":", ":"]);
    let part = (words, 0..12_u64, 0..3_u64);
    let unit = prop::collection::vec((part, any::<bool>()), 1..4);
    let stretch = (unit, 1..12_u64, 0..5_u8);
    let stretch = stretch.prop_map(|(unit, copies, jumps)| {
        let one = |copy: u64| -> String {
            let at = match jumps {
                0 => copy * copy % 7,
                1 => copy % 2,
                2 => copy * copy % 5,
                _ => copy,
            };
            let part = |((word, from, step), numbered): &((&str, u64, u64), bool)| {
                let number = numbered.then(|| (from + step * at).to_string());
                format!("{word}{}", number.unwrap_or_default())
            };
            unit.iter().map(part).collect::<String>() + "-"
        };
        (0..copies).map(one).collect::<String>()
    });
    prop::collection::vec(stretch, 0..5).prop_map(|parts| format!("!{}!", parts.concat()))
}

twins!(params(), text(), fast, slow);

/// Numbers are forgotten after 4000 chars, and after 30 numbers.
#[test]
fn numbers_come_again_within_a_window() {
    let setting = |least: u32| {
        let text = format!(
            "[[guard]]\ndetector = 'periodic'\n[guard.params]\nfold = 'counters'\non = 'sentences'\nmin_copies = 3\n\
             min_chars = 1000000\nmin_counters = 1000000\nmin_numbers = 1000\nmin_returning = {least}\n"
        );
        Settings::parse(&text).unwrap().guard().members[0].clone()
    };
    let row = |n: u64| format!("The value that we read this time is {n}, as before.\n");
    let table: String = (0..300).map(|n| row(n * n + 7)).collect();
    let round: String = (0..300).map(|n| row(n * n % 31)).collect();
    let far: String = (0..300).map(|n| row(n * n % 1009)).collect();
    let fires = |least, text: &str| alarm(&setting(least), text, 13).map(|a| a.exact.count());
    assert!(fires(0, &table).is_some_and(|at| at < 1100));
    assert_eq!(fires(55, &table), None);
    assert_eq!(fires(55, &far), None);
    let train = |n: u64| format!("{}:{:02} from track {}.\n", 5 + n / 9, n * 7 % 60, n % 4);
    let timetable: String = (0..300).map(train).collect();
    assert_eq!(fires(55, &timetable), None);
    assert!(fires(55, &timetable.replace(':', " ")).is_some());
    assert!(fires(55, &round).is_some());
    // After a table, half of the window must be other text.
    let both = fires(55, &(table.clone() + &round)).unwrap();
    let table = table.chars().count() as u64;
    let after = table + 2000..table + 4000;
    assert!(after.contains(&both), "{both} {table}");
}

#[test]
fn thresholds_for_numbers_that_are_not_compared_are_refused() {
    for name in ["min_counters", "min_numbers", "min_returning"] {
        let text = format!("[[guard]]\ndetector = 'periodic'\n[guard.params]\n{name} = 100\n");
        let refusal = Settings::parse(&text).unwrap_err().to_string();
        assert!(refusal.contains("it compares numbers"), "{refusal}");
    }
}
