//! `deadloop sweep`: scores every cell of a grid.

use std::path::PathBuf;

use clap::Args;
use deadloop_detect::{Settings, Unit};
use deadloop_replay::Plan;
use deadloop_report::short_name;
use deadloop_score::measure::DELAY;
use deadloop_score::{Evidence, FrontPoint, wrong_rate};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::args::{GlobalArgs, Typed};
use crate::exit::{Code, Outcome};
use crate::host::Terminal;
use crate::requests::{finish, print_csv_limit, print_refused, ran};
use crate::settings;
use crate::show;
use deadloop_run::options::{JudgingOptions, OutputOptions, SelectionOptions};
use deadloop_run::{Request, record, replay};

pub(crate) const HELP: &str =
    "Example:\n  deadloop sweep datasets/starter --grid grid.toml --out swept";

#[derive(Debug, Args, Serialize, Deserialize)]
pub(crate) struct SweepArgs {
    /// A corpus: a folder, or one .jsonl file
    #[serde(skip)]
    pub(crate) corpus: PathBuf,
    /// The grid
    #[arg(long, value_name = "FILE")]
    pub(crate) grid: PathBuf,
    #[command(flatten)]
    pub(crate) select: SelectionOptions,
    #[command(flatten)]
    pub(crate) judge: JudgingOptions,
    #[command(flatten)]
    pub(crate) output: OutputOptions,
    /// The folder of the results
    #[arg(long, value_name = "DIR")]
    #[serde(skip)]
    pub(crate) out: PathBuf,
}

pub(super) fn run(args: &SweepArgs, global: GlobalArgs) -> Outcome {
    let (grid, text) = settings::grid(&args.grid)?;
    let grid = match args.judge.per {
        None => grid,
        Some(per) => grid.read_per(per),
    };
    let mut plan = Plan::default();
    plan.add_grid(&grid)
        .map_err(|e| Code::Usage.error(format!("{}: {e}", args.grid.display())))?;
    print_refused(&plan, global);
    let host = Terminal::new(global);
    let request = Request {
        command: "sweep",
        opens: false,
        read: vec![&args.grid],
        grid: Some(text),
        asked: record("sweep", args)?,
        judging: args.judge.clone(),
        output: args.output.clone(),
        select: args.select.clone(),
        ..Request::new(&args.corpus, &args.out, &host)
    };
    let done = replay(&request, &plan, &Settings::default())?;
    let Some(mut done) = ran(done, &args.out, global)? else {
        return Ok(());
    };
    let (cases, records) = done.unpacked(&plan);
    let evidence = Evidence::new(&plan, &cases, &records)?;
    let scored = done.score(&evidence, &[], &args.output.by, args.output.folder.csv)?;
    print_csv_limit(args.output.folder.csv, &scored, global);
    done.run.manifest.models_left_out = scored.left_out;
    done.sum_up(json!({"cells": plan.cells(), "rows": scored.rows}));
    if !global.quiet && !global.json {
        show::print(&show::prose(&front_table(
            &plan,
            &scored.front,
            done.judge.unit,
        )))?;
    }
    drop((cases, records));
    finish(*done, Ok(()), global)?;
    let [corpus, grid, out] = [&args.corpus, &args.grid, &args.out].map(show::typed);
    let asked = args.select.typed() + &args.judge.typed();
    let next = [
        format!("deadloop report {out} --open"),
        format!("deadloop tune {corpus}{asked} --grid {grid} --out tuned"),
    ];
    show::next(&next.each_ref().map(String::as_str), global)
}

/// The maximum number of rows of the front that a terminal shows.
const FRONT: usize = 20;

/// Formats the front with short names of its settings. A long front is thinned evenly.
fn front_table(plan: &Plan, front: &[FrontPoint], unit: Unit) -> String {
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
    let (all, last) = (order.len(), FRONT - 1);
    if all > FRONT {
        order = (0..FRONT).map(|i| order[i * (all - 1) / last]).collect();
    }
    let row = |p: &&FrontPoint| {
        vec![
            show::percent(Some(p.recall)),
            show::number(Some(p.wrong_rate), 2),
            show::count(p.wrong),
            show::count(p.transient_stops),
            show::number(Some(p.delay), 0),
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
    let some = if all > FRONT {
        format!(" ({} of {all} settings)", rows.len())
    } else {
        String::new()
    };
    format!(
        "Pareto front of all models together{some}\n{}",
        show::table_of(&header, &rows, 0..5)
    )
}
