//! `deadloop sweep`: the scores of every cell of a grid.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use clap::Args;
use deadloop_detect::{Member, Params, Setting, Settings, Unit, Value};
use deadloop_replay::Plan;
use deadloop_report::{brief, differences, in_short};
use deadloop_score::measure::DELAY;
use deadloop_score::{
    CSV_ROWS, ChooseOptions, Evidence, FrontPoint, Marked, Scored, write_pareto, write_regions,
    wrong_rate,
};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::args::{Global, Judge, Output, Select};
use crate::exit::{Code, Outcome};
use crate::host::Terminal;
use crate::replaying::{finish, replay, request};
use crate::settings;
use crate::show;
use deadloop_run::Request;

pub(crate) const HELP: &str =
    "Example:\n  deadloop sweep datasets/starter --grid grid.toml --out swept";

#[derive(Debug, Args, Serialize, Deserialize)]
pub(crate) struct Sweep {
    /// A corpus: a folder, or one .jsonl or .parquet file
    #[serde(skip)]
    pub(crate) corpus: PathBuf,
    /// The grid
    #[arg(long, value_name = "FILE")]
    pub(crate) grid: PathBuf,
    #[command(flatten)]
    pub(crate) select: Select,
    #[command(flatten)]
    pub(crate) judge: Judge,
    #[command(flatten)]
    pub(crate) output: Output,
    /// Where the results go
    #[arg(long, value_name = "DIR")]
    #[serde(skip)]
    pub(crate) out: PathBuf,
}

pub(super) fn run(args: &Sweep, global: Global) -> Outcome {
    let (grid, text) = settings::grid(&args.grid)?;
    let grid = match args.judge.per {
        None => grid,
        Some(per) => grid.read_per(per.per()),
    };
    let mut plan = Plan::default();
    plan.add_grid(&grid)
        .map_err(|e| Code::Usage.error(format!("{}: {e}", args.grid.display())))?;
    tell_refused(&plan, global);
    let host = Terminal::of(global);
    let options = (&args.select, &args.judge, &args.output);
    let request = Request {
        command: "sweep",
        opens: false,
        read: vec![&args.grid],
        grid: Some(text),
        asked: json!({"sweep": args}),
        ..request((&args.corpus, &args.out), options, &host)?
    };
    let Some(mut done) = replay(&request, &plan, (&Settings::default(), global))? else {
        return Ok(());
    };
    let (cases, records) = done.unpacked(&plan);
    let evidence = Evidence::new(&plan, &cases, &records)?;
    let scored = done.score(&evidence, None, &[], (&args.output.by, args.output.csv))?;
    tell_no_csv(args.output.csv, &scored, global);
    done.run.manifest.models_left_out = scored.left_out;
    let marked = Marked {
        shown: &[],
        chosen: &Default::default(),
        candidate: None,
        in_use: None,
        names: &Default::default(),
    };
    let scoring = done.scoring(&evidence, &[], &[], false);
    write_pareto(done.run.folder.path(), &scoring, &scored.fronts, &marked)?;
    let folder = done.run.folder.path();
    write_regions(folder, &evidence, plan.cells(), &[], &done.judge)?;
    done.sum_up(json!({"cells": plan.cells(), "rows": scored.rows}));
    if let (Some(front), false) = (scored.fronts.get("*"), global.quiet || global.json) {
        show::print(&show::prose(&front_table(&plan, front, done.judge.unit)))?;
    }
    let unit = done.judge.unit;
    drop((cases, records));
    finish(*done, Ok(()), global)?;
    let [corpus, grid, out] = [&args.corpus, &args.grid, &args.out].map(show::typed);
    let asked = args.select.typed() + &args.judge.typed_unit();
    let limit = match ChooseOptions::default_limit(unit) {
        Some(_) => "",
        None => " --constraint 'fpr<=0.01'",
    };
    let next = [
        format!("deadloop report {out} --open"),
        format!("deadloop tune {corpus}{asked} --grid {grid}{limit} --out tuned"),
    ];
    show::next(&next.each_ref().map(String::as_str), global)
}

/// Says which cells were left out, and why.
pub(super) fn tell_refused(plan: &Plan, global: Global) {
    let refused = plan.refused();
    if global.quiet || refused.is_empty() {
        return;
    }
    let all: usize = refused.iter().map(|r| r.cells).sum();
    show::remark(format_args!(
        "{all} cells left out, {} remain:",
        plan.cells()
    ));
    for refused in refused.iter().take(10) {
        show::remark(format_args!(
            "  {} cells: {}: {}",
            refused.cells, refused.param, refused.reason
        ));
    }
}

/// Says so where scores.csv was asked for and would have too many rows.
pub(super) fn tell_no_csv(asked: bool, scored: &Scored, global: Global) {
    if asked && scored.rows > CSV_ROWS && !global.quiet {
        show::remark(format_args!(
            "no scores.csv: {} rows are more than {}; scores.parquet has them all",
            show::count(scored.rows as u64),
            show::count(CSV_ROWS as u64)
        ));
    }
}

/// Rows of the front that a terminal shows.
const FRONT: usize = 20;

/// The front with the parameters that differ along it; where it is long, evenly thinned.
fn front_table(plan: &Plan, front: &[FrontPoint], unit: Unit) -> String {
    let rate = wrong_rate(unit);
    // Points have it per million units.
    let per = rate.scale() / 1e6;
    let mut order: Vec<&FrontPoint> = front.iter().collect();
    order.sort_by(|a, b| {
        a.fa_per_mchar
            .total_cmp(&b.fa_per_mchar)
            .then(a.recall.total_cmp(&b.recall))
    });
    // Settings that are equal in all three are one row.
    order.dedup_by_key(|p| {
        (
            p.fa_per_mchar.to_bits(),
            p.recall.to_bits(),
            p.delay.to_bits(),
        )
    });
    let (all, last) = (order.len(), FRONT - 1);
    if all > FRONT {
        order = (0..FRONT).map(|i| order[i * (all - 1) / last]).collect();
    }
    let settings: Vec<_> = order.iter().map(|p| plan.setting(p.cell)).collect();
    let told = differing(&settings.iter().collect::<Vec<_>>());
    let row = |(p, told): (&&FrontPoint, String)| {
        vec![
            show::percent(Some(p.recall)),
            show::number(Some(p.fa_per_mchar * per), 2),
            show::number(Some(p.delay), 0),
            told,
        ]
    };
    let rows: Vec<Vec<String>> = order.iter().zip(told).map(row).collect();
    let delay = DELAY.title_in(unit);
    let header = ["recall", rate.title, &delay, "setting"];
    let some = if all > FRONT {
        format!(" ({} of {all} settings)", rows.len())
    } else {
        String::new()
    };
    format!(
        "Pareto front of all models together{some}\n{}",
        show::table_of(&header, &rows, 0..3)
    )
}

fn columns_of(setting: &Setting) -> BTreeMap<String, String> {
    let columns = setting.columns().into_iter();
    columns
        .map(|(name, value)| (name, value.to_string()))
        .collect()
}

/// The same detectors with their defaults.
fn defaults(setting: &Setting) -> Setting {
    let members = setting.members.iter().map(|m| m.detector);
    Setting {
        members: members
            .map(|detector| Member::new(detector, Params::defaults(detector.params)))
            .collect(),
    }
}

/// What each setting is called beside the one in use: what differs, in few words, as the page says it.
pub(super) fn beside(in_use: &Setting, settings: &[&Setting]) -> Vec<String> {
    let value = |(name, value)| match value {
        Value::Text(text) => (name, text),
        value => (name, value.to_string()),
    };
    let values = |setting: &Setting| -> Vec<(String, String)> {
        setting.columns().into_iter().map(value).collect()
    };
    let several =
        settings.iter().any(|setting| setting.members.len() > 1) || in_use.members.len() > 1;
    let base = values(in_use);
    let name = |setting: &&Setting| {
        let named = in_short(differences(&values(setting), &base, several));
        named.unwrap_or_else(|| "as in use".to_owned())
    };
    settings.iter().map(name).collect()
}

/// Returns in what settings differ: of each the detectors, where those differ, and the parameters
/// that do.
pub(super) fn differing(settings: &[&Setting]) -> Vec<String> {
    let columns: Vec<BTreeMap<String, String>> = settings.iter().map(|s| columns_of(s)).collect();
    let family = |s: &Setting| {
        s.members
            .iter()
            .map(|m| m.detector.name)
            .collect::<Vec<_>>()
            .join(" + ")
    };
    let families: BTreeSet<String> = settings.iter().map(|s| family(s)).collect();
    let one = |(setting, own): (&&Setting, &BTreeMap<String, String>)| {
        let kin = settings
            .iter()
            .zip(&columns)
            .filter(|(other, _)| family(other) == family(setting));
        let mut kin: Vec<&BTreeMap<String, String>> = kin.map(|(_, columns)| columns).collect();
        // The only one of its family differs from what its detectors do unasked.
        let defaults = columns_of(&defaults(setting));
        kin.extend((kin.len() == 1 && families.len() > 1).then_some(&defaults));
        let differs = |(name, value): &(&String, &String)| {
            kin.iter().any(|other| other.get(*name) != Some(*value))
        };
        let parts = own
            .iter()
            .filter(differs)
            .map(|(name, value)| format!("{name}={}", brief(value)));
        let lead = (families.len() > 1).then(|| family(setting));
        in_short(lead.into_iter().chain(parts).collect()).unwrap_or_default()
    };
    settings.iter().zip(&columns).map(one).collect()
}
