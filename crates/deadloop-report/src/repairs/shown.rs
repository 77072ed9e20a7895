//! The content of the page of `repair`: choices and price lists, a matrix of faults and variants, and every wrong
//! repair, to be opened.

use std::collections::{BTreeMap, BTreeSet};

use deadloop_score::repairs::{
    ALL_FAULTS, ChosenRepair, Mended, PricedRepair, RepairTally, ScoredRepairs, WrongRepairs,
    share_of,
};
use deadloop_score::replay::repairers::Variant;
use deadloop_score::{FEWEST_GROUPS, Figures, Ruling, wilson};

use super::{RepairChoiceView, RepairMatrix, RepairPage, RepairPrice};
use crate::numbers;

/// The page. `wrong`: the wrong repairs that it shows.
pub fn repair_page(
    corpus: &str,
    variants: &[Variant],
    scored: &ScoredRepairs,
    limit: f64,
    wrong: WrongRepairs,
) -> RepairPage {
    RepairPage {
        corpus: corpus.to_owned(),
        limit: percent(limit),
        choices: scored.chosen.iter().map(|c| view(c, variants)).collect(),
        matrices: scored
            .chosen
            .iter()
            .map(|c| matrix(c, variants, scored))
            .collect(),
        wrong: wrong.opened,
        left: wrong.left,
    }
}

/// A share in per cent, with one decimal, or two below one per cent, and without trailing zeros.
fn percent(share: f64) -> String {
    let decimals = if share < 0.01 { 2 } else { 1 };
    let text = format!("{:.decimals$}", 100.0 * share);
    format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
}

/// `k of n (p %, lo to hi %)`.
fn told(tally: &RepairTally, verdict: Mended) -> String {
    let (k, n) = share_of(tally, verdict);
    match wilson(k, n) {
        None => "n/a".to_owned(),
        Some(i) => format!(
            "{k} of {n} ({}; {} to {})",
            percent(k as f64 / n as f64),
            percent(i.lo),
            percent(i.hi)
        ),
    }
}

/// How sure it is that what was chosen on the other groups recovers more than what is in use.
fn sure(figures: &Figures) -> String {
    let ends = figures.interval_points().map_or(String::new(), |(lo, hi)| {
        format!(", 80 % {lo:+.1} to {hi:+.1}")
    });
    format!(
        "{:+.1} points against what is in use{ends}, better with P {:.2}",
        figures.points(),
        figures.better
    )
}

/// The verdict of a choice as a sentence.
pub fn repair_sentence(chosen: &ChosenRepair, variants: &[Variant]) -> String {
    let c = &chosen.choice;
    let in_use = &variants[chosen.in_use].name;
    let Some((variant, tally)) = &c.chosen else {
        return format!("no variant is within the limit; in use: {in_use}");
    };
    let name = &variants[*variant].name;
    let held = c.held_out.map_or(String::new(), |out| {
        format!(
            " Chosen on the other groups: recovered {}, wrong {}, changed {}; {}.",
            told(&out, Mended::Recovered),
            told(&out, Mended::Wrong),
            told(&out, Mended::FalseRepair),
            sure(&c.figures)
        )
    });
    let why = why_not_shipped(chosen).map_or(String::new(), |why| format!(" {why}."));
    format!(
        "{name} recovers {} damaged streams; {} come out wrong; {} intact ones are changed. {in_use} recovers {} ({} groups).{held}{why}",
        told(tally, Mended::Recovered),
        told(tally, Mended::Wrong),
        told(tally, Mended::FalseRepair),
        repair_of(&c.in_use, Mended::Recovered),
        c.groups,
    )
}

/// A count with plain blanks: what is said here stands on terminals and in settings.toml too.
fn count(n: u64) -> String {
    numbers::count(n).replace('\u{202f}', " ")
}

/// `k of n`.
pub fn repair_of(tally: &RepairTally, verdict: Mended) -> String {
    let (k, n) = share_of(tally, verdict);
    format!("{} of {}", count(k), count(n))
}

/// Why a verdict is not `ship`. `None` if it is.
pub fn why_not_shipped(chosen: &ChosenRepair) -> Option<String> {
    let c = &chosen.choice;
    let said = match (c.ruling, &c.held_out) {
        (Ruling::Decide, Some(out)) if out.harm() > c.in_use.harm() => format!(
            "What is chosen on the other groups does more harm than the limit: {} come out wrong, {} intact ones are changed",
            repair_of(out, Mended::Wrong),
            repair_of(out, Mended::FalseRepair)
        ),
        (Ruling::Decide, _) => "What is in use does more harm than the limit".into(),
        (Ruling::Collect, _) if c.groups < FEWEST_GROUPS => format!(
            "Damaged streams stand in {} group{}; {FEWEST_GROUPS} are needed to say what it does to others",
            c.groups,
            if c.groups == 1 { "" } else { "s" }
        ),
        (Ruling::Collect, _) => {
            format!("More damaged streams are needed: {}", sure(&c.figures))
        }
        (Ruling::Keep, _) => format!(
            "Nothing within the limit surely recovers more than what is in use ({})",
            sure(&c.figures)
        ),
        (Ruling::None, _) => "Nothing within the limit recovers anything".into(),
        (Ruling::Ship, _) => return None,
    };
    Some(said)
}

fn view(chosen: &ChosenRepair, variants: &[Variant]) -> RepairChoiceView {
    let price = |priced: &PricedRepair| {
        let cells = priced.best.as_ref().map(|(variant, tally)| {
            let variant = &variants[*variant];
            (
                variant.name.clone(),
                variant.params(),
                [Mended::Recovered, Mended::Wrong, Mended::FalseRepair].map(|v| told(tally, v)),
            )
        });
        let (variant, params, [recovered, wrong, false_repair]) = cells.unwrap_or_default();
        RepairPrice {
            at_most: percent(priced.limit),
            variant,
            params,
            recovered,
            wrong,
            false_repair,
        }
    };
    // A limit with the same best variant as a stricter limit has no row.
    let variant = |priced: &PricedRepair| priced.best.map(|(variant, _)| variant);
    let same = |a: &PricedRepair, b: &PricedRepair| variant(a) == variant(b);
    RepairChoiceView {
        repairer: chosen.repairer.clone(),
        badge: chosen.choice.ruling.name().to_owned(),
        sentence: repair_sentence(chosen, variants),
        prices: chosen
            .prices
            .chunk_by(same)
            .filter_map(<[_]>::first)
            .map(price)
            .collect(),
    }
}

/// The variants of a repairer that are shown: presets, programs, the unchanged stream, and the chosen variant.
pub fn repair_columns(chosen: &ChosenRepair, variants: &[Variant]) -> Vec<usize> {
    let mut picked: BTreeSet<usize> = variants
        .iter()
        .enumerate()
        .filter(|(_, v)| v.shown && v.repairer() == chosen.repairer)
        .map(|(at, _)| at)
        .collect();
    picked.extend(chosen.choice.chosen.map(|(variant, _)| variant));
    picked.into_iter().collect()
}

fn matrix(chosen: &ChosenRepair, variants: &[Variant], scored: &ScoredRepairs) -> RepairMatrix {
    let columns = repair_columns(chosen, variants);
    let names: Vec<&str> = columns
        .iter()
        .map(|at| variants[*at].name.as_str())
        .collect();
    let mut rows: BTreeMap<&str, Vec<(String, f64)>> = BTreeMap::new();
    let own = scored
        .scores
        .iter()
        .filter(|s| s.repairer == chosen.repairer);
    let tallies: BTreeMap<(&str, &str), &RepairTally> = own
        .map(|s| ((s.fault.as_str(), s.variant.as_str()), &s.tally))
        .collect();
    for (fault, _) in tallies.keys() {
        let cells = names.iter().map(|name| {
            let Some(tally) = tallies.get(&(*fault, *name)) else {
                return (String::new(), 0.0);
            };
            let (good, verdict) = match tally.damaged() {
                0 => (Mended::Intact, Mended::FalseRepair),
                _ => (Mended::Recovered, Mended::Wrong),
            };
            let (k, n) = share_of(tally, good);
            let (bad, _) = share_of(tally, verdict);
            let share = if n == 0 { 0.0 } else { k as f64 / n as f64 };
            (format!("{} / {bad} of {n}", percent(share)), share)
        });
        rows.entry(fault).or_insert_with(|| cells.collect());
    }
    // The row for all faults comes first, because its name sorts first.
    debug_assert!(rows.keys().next().is_none_or(|first| *first == ALL_FAULTS));
    RepairMatrix {
        repairer: chosen.repairer.clone(),
        columns: names.iter().map(|name| short_name(name)).collect(),
        rows: rows
            .into_iter()
            .map(|(fault, cells)| (fault.to_owned(), cells))
            .collect(),
    }
}

fn short_name(name: &str) -> String {
    name.split_once('/')
        .map_or(name, |(_, rest)| rest)
        .to_owned()
}
