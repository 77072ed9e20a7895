//! Formatting of numbers in tables, charts and sentences.
//!
//! An undefined number is `n/a`, never 0. An infinite number is `never`. Thousands are separated by a narrow no-break
//! space.

use deadloop_score::{Measure, MeasureUnit};

/// A point estimate with its interval. The value and either end can be undefined.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Estimate {
    /// The point estimate.
    pub value: Option<f64>,
    /// The lower end of the 95 % interval.
    pub low: Option<f64>,
    /// The upper end of the 95 % interval.
    pub high: Option<f64>,
}

/// The text of an undefined number.
pub(crate) const UNDEFINED: &str = "n/a";

/// Separates groups of three digits by narrow no-break spaces.
pub(crate) fn group(digits: &str) -> String {
    let grouped = deadloop_score::sentences::group(digits);
    grouped.replace(',', "\u{202f}").replace('-', "−")
}

/// Formats a count with grouped digits.
pub(crate) fn count(value: u64) -> String {
    group(&value.to_string())
}

/// Formats a number with about three significant digits.
pub(crate) fn decimal(value: Option<f64>) -> String {
    match value {
        None => UNDEFINED.to_owned(),
        Some(value) if value.is_nan() => UNDEFINED.to_owned(),
        Some(value) if value.is_infinite() => "never".to_owned(),
        Some(0.0) => "0".to_owned(),
        Some(value) if value.abs() < 0.995 => format_minus(value, 2),
        Some(value) if value.abs() < 99.5 => format_minus(value, 1),
        Some(value) => group(&format_fixed(value, 0)),
    }
}

/// Formats a number with `decimals` decimals. A tie is rounded away from 0, not to the even digit as in Rust.
fn format_fixed(value: f64, decimals: usize) -> String {
    // A tie that is exact in binary is an odd multiple of 2^-(decimals + 1).
    let halves = value.abs() * 2f64.powi(decimals as i32 + 1);
    let is_middle = halves.is_finite() && halves.fract() == 0.0 && halves % 2.0 == 1.0;
    let value = if is_middle {
        value * (1.0 + f64::EPSILON)
    } else {
        value
    };
    format!("{value:.decimals$}")
}

/// Formats a number with `decimals` decimals and a typographic minus sign.
fn format_minus(value: f64, decimals: usize) -> String {
    format_fixed(value, decimals).replace('-', "−")
}

/// Formats a number with up to `decimals` decimals, no trailing zeros, and grouped thousands.
pub(crate) fn format_plain(value: f64, decimals: usize) -> String {
    let text = format_fixed(value, decimals);
    let text = if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        &text
    };
    match text.split_once('.') {
        Some((whole, rest)) => format!("{}.{rest}", group(whole)),
        None => group(text),
    }
}

/// Formats a share as per cent, such as `82 %`. Shares below 10 % or above 99 % have a decimal.
pub(crate) fn percent(value: Option<f64>) -> String {
    match value.filter(|value| value.is_finite()) {
        None => UNDEFINED.to_owned(),
        Some(value) => {
            let hundred = value * 100.0;
            let whole =
                hundred == 0.0 || hundred == 100.0 || (9.95..=99.0).contains(&hundred.abs());
            format!("{} %", format_minus(hundred, if whole { 0 } else { 1 }))
        }
    }
}

/// Formats a position or a latency in chars. An infinite latency is `never`.
pub(crate) fn chars(value: Option<f64>) -> String {
    match value {
        Some(value) if value.is_infinite() => "never".to_owned(),
        Some(value) if value.is_finite() => group(&format_fixed(value, 0)),
        _ => UNDEFINED.to_owned(),
    }
}

/// Returns the function that formats values of a measure.
pub(crate) fn formatter_of(measure: &Measure) -> fn(Option<f64>) -> String {
    match measure.unit {
        MeasureUnit::Share => percent,
        MeasureUnit::PerMillion => decimal,
        MeasureUnit::Chars => chars,
    }
}

/// Formats an interval, such as `12–19 %`. It is `n/a` if an end is undefined.
pub(crate) fn range(interval: Estimate, format_value: fn(Option<f64>) -> String) -> String {
    match (interval.low, interval.high) {
        (Some(_), Some(_)) => format!(
            "{}–{}",
            format_value(interval.low).replace(" %", ""),
            format_value(interval.high)
        ),
        _ => UNDEFINED.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_undefined_is_not_zero() {
        assert_eq!(
            (decimal(None), percent(None), chars(None)),
            ("n/a".into(), "n/a".into(), "n/a".into())
        );
        assert_eq!(chars(Some(f64::INFINITY)), "never");
    }

    #[test]
    fn numbers_are_short_and_grouped() {
        assert_eq!(count(1_234_567), "1\u{202f}234\u{202f}567");
        assert_eq!(decimal(Some(1.4321)), "1.4");
        assert_eq!(decimal(Some(0.128)), "0.13");
        assert_eq!(percent(Some(0.1799)), "18 %");
        assert_eq!(percent(Some(0.0312)), "3.1 %");
        assert_eq!(group("-1234"), "−1\u{202f}234");
    }

    #[test]
    fn what_lies_in_the_middle_goes_away_from_zero() {
        assert_eq!(percent(Some(0.985)), "99 %");
        assert_eq!(percent(Some(0.125)), "13 %");
        assert_eq!(decimal(Some(0.125)), "0.13");
        assert_eq!(decimal(Some(-12.25)), "−12.3");
        assert_eq!(chars(Some(1002.5)), "1\u{202f}003");
        assert_eq!(decimal(Some(0.1249)), "0.12", "not in the middle");
        assert_eq!(format_plain(-12.5, 4), "−12.5");
    }
}
