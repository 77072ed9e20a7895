//! `deadloop repair`: runs repairers over streams whose truth is known, and chooses one under a limit on harm.
//!
//! | to find | look in |
//! |---|---|
//! | a grid of repairers, its variants, a variant on a stream | `repairers` of deadloop-replay |
//! | the truth about a stream, verdicts, counts, the choice | `repairs` of deadloop-score |
//! | all variants on all transcripts, a live stream, a repairer step by step | `repairs` of deadloop-run |
//! | what the page shows | `repairs` of deadloop-report |

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::Args;
use deadloop_replay::repairers::{DEFAULT_GRID, RepairGrid, Variant};
use deadloop_report::{
    repair_columns, repair_page, repair_sentence, repairs_page, why_not_shipped,
};
use deadloop_run::Request;
use deadloop_run::repairs::{RepairRun, Repairers, repair};
use deadloop_score::repairs::{ChosenRepair, ScoredRepairs};
use deadloop_score::write_text;
use serde::{Deserialize, Serialize};
use serde_json::json;

mod table;

use table::choices;

use crate::args::{Global, Select, Sharded};
use crate::exit::{Code, Outcome};
use crate::host::Terminal;
use crate::replaying::{bare_request, ran, say};
use crate::settings::read;
use crate::show;

pub(crate) const HELP: &str = "Examples:\n  deadloop synth --spec datasets/faults/spec.toml --out faults\n  deadloop repair faults --out repaired\n  deadloop repair faults --grid grid.toml --harm 1 --in-use tags/handlers --out repaired\n\nA grid:\n  [[repairer]]\n  name = \"tags\"            # think, tags, json, names, filter, replay, or command: a program\n  presets = true\n  [repairer.params]\n  edits = [0, 1, 2]\n\nTwo things do harm: a damaged stream that comes out wrong, with an action that the truth does not have or with other arguments; and an intact stream that is changed. For each repairer the command takes the variant that recovers most with at most the limit of either harm. The folder holds report.html (a matrix of faults and variants, and every wrong repair to open), settings.toml, repairs.parquet and scores.parquet, and arguments.csv if the corpus has real arguments that are not JSON.";

/// The options of `repair`.
#[derive(Debug, Args, Serialize, Deserialize)]
pub(crate) struct Repair {
    /// A corpus that deadloop synth damaged (`kind = "fault"`), or one with calls whose arguments are not JSON
    #[serde(skip)]
    pub(crate) corpus: PathBuf,
    /// The grid of repairers [default: every preset, and a grid of each repairer]
    #[arg(long, value_name = "FILE")]
    grid: Option<PathBuf>,
    /// The most harm, in per cent: wrong repairs of the damaged streams, and changed ones of the intact streams
    #[arg(long, value_name = "PERCENT", default_value_t = 0.1, value_parser = percent)]
    harm: f64,
    /// The variant in use, as tags/handlers; may be repeated, once for each repairer [default: the unchanged stream]
    #[arg(long, value_name = "VARIANT")]
    in_use: Vec<String>,
    #[command(flatten)]
    select: Select,
    /// Also repairs.csv and scores.csv
    #[arg(long)]
    pub(crate) csv: bool,
    /// Keep no text of the transcripts in the page
    #[arg(long)]
    pub(crate) no_excerpts: bool,
    /// Overwrite what is in the folder
    #[arg(long)]
    #[serde(skip)]
    pub(crate) force: bool,
    #[command(flatten)]
    #[serde(skip)]
    pub(crate) sharded: Sharded,
    /// Where the results go
    #[arg(long, value_name = "DIR")]
    #[serde(skip)]
    pub(crate) out: PathBuf,
}

fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim_end_matches('%').trim().parse::<f64>().ok();
    let number = number.filter(|n| (0.0..=100.0).contains(n));
    number.ok_or_else(|| "expected a number from 0 to 100".into())
}

pub(super) fn run(args: &Repair, global: Global) -> Outcome {
    let (text, from) = grid(args)?;
    let RepairGrid { variants, refused } =
        RepairGrid::parse(&text).map_err(|e| Code::Usage.error(format!("{from}:{e}")))?;
    all_known(&args.in_use, &variants)?;
    let host = Terminal::of(global);
    let request = Request {
        command: "repair",
        csv: args.csv,
        excerpts: !args.no_excerpts,
        force: args.force,
        read: args.grid.iter().map(PathBuf::as_path).collect(),
        grid: Some(text),
        asked: json!({"repair": args}),
        ..bare_request(
            (&args.corpus, &args.out),
            (&args.select, &args.sharded),
            &host,
        )?
    };
    let asked = Repairers {
        variants,
        refused,
        harm: args.harm,
        in_use: &args.in_use,
    };
    let Some(mut ran) = ran(repair(&request, asked)?, &request, global)? else {
        return Ok(());
    };
    let chosen = ran.scored.chosen.iter();
    let shown: BTreeSet<usize> = chosen
        .flat_map(|chosen| repair_columns(chosen, ran.variants()))
        .collect();
    let wrong = ran.wrong(&shown, !args.no_excerpts);
    let html = repair_page(
        &args.corpus.display().to_string(),
        ran.variants(),
        &ran.scored,
        args.harm / 100.0,
        wrong,
    );
    let report = ran.run.folder.path().join("report.html");
    write_text(&report, &repairs_page(&html)?)?;
    ran.run.manifest.summary = summary(&ran);
    let (manifest, lines) = (ran.run.manifest.clone(), told(&ran));
    let settings = settings(ran.variants(), &ran.scored);
    ran.finish(&settings)?;
    if global.json {
        return say(&args.out, &manifest, global);
    }
    tell(args, &lines, global)
}

/// Refuses names that no variant has.
fn all_known(names: &[String], variants: &[Variant]) -> Outcome {
    let is_known = |name: &&String| variants.iter().any(|v| v.name == **name);
    let Some(name) = names.iter().find(|name| !is_known(name)) else {
        return Ok(());
    };
    let known = variants.iter().filter(|v| v.shown);
    let known: Vec<&str> = known.map(|v| v.name.as_str()).collect();
    let known = known.join(", ");
    Err(Code::Usage.error(format!(
        "--in-use {name}: no such variant; expected one of: {known}"
    )))
}

fn grid(args: &Repair) -> Outcome<(String, String)> {
    match &args.grid {
        None => Ok((DEFAULT_GRID.to_owned(), "the default grid".to_owned())),
        Some(path) => Ok((read(path)?, path.display().to_string())),
    }
}

/// The file of repairers to use: the chosen variant of each repairer with the verdict `ship`, else the one in use.
fn settings(variants: &[Variant], scored: &ScoredRepairs) -> String {
    let mut text = String::from(
        "# What deadloop repair says to run; loadable with --grid, and by deadloop watch --repair.\n",
    );
    for chosen in &scored.chosen {
        let variant = chosen.to_run();
        let said = repair_sentence(chosen, variants);
        text += &format!(
            "\n# {}: {}. {said}\n{}",
            chosen.repairer,
            chosen.choice.ruling.name(),
            variants[variant].toml()
        );
    }
    text
}

/// The result for programs.
fn summary(ran: &RepairRun) -> serde_json::Map<String, serde_json::Value> {
    let variants = ran.variants();
    let choices = ran.scored.chosen.iter().map(|chosen| {
        json!({
            "repairer": chosen.repairer,
            "verdict": chosen.choice.ruling.name(),
            "variant": chosen.choice.chosen.map(|(at, _)| variants[at].name.clone()),
            "in_use": variants[chosen.in_use].name,
            "reason": repair_sentence(chosen, variants),
        })
    });
    let mut said = serde_json::Map::new();
    said.insert("streams".into(), ran.outcomes.len().into());
    said.insert("broken_arguments".into(), ran.broken.into());
    said.insert("variants".into(), variants.len().into());
    said.insert("choices".into(), choices.collect());
    said
}

/// The result for a person.
fn told(ran: &RepairRun) -> String {
    let mut lines = vec![format!(
        "{} streams, {} variants",
        show::count(ran.outcomes.len() as u64),
        ran.variants().len()
    )];
    if ran.broken > 0 {
        lines.push(format!(
            "{} real arguments that are no JSON: arguments.csv",
            show::count(ran.broken)
        ));
    }
    if !ran.scored.chosen.is_empty() {
        lines.push(String::new());
        lines.push(choices(&ran.scored, ran.variants()));
        let why = |chosen: &ChosenRepair| {
            Some(format!("{}: {}", chosen.repairer, why_not_shipped(chosen)?))
        };
        let why: Vec<String> = ran.scored.chosen.iter().filter_map(why).collect();
        if !why.is_empty() {
            lines.push(String::new());
            lines.extend(why);
        }
    }
    lines.join("\n")
}

fn tell(args: &Repair, lines: &str, global: Global) -> Outcome {
    if global.quiet {
        return Ok(());
    }
    show::print(lines)?;
    show::remark(format_args!(
        "report: {}",
        args.out.join("report.html").display()
    ));
    let next = format!(
        "deadloop explain {} TRANSCRIPT --repair {}",
        show::typed(&args.corpus),
        show::typed(args.out.join("settings.toml"))
    );
    show::next(&[&next], global)
}
