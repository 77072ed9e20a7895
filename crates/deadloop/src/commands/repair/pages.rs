//! The content of the page of `repair`: choices and price lists, a matrix of faults and variants, and every wrong
//! repair, to be opened.

use std::collections::{BTreeMap, BTreeSet};

use deadloop_replay::repairers::Variant;
use deadloop_report::{RepairChoiceView, RepairMatrix, RepairPage, RepairPrice, WrongOne};
use deadloop_run::repairs::{WrongRepair, WrongRepairs};
use deadloop_score::repairs::{
    ALL_FAULTS, ChosenRepair, Mended, PricedRepair, RepairTally, ScoredRepairs, share_of,
};
use deadloop_score::{Ruling, wilson};

use crate::show;

/// The page. `wrong`: the wrong repairs that it shows.
pub(crate) fn page(
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
        wrong: wrong.opened.into_iter().map(opened).collect(),
        left: wrong.left,
    }
}

fn opened(one: WrongRepair) -> WrongOne {
    let WrongRepair {
        transcript,
        variant,
        fault,
        before,
        after,
        gold,
    } = one;
    WrongOne {
        transcript,
        variant,
        fault,
        before,
        after,
        gold,
    }
}

/// A share in per cent, with one decimal, or two below one per cent, and without trailing zeros.
pub(crate) fn percent(share: f64) -> String {
    let decimals = if share < 0.01 { 2 } else { 1 };
    let text = format!("{:.decimals$}", 100.0 * share);
    format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
}

/// `k of n (p %, lo to hi %)`.
pub(crate) fn told(tally: &RepairTally, verdict: Mended) -> String {
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

/// The verdict of a choice as a sentence.
pub(crate) fn sentence(chosen: &ChosenRepair, variants: &[Variant]) -> String {
    let c = &chosen.choice;
    let in_use = &variants[chosen.in_use].name;
    let Some((variant, tally)) = &c.chosen else {
        return format!("no variant is within the limit; in use: {in_use}");
    };
    let name = &variants[*variant].name;
    let held = c.held_out.map_or(String::new(), |out| {
        format!(
            " Chosen on the other groups: recovered {}, wrong {}, changed {}.",
            told(&out, Mended::Recovered),
            told(&out, Mended::Wrong),
            told(&out, Mended::FalseRepair)
        )
    });
    let why = why(chosen).map_or(String::new(), |why| format!(" {why}."));
    format!(
        "{name} recovers {} damaged streams; {} come out wrong; {} intact ones are changed. {in_use} recovers {} (p {:.3}, {} groups).{held}{why}",
        told(tally, Mended::Recovered),
        told(tally, Mended::Wrong),
        told(tally, Mended::FalseRepair),
        of(&c.in_use, Mended::Recovered),
        c.p,
        c.groups,
    )
}

/// `k of n`.
fn of(tally: &RepairTally, verdict: Mended) -> String {
    let (k, n) = share_of(tally, verdict);
    format!("{} of {}", show::count(k), show::count(n))
}

/// The choices as a table for the terminal. `held out` counts variants that were chosen on the other groups; `waits`:
/// in 95 % of the streams no more chars were read without anything coming out.
pub(crate) fn choices(scored: &ScoredRepairs, variants: &[Variant]) -> String {
    let header = [
        "repairer",
        "verdict",
        "variant",
        "recovered",
        "held out",
        "wrong",
        "changed",
        "waits",
        "in use",
        "recovers",
    ];
    let waits = |at: usize| {
        let mut scores = scored.scores.iter();
        let own =
            scores.find(|score| score.variant == variants[at].name && score.fault == ALL_FAULTS);
        let chars = own.and_then(|score| score.silence);
        chars.map_or("n/a".to_owned(), show::count)
    };
    let row = |chosen: &ChosenRepair| {
        let c = &chosen.choice;
        let best = c.chosen.as_ref();
        let cell =
            |verdict: Mended| best.map_or("none".to_owned(), |(_, tally)| of(tally, verdict));
        vec![
            chosen.repairer.clone(),
            c.ruling.name().to_owned(),
            best.map_or("none".to_owned(), |(at, _)| variants[*at].name.clone()),
            cell(Mended::Recovered),
            c.held_out
                .map_or("none".to_owned(), |tally| of(&tally, Mended::Recovered)),
            cell(Mended::Wrong),
            cell(Mended::FalseRepair),
            waits(best.map_or(chosen.in_use, |(at, _)| *at)),
            variants[chosen.in_use].name.clone(),
            of(&c.in_use, Mended::Recovered),
        ]
    };
    let rows: Vec<Vec<String>> = scored.chosen.iter().map(row).collect();
    show::table_of(&header, &rows, 3..8)
}

/// Why a verdict is not `ship`. `None` if it is.
pub(crate) fn why(chosen: &ChosenRepair) -> Option<String> {
    let c = &chosen.choice;
    let said = match (c.ruling, &c.held_out) {
        (Ruling::Decide, Some(out)) => format!(
            "What is chosen on the other groups does more harm than the limit: {} come out wrong, {} intact ones are changed",
            of(out, Mended::Wrong),
            of(out, Mended::FalseRepair)
        ),
        (Ruling::Collect, _) => {
            "There are too few damaged streams, or all are of one group: nothing says what it does to others"
                .into()
        }
        (Ruling::Keep, _) => format!(
            "Nothing within the limit recovers significantly more than what is in use (p {:.3})",
            c.p
        ),
        (Ruling::None, _) => "Nothing within the limit recovers anything".into(),
        (Ruling::Ship | Ruling::Decide, _) => return None,
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
        sentence: sentence(chosen, variants),
        prices: chosen
            .prices
            .chunk_by(same)
            .filter_map(<[_]>::first)
            .map(price)
            .collect(),
    }
}

/// The variants of a repairer that are shown: presets, programs, the unchanged stream, and the chosen variant.
pub(crate) fn columns(chosen: &ChosenRepair, variants: &[Variant]) -> Vec<usize> {
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
    let columns = columns(chosen, variants);
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
