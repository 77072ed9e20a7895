//! The results of `replay`, as a table of settings or as JSON.

use deadloop_detect::Unit;
use deadloop_run::ReplayRun;
use deadloop_score::measure::{DELAY, ENDED, RECALL, SAVED};
use deadloop_score::sentences::spared;
use deadloop_score::{AnyEvidence, CaseSet, Count, Tally, wrong_rate};
use serde_json::json;

use super::NamedSettings;
use crate::args::GlobalArgs;
use crate::exit::Outcome;
use crate::show;

/// Prints the table of settings. Returns the summary for the manifest and `--json`.
pub(super) fn summary(
    done: &ReplayRun,
    evidence: &impl AnyEvidence,
    named: &[NamedSettings],
    cells: &[usize],
    global: GlobalArgs,
) -> Outcome<serde_json::Value> {
    let all = evidence.every();
    let rows: Vec<(String, Tally)> = named
        .iter()
        .zip(cells)
        .map(|((label, _), cell)| (label.clone(), evidence.tally_of(*cell, &all, &done.judge)))
        .collect();
    let summary = json(done, evidence, &rows, cells);
    if global.quiet || global.json {
        return Ok(summary);
    }
    show::print(&table(done, evidence, &rows, cells))?;
    best_setting(&rows, done.judge.unit).map_or(Ok(()), |line| show::print(&show::prose(&line)))?;
    let (name, tally) = &rows[0];
    let ended = show::transient_note(name, tally, done.judge.transient);
    ended.map_or(Ok(()), |line| show::print(&show::prose(&line)))?;
    let spared = spared(name, tally, &done.worth, done.judge.unit);
    spared.map_or(Ok(()), |line| show::print(&show::prose(&line)))?;
    Ok(summary)
}

/// Formats the table, one row per setting. It has a column `errors` if a program failed, and `would cut` if nothing is
/// labelled.
fn table(
    done: &ReplayRun,
    evidence: &impl AnyEvidence,
    rows: &[(String, Tally)],
    cells: &[usize],
) -> String {
    let unit = done.judge.unit;
    let (rate, delay) = (wrong_rate(unit), DELAY.title_in(unit));
    let failed = rows.iter().any(|(_, tally)| tally.get(Count::Errors) > 0);
    let unlabelled = rows
        .iter()
        .all(|(_, tally)| tally.loops() + tally.clean() == 0);
    let mut header = vec![
        "setting",
        "loops",
        "hit",
        "earlier",
        "ended",
        "recall",
        "wrong alarms",
        show::per(unit),
        "transient stops",
        delay.as_ref(),
        "saved",
    ];
    header.extend(failed.then_some("errors"));
    header.extend(unlabelled.then_some("would cut"));
    let row = |((label, tally), cell): (&(String, Tally), &usize)| {
        let mut cells = vec![
            label.clone(),
            show::count(tally.loops()),
            show::count(tally.get(Count::Hit)),
            show::count(tally.get(Count::Earlier)),
            show::percent(show::value(&ENDED, tally)),
            show::percent(show::value(&RECALL, tally)),
            show::count(tally.wrong()),
            show::number(show::value(rate, tally), 2),
            show::count(tally.get(Count::TransientStop)),
            show::number(show::value(&DELAY, tally), 0),
            show::percent(show::value(&SAVED, tally)),
        ];
        cells.extend(failed.then(|| show::count(tally.get(Count::Errors))));
        cells.extend(unlabelled.then(|| format_alarmed(done, evidence, *cell)));
        cells
    };
    let table: Vec<Vec<String>> = rows.iter().zip(cells).map(row).collect();
    show::table(&header, &table, 1)
}

/// Returns the rows as a JSON object.
fn json(
    done: &ReplayRun,
    evidence: &impl AnyEvidence,
    rows: &[(String, Tally)],
    cells: &[usize],
) -> serde_json::Value {
    let rate = wrong_rate(done.judge.unit);
    let row = |((label, tally), cell): (&(String, Tally), &usize)| {
        let (would_cut, would_cut_per_mchar) = count_alarmed(done, evidence, *cell);
        json!({
            "name": label, "setting": evidence.plan().id(*cell),
            "transcripts": tally.get(Count::Transcripts), "loops": tally.loops(),
            "unlabelled": tally.get(Count::Unlabelled), "errors": tally.get(Count::Errors),
            "hit": tally.get(Count::Hit), "earlier": tally.get(Count::Earlier), "wrong": tally.wrong(),
            "transient_stops": tally.get(Count::TransientStop),
            "exposure": tally.get(Count::Exposure), "ended": show::value(&ENDED, tally), "recall": show::value(&RECALL, tally),
            rate.name: show::value(rate, tally),
            "would_cut": would_cut, "would_cut_per_mchar": would_cut_per_mchar,
        })
    };
    let rows: Vec<_> = rows.iter().zip(cells).map(row).collect();
    let rejected = done.run.surveyed.problems.len();
    json!({"rejected": rejected, "settings": rows})
}

/// Formats the number of alarmed transcripts as `19 of 60 (4.75 per Mchar)`, or `19 of 60` for calls and turns.
fn format_alarmed(done: &ReplayRun, evidence: &impl AnyEvidence, cell: usize) -> String {
    let (cut, rate) = count_alarmed(done, evidence, cell);
    let (cut, all) = (
        show::count(cut),
        show::count(evidence.cases().number() as u64),
    );
    match done.judge.unit {
        Unit::Chars => format!("{cut} of {all} ({} per Mchar)", show::number(rate, 2)),
        _ => format!("{cut} of {all}"),
    }
}

/// Counts the transcripts on which a setting alarms, labelled or not. Also returns the rate per million chars of the
/// corpus.
fn count_alarmed(done: &ReplayRun, evidence: &impl AnyEvidence, cell: usize) -> (u64, Option<f64>) {
    let place = evidence.plan().cell(cell);
    let alarms = |case: &usize| {
        evidence.on_trial(place.block, *case, |trial| {
            trial.decided.stop(&place.at).is_some()
        })
    };
    let cut = (0..evidence.cases().number()).filter(alarms).count() as u64;
    let chars = done.run.manifest.corpus.chars;
    (cut, (chars > 0).then(|| cut as f64 * 1e6 / chars as f64))
}

/// Names the setting that saves the most within the default limit on wrong alarms. `None` for fewer than three
/// settings.
fn best_setting(rows: &[(String, Tally)], unit: Unit) -> Option<String> {
    let rate = wrong_rate(unit);
    let most = deadloop_score::choose::ChooseOptions::default_limit(unit).bound;
    let calm = rows.iter().filter_map(|(label, tally)| {
        let rate = show::value(rate, tally).filter(|rate| *rate <= most);
        rate.and(show::value(&SAVED, tally))
            .map(|saved| (label, saved))
    });
    let best = calm.reduce(|a, b| if b.1 > a.1 { b } else { a });
    let (label, saved) = best.filter(|_| rows.len() > 2)?;
    Some(format!(
        "\n{label} saves the most ({}) of those with at most {most} wrong alarm {}",
        show::percent(Some(saved)),
        show::per(unit)
    ))
}
