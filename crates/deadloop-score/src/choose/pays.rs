//! The price of a choice in words: where a guard pays for itself, and what is left to people because it does not.

use deadloop_replay::detect::Unit;

use super::choices::Choices;
use super::options::ChooseOptions;
use super::words::{beside, difference, grouped, percent, several};
use crate::measure::{BREAK_EVEN, ENDED, spared_at};
use crate::tally::{Count, Tally};

/// A candidate that would ship, but costs more than it spares where what is in use does not.
pub(super) fn dear(choices: &Choices, options: &ChooseOptions) -> String {
    let advice = &choices.advice;
    let now = options.in_use_is;
    let (Some(new), Some(f)) = (&advice.candidate, &advice.figures) else {
        return format!("Decide: what would be better than {now} costs more than it spares.");
    };
    let net = |value: Option<f64>| value.map_or_else(|| "n/a".into(), grouped);
    format!(
        "Decide: another setting has {}, {}, but at the {} of loops it costs more than it spares ({} {} per 1,000 {}; {now}: {}). Nothing changes until you choose.",
        beside(new, &advice.in_use, now, options),
        difference(f),
        if options.rate_given {
            "share that you said"
        } else {
            "share that is assumed"
        },
        net(f.net[0]),
        options.judge.unit,
        responses(options.judge.unit),
        net(f.net[1]),
    )
}

/// What is generated in `unit`: a response, or a run of an agent.
fn responses(unit: Unit) -> &'static str {
    match unit {
        Unit::Calls | Unit::Turns => "runs",
        Unit::Chars => "responses",
    }
}

/// Where the candidate and what is in use pay for themselves, and how many responses loop: one sentence for every verdict,
/// empty without loops or without clean text. `mean_clean`: the units of a mean clean transcript, from which the bound of
/// a guard without a wrong alarm comes.
pub(super) fn pays(choices: &Choices, mean_clean: f64, options: &ChooseOptions) -> String {
    let pooled = &choices.pooled;
    let now = &pooled.in_use_tally;
    if now.loops() == 0 || now.clean() == 0 {
        return String::new();
    }
    let from = |tally: &Tally| pays_from(tally, mean_clean, options);
    let of = |who: &str, tally: &Tally| format!("{who} pays {}", from(tally));
    let differs = pooled.candidate.is_some_and(|cell| cell != choices.in_use);
    let candidate = differs.then(|| {
        let is = choices.advice.ready.as_deref().unwrap_or("the candidate");
        of(is, &pooled.held_out_tally)
    });
    let now = of(options.in_use_is, now);
    let rate = one_in(options.assumed_rate());
    let said = if options.rate_given {
        format!("you said {rate}")
    } else {
        format!("{rate} is assumed (--loop-rate)")
    };
    let parts: Vec<String> = candidate.into_iter().chain([now, said]).collect();
    capital(&parts.join("; ")) + "."
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(char::to_uppercase);
    first.into_iter().flatten().chain(chars).collect()
}

/// What to take where the guard that would run costs more than it spares: the ready guard that spares most at the rate of
/// loops, with what it does. Empty where the guard that would run pays, and where there is no other that is ready.
pub(super) fn instead(used: &Tally, ready: &[(&str, Tally)], options: &ChooseOptions) -> String {
    let net = |tally: &Tally| spared_at(options.assumed_rate(), tally, &options.worth);
    if net(used).is_none_or(|net| net >= 0.0) {
        return String::new();
    }
    let priced = ready.iter().filter_map(|one| Some((net(&one.1)?, one)));
    let spares = priced.filter(|(net, _)| *net > 0.0);
    // Of those that spare as much, the first.
    let best = spares.reduce(|best, one| if one.0 > best.0 { one } else { best });
    match best {
        Some((_, (name, tally))) => format!(
            " There {name} spares most: ended {}, {}.",
            ENDED
                .value(tally, &options.worth)
                .map_or("n/a".into(), percent),
            several(tally.wrong(), "wrong alarm"),
        ),
        None if ready.is_empty() => String::new(),
        None => " There no ready guard pays for itself: none at all costs less.".into(),
    }
}

/// The critical count of the exact 95 % Poisson interval at 0 events.
const NONE_SEEN: f64 = 3.69;

/// `where more than 1 in 137 responses loops`. Where no clean transcript was cut there is only a bound: 3.69 cuts on as
/// many of them.
fn pays_from(tally: &Tally, mean_clean: f64, options: &ChooseOptions) -> String {
    let many = responses(options.judge.unit);
    let more_than = |share: f64| {
        if share > 0.5 {
            format!("more than {:.0} % of the {many} loop", 100.0 * share)
        } else {
            format!("more than {} {many} loops", one_in(share))
        }
    };
    match BREAK_EVEN.value(tally, &options.worth) {
        None => "nowhere: it spares nothing".into(),
        Some(share) if share > 0.0 => format!("where {}", more_than(share)),
        Some(_) => {
            let wasted = NONE_SEEN / tally.clean().max(1) as f64;
            let wasted = wasted * (mean_clean + options.worth.response);
            let spared = tally.get(Count::Saved) as f64 / tally.loops().max(1) as f64;
            format!(
                "wherever one of the {many} loops (it cut no clean one here), surely where {}",
                more_than(wasted / (spared + wasted))
            )
        }
    }
}

/// `1 in 333`.
fn one_in(share: f64) -> String {
    format!("1 in {}", grouped((1.0 / share).max(1.0)))
}
