//! `deadloop repair`: measures repairers on streams with known truth.
//!
//! | to find | look in |
//! |---|---|
//! | a grid of repairers, its variants, a variant on a stream | `repairers` of deadloop-replay |
//! | known streams, verdicts, counts | `repairs` of deadloop-score |
//! | all variants on all transcripts, a live stream, a repairer step by step | `repairs` of deadloop-run |

use std::path::PathBuf;

use clap::Args;
use deadloop_replay::repairers::{DEFAULT_GRID, RepairGrid};
use deadloop_run::Request;
use deadloop_run::repair::repair;
use serde::{Deserialize, Serialize};

mod tables;

use crate::args::{FolderArgs, GlobalArgs, SelectArgs};
use crate::exit::{Code, Outcome};
use crate::host::Terminal;
use crate::report_page::render;
use crate::requests::{bare_request, print_json, ran, recorded};
use crate::settings::read;
use crate::show;

pub(crate) const HELP: &str = "Examples:\n  deadloop synth --spec datasets/faults/spec.toml --out faults\n  deadloop repair faults --out repaired\n  deadloop repair faults --grid grid.toml --csv --out repaired\n\nA grid:\n  [[repairer]]\n  name = \"tags\"            # think, tags, json, names, filter, replay, or command: a program\n  presets = true\n  [repairer.params]\n  edits = [0, 1, 2]\n\nIt prints two tables: what becomes of the streams under each preset and program, and under the best variant of each repairer fault by fault. Two things do harm: a damaged stream that comes out wrong, with an action that the truth does not have or with other arguments; and an intact stream that is changed. The best variant of a repairer does no harm and recovers most. repairs.parquet has every stream under every variant, and arguments.csv real arguments that are not JSON.";

/// The arguments of `deadloop repair`.
#[derive(Debug, Args, Serialize, Deserialize)]
pub(crate) struct RepairArgs {
    /// A corpus that deadloop synth damaged (`kind = "fault"`), or one with calls whose arguments are not JSON
    #[serde(skip)]
    pub(crate) corpus: PathBuf,
    /// The grid of repairers [default: every preset, and a grid of each repairer]
    #[arg(long, value_name = "FILE")]
    grid: Option<PathBuf>,
    #[command(flatten)]
    select: SelectArgs,
    #[command(flatten)]
    #[serde(flatten)]
    pub(crate) folder: FolderArgs,
    /// The folder of the results
    #[arg(long, value_name = "DIR", help_heading = "Writing")]
    #[serde(skip)]
    pub(crate) out: PathBuf,
}

pub(super) fn run(args: &RepairArgs, global: GlobalArgs) -> Outcome {
    let (text, from) = grid(args)?;
    let RepairGrid { variants, refused } =
        RepairGrid::parse(&text).map_err(|e| Code::Usage.error(format!("{from}:{e}")))?;
    let host = Terminal::new(global);
    let request = Request {
        command: "repair",
        csv: args.folder.csv,
        force: args.folder.force,
        read: args.grid.iter().map(PathBuf::as_path).collect(),
        grid: Some(text),
        asked: recorded("repair", args)?,
        ..bare_request(
            (&args.corpus, &args.out),
            (&args.select, &args.folder.sharded),
            &host,
        )?
    };
    let Some(mut done) = ran(repair(&request, variants, refused)?, &request, global)? else {
        return Ok(());
    };
    done.run.manifest.summary = tables::summary(&done);
    let lines = tables::render(&done);
    done.run.finish(Ok(()), |folder, manifest| {
        render(folder, &deadloop_report::Options::default(), global)?;
        if global.json {
            return print_json(folder, manifest, global);
        }
        if global.quiet {
            return Ok(());
        }
        show::print(&lines)?;
        let next = format!(
            "deadloop explain {} TRANSCRIPT --repair GRID",
            show::typed(&args.corpus)
        );
        show::next(&[&next], global)
    })
}

fn grid(args: &RepairArgs) -> Outcome<(String, String)> {
    match &args.grid {
        None => Ok((DEFAULT_GRID.to_owned(), "the default grid".to_owned())),
        Some(path) => Ok((read(path)?, path.display().to_string())),
    }
}
