//! Rejects settings of `checkpoint` with which no check can fire.

use crate::detectors::Refusal;
use crate::settings::params::Params;
use crate::settings::value::Value;

/// The maximum number of chars that are read again per new char.
const REREAD: i64 = 1000;

/// Rejects contradicting bounds of the unit, checks that can never fire, and settings that read text again too often.
pub(super) fn check(params: &Params) -> Result<(), Refusal> {
    let (min, max) = (params.int("min_unit"), params.int("max_unit"));
    if max != 0 && max < min {
        let reason = format!("{max} is below min_unit {min}: no unit is allowed");
        return Refusal::err("max_unit", reason);
    }
    let every = params.int("every");
    let short = if params.text("short_at") == "all" {
        params.int("window")
    } else {
        0
    };
    let segment = params.get("segment").and_then(Value::as_int).unwrap_or(0);
    let read = short.max(segment);
    if every > 0 && read / every > REREAD {
        let reason = format!(
            "{read} chars would be read again each {every}: expected at least {}",
            (read + REREAD - 1) / REREAD
        );
        return Refusal::err("every", reason);
    }
    let (short, period) = (short_unreachable(params), period_unreachable(params));
    match (short, period) {
        (Some(short), Some(period)) => {
            let reason = format!(
                "this setting can never fire: {}; {}",
                short.reason, period.reason
            );
            Refusal::err(short.param, reason)
        }
        _ => Ok(()),
    }
}

/// Returns the refusal if the short-sequence check can never fire.
fn short_unreachable(params: &Params) -> Option<Refusal> {
    let last = if params.text("short_at") == "first" {
        params.items("checkpoints").first()
    } else {
        params.items("checkpoints").last()
    };
    let last = last.and_then(Value::as_int).unwrap_or(0);
    let endless = params.text("short_at") == "all" && params.int("every") > 0;
    let window = params.int("window");
    let room = if endless { window } else { window.min(last) };
    // A repeated single char is no unit, so the shortest unit has two chars.
    let unit = params.int("min_unit").max(2);
    let max = params.int("max_unit");
    let copies = params.int("min_repeats");
    let reason = if max != 0 && max < unit {
        format!("one char repeated is skipped and max_unit {max} allows no longer unit")
    } else if unit * copies > room {
        format!(
            "{copies} copies of {unit} chars do not fit the {room} chars that the short-sequence check reads"
        )
    } else {
        return None;
    };
    Some(Refusal {
        param: "window",
        reason,
    })
}

/// Returns the refusal if the period check can never fire.
fn period_unreachable(params: &Params) -> Option<Refusal> {
    let checkpoints: Vec<i64> = params
        .items("checkpoints")
        .iter()
        .filter_map(Value::as_int)
        .collect();
    let every = params.int("every");
    let gaps = checkpoints.windows(2).map(|pair| pair[1] - pair[0]);
    let Some(gap) = gaps.chain((every > 0).then_some(every)).max() else {
        let reason = "the period check runs from the second checkpoint on, and there is one".into();
        return Some(Refusal {
            param: "checkpoints",
            reason,
        });
    };
    let longest = match params.get("segment").and_then(Value::as_int) {
        Some(n) if every > 0 => n,
        Some(n) => n.min(checkpoints.last().copied().unwrap_or(0)),
        None => gap,
    };
    // n line feeds separate n + 1 empty lines.
    let lines = longest + i64::from(params.text("partial_tail") == "keep");
    let matches = params.int("min_matches").max(params.int("min_cycles") - 1);
    let fenced = params
        .get("code")
        .and_then(Value::as_int)
        .unwrap_or(matches);
    if lines > matches.min(fenced) {
        return None;
    }
    let reason = format!("{matches} matches need more elements than {longest} chars can hold");
    Some(Refusal {
        param: "min_matches",
        reason,
    })
}
