//! [`sweep`]: every cell of a grid over a corpus, scored.

use std::path::PathBuf;

use deadloop_detect::{Settings, Unit};
use deadloop_replay::Plan;
use deadloop_report::short_name;
use deadloop_score::measure::DELAY;
use deadloop_score::{CSV_ROWS, Evidence, FrontPoint, ScoringResult, wrong_rate};
use serde_json::json;

use crate::failure::{Code, RunResult};
use crate::folder::answer::FolderAnswer;
use crate::host::Host;
use crate::layout::TextDocument;
use crate::options::{JudgingOptions, OutputOptions, SelectionOptions};
use crate::replay::replay_plan;
use crate::replay::request::{Request, record};
use crate::settings::SettingsReader;
use crate::words::{count, number, percent};

options! {
    /// The options of a sweep.
    pub struct SweepOptions {
        /// A corpus: a folder, or one .jsonl file
        #[serde(skip)]
        pub corpus: PathBuf,
        /// The grid
        #[arg(long, value_name = "FILE")]
        pub grid: PathBuf,
        /// The filters that select transcripts.
        #[command(flatten)]
        pub select: SelectionOptions,
        /// The options for judging alarms.
        #[command(flatten)]
        pub judge: JudgingOptions,
        /// The options for the output.
        #[command(flatten)]
        pub output: OutputOptions,
        /// The folder of the results
        #[arg(long, value_name = "DIR")]
        #[serde(skip)]
        pub out: PathBuf,
    }
}

/// Scores every cell of a grid on a corpus, chooses none, and leaves the tables and the report.
///
/// # Errors
/// Returns an error if the grid is bad, the corpus is not whole, nothing is selected, the folder holds another result,
/// a program fails, or the host stops the run.
pub fn sweep(options: &SweepOptions, host: &dyn Host) -> RunResult<FolderAnswer> {
    let folder = &options.output.folder;
    let (grid, text) = SettingsReader::of_folder(folder, host).grid(&options.grid)?;
    let grid = match options.judge.per {
        None => grid,
        Some(per) => grid.read_per(per),
    };
    let mut plan = Plan::default();
    plan.add_grid(&grid)
        .map_err(|e| Code::Usage.error(format!("{}: {e}", options.grid.display())))?;
    notify_refused(&plan, host);
    let request = Request {
        command: "sweep",
        opens: false,
        read: vec![&options.grid],
        grid: Some(text),
        asked: record("sweep", options)?,
        judging: options.judge.clone(),
        output: options.output.clone(),
        select: options.select.clone(),
        ..Request::new(&options.corpus, &options.out, host)
    };
    replay_plan(&request, &plan, &Settings::default())?.answer(&request, |mut done| {
        let (cases, records) = done.unpack(&plan);
        let evidence = Evidence::new(&plan, &cases, &records)?;
        let scored = done.score(&evidence, &[], &options.output.by, folder.csv)?;
        notify_csv_limit(folder.csv, &scored, host);
        done.run.manifest.models_left_out = scored.left_out;
        done.run
            .sum_up(json!({"cells": plan.cells(), "rows": scored.rows}));
        let text = front_table(&plan, &scored.front, done.judge.unit);
        drop((cases, records));
        done.finish(Ok(()), text, host)
    })
}

/// Notifies the host how many cells of the grid are impossible, and the first ten reasons.
pub fn notify_refused(plan: &Plan, host: &dyn Host) {
    let refused = plan.refused_cells();
    if refused.is_empty() {
        return;
    }
    let all: usize = refused.iter().map(|r| r.cells).sum();
    let remain = plan.cells();
    host.notify(&format!("{all} cells left out, {remain} remain:"));
    for refused in refused.iter().take(10) {
        host.notify(&format!(
            "  {} cells: {}: {}",
            refused.cells, refused.param, refused.reason
        ));
    }
}

/// Notifies the host that scores.csv was requested but would have more than [`CSV_ROWS`] rows.
pub fn notify_csv_limit(wants_csv: bool, scored: &ScoringResult, host: &dyn Host) {
    if wants_csv && scored.rows > CSV_ROWS {
        let [rows, most] = [scored.rows, CSV_ROWS].map(|n| count(n as u64));
        host.notify(&format!(
            "no scores.csv: {rows} rows are more than {most}; scores.parquet has them all"
        ));
    }
}

/// The maximum number of settings of the Pareto front shown on a terminal.
const MAX_ROWS: usize = 20;

/// Formats the Pareto front, one row a setting. A long front is thinned evenly.
fn front_table(plan: &Plan, front: &[FrontPoint], unit: Unit) -> TextDocument {
    let rate = wrong_rate(unit);
    let mut order: Vec<&FrontPoint> = front.iter().collect();
    order.sort_by(|a, b| {
        a.wrong_rate
            .total_cmp(&b.wrong_rate)
            .then(a.recall.total_cmp(&b.recall))
    });
    // Settings that are equal in all three measures share a row.
    order.dedup_by_key(|p| {
        (
            p.wrong_rate.to_bits(),
            p.recall.to_bits(),
            p.delay.to_bits(),
        )
    });
    let (all, last) = (order.len(), MAX_ROWS - 1);
    if all > MAX_ROWS {
        order = (0..MAX_ROWS).map(|i| order[i * (all - 1) / last]).collect();
    }
    let row = |p: &&FrontPoint| {
        vec![
            percent(Some(p.recall)),
            number(Some(p.wrong_rate), 2),
            count(p.wrong),
            count(p.transient_stops),
            number(Some(p.delay), 0),
            short_name(&plan.setting(p.cell), &[]),
        ]
    };
    let rows: Vec<Vec<String>> = order.iter().map(row).collect();
    let delay = DELAY.title_in(unit);
    let header = [
        "recall",
        rate.title,
        "wrong alarms",
        "transient stops",
        &delay,
        "setting",
    ];
    let some = if all > MAX_ROWS {
        format!(" ({} of {all} settings)", rows.len())
    } else {
        String::new()
    };
    TextDocument::default()
        .prose(format!("Pareto front of all models together{some}"))
        .table(&header, rows, 0..5)
}
