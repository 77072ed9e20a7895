//! `deadloop import`: recordings in other formats become a corpus. What is written, and how: `target`;
//! what is said of it: `told`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser};
use deadloop_corpus::{
    CorpusWriter, Entry, ImportCounts, ImportOptions, Loss, Problem, ThinkOptions, import_formats,
};
use deadloop_score::Case;

use super::label::label_all;
use crate::args::{Global, OnBad};
use crate::exit::{Code, Outcome};
use crate::progress::watched;
use crate::show::{self, typed};

mod carried;
mod target;
mod told;

use carried::Carried;
use target::{Rejected, Target};

pub(crate) const HELP: &str = "Examples:\n  deadloop import recorded/ --out corpus\n  deadloop import batch_output.jsonl chat.sse --from openai-chat --out corpus --on-bad skip\n  deadloop import answers.csv --text-field output --model-field engine --out corpus\n  deadloop import chats.jsonl --label --out corpus && deadloop tune corpus\n\nThe format of each file is detected from its content. Files may be compressed with gzip or zstd. A .csv file has a header, and its columns are fields. Fields that have no place in a transcript are left out, and counted at the end.";

/// What `deadloop import` takes.
#[derive(Debug, Args)]
pub(crate) struct Import {
    /// Recordings: files, or folders with everything in them. From a corpus its transcripts, labels and splits are taken,
    /// and its card if it is the only corpus
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The format of all files [default: detected from the content of each]
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    from: Option<String>,
    /// The folder of the new corpus
    #[arg(long, value_name = "CORPUS")]
    out: PathBuf,
    /// The model of recordings that do not name theirs [default: unknown]
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// The field or column with the text, as data.output
    #[arg(long, value_name = "PATH")]
    text_field: Option<String>,
    /// The field or column with the name of the model
    #[arg(long, value_name = "PATH", conflicts_with = "model")]
    model_field: Option<String>,
    /// How thinking is separated from the answer in texts that hold both: words as in `watch --think`
    #[arg(long, value_name = "WORD", value_delimiter = ',')]
    think: Vec<String>,
    /// Put the name of the file before each id, for files that all have the ids 1, 2, 3 (not for a corpus, whose
    /// labels use the ids)
    #[arg(long)]
    prefix_ids: bool,
    /// Propose labels too, as `deadloop label` does, unless labels come along; `deadloop tune` can follow at once
    #[arg(long)]
    label: bool,
    /// What to do with a bad record: stop, or leave it out and list it in rejected.jsonl
    #[arg(long, value_enum, default_value_t = OnBad::Fail)]
    on_bad: OnBad,
    /// Replace the transcripts and the card of an existing corpus; its labels and splits stay unless others are
    /// imported
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
    carried: Carried,
    /// How many problems the labels and splits of corpora have.
    beside: u64,
    /// Transcripts whose ids had occurred before.
    repeated: u64,
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
        model_field: args.model_field.clone(),
        prefix_ids: args.prefix_ids,
    };
    let import = deadloop_corpus::Import::new(&args.files, options);
    let import = import.map_err(|e| Code::Usage.error(e))?;
    let imported = read(import, &target, args.on_bad, global.quiet)?;
    if args.on_bad == OnBad::Fail && !imported.problems.is_empty() {
        let mut what = imported.listing();
        if imported.repeated > 0 && !args.prefix_ids {
            let words: Vec<String> = std::env::args_os().skip(1).map(typed).collect();
            what += "\nids repeat; to put the name of its file before each, type:";
            what += &format!("\n  deadloop {} --prefix-ids", words.join(" "));
        }
        return Err(Code::Usage.error(what));
    }
    if imported.counts.transcripts.used() == 0 {
        let what = "no transcript was found in what was to be imported";
        return Err(Code::NothingSelected.error(format!("{what}\n{}", imported.summary())));
    }
    match imported.carried.card(&args.files) {
        Some(card) => target.copy_card(&card)?,
        None => target.card(&imported)?,
    }
    target.beside(&imported.carried)?;
    target.finish()?;
    conclude(args, &imported, global)
}

/// Proposes labels if that was asked for, and prints what was imported and proposed.
fn conclude(args: &Import, imported: &Imported, global: Global) -> Outcome {
    let came_along = args.out.join("labels.csv").is_file();
    let proposed = match args.label && !came_along {
        true => Some(label_all(&args.out, global.quiet)?),
        false => None,
    };
    if global.json {
        let mut told = imported.json(&args.out);
        if let Some((_, json)) = proposed {
            told["proposed"] = json;
        }
        return show::print(&told.to_string());
    }
    if !global.quiet {
        show::print(&format!("{}: {}", args.out.display(), imported.summary()))?;
        if let Some((table, _)) = &proposed {
            show::print(&format!("\n{table}"))?;
        }
    }
    let out = typed(&args.out);
    let next = match (&proposed, came_along) {
        (Some(_), _) => [
            format!("deadloop tune {out}"),
            format!("deadloop label {out} --review"),
        ],
        (None, true) => [
            format!("deadloop check {out}"),
            format!("deadloop show {out}"),
        ],
        (None, false) => [
            format!("deadloop label {out}"),
            format!("deadloop show {out}"),
        ],
    };
    show::next(&next.each_ref().map(String::as_str), global)
}

/// What is written while all is read.
struct Writing {
    on_bad: OnBad,
    writer: CorpusWriter,
    rejected: Rejected,
    models: BTreeMap<String, u64>,
    problems: Vec<Problem>,
    carried: Carried,
    /// Transcripts left out because a label in them is none.
    unlabelled: u64,
}

impl Writing {
    fn refuse(&mut self, problem: Problem) -> Outcome {
        self.rejected.add(&problem)?;
        if self.problems.len() < LISTED {
            self.problems.push(problem);
        }
        Ok(())
    }

    fn refuse_all(&mut self, problems: Vec<Problem>) -> Outcome<u64> {
        let count = problems.len() as u64;
        problems.into_iter().try_for_each(|p| self.refuse(p))?;
        Ok(count)
    }

    fn take(&mut self, entry: Entry) -> Outcome {
        match self.carried.takes(&entry) {
            Err(problem) => return self.refuse(problem),
            Ok(false) => return Ok(()),
            Ok(true) => {}
        }
        // A corpus brings its labels with it: what check would refuse is no label.
        let labels = self.carried.labels_beside(&entry);
        if entry.labels.is_some() || labels.is_some() {
            let (_, mut problems) = Case::of(&entry, labels, &[]);
            if !problems.is_empty() {
                self.unlabelled += 1;
                return self.refuse(problems.swap_remove(0));
            }
        }
        // What is not whole is not written, only looked through.
        if self.on_bad == OnBad::Skip || self.problems.is_empty() {
            self.writer.write(&entry)?;
            *self.models.entry(entry.transcript.model).or_default() += 1;
        }
        Ok(())
    }
}

/// Reads all, writing transcripts and what was rejected.
fn read(
    mut import: deadloop_corpus::Import,
    target: &Target,
    on_bad: OnBad,
    quiet: bool,
) -> Outcome<Imported> {
    let (carried, of_labels) = Carried::read(&import);
    let mut writing = Writing {
        on_bad,
        writer: target.writer()?,
        rejected: target.rejected(),
        models: BTreeMap::new(),
        problems: Vec::new(),
        carried,
        unlabelled: 0,
    };
    let mut beside = writing.refuse_all(of_labels)?;
    let total = import.total_bytes();
    watched("importing", quiet, |watch| {
        while let Some(item) = import.next() {
            if watch.cancel.load(Ordering::Relaxed) {
                return Err(Code::Interrupted.error("interrupted; nothing was written"));
            }
            (watch.progress)(import.bytes_read(), total);
            match item {
                Ok(entry) => writing.take(entry)?,
                Err(problem) => writing.refuse(problem)?,
            }
        }
        Ok(())
    })?;
    beside += writing.refuse_all(writing.carried.problems())?;
    writing.writer.finish()?;
    writing.rejected.finish()?;
    let losses = import.losses().iter();
    let mut counts = import.counts();
    counts.transcripts.rejected += writing.carried.left_out + writing.unlabelled;
    Ok(Imported {
        counts,
        formats: import.formats().collect(),
        models: writing.models,
        problems: writing.problems,
        warnings: import.warnings().to_vec(),
        warned: import.warned(),
        losses: losses
            .map(|loss: Loss<'_>| (loss.format, loss.path.to_owned(), loss.count))
            .collect(),
        repeated: import.repeated(),
        carried: writing.carried,
        beside,
    })
}
