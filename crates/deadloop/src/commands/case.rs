//! `deadloop case`: a pinned case from a recording.

use std::path::PathBuf;

use clap::Args;
use deadloop_corpus::Selection;
use deadloop_run::cutting::{CutCase, cut};

use crate::args::{Global, OnBad};
use crate::exit::Outcome;
use crate::host::Terminal;
use crate::settings;
use crate::show;
use deadloop_run::{Wanted, survey};

pub(crate) const HELP: &str = "Examples:\n  deadloop case recordings.jsonl t1 >> cases.toml\n  deadloop case recordings.jsonl t1 --redact --settings settings.toml >> cases.toml\n\nThe case expects what the label says: a loop is stopped within the latency that the settings have now, and clean text is left alone. If the settings get it wrong, the case is a todo. Without a label the case expects what the settings do now. --redact replaces words by other words (equal words by equal ones; letter by letter if that would move the alarm) and proves that the alarm stays; of a run it replaces results and the values of arguments too. Numbers below five digits and the model's name stay as they are; ids and metadata are left out; names of tools stay.\n\nOf a run the case holds the calls and their results, with the onset marked at a call.";

#[derive(Debug, Args)]
pub(crate) struct WriteCase {
    /// A corpus: a folder, or one .jsonl or .parquet file
    pub(crate) corpus: PathBuf,
    /// The id of a transcript
    pub(crate) transcript: String,
    /// The settings that the case tests [default: the recommended guard]
    #[arg(long, value_name = "FILE")]
    pub(crate) settings: Option<PathBuf>,
    /// Replace the words and keep their repetition, so that the alarm stays where it is
    #[arg(long)]
    pub(crate) redact: bool,
    /// What to do with a bad line: stop, or leave it out
    #[arg(long, value_enum, default_value_t = OnBad::Fail)]
    pub(crate) on_bad: OnBad,
}

pub(super) fn run(args: &WriteCase, global: Global) -> Outcome {
    let settings = settings::settings(args.settings.as_deref(), &[])?;
    let found = survey(Wanted {
        path: &args.corpus,
        selection: Selection::default(),
        by: &[],
        entry: Some(&args.transcript),
        host: &Terminal::of(global),
    })?;
    let (entry, case) = found.one(
        &args.transcript,
        args.on_bad == OnBad::Skip,
        &Terminal::of(global),
    )?;
    let CutCase { name, text } = cut(entry, case, args.redact, &settings, &Terminal::silent())?;
    if global.json {
        return show::print(&serde_json::json!({"name": name, "case": text}).to_string());
    }
    show::print(text.trim_end())?;
    let settings = args.settings.as_deref().map(show::typed);
    let settings = settings.map(|file| format!(" --settings {file}"));
    let next = format!(
        "deadloop check-cases cases.toml{}",
        settings.unwrap_or_default()
    );
    show::next(&[&next], global)
}
