//! The disputes between detectors and labels, as a table.

use deadloop_run::label::Dispute;

use crate::show;

/// Formats the disputes as a table of up to `most` rows.
pub(super) fn disputes_table(disputes: &[Dispute], most: usize) -> String {
    let row = |one: &Dispute| {
        let alarm = one.alarm.as_ref();
        vec![
            one.transcript.clone(),
            one.label.clone(),
            alarm.map_or("missed".into(), |(channel, at)| {
                format!("{} at {}, {channel}", one.verdict, show::count(*at))
            }),
            format!("{} of {}", one.settings.len(), one.asked),
            show::count(one.at_stake),
            one.looks_like.clone(),
        ]
    };
    let rows: Vec<Vec<String>> = disputes.iter().take(most).map(row).collect();
    let header = [
        "transcript",
        "label",
        "detectors",
        "settings",
        "chars",
        "looks like",
    ];
    let more = match disputes.len().saturating_sub(most) {
        0 => String::new(),
        n => format!(
            "\n{} (--json has all)",
            show::several(n as u64, "more transcript")
        ),
    };
    format!("{}{more}", show::table_of(&header, &rows, 3..5))
}
