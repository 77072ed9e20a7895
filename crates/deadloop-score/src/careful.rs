//! What makes one of two equally good settings the more careful one: the copies that it asks for, and
//! how near it is to the current setting.

use deadloop_replay::detect::{Side, Value};
use deadloop_replay::{Axis, Plan};

/// How many copies a setting asks for, summed over the thresholds that count copies and vary.
pub(crate) fn copies(plan: &Plan, cell: usize) -> i64 {
    let place = plan.cell(cell);
    let Some(block) = plan.blocks().get(place.block) else {
        return 0;
    };
    let axes = block
        .axes()
        .iter()
        .zip(&place.at)
        .filter(|(axis, _)| axis.threshold.repeats);
    let value = |(axis, at): (&Axis, &u16)| {
        let value = axis
            .values
            .get(usize::from(*at))
            .and_then(Value::as_int)
            .unwrap_or(0);
        if axis.threshold.side == Side::AtMost {
            value
        } else {
            -value
        }
    };
    axes.map(value).sum()
}

/// How far one setting is from another: in how many parameters they differ, then by how much, in
/// thousandths of the larger value.
pub(crate) fn distance(a: &[(String, Value)], b: &[(String, Value)]) -> (usize, u64) {
    let other = |name: &str| b.iter().find(|(n, _)| n == name).map(|(_, value)| value);
    let mut far = (a.len().abs_diff(b.len()), 0);
    for (name, value) in a {
        if let Some(other) = other(name).filter(|o| *o != value) {
            far.0 += 1;
            far.1 += apart(value, other);
        } else if other(name).is_none() {
            far.0 += 1;
        }
    }
    far
}

fn apart(a: &Value, b: &Value) -> u64 {
    match (number(a), number(b)) {
        (Some(a), Some(b)) => {
            let share = (a - b).abs() / a.abs().max(b.abs()).max(f64::MIN_POSITIVE);
            (1000.0 * share).round() as u64
        }
        _ => 1000,
    }
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Int(n) => Some(*n as f64),
        Value::Float(x) => Some(*x),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fewer_changed_parameters_are_nearer_then_smaller_changes() {
        let of = |a: i64, b: i64, word: &str| {
            vec![
                ("x.a".to_owned(), Value::Int(a)),
                ("x.b".to_owned(), Value::Int(b)),
                ("x.w".to_owned(), Value::Text(word.into())),
            ]
        };
        let from = of(10, 10, "all");
        assert_eq!(distance(&from, &from), (0, 0));
        assert_eq!(distance(&of(20, 10, "all"), &from), (1, 500));
        assert_eq!(distance(&of(10, 10, "first"), &from), (1, 1000));
        assert!(distance(&of(11, 11, "all"), &from) > distance(&of(90, 10, "all"), &from));
    }
}
