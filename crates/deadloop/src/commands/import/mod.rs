//! `deadloop import`: recordings in other formats become a corpus. What is written, and how: `target`;
//! what is said of it: `told`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser};
use deadloop_corpus::{ImportCounts, ImportOptions, Loss, Problem, ThinkOptions, import_formats};

use crate::args::{Global, OnBad};
use crate::exit::{Code, Outcome};
use crate::progress::watched;
use crate::show;

mod target;
mod told;

use target::Target;

/// What `deadloop import` takes.
#[derive(Debug, Args)]
pub(crate) struct Import {
    /// Recordings: files, or folders with all that is in them
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The format of all files [default: told by the content of each]
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    from: Option<String>,
    /// The corpus that is made, a folder
    #[arg(long, value_name = "CORPUS")]
    out: PathBuf,
    /// The model of recordings that do not name theirs [default: unknown]
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// The field that holds the text, for tables with columns of any name, as data.output
    #[arg(long, value_name = "PATH")]
    text_field: Option<String>,
    /// How thinking is told from the answer in texts that hold both: words as in `watch --think`
    #[arg(long, value_name = "WORD", value_delimiter = ',')]
    think: Vec<String>,
    /// A record that is bad: stop, or leave it out and list it in rejected.jsonl
    #[arg(long, value_enum, default_value_t = OnBad::Fail)]
    on_bad: OnBad,
    /// Replace the transcripts and the card of a corpus that is there; its labels and splits stay
    #[arg(long)]
    force: bool,
}

fn formats() -> PossibleValuesParser {
    let values = import_formats().map(|format| PossibleValue::new(format.name).help(format.help));
    PossibleValuesParser::new(values)
}

/// Most problems that are kept in memory; rejected.jsonl has all of them.
const LISTED: usize = 10_000;

/// What came of an import.
struct Imported {
    counts: ImportCounts,
    formats: BTreeMap<&'static str, u64>,
    models: BTreeMap<String, u64>,
    problems: Vec<Problem>,
    warnings: Vec<Problem>,
    warned: u64,
    losses: Vec<(&'static str, String, u64)>,
}

pub(super) fn run(args: &Import, global: Global) -> Outcome {
    let target = Target::prepare(&args.out, args.force)?;
    let words = args.think.iter().map(String::as_str);
    let think = ThinkOptions::default().with_words(words);
    let options = ImportOptions {
        think: think.map_err(|e| Code::Usage.error(format!("--think: {e}")))?,
        from: args.from.clone(),
        model: args.model.clone(),
        text_field: args.text_field.clone(),
    };
    let import = deadloop_corpus::Import::new(&args.files, options);
    let import = import.map_err(|e| Code::Usage.error(e))?;
    let imported = read(import, &target, args.on_bad, global.quiet)?;
    if args.on_bad == OnBad::Fail && !imported.problems.is_empty() {
        return Err(Code::Usage.error(imported.listing()));
    }
    if imported.counts.transcripts.used() == 0 {
        let what = "no transcript was found in what was to be imported";
        return Err(Code::NothingSelected.error(format!("{what}\n{}", imported.summary())));
    }
    target.card(&imported)?;
    target.finish()?;
    if global.json {
        return show::print(&imported.json(&args.out).to_string());
    }
    if !global.quiet {
        show::print(&format!("{}: {}", args.out.display(), imported.summary()))?;
    }
    Ok(())
}

/// Reads all, writing transcripts and what was rejected.
fn read(
    mut import: deadloop_corpus::Import,
    target: &Target,
    on_bad: OnBad,
    quiet: bool,
) -> Outcome<Imported> {
    let mut writer = target.writer()?;
    let mut rejected = target.rejected();
    let mut models: BTreeMap<String, u64> = BTreeMap::new();
    let mut problems = Vec::new();
    let total = import.total_bytes();
    watched("importing", quiet, |watch| {
        while let Some(item) = import.next() {
            if watch.cancel.load(Ordering::Relaxed) {
                return Err(Code::Interrupted.error("interrupted; nothing was written"));
            }
            (watch.progress)(import.bytes_read(), total);
            match item {
                // What is not whole is not written, only looked through.
                Ok(_) if on_bad == OnBad::Fail && !problems.is_empty() => {}
                Ok(entry) => {
                    writer.write(&entry)?;
                    *models.entry(entry.transcript.model).or_default() += 1;
                }
                Err(problem) => {
                    rejected.add(&problem)?;
                    if problems.len() < LISTED {
                        problems.push(problem);
                    }
                }
            }
        }
        Ok(())
    })?;
    writer.finish()?;
    rejected.finish()?;
    let losses = import.losses().iter();
    Ok(Imported {
        counts: import.counts(),
        formats: import.formats().collect(),
        models,
        problems,
        warnings: import.warnings().to_vec(),
        warned: import.warned(),
        losses: losses
            .map(
                |Loss {
                     format,
                     path,
                     count,
                 }| (format, path.to_owned(), count),
            )
            .collect(),
    })
}
