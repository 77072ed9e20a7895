//! `deadloop sweep`: the scores of every cell of a grid.

use deadloop_detect::Settings;
use deadloop_replay::Plan;
use deadloop_score::{Evidence, Point, write_pareto, write_regions};
use serde_json::json;

use crate::args::{Global, Sweep};
use crate::exit::{Code, Outcome};
use crate::replaying::{Request, replay};
use crate::settings;
use crate::show;

pub(super) fn run(args: &Sweep, global: Global) -> Outcome {
    if args.output.csv && !global.quiet {
        eprintln!(
            "--csv changes nothing here: a sweep keeps no outcomes, and scores.csv is written anyway; \
             replay a setting with --csv for its outcomes.csv"
        );
    }
    let (grid, text) = settings::grid(&args.grid)?;
    let mut plan = Plan::default();
    plan.add_grid(&grid)
        .map_err(|e| Code::Usage.error(format!("{}: {e}", args.grid.display())))?;
    tell_refused(&plan, global);
    let request = Request {
        command: "sweep",
        corpus: &args.corpus,
        out: &args.out,
        select: &args.select,
        judge: &args.judge,
        output: &args.output,
        global,
        read: vec![&args.grid],
        inputs: Vec::new(),
        grid: Some(text),
        sealed: None,
    };
    let Some(mut done) = replay(&request, &plan, &Settings::default())? else {
        return Ok(());
    };
    let evidence = Evidence::new(&plan, &done.surveyed.cases, &done.records)?;
    let scored = done.score(&evidence, None, &[], (&args.output.by, false))?;
    done.manifest.models_left_out = scored.left_out;
    write_pareto(
        done.folder.path(),
        &evidence,
        &scored.fronts,
        &Default::default(),
    )?;
    let folder = done.folder.path();
    write_regions(folder, &evidence, plan.cells(), &[], &done.judge)?;
    done.sum_up(json!({"cells": plan.cells(), "rows": scored.rows}));
    if let (Some(front), false) = (scored.fronts.get("*"), global.quiet || global.json) {
        show::print(&front_table(&plan, front))?;
    }
    done.finish(Ok(()), global)
}

/// Says which cells were left out, and why.
pub(super) fn tell_refused(plan: &Plan, global: Global) {
    let refused = plan.refused();
    if global.quiet || refused.is_empty() {
        return;
    }
    let all: usize = refused.iter().map(|r| r.cells).sum();
    eprintln!("{all} cells left out, {} remain:", plan.cells());
    for refused in refused.iter().take(10) {
        eprintln!(
            "  {} cells: {}: {}",
            refused.cells, refused.param, refused.reason
        );
    }
}

fn front_table(plan: &Plan, front: &[Point]) -> String {
    let row = |p: &Point| {
        vec![
            plan.id(p.cell),
            show::percent(Some(p.recall)),
            show::number(Some(p.fa_per_mchar), 2),
            show::number(Some(p.delay), 0),
        ]
    };
    let rows: Vec<Vec<String>> = front.iter().map(row).collect();
    let header = ["setting", "recall", "false alarms/Mchar", "delay, chars"];
    format!(
        "Pareto front of all models together\n{}",
        show::table(&header, &rows, 1)
    )
}
