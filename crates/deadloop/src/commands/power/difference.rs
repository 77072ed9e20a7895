//! `--difference`: how many transcripts show that one setting is better than another.

use deadloop_score::measure::{FPR, RECALL};
use deadloop_score::power::{ALPHA, Discordant};
use deadloop_score::{Metric, metric};

use super::is_within;
use serde_json::json;

use super::{APPROXIMATE, Answer, CLEAN, Takes, Unit, of, rate_of, roughly};
use crate::exit::{Code, Outcome};
use crate::show;

/// How much data shows with probability `power` that a metric went from one value to another.
pub(super) fn differs(name: &str, from: f64, to: f64, power: f64) -> Outcome<Answer> {
    let bad = |what: &str| Code::Usage.error(format!("--difference {name}: {what}"));
    let metric = metric(name).map_err(|e| bad(&format!("{e}")))?;
    let ([nested, independent], unit) = ways(metric, from, to).ok_or_else(|| {
        bad("expected recall, within_N or fpr, with --from and --to from 0 to 1, or a rate of wrong alarms as fa_per_mchar")
    })?;
    let better = if metric.more_is_better {
        to > from
    } else {
        to < from
    };
    if !better {
        return Err(bad("expected --to to be better than --from"));
    }
    let size = |way: Discordant| {
        if metric.is_wrong_rate() {
            (way.chars(power), way.about_chars(power))
        } else {
            (way.pairs(power), way.about_pairs(power))
        }
    };
    let (least, most) = (size(nested), size(independent));
    let shown = |(n, about): (Option<u64>, Option<f64>)| match (n, about) {
        (Some(n), _) => show::count(n),
        (None, Some(about)) => format!("about {}", roughly(about)),
        (None, None) => "no number".into(),
    };
    let row = |how: &str, n| vec![how.to_owned(), shown(n)];
    let mut text = format!(
        "{name} from {from} to {to}, exact McNemar (two-sided, {:.0} %), found with probability {power}:\n{}",
        100.0 * ALPHA,
        show::table(
            &["how the two settings err", unit.things],
            &[
                row("the new one errs only where the old one does", least),
                row("independently of each other", most),
            ],
            1
        )
    );
    if least.0.is_none() || most.0.is_none() {
        text += &format!("\nAbout: {APPROXIMATE}.");
    }
    let json = json!({
        "difference": name, "from": from, "to": to, "alpha": ALPHA, "power": power,
        "unit": unit.things, "nested": least.0, "independent": most.0,
        "about": {"nested": least.1, "independent": most.1},
    });
    let takes = Takes::Difference([least.0, most.0]);
    Ok(Answer {
        text,
        json,
        metric,
        unit,
        takes,
    })
}

/// The share of transcripts that only one of the two settings gets right; for a rate of wrong alarms,
/// the alarms per million that only one of them raises. First, if the new setting errs only where the
/// old one does; second, if the two err independently. `None` if it cannot be worked out for this
/// metric or these values.
fn ways(metric: Metric, from: f64, to: f64) -> Option<([Discordant; 2], Unit)> {
    let both = |from, to| {
        [
            Discordant::nested(from, to),
            Discordant::independent(from, to),
        ]
    };
    let share = |x: f64| (0.0..=1.0).contains(&x);
    let shares = share(from) && share(to);
    if let (Some((unit, scale)), true) = (rate_of(metric), from >= 0.0 && to >= 0.0) {
        let (from, to) = (from * scale, to * scale);
        let apart = Discordant {
            gained: from,
            lost: to,
        };
        Some(([Discordant::nested(to, from), apart], unit))
    } else if metric == &FPR && shares {
        Some((both(1.0 - from, 1.0 - to), CLEAN))
    } else if (metric == &RECALL || is_within(metric)) && shares {
        Some((both(from, to), of(metric)))
    } else {
        None
    }
}
