//! `deadloop import`: recordings in other formats become a corpus.
//!
//! The corpus is written into a folder beside its name, which gets that name when it is whole.

use std::collections::BTreeMap;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser};
use deadloop_corpus::{
    Beside, CorpusWriter, Effort, ImportCounts, ImportOptions, Loss, Problem, Tally, ThinkOptions,
    import_formats,
};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::args::{Global, OnBad};
use crate::exit::{Code, Outcome};
use crate::progress::watched;
use crate::show;

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
    let mut rejected = Rejected::new(target.new.path().join("rejected.jsonl"));
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

/// `rejected.jsonl`, which is there only where something was rejected.
struct Rejected {
    path: PathBuf,
    file: Option<BufWriter<Beside>>,
}

impl Rejected {
    fn new(path: PathBuf) -> Self {
        Self { path, file: None }
    }

    fn add(&mut self, problem: &Problem) -> Outcome {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(BufWriter::new(Beside::create(&self.path, false)?)),
        };
        Ok(writeln!(file, "{}", told(problem))?)
    }

    fn finish(self) -> Outcome {
        if let Some(file) = self.file {
            file.into_inner().map_err(|e| e.into_error())?.finish()?;
        }
        Ok(())
    }
}

fn told(problem: &Problem) -> Value {
    json!({
        "file": problem.place.file.display().to_string(), "line": problem.place.line,
        "what": problem.what, "expected": problem.expected,
    })
}

/// The folder to be, under another name.
struct Target {
    out: PathBuf,
    new: TempDir,
}

const TRANSCRIPTS: &str = "transcripts";
const CARD: &str = "dataset.toml";

impl Target {
    fn prepare(out: &Path, force: bool) -> Outcome<Self> {
        let refuse = |what: String| Code::Usage.error(format!("--out {}: {what}", out.display()));
        if out.exists() && !force {
            return Err(refuse(
                "is there already; choose another name, or --force".into(),
            ));
        }
        if out.exists() && !out.is_dir() {
            return Err(refuse("is a file; expected the name of a folder".into()));
        }
        let parent = out.parent().filter(|parent| !parent.as_os_str().is_empty());
        let parent = parent.unwrap_or(Path::new("."));
        std::fs::create_dir_all(parent).map_err(|e| refuse(format!("cannot be made: {e}")))?;
        let mut builder = tempfile::Builder::new();
        builder.prefix(".deadloop-");
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o777));
        let new = builder.tempdir_in(parent);
        let new = new.map_err(|e| refuse(format!("cannot be written to: {e}")))?;
        std::fs::create_dir(new.path().join(TRANSCRIPTS))?;
        Ok(Self {
            out: out.to_path_buf(),
            new,
        })
    }

    fn writer(&self) -> Outcome<CorpusWriter> {
        let path = self.new.path().join(TRANSCRIPTS).join("imported.jsonl.zst");
        Ok(CorpusWriter::create_with(&path, false, Effort::Quick)?)
    }

    /// Writes the card: where the transcripts come from.
    fn card(&self, imported: &Imported) -> Outcome {
        let name = self
            .out
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let models = imported
            .models
            .keys()
            .map(|model| toml::toml! { name = (model.as_str()) });
        let mut card = toml::Table::new();
        let how = format!("deadloop import: {}", imported.sums());
        for (key, value) in [
            ("name", name.as_str()),
            ("version", "1"),
            ("licence", "not stated"),
            ("description", "Recordings that were imported"),
            ("how", how.as_str()),
        ] {
            card.insert(key.into(), value.into());
        }
        card.insert(
            "models".into(),
            models.map(toml::Value::Table).collect::<Vec<_>>().into(),
        );
        let mut file = Beside::create(&self.new.path().join(CARD), false)?;
        file.write_all(toml::to_string(&card)?.as_bytes())?;
        Ok(file.finish()?)
    }

    /// Gives the folder its name; of a corpus that is there the parts that were made anew.
    fn finish(self) -> Outcome {
        if !self.out.exists() {
            // From here on it is no temporary folder.
            return Ok(std::fs::rename(self.new.keep(), &self.out)?);
        }
        let old = self.new.path().join("old");
        std::fs::create_dir(&old)?;
        for part in [TRANSCRIPTS, CARD, "rejected.jsonl"] {
            let (new, there) = (self.new.path().join(part), self.out.join(part));
            if there.exists() {
                std::fs::rename(&there, old.join(part))?;
            }
            if new.exists() {
                std::fs::rename(new, there)?;
            }
        }
        Ok(())
    }
}

/// Most losses and most warnings that are listed for people.
const SHOWN: usize = 20;

impl Imported {
    /// Every problem, a line each.
    fn listing(&self) -> String {
        let lines: Vec<String> = self.problems.iter().map(ToString::to_string).collect();
        let counts = [
            self.counts.files,
            self.counts.records,
            self.counts.transcripts,
        ];
        let all: u64 = counts.iter().map(|tally| tally.rejected).sum();
        let more = all.saturating_sub(lines.len() as u64);
        let more = if more > 0 {
            format!("\nand {more} more")
        } else {
            String::new()
        };
        format!(
            "not all could be imported: {all} problem{}\n{}{more}\n\
             nothing was written; mend them, or leave them out with --on-bad skip\n{}",
            if all == 1 { "" } else { "s" },
            lines.join("\n"),
            self.summary()
        )
    }

    /// What came in and what became of it, for people.
    fn summary(&self) -> String {
        self.sums() + &self.worth_knowing() + &self.left_out()
    }

    fn sums(&self) -> String {
        let counts = &self.counts;
        let formats: Vec<String> = self
            .formats
            .iter()
            .map(|(name, n)| format!("{name} {n}"))
            .collect();
        format!(
            "{} transcripts of {} models\n files        {}: {}\n records      {}\n transcripts  {}",
            show::count(counts.transcripts.used()),
            self.models.len(),
            sum(counts.files),
            formats.join(", "),
            sum(counts.records),
            sum(counts.transcripts),
        )
    }

    fn worth_knowing(&self) -> String {
        if self.warned == 0 {
            return String::new();
        }
        let lines = self
            .warnings
            .iter()
            .take(SHOWN)
            .map(|warning| format!("\n {warning}"));
        let more = self.warned.saturating_sub(SHOWN as u64);
        let more = if more > 0 {
            format!("\n and {more} more")
        } else {
            String::new()
        };
        format!("\nworth knowing:{}{more}", lines.collect::<String>())
    }

    fn left_out(&self) -> String {
        if self.losses.is_empty() {
            return String::new();
        }
        let mut losses: Vec<_> = self.losses.iter().collect();
        losses.sort_by_key(|(_, _, count)| std::cmp::Reverse(*count));
        let row = |(format, path, count): &&(&str, String, u64)| {
            vec![(*format).to_owned(), path.clone(), show::count(*count)]
        };
        let rows: Vec<Vec<String>> = losses.iter().take(SHOWN).map(row).collect();
        let table = show::table(&["format", "field", "times"], &rows, 2);
        let more = match losses.len().saturating_sub(SHOWN) {
            0 => String::new(),
            more => format!("\n and {more} more fields (--json lists all)"),
        };
        format!("\nleft out, for want of a place in a transcript:\n{table}{more}")
    }

    fn json(&self, out: &Path) -> Value {
        let tally = |t: Tally| json!({"in": t.seen, "used": t.used(), "rejected": t.rejected});
        let loss = |(format, path, count): &(_, String, u64)| json!({"format": format, "field": path, "count": count});
        json!({
            "out": out.display().to_string(),
            "files": tally(self.counts.files),
            "records": tally(self.counts.records),
            "transcripts": tally(self.counts.transcripts),
            "formats": self.formats,
            "models": self.models,
            "left_out": self.losses.iter().map(loss).collect::<Vec<_>>(),
            "warned": self.warned,
            "warnings": self.warnings.iter().map(told).collect::<Vec<_>>(),
            "problems": self.problems.iter().map(told).collect::<Vec<_>>(),
        })
    }
}

fn sum(tally: Tally) -> String {
    format!(
        "{} in = {} used + {} rejected",
        show::count(tally.seen),
        show::count(tally.used()),
        show::count(tally.rejected)
    )
}
