//! Sentences shared by every output.

use deadloop_replay::detect::Unit;

use crate::measure::{Stakes, spared_at};
use crate::tally::Tally;

/// Formats wrong alarms and transient stops, which are always shown together: `13 wrong alarms, and 55 transient
/// stops`.
pub fn wrong_and_transient(wrong: u64, stops: u64) -> String {
    format!(
        "{}, and {}",
        several(wrong, "wrong alarm"),
        several(stops, "transient stop")
    )
}

/// Describes the units that a guard spares or costs at the given rate of loops.
///
/// Example: `At a loop rate of 1 in 333 responses, the file spares 12,345 chars in 1,000 responses.` `None` if no rate is
/// given or nothing is labelled. `name` begins the second part of the sentence.
pub fn spared(name: &str, tally: &Tally, worth: &Stakes, unit: Unit) -> Option<String> {
    let rate = worth.loop_rate?;
    let chars = spared_at(rate, tally, worth)?.round();
    let (does, many) = match chars {
        chars if chars < 0.0 => ("costs", -chars),
        chars => ("spares", chars),
    };
    let (what, many) = (response(unit), thousands(many as i64));
    Some(format!(
        "At a loop rate of {}, {name} {does} {many} {unit} in 1,000 {what}s.",
        format_loop_share(rate, unit)
    ))
}

/// Returns what a transcript is in a unit.
pub fn response(unit: Unit) -> &'static str {
    match unit {
        Unit::Chars => "response",
        Unit::Calls | Unit::Turns => "run",
    }
}

/// Returns the amount of healthy text that a rate of wrong alarms refers to.
pub(crate) fn exposure(unit: Unit) -> &'static str {
    match unit {
        Unit::Calls => "thousand calls",
        Unit::Turns => "thousand turns",
        Unit::Chars => "million chars",
    }
}

/// Formats a loop rate: `1 in 333 responses`, or `13.1 % of the responses` from a tenth on.
///
/// A share between two such numbers is rounded up, so that a guard that pays above the true share pays above the
/// printed one.
pub(crate) fn format_loop_share(share: f64, unit: Unit) -> String {
    let what = response(unit);
    if share >= 0.1 {
        return format!("{:.1} % of the {what}s", 100.0 * share);
    }
    // The slack keeps rounding from lowering a whole quotient by one.
    let n = (1.0 / share + 1e-6).floor();
    format!("1 in {} {what}s", thousands(n as i64))
}

/// Returns the text with a capital first letter. The name of a file stays as it is.
pub fn capital(text: &str) -> String {
    if text.ends_with(".toml") {
        return text.to_owned();
    }
    let mut chars = text.chars();
    let first = chars.next().map(char::to_uppercase);
    first.into_iter().flatten().chain(chars).collect()
}

/// Formats a count of things: `1 loop`, `1,055 loops`.
pub fn several(n: u64, what: &str) -> String {
    let s = if n == 1 { "" } else { "s" };
    format!("{} {what}{s}", thousands(n as i64))
}

/// Formats a whole number with commas: `12,345`.
pub fn thousands(n: i64) -> String {
    group(&n.to_string())
}

/// Groups the whole digits of a number by commas: `+12,345.6`.
pub fn group(number: &str) -> String {
    let from = number.find(|c: char| c.is_ascii_digit()).unwrap_or(0);
    let rest = number[from..].trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = &number[from..number.len() - rest.len()];
    let mut shown = number[..from].to_owned();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tally::Count;

    #[test]
    fn wrong_alarms_and_transient_stops_stand_side_by_side() {
        assert_eq!(
            wrong_and_transient(1, 0),
            "1 wrong alarm, and 0 transient stops"
        );
        assert_eq!(
            wrong_and_transient(13, 1055),
            "13 wrong alarms, and 1,055 transient stops"
        );
    }

    #[test]
    fn what_is_spared_is_said_where_a_rate_was_given() {
        let mut tally = Tally::default();
        for (count, n) in [
            (Count::Hit, 1),
            (Count::Saved, 4_000_000),
            (Count::Quiet, 1),
        ] {
            tally[count] = n;
        }
        let worth = |loop_rate| Stakes {
            loop_rate,
            response: 100.0,
        };
        assert_eq!(spared("it", &tally, &worth(None), Unit::Chars), None);
        assert_eq!(
            spared("it", &tally, &worth(Some(0.003)), Unit::Chars).unwrap(),
            "At a loop rate of 1 in 333 responses, it spares 12,000,000 chars in 1,000 responses."
        );
        (
            tally[Count::Quiet],
            tally[Count::FalseAlarm],
            tally[Count::FalseAt],
        ) = (0, 1, 50_000);
        assert_eq!(
            spared("it", &tally, &worth(Some(0.001)), Unit::Calls).unwrap(),
            "At a loop rate of 1 in 1,000 runs, it costs 46,049,900 calls in 1,000 runs."
        );
    }
}
