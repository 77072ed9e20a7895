//! `deadloop repair`: runs repairers over streams whose truth is known, and chooses one under a limit on harm.
//!
//! | to find | look in |
//! |---|---|
//! | a grid of repairers, and its variants | `repairers` of deadloop-replay |
//! | the stream of a transcript, and the truth about it | `streams` |
//! | a variant on a stream: its result and the verdict | `work` |
//! | all variants on all transcripts of a corpus | `running` |
//! | counts, the choice under a limit on harm | `scored` |
//! | what the page shows | `pages` |
//! | real arguments that are not JSON | `broken` |
//! | a live stream, repaired as it arrives | `live` |
//! | what a repairer did, step by step | `steps` |

use std::path::{Path, PathBuf};

use clap::Args;
use deadloop_replay::{Mender, StartError};
use deadloop_report::repairs_page;
use deadloop_score::{
    CorpusInfo, Manifest, ProgramInfo, write_repair_scores, write_repairs, write_text,
};
use serde_json::json;

mod broken;
mod live;
mod pages;
mod running;
mod scored;
mod steps;
mod streams;
mod work;

use broken::{Broken, broken_of, write_broken};
use deadloop_replay::repairers::{DEFAULT_GRID, Mending, Variant, variants};
pub(crate) use live::Live;
use pages::{choices, page, sentence, why};
use running::{Work, wrong};
use scored::{Chosen, Judged, Scored, rows, scored};
pub(crate) use steps::{lines as step_lines, steps};

use crate::args::{Global, Select};
use crate::exit::{Code, Outcome};
use crate::host::Terminal;
use crate::interrupt::heeding;
use crate::show;
use deadloop_run::{Folder, State, fingerprint};
use deadloop_run::{Surveyed, Wanted, open, survey_with};

pub(crate) const HELP: &str = "Examples:\n  deadloop synth --spec datasets/faults/spec.toml --out faults\n  deadloop repair faults --out repaired\n  deadloop repair faults --grid grid.toml --harm 1 --in-use tags/handlers --out repaired\n\nA grid:\n  [[repairer]]\n  name = \"tags\"            # think, tags, json, names, filter, replay, or command: a program\n  presets = true\n  [repairer.params]\n  edits = [0, 1, 2]\n\nTwo things do harm: a damaged stream that comes out wrong, with an action that the truth does not have or with other arguments; and an intact stream that is changed. For each repairer the command takes the variant that recovers most with at most the limit of either harm. The folder holds report.html (a matrix of faults and variants, and every wrong repair to open), settings.toml, repairs.parquet and scores.parquet, and arguments.csv if the corpus has real arguments that are not JSON.";

/// The options of `repair`.
#[derive(Debug, Args)]
pub(crate) struct Repair {
    /// A corpus that deadloop synth damaged (`kind = "fault"`), or one with calls whose arguments are not JSON
    corpus: PathBuf,
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
    csv: bool,
    /// Keep no text of the transcripts in the page
    #[arg(long)]
    no_excerpts: bool,
    /// Overwrite what is in the folder
    #[arg(long)]
    force: bool,
    /// Where the results go
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim_end_matches('%').trim().parse::<f64>().ok();
    let number = number.filter(|n| (0.0..=100.0).contains(n));
    number.ok_or_else(|| "expected a number from 0 to 100".into())
}

pub(super) fn run(args: &Repair, global: Global) -> Outcome {
    let (text, from) = grid(args)?;
    let (variants, refused) =
        variants(&text).map_err(|e| Code::Usage.error(format!("{from}:{e}")))?;
    all_known(&args.in_use, &variants)?;
    let mut read: Vec<&Path> = vec![&args.corpus];
    read.extend(args.grid.as_deref());
    let folder = Folder::prepare((&args.out, args.force), &read, &Terminal::of(global))?;
    let work = Work {
        menders: start(&variants)?,
        variants,
    };
    let (surveyed, seen) = replayed(args, &work, global)?;
    surveyed.accept(args.select.skips(), &Terminal::of(global))?;
    let inputs = inputs(args, &text, &work, &surveyed);
    if let State::Done(_) = folder.state(&inputs)? {
        if !global.quiet {
            show::remark(format_args!(
                "{}: already holds these results; nothing to do (--force makes them anew)",
                args.out.display()
            ));
        }
        return Ok(());
    }
    folder.begin()?;
    let (outcomes, broken): (Vec<_>, Vec<Broken>) = seen.into_iter().unzip();
    let outcomes: Vec<Judged> = outcomes
        .into_iter()
        .flatten()
        .collect::<Outcome<Vec<_>>>()?;
    if outcomes.is_empty() && broken.iter().all(Broken::is_whole) {
        return Err(Code::TooLittle.error(format!(
            "{}: no stream in it whose truth is known, and no arguments that are no JSON; make some with deadloop synth (kind = \"fault\")",
            args.corpus.display()
        )));
    }
    let scored = scored(&work.variants, &outcomes, &args.in_use, args.harm / 100.0);
    let dir = folder.path();
    write_repairs(dir, rows(&work.variants, &outcomes), args.csv)?;
    write_repair_scores(dir, &scored.scores, args.csv)?;
    let ask = |at: usize, asked: &deadloop_corpus::Transcript| work.ask(at, asked);
    let real = write_broken(dir, &broken, &work.variants, ask)?;
    let wrong = wrong((&args.corpus, args.no_excerpts), &work, &outcomes, &scored)?;
    let html = page(
        &args.corpus.display().to_string(),
        &work.variants,
        &scored,
        args.harm / 100.0,
        wrong,
    );
    write_text(&dir.join("report.html"), &repairs_page(&html)?)?;
    write_text(
        &dir.join("settings.toml"),
        &settings(&work.variants, &scored),
    )?;
    surveyed.write_rejected(dir)?;
    let manifest = manifest(args, (&text, &inputs, refused), &work, &surveyed, &folder);
    manifest.write(dir)?;
    tell(args, &work.variants, (&outcomes, real), &scored, global)
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
        Some(path) => {
            let text = std::fs::read_to_string(path).map_err(|e| {
                Code::Usage.error(format!(
                    "{}: {e}; expected a grid of [[repairer]]",
                    path.display()
                ))
            })?;
            Ok((text, path.display().to_string()))
        }
    }
}

fn start(variants: &[Variant]) -> Outcome<Vec<Option<Mender>>> {
    let start = |variant: &Variant| match &variant.made {
        Mending::Program(program, _) => {
            let mender = heeding(|cancel| Mender::start(program.clone(), cancel));
            mender.map(Some).map_err(|e| match e {
                StartError::Refused { .. } => Code::Usage.because(e),
                StartError::Interrupted => Code::Interrupted.because(e),
            })
        }
        _ => Ok(None),
    };
    variants.iter().map(start).collect()
}

/// The results for one transcript: the verdicts, if its truth is known, and its calls.
type Seen = (Option<Outcome<Judged>>, Broken);

fn replayed(args: &Repair, work: &Work, global: Global) -> Outcome<(Surveyed, Vec<Seen>)> {
    let wanted = Wanted {
        path: &args.corpus,
        selection: args.select.selection()?,
        by: &[],
        entry: None,
        host: &Terminal::of(global),
    };
    survey_with(open(&args.corpus)?, wanted, |entry, _| {
        (work.judged(entry), broken_of(&entry.transcript))
    })
}

/// The file of repairers to use: the chosen variant of each repairer with the verdict `ship`, else the one in use.
fn settings(variants: &[Variant], scored: &Scored) -> String {
    let mut text = String::from(
        "# What deadloop repair says to run; loadable with --grid, and by deadloop watch --repair.\n",
    );
    for chosen in &scored.chosen {
        let ships = chosen.choice.ruling.name() == "ship";
        let variant = match &chosen.choice.chosen {
            Some((variant, _)) if ships => *variant,
            _ => chosen.in_use,
        };
        let said = sentence(chosen, variants);
        text += &format!(
            "\n# {}: {}. {said}\n{}",
            chosen.repairer,
            chosen.choice.ruling.name(),
            variants[variant].toml()
        );
    }
    text
}

fn inputs(args: &Repair, grid: &str, work: &Work, surveyed: &Surveyed) -> String {
    let mut parts = vec![
        format!("{} repair", env!("CARGO_PKG_VERSION")),
        surveyed.hash.clone(),
        grid.to_owned(),
        format!(
            "{:?} {} {:?} {} {}",
            args.select, args.harm, args.in_use, args.csv, args.no_excerpts
        ),
    ];
    let ready = work
        .menders
        .iter()
        .flatten()
        .map(|m| format!("{:?}", m.ready()));
    parts.extend(ready);
    fingerprint(&parts)
}

fn manifest(
    args: &Repair,
    (grid, inputs, refused): (&str, &str, usize),
    work: &Work,
    surveyed: &Surveyed,
    folder: &Folder,
) -> Manifest {
    let programs = work.variants.iter().zip(&work.menders);
    let programs = programs.filter_map(|(variant, mender)| match (&variant.made, mender) {
        (Mending::Program(program, _), Some(mender)) => Some(ProgramInfo {
            command: program.command.clone(),
            params: program.params.to_string(),
            name: mender.ready().name.clone(),
            version: mender.ready().version.clone(),
        }),
        _ => None,
    });
    Manifest {
        deadloop: env!("CARGO_PKG_VERSION").into(),
        command: "repair".into(),
        args: std::env::args_os()
            .map(|arg| arg.to_string_lossy().into_owned())
            .collect(),
        inputs: inputs.to_owned(),
        programs: programs.collect(),
        corpus: CorpusInfo {
            path: args.corpus.display().to_string(),
            name: surveyed.corpus.card().and_then(|card| card.name.clone()),
            hash: surveyed.hash.clone(),
            transcripts: surveyed.cases.len() as u64,
            filtered: surveyed.filtered,
            rejected: surveyed.problems.len() as u64,
            ..CorpusInfo::default()
        },
        grid: Some(grid.to_owned()),
        seed: args.select.seed,
        constraints: ["wrong", "false-repair"]
            .map(|harm| format!("{harm}<={} %", args.harm))
            .into(),
        cells: work.variants.len() as u64,
        refused: (refused > 0)
            .then(|| {
                (
                    "parameters that are impossible together".to_owned(),
                    refused as u64,
                )
            })
            .into_iter()
            .collect(),
        files: folder.files(),
        threads: rayon::current_num_threads() as u64,
        ..Manifest::default()
    }
}

/// The result for programs. `streams` were judged, and `real` arguments are no JSON and have no truth.
fn told(
    args: &Repair,
    variants: &[Variant],
    (streams, real): (usize, u64),
    scored: &Scored,
) -> serde_json::Value {
    let choices = scored.chosen.iter().map(|chosen| {
        json!({
            "repairer": chosen.repairer,
            "verdict": chosen.choice.ruling.name(),
            "variant": chosen.choice.chosen.map(|(at, _)| variants[at].name.clone()),
            "in_use": variants[chosen.in_use].name,
            "reason": sentence(chosen, variants),
        })
    });
    json!({
        "out": args.out.display().to_string(),
        "streams": streams,
        "broken_arguments": real,
        "variants": variants.len(),
        "choices": choices.collect::<Vec<_>>(),
    })
}

fn tell(
    args: &Repair,
    variants: &[Variant],
    (outcomes, real): (&[Judged], u64),
    scored: &Scored,
    global: Global,
) -> Outcome {
    if global.json {
        let said = told(args, variants, (outcomes.len(), real), scored);
        return show::print(&said.to_string());
    }
    if global.quiet {
        return Ok(());
    }
    let mut lines = vec![format!(
        "{} streams, {} variants",
        show::count(outcomes.len() as u64),
        variants.len()
    )];
    if real > 0 {
        lines.push(format!(
            "{} real arguments that are no JSON: arguments.csv",
            show::count(real)
        ));
    }
    if !scored.chosen.is_empty() {
        lines.push(String::new());
        lines.push(choices(scored, variants));
        let why = |chosen: &Chosen| Some(format!("{}: {}", chosen.repairer, why(chosen)?));
        let why: Vec<String> = scored.chosen.iter().filter_map(why).collect();
        if !why.is_empty() {
            lines.push(String::new());
            lines.extend(why);
        }
    }
    show::print(&lines.join("\n"))?;
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
