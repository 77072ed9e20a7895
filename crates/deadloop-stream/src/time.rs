//! Parser of times in recordings.

use jiff::Timestamp;
use jiff::civil::DateTime;
use serde_json::Value;

/// Parses a recorded time to milliseconds since 1970. `None` for values that are no time.
///
/// Accepts ISO 8601 (UTC without a named zone), and numbers of seconds, milli-, micro- or nanoseconds, distinguished by
/// their size.
pub fn parse_millis(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64().and_then(scale_to_ms),
        Value::String(text) => parse_iso(text).or_else(|| text.parse().ok().and_then(scale_to_ms)),
        _ => None,
    }
}

/// Clock of a recording's events, which starts at the first known time.
#[derive(Debug, Default)]
pub struct EventClock {
    /// The first known time, in milliseconds since 1970.
    start: Option<f64>,
}

impl EventClock {
    /// Returns the milliseconds between the first recorded time and this one. [`parse_millis`] describes the accepted
    /// values.
    pub fn at(&mut self, recorded: Option<&Value>) -> Option<f64> {
        self.since(recorded.and_then(parse_millis))
    }

    /// Returns the milliseconds between the first time stamp and this one, or 0 if this one is earlier.
    pub fn since(&mut self, stamp: Option<f64>) -> Option<f64> {
        let stamp = stamp?;
        let start = *self.start.get_or_insert(stamp);
        Some((stamp - start).max(0.0))
    }
}

fn parse_iso(text: &str) -> Option<f64> {
    const NANOS_PER_MS: f64 = 1e6;
    let zoned = text.parse::<Timestamp>().ok();
    let stamp = zoned.or_else(|| {
        let civil: DateTime = text.parse().ok()?;
        Some(civil.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp())
    })?;
    Some(stamp.as_nanosecond() as f64 / NANOS_PER_MS)
}

/// Converts a number of unknown unit to milliseconds, by its size. For example, 1e11 is the year 5138 in seconds, but
/// 1973 in milliseconds.
fn scale_to_ms(number: f64) -> Option<f64> {
    let millis = match number {
        n if !n.is_finite() || n < 0.0 => return None,
        n if n < 1e11 => n * 1e3,
        n if n < 1e14 => n,
        n if n < 1e17 => n / 1e3,
        n => n / 1e6,
    };
    Some(millis)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn times_are_told_by_how_they_are_written() {
        let second = 1_694_268_190_000.0;
        for value in [
            json!("2023-09-09T14:03:10Z"),
            json!("2023-09-09T16:03:10.000+02:00"),
            json!("2023-09-09T14:03:10"),
            json!("2023-09-09 14:03:10"),
            json!(1_694_268_190),
            json!("1694268190"),
            json!(1_694_268_190_000_u64),
            json!(1_694_268_190_000_000_u64),
            json!(1_694_268_190_000_000_000_u64),
        ] {
            assert_eq!(parse_millis(&value), Some(second), "{value}");
        }
        assert_eq!(
            parse_millis(&json!("2023-09-09T14:03:10.5Z")),
            Some(second + 500.0)
        );
        for value in [
            json!("soon"),
            json!(-1),
            json!(null),
            json!("2023-13-01T00:00:00Z"),
        ] {
            assert_eq!(parse_millis(&value), None, "{value}");
        }
    }
}
