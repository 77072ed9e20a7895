//! What decides between equally good settings: how near each is to the setting in use, and how strict.

use deadloop_replay::detect::harness::{Mark, ThresholdSide};
use deadloop_replay::detect::{Setting, Value};

/// How strict a setting is: its thresholds in their order, each turned so that more is stricter. Compared one by
/// one it says which of two settings of the same detectors is the stricter.
pub(crate) fn strictness(setting: &Setting) -> Vec<i64> {
    let each = setting.members.iter().flat_map(|member| {
        let thresholds = member.detector.params.iter();
        thresholds.filter_map(|param| match param.mark {
            Mark::Threshold(threshold) => {
                let number = threshold.number(member.params.get(param.name)?);
                Some(if threshold.side == ThresholdSide::AtMost {
                    number
                } else {
                    -number
                })
            }
            Mark::Structural => None,
        })
    });
    each.collect()
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
