//! The sentences of a choice: made here once, and the same in terminal, page, Markdown, `--json`, manifest and the
//! head of `settings.toml`.

use super::advice::{Ruling, RunFigures, Ship};
use super::choices::{Choices, Why};
use super::duel::Figures;
use super::options::ChooseOptions;
use super::pays::dear;
use super::pooling::Borrowing;
use super::rule::{LEAST, Missing, SURE, Situation, missing};
use crate::measure::{Measure, MeasureUnit};
use crate::tally::Tally;
use deadloop_replay::detect::Unit;

/// A value with its unit: `84.1 %`, `0.55`, `1,252`, `n/a`.
pub fn told(measure: &Measure, value: Option<f64>) -> String {
    let Some(value) = value else {
        return "n/a".into();
    };
    match measure.unit {
        MeasureUnit::Share => format!("{:.1} %", 100.0 * value),
        MeasureUnit::PerMillion => format!("{value:.2}"),
        MeasureUnit::Chars => grouped(value),
    }
}

/// `saved 84.1 %`.
fn named(measure: &Measure, value: Option<f64>) -> String {
    format!("{} {}", measure.title, told(measure, value))
}

/// A whole number with commas.
pub(super) fn grouped(value: f64) -> String {
    let digits = format!("{:.0}", value.abs());
    let sign = if value < -0.5 { "-" } else { "" };
    let groups: Vec<&str> = digits
        .as_bytes()
        .rchunks(3)
        .rev()
        .filter_map(|group| std::str::from_utf8(group).ok())
        .collect();
    format!("{sign}{}", groups.join(","))
}

pub(super) fn percent(share: f64) -> String {
    match share {
        x if x > 0.999 => "over 99.9 %".into(),
        x => format!("{:.1} %", 100.0 * x),
    }
}

/// `1 loop`, `3 loops`.
pub(super) fn several(n: u64, what: &str) -> String {
    let s = if n == 1 { "" } else { "s" };
    format!("{} {what}{s}", grouped(n as f64))
}

/// What two ways to run a guard do, beside each other.
pub(super) fn beside(
    new: &RunFigures,
    old: &RunFigures,
    in_use: &str,
    options: &ChooseOptions,
) -> String {
    let of = |run: &RunFigures| {
        let alarms = several(run.wrong, "wrong alarm");
        format!("{}, {alarms}", named(options.objective, run.objective))
    };
    format!("{} held out; {in_use}: {}", of(new), of(old))
}

/// The verdict and its reason in one sentence.
pub(super) fn reason(choices: &Choices, s: &Situation, options: &ChooseOptions) -> String {
    let advice = &choices.advice;
    let now = options.in_use_is;
    match advice.verdict {
        Ruling::Collect => format!(
            "Collect more before you change anything: {}.",
            missing(s).map_or_else(String::new, |what| lacking(&what, options))
        ),
        Ruling::None => format!(
            "No setting is within {}, as likely as not; keep {now}.",
            limits(options)
        ),
        Ruling::Ship => shipped_reason(choices, now, options),
        Ruling::Decide if !s.over || s.costs && choices.advice.figures.is_some() => {
            dear(choices, options)
        }
        Ruling::Decide => {
            let over = over(&choices.pooled.in_use_tally, options);
            match (&advice.candidate, &advice.figures) {
                (Some(new), Some(f)) => format!(
                    "Decide: {now} is over {over}; the best setting within it has {}, {}. Nothing changes until you choose.",
                    beside(new, &advice.in_use, now, options),
                    difference(f)
                ),
                _ => format!(
                    "Decide: {now} is over {over}, and no setting is surely within it on text that it was not chosen on. Nothing changes until you choose."
                ),
            }
        }
        Ruling::Keep => match (&advice.candidate, &advice.figures) {
            (Some(new), Some(_)) if new.setting == advice.in_use.setting => {
                format!("Keep {now}: nothing that was searched is better by more than chance.")
            }
            // Surely better, and by too little.
            (Some(new), Some(f)) if f.better >= SURE && f.points() < options.worthwhile - 1e-9 => {
                format!(
                    "Keep {now}: the best other setting is better by less than the {} that a change is worth ({}; {}; --worthwhile).",
                    points(options.worthwhile),
                    beside(new, &advice.in_use, now, options),
                    difference(f)
                )
            }
            (Some(new), Some(f)) => format!(
                "Keep {now}: the best other setting is not surely better ({}; {}, {} sure of being better; {} % is asked for).",
                beside(new, &advice.in_use, now, options),
                difference(f),
                percent(f.better),
                100.0 * SURE
            ),
            _ => format!(
                "Keep {now}: no setting is surely within {} on text that it was not chosen on.",
                limits(options)
            ),
        },
    }
}

/// What was left out of comparing what was not chosen on this text; nothing where no label is in doubt.
pub(super) fn doubted(labels: u64) -> String {
    let (number, are) = match labels {
        0 => return String::new(),
        1 => ("1 label".to_owned(), "is"),
        n => (format!("{} labels", grouped(n as f64)), "are"),
    };
    format!(
        " {number} {are} in doubt and left out of that: confirmed by nobody, and the offline finder sees a loop where a guard stops (deadloop label --disputes)."
    )
}

fn shipped_reason(choices: &Choices, now: &str, options: &ChooseOptions) -> String {
    let advice = &choices.advice;
    let own = choices.models.iter().filter(|m| m.ships.is_some()).count() as u64;
    let models = match own {
        0 => String::new(),
        n => format!("{} with a setting of its own", several(n, "model")),
    };
    let (Some(rule), Some(new), Some(f)) = (advice.rule, &advice.candidate, &advice.figures) else {
        let dear = match &advice.figures {
            Some(f) if f.turns_net() => {
                "; a setting for all that saves more costs more than it spares"
            }
            _ => "",
        };
        return format!(
            "Ship settings.toml: {models} that is better there; all other models keep {now}{dear}."
        );
    };
    let lead = match &advice.ready {
        Some(ready) => format!("Take {ready}"),
        None => "Ship settings.toml".into(),
    };
    let unseen = match &advice.ready {
        Some(_) => ". It was not chosen on this text, so nothing had to be left out",
        None => "",
    };
    let why = match rule {
        Ship::Better => format!("it is better than {now} ({} sure)", percent(f.better)),
        Ship::Safer => format!(
            "it has fewer wrong alarms than {now} ({} sure) and is no point worse",
            percent(f.fewer_wrong)
        ),
        Ship::Needed => format!("{now} breaks {}", limits(options)),
    };
    let models = match own {
        0 => String::new(),
        _ => format!("; {models}"),
    };
    format!(
        "{lead}: {why}: {}, {}{models}{unseen}.",
        beside(new, &advice.in_use, now, options),
        difference(f)
    )
}

/// `+23.1 points (80 %: 21.0 to 25.3)`.
pub(super) fn difference(f: &Figures) -> String {
    let range = f.interval_points().map_or_else(String::new, |(lo, hi)| {
        format!(" (80 %: {lo:+.1} to {hi:+.1})")
    });
    format!("{:+.1} points{range}", f.points())
}

/// `1 point`, `0.5 points`.
fn points(n: f64) -> String {
    format!("{n} point{}", if n == 1.0 { "" } else { "s" })
}

/// What a group is.
const GROUP: &str =
    "a group is what belongs together, as the answers to one prompt: `group` of a transcript";

fn lacking(what: &Missing, options: &ChooseOptions) -> String {
    match what {
        Missing::Labels => "no transcript has a label".into(),
        Missing::Loops(0) => "no transcript loops".into(),
        Missing::Loops(n) => format!(
            "{} with a label, and {LEAST} are the least; copies of one another count once",
            several(*n, "loop")
        ),
        Missing::LoopGroups(n) => format!(
            "the loops stand in {}, and {LEAST} are the least ({GROUP})",
            several(*n, "group")
        ),
        Missing::CleanGroups(n) => format!(
            "the clean transcripts stand in {}, and {LEAST} are the least ({GROUP})",
            several(*n, "group")
        ),
        Missing::Exposure(n) => format!(
            "{} would allow {n:.2} wrong alarms on this much clean text, which cannot tell one setting from another",
            limits(options)
        ),
        Missing::Certainty(lo, hi) => format!(
            "the best setting may be {:.1} points worse or {hi:.1} better than what is in use",
            lo.abs()
        ),
    }
}

/// `the default limit fa_per_mchar<=1`.
fn limits(options: &ChooseOptions) -> String {
    let each: Vec<String> = options
        .constraints
        .iter()
        .map(ToString::to_string)
        .collect();
    let s = if each.len() == 1 { "" } else { "s" };
    let default = if options.given { "" } else { "default " };
    if each.is_empty() {
        "the limits (none)".into()
    } else {
        format!("the {default}limit{s} {}", each.join(" and "))
    }
}

/// The limits that a tally breaks by estimate.
fn over(tally: &Tally, options: &ChooseOptions) -> String {
    let each = options.constraints.iter().filter_map(|c| {
        let (value, met) = c.estimate(tally, &options.worth);
        let value = value.filter(|_| !met)?;
        Some(format!("{c} ({})", told(c.metric, Some(value))))
    });
    let each: Vec<String> = each.collect();
    let s = if each.len() == 1 { "" } else { "s" };
    let default = if options.given { "" } else { "default " };
    format!("the {default}limit{s} {}", each.join(" and "))
}

/// Why all models together have what they have.
pub(super) fn pooled(choices: &Choices, options: &ChooseOptions) -> String {
    let advice = &choices.advice;
    if let (Some(ready), Some(f)) = (&advice.ready, &advice.figures) {
        return format!(
            "{ready}, which was not chosen on this text: within {} with {}; {} against what is in use",
            limits(options),
            percent(f.within),
            difference(f)
        );
    }
    match (&advice.candidate, advice.assurance, &advice.figures) {
        (Some(_), Some(level), Some(f)) => format!(
            "chosen at the level {}: within {} with {} held out; {} against what is in use",
            level.name(),
            limits(options),
            percent(f.within),
            difference(f)
        ),
        _ => "no setting is surely within the limits on text that it was not chosen on".into(),
    }
}

/// Why a model was not tried by itself.
pub(super) fn untried(loops: u64, least: u64, ships: bool) -> String {
    let holds = if ships {
        "it gets the setting of all models"
    } else {
        "it keeps what is in use"
    };
    if loops < least {
        format!("{}, fewer than {least}: {holds}", several(loops, "loop"))
    } else {
        holds.into()
    }
}

/// Why a model with labels enough has what it has.
pub(super) fn own(
    ships: Option<Ship>,
    otherwise: Why,
    f: &Figures,
    kept: Option<&Figures>,
    sure: f64,
    (borrowing, unit): (Option<Borrowing>, Unit),
) -> String {
    let rival = rival(otherwise);
    let helped = borrowing.map_or_else(String::new, |b| {
        let (loops, clean) = b.strength();
        format!(
            "; the other models count as {loops:.0} loops and {} clean {unit}",
            grouped(clean)
        )
    });
    let kept = loses(kept);
    let told = match ships {
        Some(_) => format!("its own is better than {rival}: {}", difference(f)),
        None if f.turns_net() => format!(
            "its own costs more than it spares, and {rival} does not: {}",
            difference(f)
        ),
        None => format!(
            "its own is not surely better than {rival}: {}, {} sure where {} is asked for",
            difference(f),
            percent(f.better),
            percent(sure)
        ),
    };
    format!("{told}{kept}{helped}")
}

/// Why no setting of its own was tried for a model with labels enough; `best`: the best that there can be.
pub(super) fn hopeless(
    otherwise: Why,
    best: &Figures,
    kept: Option<&Figures>,
    (sure, worthwhile): (f64, f64),
) -> String {
    format!(
        "no setting of its own was tried: one that stopped each loop at its onset, and nothing else, would be {} sure to be better than {}, by {:.1} points, where {} and {} are asked for{}",
        percent(best.better),
        rival(otherwise),
        best.points(),
        percent(sure),
        points(worthwhile),
        loses(kept)
    )
}

/// What a model's own setting would replace.
fn rival(otherwise: Why) -> &'static str {
    match otherwise {
        Why::Pooled => "the setting of all models",
        _ => "what is in use",
    }
}

/// Why a model keeps what it has although the setting of all models ships.
fn loses(kept: Option<&Figures>) -> String {
    kept.map_or_else(String::new, |k| {
        format!(
            "; the setting of all models loses {:.1} points here",
            -k.points()
        )
    })
}

/// What the row of the file is.
pub(super) fn shipped(own: usize, same: usize) -> String {
    format!(
        "{} with a setting of their own, {} with that of all",
        several(own as u64, "model"),
        several(same as u64, "model")
    )
}
