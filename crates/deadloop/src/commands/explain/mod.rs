//! `deadloop explain`: explains the outcome of settings on one transcript.
//!
//! The transcript is from a corpus or from a result. `deadloop_run::explain` makes the explanation. `text` formats
//! it as tables, and `paint` formats its text in colours.

use std::path::{Path, PathBuf};

use anstream::{AutoStream, ColorChoice};
use clap::{Args, Parser};
use deadloop_corpus::{Selection, Transcript, is_named};
use deadloop_score::Manifest;

mod text;

use crate::args::{Cli, GlobalArgs};
use crate::commands::Command;
use crate::exit::{Code, Outcome};
use crate::host::Terminal;
use crate::paint::Paint;
use crate::setting_names::named_settings;
use crate::{settings, show};
use deadloop_run::explain::ExplainRequest;
use deadloop_run::options::{JudgingOptions, OnBad};
use deadloop_run::repair::{step_lines, steps};
use deadloop_run::{SurveyRequest, survey};

pub(crate) const HELP: &str = "Examples:\n  deadloop explain datasets/starter planted/short-sequence/000 --settings settings.toml\n  deadloop explain recordings.jsonl t1 --presets\n\nThe first settings are explained in full. A table shows where the others fire, or how near they came. A near miss is the fact that the fewest thresholds refuse, then the one with the smallest gap between what was measured and what is wanted. To see them, facts are measured down to a tenth of what each threshold asks for (ten times, where it is an upper bound); rows of `rules` stay as they are.";

/// Chars of text that are shown before and after the onset and the alarm.
const CONTEXT: u64 = 200;

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// A corpus: a folder, or one .jsonl file; or the folder of a result: its corpus, seen
    /// through its settings and judged by its rules
    pub(crate) corpus: PathBuf,
    /// The id of a transcript
    pub(crate) transcript: String,
    /// Settings files; the first is explained in full [default: the recommended guard]
    #[arg(long, value_name = "FILE")]
    pub(crate) settings: Vec<PathBuf>,
    /// Add every preset of every detector
    #[arg(long)]
    pub(crate) presets: bool,
    /// Show instead what the repairers of this file do to the transcript, step by step
    #[arg(long, value_name = "FILE", conflicts_with_all = ["settings", "presets"])]
    pub(crate) repair: Option<PathBuf>,
    /// The handling of a bad line: stop, or leave it out
    #[arg(long, value_enum, default_value_t = OnBad::Fail)]
    pub(crate) on_bad: OnBad,
    #[command(flatten)]
    pub(crate) judge: JudgingOptions,
}

pub(super) fn run(args: &ExplainArgs, global: GlobalArgs) -> Outcome {
    let of_run = ResultInputs::read(&args.corpus)?;
    let made = of_run.as_ref();
    let settings = made.filter(|_| args.settings.is_empty());
    let settings = settings.map_or(&args.settings, |made| &made.settings);
    let judge = made.map_or(&args.judge, |made| &made.judge);
    let named = named_settings((settings, args.presets), (&judge.set, judge.per))?;
    let found = survey(SurveyRequest {
        path: made.map_or(&args.corpus, |made| &made.corpus),
        selection: Selection::default(),
        by: &[],
        entry: Some(&args.transcript),
        host: &Terminal::new(global),
    })?;
    let (entry, case) = found.one(
        &args.transcript,
        args.on_bad == OnBad::Skip,
        &Terminal::new(global),
    )?;
    if let Some(file) = &args.repair {
        return print_repair(file, &entry.transcript, global);
    }
    let question = ExplainRequest {
        transcript: &entry.transcript,
        case,
        // For a transcript with labels in several units, any unit will do.
        judge: judge
            .options_for(std::slice::from_ref(case))
            .unwrap_or_else(|_| judge.options()),
        chunks: judge.chunks,
        context: CONTEXT,
    };
    let explained = question.explain(&named, &Terminal::silent())?;
    if global.json {
        return show::print_json(&explained);
    }
    if global.quiet {
        return Ok(());
    }
    let tinted = AutoStream::choice(&std::io::stdout()) != ColorChoice::Never;
    let paint = Paint::new(tinted, show::width());
    show::print_styled(text::words(&explained, paint).trim_end())?;
    let corpus = made.map_or(&args.corpus, |made| &made.corpus);
    let (corpus, id) = (show::typed(corpus), show::typed(&args.transcript));
    let next = [
        format!("deadloop show {corpus} {id}"),
        format!("deadloop cases --add {corpus} {id} >> cases.toml"),
    ];
    show::next(&next.each_ref().map(String::as_str), global)
}

/// Prints the steps of a file's repairers on a transcript.
fn print_repair(file: &Path, transcript: &Transcript, global: GlobalArgs) -> Outcome {
    let told = steps(&settings::read(file)?, transcript)
        .map_err(|what| Code::Usage.error(format!("{}:{what}", file.display())))?;
    show::answer(&told, || step_lines(&told), global)
}

/// The corpus, settings and options of a result.
struct ResultInputs {
    corpus: PathBuf,
    settings: Vec<PathBuf>,
    judge: JudgingOptions,
}

impl ResultInputs {
    /// Reads the manifest of a result folder. `None` for another folder. A folder with transcripts is a corpus, even if
    /// it has such a file.
    fn read(dir: &Path) -> Outcome<Option<Self>> {
        if !is_named(&dir.join("manifest.json")) || dir.join("transcripts").is_dir() {
            return Ok(None);
        }
        let manifest = Manifest::read(dir).map_err(|e| Code::Usage.because(e))?;
        let from = |path: &Path| Path::new(&manifest.started_in).join(path);
        let cli = Cli::try_parse_from(&manifest.args).map_err(|e| {
            let what = format!(
                "{}: cannot be read: {e}",
                dir.join("manifest.json").display()
            );
            Code::Usage.error(what)
        })?;
        let (settings, judge) = match cli.command {
            Command::Replay(replay) => {
                // A guard that deadloop ships is named by a word.
                let named = |file: &PathBuf| Some(from(file)).filter(|there| there.exists());
                let files = replay.settings.iter();
                let files = files.map(|file| named(file).unwrap_or_else(|| file.clone()));
                (files.collect(), replay.judge)
            }
            Command::Tune(tune) => (
                chosen_settings(dir),
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
            corpus: from(Path::new(&manifest.corpus.path)),
            settings,
            judge,
        }))
    }
}

/// Returns the settings file that `tune` wrote, if it chose a setting.
fn chosen_settings(dir: &Path) -> Vec<PathBuf> {
    let file = dir.join("settings.toml");
    if is_named(&file) {
        vec![file]
    } else {
        Vec::new()
    }
}
