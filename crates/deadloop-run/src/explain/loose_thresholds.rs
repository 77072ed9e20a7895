//! Loosens the thresholds of a member, so that it reports near misses.

use deadloop_detect::Value;
use deadloop_detect::harness::{Domain, Member, Param, Threshold, ThresholdSide, ZeroMeaning};

/// Returns the member with thresholds so loose that its meters report near misses.
///
/// A lower bound is divided by ten and an upper bound multiplied by ten, within the parameter's domain. Without
/// thresholds a meter would report every double letter. Structural parameters that hold thresholds (`rules`, a number
/// in `code`) stay as they are.
pub(super) fn loosen_thresholds(member: &Member) -> Member {
    let mut loose = member.clone();
    for (param, threshold) in member.detector.thresholds() {
        if let Some(value) = member
            .params
            .get(param.name)
            .and_then(|v| loosen_value(v, param, threshold))
        {
            loose.params.set(param.name, value);
        }
    }
    match loose.check() {
        Ok(()) => loose,
        Err(_) => member.clone(),
    }
}

fn loosen_value(value: &Value, param: &Param, threshold: Threshold) -> Option<Value> {
    let up = threshold.side == ThresholdSide::AtLeast;
    match (value, &param.domain) {
        // A 0 with a special meaning stays, and no other number becomes 0 then.
        (Value::Int(0), _) if threshold.zero != ZeroMeaning::Number => None,
        (Value::Int(n), Domain::Int { min, max }) => {
            let least = (*min).max(i64::from(threshold.zero != ZeroMeaning::Number));
            let loose = if up { n.saturating_mul(10) } else { n / 10 };
            Some(Value::Int(loose.clamp(least, *max)))
        }
        (value, Domain::Float { min, max }) => {
            let number = value.as_number()?;
            let loose = if up { number * 10.0 } else { number / 10.0 };
            Some(Value::Float(loose.clamp(*min, *max)))
        }
        _ => None,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use deadloop_detect::Settings;

    pub(in crate::explain) fn member(detector: &str, params: &str) -> Member {
        let toml = format!("[[guard]]\ndetector = \"{detector}\"\n[guard.params]\n{params}");
        Settings::parse(&toml).unwrap().guard().members[0].clone()
    }

    #[test]
    fn a_loosened_member_asks_for_a_tenth_and_stays_in_its_domain() {
        let loose = loosen_thresholds(&member("periodic", "min_copies = 50\nmin_chars = 7"));
        let int = |name| loose.params.int(name);
        let all = ["min_copies", "min_chars", "min_single"].map(int);
        assert_eq!(all, [5, 1, 0]);
        let loose = loosen_thresholds(&member("checkpoint", "max_unit = 6\nmax_period = 50"));
        let int = |name| loose.params.int(name);
        let all = ["max_unit", "max_period", "min_repeats"].map(int);
        assert_eq!(all, [60, 500, 2]);
    }
}
