//! `deadloop explain`: explains the outcome of settings on one transcript.

use std::path::{Path, PathBuf};

use clap::Parser;
use deadloop_corpus::is_named;
pub(super) use deadloop_run::explain::ExplainOptions;
use deadloop_run::explain::{ExplainAnswer, explain};
use deadloop_run::options::JudgingOptions;
use deadloop_score::Manifest;

use crate::args::{Cli, GlobalArgs};
use crate::commands::Command;
use crate::exit::{Code, Outcome};
use crate::host::Terminal;
use crate::show;

pub(crate) const HELP: &str = "Examples:\n  deadloop explain datasets/starter planted/short-sequence/000 --settings settings.toml\n  deadloop explain recordings.jsonl t1 --presets\n\nThe first settings are explained in full. A table shows where the others fire, or how near they came. A near miss is the fact that the fewest thresholds refuse, then the one with the smallest gap between what was measured and what is wanted. To see them, facts are measured down to a tenth of what each threshold asks for (ten times, where it is an upper bound); rows of `rules` stay as they are.";

pub(super) fn run(args: &ExplainOptions, global: GlobalArgs) -> Outcome {
    let mut options = args.clone();
    if let Some(made) = ResultInputs::read(&args.corpus)? {
        options.corpus = made.corpus;
        options.judge = made.judge;
        if options.settings.is_empty() {
            options.settings = made.settings;
        }
    }
    let explained = explain(&options, &Terminal::new(global))?;
    show::print_answer(&explained, global)?;
    if let ExplainAnswer::Repair(_) = explained {
        return Ok(());
    }
    let (corpus, id) = (show::typed(&options.corpus), show::typed(&args.transcript));
    let next = [
        format!("deadloop show {corpus} {id}"),
        format!("deadloop cases --add {corpus} {id} >> cases.toml"),
    ];
    show::print_next(&next, global)
}

/// The corpus, settings and judging options of an earlier result.
struct ResultInputs {
    corpus: PathBuf,
    settings: Vec<PathBuf>,
    judge: JudgingOptions,
}

impl ResultInputs {
    /// Reads the manifest of a result folder. `None` if the folder is no result. A folder with transcripts is a corpus,
    /// even if it has a manifest.json.
    fn read(dir: &Path) -> Outcome<Option<Self>> {
        if !is_named(&dir.join("manifest.json")) || dir.join("transcripts").is_dir() {
            return Ok(None);
        }
        let manifest = Manifest::read(dir).map_err(|e| Code::Usage.because(e))?;
        let resolve = |path: &Path| Path::new(&manifest.started_in).join(path);
        let cli = Cli::try_parse_from(&manifest.args).map_err(|e| {
            let what = format!(
                "{}: cannot be read: {e}",
                dir.join("manifest.json").display()
            );
            Code::Usage.error(what)
        })?;
        let (settings, judge) = match cli.command {
            Command::Replay(replay) => {
                // A recommended guard is given by its name, not by a file.
                let named = |file: &PathBuf| Some(resolve(file)).filter(|there| there.exists());
                let files = replay.settings.iter();
                let files = files.map(|file| named(file).unwrap_or_else(|| file.clone()));
                (files.collect(), replay.judge)
            }
            Command::Tune(tune) => (
                // The file exists only if a setting was chosen.
                Vec::from_iter(Some(dir.join("settings.toml")).filter(|file| is_named(file))),
                JudgingOptions {
                    set: Vec::new(),
                    per: None,
                    ..tune.judge
                },
            ),
            Command::Sweep(sweep) => (Vec::new(), sweep.judge),
            _ => return Ok(None),
        };
        Ok(Some(Self {
            corpus: resolve(Path::new(&manifest.corpus.path)),
            settings,
            judge,
        }))
    }
}
