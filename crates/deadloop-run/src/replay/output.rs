//! Formats the results of `replay` as a table of settings and as JSON.

use deadloop_detect::Unit;
use deadloop_score::measure::{DELAY, ENDED, Metric, RECALL, SAVED};
use deadloop_score::sentences::spared;
use deadloop_score::{AnyEvidence, CaseSet, Count, Stakes, Tally, Transient, wrong_rate};
use serde_json::{Value, json};

use super::ReplayRun;
use crate::layout::TextDocument;
use crate::option::TRANSIENT;
use crate::settings::NamedSettings;
use crate::words::{count, number, per, percent};

/// Returns the text with the table of settings, and the summary for the manifest.
pub(super) fn summary(
    done: &ReplayRun,
    evidence: &impl AnyEvidence,
    named: &[NamedSettings],
    cells: &[usize],
) -> (TextDocument, Value) {
    let all = evidence.every();
    let rows: Vec<(String, Tally)> = named
        .iter()
        .zip(cells)
        .map(|((label, _), cell)| (label.clone(), evidence.tally_of(*cell, &all, &done.judge)))
        .collect();
    let (name, tally) = &rows[0];
    let unit = done.judge.unit;
    let remarks = [
        best_setting(&rows, unit),
        transient_note(name, tally, done.judge.transient),
        spared(name, tally, &done.worth, unit),
    ];
    let text = settings_table(done, evidence, &rows, cells);
    let text = remarks
        .into_iter()
        .flatten()
        .fold(text, TextDocument::prose);
    (text, settings_json(done, evidence, &rows, cells))
}

/// Returns a measure that does not depend on the cost of errors. `None` if it is undefined.
fn measure_value(measure: Metric, tally: &Tally) -> Option<f64> {
    measure.value(tally, &Stakes::default())
}

/// Formats a note on stopped repetitions that end by themselves, if no rate counts them.
fn transient_note(name: &str, tally: &Tally, transient: Transient) -> Option<String> {
    let (all, earlier) = (tally.get(Count::TransientStop), tally.get(Count::Earlier));
    let uncounted = all > earlier && transient == Transient::Ignore;
    uncounted.then(|| {
        format!(
            "\n{name} also stops {} of {} repetitions that end by themselves; no rate above counts them \
             ({TRANSIENT} clean counts them as wrong alarms)",
            count(all.saturating_sub(earlier)),
            count(tally.transient())
        )
    })
}

/// Formats the table, one row a setting. It has a column `errors` if a program failed, and `would cut` if nothing is
/// labelled.
fn settings_table(
    done: &ReplayRun,
    evidence: &impl AnyEvidence,
    rows: &[(String, Tally)],
    cells: &[usize],
) -> TextDocument {
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
        per(unit),
        "transient stops",
        delay.as_ref(),
        "saved",
    ];
    header.extend(failed.then_some("errors"));
    header.extend(unlabelled.then_some("would cut"));
    let row = |((label, tally), cell): (&(String, Tally), &usize)| {
        let mut cells = vec![
            label.clone(),
            count(tally.loops()),
            count(tally.get(Count::Hit)),
            count(tally.get(Count::Earlier)),
            percent(measure_value(&ENDED, tally)),
            percent(measure_value(&RECALL, tally)),
            count(tally.wrong()),
            number(measure_value(rate, tally), 2),
            count(tally.get(Count::TransientStop)),
            number(measure_value(&DELAY, tally), 0),
            percent(measure_value(&SAVED, tally)),
        ];
        cells.extend(failed.then(|| count(tally.get(Count::Errors))));
        cells.extend(unlabelled.then(|| format_alarmed(done, evidence, *cell)));
        cells
    };
    let rows = rows.iter().zip(cells).map(row).collect();
    TextDocument::default().table(&header, rows, 1..header.len())
}

/// Returns the settings and their measures as JSON.
fn settings_json(
    done: &ReplayRun,
    evidence: &impl AnyEvidence,
    rows: &[(String, Tally)],
    cells: &[usize],
) -> Value {
    let rate = wrong_rate(done.judge.unit);
    let row = |((label, tally), cell): (&(String, Tally), &usize)| {
        let (would_cut, would_cut_per_mchar) = count_alarmed(done, evidence, *cell);
        json!({
            "name": label, "setting": evidence.plan().id(*cell),
            "transcripts": tally.get(Count::Transcripts), "loops": tally.loops(),
            "unlabelled": tally.get(Count::Unlabelled), "errors": tally.get(Count::Errors),
            "hit": tally.get(Count::Hit), "earlier": tally.get(Count::Earlier), "wrong": tally.wrong(),
            "transient_stops": tally.get(Count::TransientStop),
            "exposure": tally.get(Count::Exposure), "ended": measure_value(&ENDED, tally), "recall": measure_value(&RECALL, tally),
            rate.name: measure_value(rate, tally),
            "would_cut": would_cut, "would_cut_per_mchar": would_cut_per_mchar,
        })
    };
    let rows: Vec<_> = rows.iter().zip(cells).map(row).collect();
    let rejected = done.run.surveyed.problems.len();
    json!({"rejected": rejected, "settings": rows})
}

/// Formats the number of transcripts with an alarm as `19 of 60 (4.75 per Mchar)`, or as `19 of 60` in calls and turns.
fn format_alarmed(done: &ReplayRun, evidence: &impl AnyEvidence, cell: usize) -> String {
    let (cut, rate) = count_alarmed(done, evidence, cell);
    let (cut, all) = (count(cut), count(evidence.cases().number() as u64));
    match done.judge.unit {
        Unit::Chars => format!("{cut} of {all} ({} per Mchar)", number(rate, 2)),
        _ => format!("{cut} of {all}"),
    }
}

/// Returns the number of transcripts with an alarm, labelled or not, and this number per million chars of the corpus.
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

/// Formats a sentence on the setting that saves the most within the default limit on wrong alarms. `None` for fewer
/// than three settings.
fn best_setting(rows: &[(String, Tally)], unit: Unit) -> Option<String> {
    let rate = wrong_rate(unit);
    let most = deadloop_score::choose::ChooseOptions::default_limit(unit).bound;
    let fits = rows.iter().filter_map(|(label, tally)| {
        let rate = measure_value(rate, tally).filter(|rate| *rate <= most);
        rate.and(measure_value(&SAVED, tally))
            .map(|saved| (label, saved))
    });
    let best = fits.reduce(|a, b| if b.1 > a.1 { b } else { a });
    let (label, saved) = best.filter(|_| rows.len() > 2)?;
    Some(format!(
        "\n{label} saves the most ({}) of those with at most {most} wrong alarm {}",
        percent(Some(saved)),
        per(unit)
    ))
}
