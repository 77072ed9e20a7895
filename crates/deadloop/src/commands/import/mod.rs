//! `deadloop import`: makes a corpus from recordings in other formats.
//!
//! `importing` of deadloop-run writes the corpus. `output` prints the results.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser};
use deadloop_corpus::{Corpus, CorpusWriter, Entry, Problem, ThinkOptions};
use deadloop_import::losses::Loss;
use deadloop_import::options::{ImportFields, ImportOptions};
use deadloop_import::source::stores::agent_stores;
use deadloop_import::{ImportCounts, import_formats};
use deadloop_score::Case;

use crate::args::GlobalArgs;
use crate::exit::{Code, Failure, Outcome};
use crate::host::Terminal;
use crate::show::{self, typed};
use deadloop_run::options::OnBad;
use deadloop_run::show::transcript;
use deadloop_run::watched;

mod output;
use output::LABELS;

use deadloop_run::import::{
    CarriedFiles, ImportTarget, ImportedLabels, JoinedCorpus, RejectedLines, SourceStamps,
    sources_of,
};

pub(crate) const HELP: &str = "Examples:\n  deadloop import recorded/ --out corpus\n  deadloop import ~/.claude/projects --dry-run\n  deadloop import --from auto-agents --out corpus --resume\n  deadloop import batch_output.jsonl chat.sse --from openai-chat --out corpus --on-bad skip\n  deadloop import answers.csv --text-field output --model-field engine --out corpus\n  deadloop import chats.jsonl --label --out corpus && deadloop tune corpus\n\nThe format of each file is detected from its content; plain text, Markdown and logs are an answer only with --from text. Files may be compressed with gzip or zstd. A .csv file has a header, and its columns are fields. In a folder, files that are no recordings are passed over and counted. Fields that have no place in a transcript are left out, and counted at the end.";

/// The arguments of `deadloop import`.
#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// Recordings: files, or folders with everything in them. From a corpus its transcripts, labels and splits are taken,
    /// and its card if it is the only corpus
    #[arg(required_unless_present = "from", value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The format of all files [default: detected from the content of each]; or auto-agents, which imports the sessions
    /// of the agents that are used on this machine
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    from: Option<String>,
    /// A TOML file that describes the format of all files, for a log of your own
    #[arg(long, value_name = "FILE", conflicts_with = "from")]
    format: Option<PathBuf>,
    /// The folder of the new corpus
    #[arg(long, value_name = "CORPUS", required_unless_present = "dry_run")]
    out: Option<PathBuf>,
    /// Write nothing: say what would be imported, and show one transcript
    #[arg(long, conflicts_with_all = ["label", "force"])]
    dry_run: bool,
    /// The model of recordings that do not name theirs [default: unknown]
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// The column or field with the text, as `data.output`, `choices[0].text` or `turns[]` [default: by its usual names]
    #[arg(long, value_name = "PATH", help_heading = "Columns of tables")]
    text_field: Option<String>,
    /// The column with the thinking
    #[arg(long, value_name = "PATH", help_heading = "Columns of tables")]
    reasoning_field: Option<String>,
    /// The column that says why the model stopped
    #[arg(long, value_name = "PATH", help_heading = "Columns of tables")]
    finish_field: Option<String>,
    /// The column with the id
    #[arg(long, value_name = "PATH", help_heading = "Columns of tables")]
    id_field: Option<String>,
    /// The column with what belongs together in a fold, usually the prompt
    #[arg(long, value_name = "PATH", help_heading = "Columns of tables")]
    group_field: Option<String>,
    /// The column with the name of the model
    #[arg(
        long,
        value_name = "PATH",
        conflicts_with = "model",
        help_heading = "Columns of tables"
    )]
    model_field: Option<String>,
    /// The column that says when it was recorded
    #[arg(long, value_name = "PATH", help_heading = "Columns of tables")]
    time_field: Option<String>,
    /// The separation of thinking from the answer in texts that hold both: words as in `watch --think`
    #[arg(long, value_name = "WORD", value_delimiter = ',')]
    think: Vec<String>,
    /// Put the name of the file before each id, for files that all have the ids 1, 2, 3 (not for a corpus, whose
    /// labels use the ids)
    #[arg(long)]
    prefix_ids: bool,
    /// Propose labels for unlabelled transcripts too, as `deadloop label` does; proposals of earlier imports are made
    /// anew. `deadloop tune` can follow at once
    #[arg(long)]
    label: bool,
    /// The handling of a bad record: stop, or leave it out and list it in rejected.jsonl [default: stop; in folders,
    /// but for the corpora in them, leave it out]
    #[arg(long, value_enum)]
    on_bad: Option<OnBad>,
    /// Replace the transcripts and the card of an existing corpus; its splits and the labels of people stay unless others
    /// are imported, and proposals stay as long as their text does
    #[arg(long)]
    force: bool,
    /// Add to the corpus of --out, which lists its files in sources.csv: folders that have not changed since are passed
    /// over, a session that is there already is replaced, labels and splits stay. Without a corpus there, make one
    #[arg(long, conflicts_with_all = ["force", "dry_run"])]
    resume: bool,
}

fn formats() -> PossibleValuesParser {
    let values = import_formats().map(|format| match format.name {
        // The former name of this format, which read little else.
        "table" => PossibleValue::new(format.name)
            .help(format.help)
            .alias("huggingface"),
        name => PossibleValue::new(name).help(format.help),
    });
    let agents = PossibleValue::new(AUTO).help("the sessions of the agents on this machine");
    PossibleValuesParser::new(values.chain([agents]))
}

/// The format name for the session stores of all agents.
const AUTO: &str = "auto-agents";

/// The maximum number of problems kept in memory. rejected.jsonl has all of them.
const LISTED: usize = 10_000;

/// The outcome of an import.
struct ImportOutcome {
    counts: ImportCounts,
    formats: BTreeMap<&'static str, u64>,
    /// The reason why each detected format is certain.
    why: BTreeMap<&'static str, &'static str>,
    /// The files of folders that are not recordings: kind, number, one example.
    passed: Vec<(String, u64, PathBuf)>,
    /// The guesses about tables, as the options that would set them, each with its number of files.
    guessed: Vec<(String, u64)>,
    /// The first transcript, to show as an example.
    example: Option<Entry>,
    models: BTreeMap<String, u64>,
    problems: Vec<Problem>,
    warnings: Vec<Problem>,
    warned: u64,
    losses: Vec<(&'static str, String, u64)>,
    carried: CarriedFiles,
    /// Whether a problem stops the import.
    torn: bool,
    /// The number of problems in the labels and splits.
    beside: u64,
    /// The number of transcripts whose ids had occurred before.
    repeated: u64,
    /// The files that were opened.
    sources: SourceStamps,
    /// The counts of the existing corpus that was added to.
    joined: Option<JoinedCorpus>,
    /// The outcome of the labels.
    labels: ImportedLabels,
}

/// An existing corpus that is added to.
struct ExistingCorpus {
    corpus: Corpus,
    sources: SourceStamps,
}

impl ExistingCorpus {
    /// Opens the corpus at this path. `None` if there is none.
    fn read(out: &Path) -> Outcome<Option<Self>> {
        if !out.exists() {
            return Ok(None);
        }
        let refuse =
            |what: String| Code::Usage.error(format!("--resume {}: {what}", out.display()));
        let corpus = Corpus::open(out).map_err(|e| refuse(e.to_string()))?;
        let sources = sources_of(out)?.ok_or_else(|| {
            let what =
                "has no sources.csv, which an import with --resume leaves; --force makes it anew";
            refuse(what.to_owned())
        })?;
        Ok(Some(Self { corpus, sources }))
    }
}

/// Joins the read transcripts with the existing corpus, and lists all source files.
fn add(
    target: &ImportTarget,
    before: Option<&ExistingCorpus>,
    imported: &mut ImportOutcome,
) -> Outcome {
    let Some(before) = before else {
        return target.sources(&imported.sources, &SourceStamps::new());
    };
    let joined = target.join(&before.corpus)?;
    target.keep_rejected(&imported.sources)?;
    imported.models = joined.models.clone();
    imported.joined = Some(joined);
    target.sources(&imported.sources, &before.sources)
}

pub(super) fn run(args: &ImportArgs, global: GlobalArgs) -> Outcome {
    let auto = args.from.as_deref() == Some(AUTO);
    let files = match auto {
        true => stores(args, global)?,
        false if args.files.is_empty() => {
            return Err(
                Code::Usage.error("no file is named; expected recordings, or --from auto-agents")
            );
        }
        false => args.files.clone(),
    };
    let target = args.out.as_deref().filter(|_| !args.dry_run);
    let target = target
        .map(|out| ImportTarget::prepare(out, args.force || args.resume, &Terminal::new(global)))
        .transpose()?;
    let mut options = options(args)?;
    let before = args.out.as_deref().filter(|_| args.resume);
    let before = before.map(ExistingCorpus::read).transpose()?.flatten();
    if let Some(before) = &before {
        options.known = before.sources.clone();
    }
    let import = deadloop_import::Import::new(&files, options);
    let import = import.map_err(|e| Code::Usage.error(e))?;
    // One bad file of many must not stop a folder. A file named by the user, and a corpus in a folder, must be whole.
    let folders = auto || files.iter().all(|path| path.is_dir());
    let on_bad = args
        .on_bad
        .unwrap_or(if folders { OnBad::Skip } else { OnBad::Fail });
    let whole = import.corpora().map(|(folder, _)| folder.to_path_buf());
    let whole: Vec<PathBuf> = whole.filter(|_| args.on_bad.is_none() && !auto).collect();
    let joined = before.is_some();
    let writer = target.as_ref().map(|target| target.writer(joined));
    let to = ImportOutputs {
        writer: writer.transpose()?,
        rejected: target.as_ref().map(ImportTarget::rejected),
        on_bad,
        whole,
    };
    let mut imported = read(import, to, global.quiet)?;
    if imported.torn {
        return Err(not_all(args, &imported));
    }
    if imported.counts.transcripts.used() == 0 {
        return end_empty_import(args, target.filter(|_| before.is_some()), imported, global);
    }
    let Some(target) = target else {
        return print_dry_run(&imported, global);
    };
    if args.resume {
        add(&target, before.as_ref(), &mut imported)?;
    }
    match imported.carried.card(&files) {
        Some(card) => target.copy_card(&card)?,
        None => target.card(imported.models.keys(), &imported.sums())?,
    }
    target.split(&imported.carried)?;
    imported.labels = target.label(&imported.carried, args.label, &Terminal::new(global))?;
    let out = target.finish()?;
    conclude(&out, &imported, global)
}

/// Returns the failure of an import that a problem stopped.
fn not_all(args: &ImportArgs, imported: &ImportOutcome) -> Failure {
    let mut what = imported.listing();
    if imported.repeated > 0 && !args.prefix_ids {
        let words: Vec<String> = std::env::args_os().skip(1).map(typed).collect();
        what += "\nids repeat; to put the name of its file before each, type:";
        what += &format!("\n  deadloop {} --prefix-ids", words.join(" "));
    }
    Code::Usage.error(what)
}

/// Ends an import without a transcript: an error, unless a corpus is added to (`adds`).
fn end_empty_import(
    args: &ImportArgs,
    adds: Option<ImportTarget>,
    mut imported: ImportOutcome,
    global: GlobalArgs,
) -> Outcome {
    if let Some(target) = adds {
        if args.label {
            imported.labels = target.label_again(&Terminal::new(global))?;
        }
        let out = args.out.as_deref().unwrap_or(Path::new(""));
        return show::print(&if global.json {
            show::json(&imported.json(Some(out)))?
        } else {
            let table = imported.proposals(out).map(|table| format!("\n{table}"));
            format!(
                "nothing is new\n{}{}",
                imported.summary(),
                table.unwrap_or_default()
            )
        });
    }
    let what = "no transcript was found in what was to be imported";
    Err(Code::NothingSelected.error(format!("{what}\n{}", imported.summary())))
}

/// Returns the options for reading recordings.
fn options(args: &ImportArgs) -> Outcome<ImportOptions> {
    let words = args.think.iter().map(String::as_str);
    let think = ThinkOptions::default().with_words(words);
    Ok(ImportOptions {
        think: think.map_err(|e| Code::Usage.error(format!("--think: {e}")))?,
        from: args.from.clone().filter(|from| from != AUTO),
        format: args.format.clone(),
        model: args.model.clone(),
        fields: ImportFields {
            text: args.text_field.clone(),
            reasoning: args.reasoning_field.clone(),
            finish: args.finish_field.clone(),
            id: args.id_field.clone(),
            group: args.group_field.clone(),
            model: args.model_field.clone(),
            time: args.time_field.clone(),
        },
        prefix_ids: args.prefix_ids,
        known: BTreeMap::new(),
    })
}

/// Returns the session folders of the agents on this machine.
fn stores(args: &ImportArgs, global: GlobalArgs) -> Outcome<Vec<PathBuf>> {
    let home = std::env::home_dir().unwrap_or_default();
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let stores = agent_stores(&home, variable);
    if !global.quiet {
        for store in &stores {
            show::remark(format_args!("{}: {}", store.agent, store.path.display()));
        }
    }
    if stores.is_empty() && args.files.is_empty() {
        let what = format!("no sessions of an agent below {}", home.display());
        return Err(Code::NothingSelected.error(what));
    }
    let found = stores.into_iter().map(|store| store.path);
    Ok(args.files.iter().cloned().chain(found).collect())
}

/// Prints the planned import, and one transcript.
fn print_dry_run(imported: &ImportOutcome, global: GlobalArgs) -> Outcome {
    if global.json {
        return show::print_json(&imported.json(None));
    }
    show::print(&format!(
        "nothing was written; it would be {}",
        imported.summary()
    ))?;
    if let Some(example) = &imported.example {
        show::print(&format!(
            "\none of them:\n{}",
            transcript(example, &[], Some(EXAMPLE))
        ))?;
    }
    Ok(())
}

/// The chars shown at both ends of each long text of the example.
const EXAMPLE: usize = 200;

/// Prints the counts, the proposals, and the labels whose text has changed.
fn conclude(to: &Path, imported: &ImportOutcome, global: GlobalArgs) -> Outcome {
    if global.json {
        return show::print_json(&imported.json(Some(to)));
    }
    if !global.quiet {
        show::print(&format!("{}: {}", to.display(), imported.summary()))?;
        if let Some(table) = imported.proposals(to) {
            show::print(&table)?;
        }
    }
    if let [first, rest @ ..] = &imported.labels.stale[..] {
        let more = match rest.len() {
            0 => String::new(),
            n => format!(" and of {} more", show::count(n as u64)),
        };
        show::remark(format_args!(
            "the text of {first}{more} has changed since somebody labelled it: read it again (deadloop show {} {first})",
            typed(to)
        ));
    }
    let out = typed(to);
    let next = match (&imported.labels.proposals, to.join(LABELS).is_file()) {
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

/// The state of an import while recordings are read.
struct ImportState {
    on_bad: OnBad,
    /// The writer of transcripts. `None` if nothing is written.
    writer: Option<CorpusWriter>,
    rejected: Option<RejectedLines>,
    example: Option<Entry>,
    models: BTreeMap<String, u64>,
    problems: Vec<Problem>,
    carried: CarriedFiles,
    /// The number of transcripts left out because of a bad label.
    unlabelled: u64,
    /// The folders that must be whole.
    whole: Vec<PathBuf>,
    /// Whether a problem stops the import.
    torn: bool,
}

impl ImportState {
    fn refuse(&mut self, problem: Problem) -> Outcome {
        let mut whole = self.whole.iter();
        self.torn |= self.on_bad == OnBad::Fail
            || whole.any(|folder| problem.place.file.starts_with(folder));
        if let Some(rejected) = &mut self.rejected {
            rejected.add(&problem)?;
        }
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
        // A corpus brings its labels with it. Labels that `check` would refuse are not taken.
        let labels = self.carried.labels_beside(&entry);
        if entry.labels.is_some() || labels.is_some() {
            let (_, mut problems) = Case::from_entry(&entry, labels, &[]);
            if !problems.is_empty() {
                self.unlabelled += 1;
                return self.refuse(problems.swap_remove(0));
            }
        }
        // An import that will fail only looks for further problems.
        if !self.torn
            && let Some(writer) = &mut self.writer
        {
            writer.write(&entry)?;
        }
        *self
            .models
            .entry(entry.transcript.model.clone())
            .or_default() += 1;
        if self.writer.is_none() {
            self.example.get_or_insert(entry);
        }
        Ok(())
    }
}

/// The outputs of an import. Each is `None` if nothing is written.
struct ImportOutputs {
    writer: Option<CorpusWriter>,
    rejected: Option<RejectedLines>,
    on_bad: OnBad,
    /// The folders that must be whole in any case.
    whole: Vec<PathBuf>,
}

/// Reads all recordings, and writes transcripts and rejected records.
fn read(
    mut import: deadloop_import::Import,
    to: ImportOutputs,
    quiet: bool,
) -> Outcome<ImportOutcome> {
    let (carried, of_labels) = CarriedFiles::read(&import);
    let mut writing = ImportState {
        on_bad: to.on_bad,
        writer: to.writer,
        rejected: to.rejected,
        example: None,
        models: BTreeMap::new(),
        problems: Vec::new(),
        carried,
        unlabelled: 0,
        whole: to.whole,
        torn: false,
    };
    let mut beside = writing.refuse_all(of_labels)?;
    let total = import.total_bytes();
    watched(&Terminal { quiet }, "importing", |watch| {
        let mut told = 0;
        while let Some(item) = import.next() {
            if watch.cancel.load(Ordering::Relaxed) {
                return Err(Code::Interrupted.error("interrupted; nothing was written"));
            }
            let read = import.bytes_read();
            if read != std::mem::replace(&mut told, read) {
                (watch.progress)(read, total);
            }
            match item {
                Ok(entry) => writing.take(entry)?,
                Err(problem) => writing.refuse(problem)?,
            }
        }
        Ok(())
    })?;
    beside += writing.refuse_all(writing.carried.problems())?;
    if let Some(writer) = writing.writer.take() {
        writer.finish()?;
    }
    if let Some(rejected) = writing.rejected.take() {
        rejected.finish()?;
    }
    Ok(outcome(&import, writing, beside))
}

/// Collects the outcome of an import for the summary.
fn outcome(import: &deadloop_import::Import, writing: ImportState, beside: u64) -> ImportOutcome {
    let formats: BTreeMap<&'static str, u64> = import.formats().collect();
    let passed = import.passed_over();
    let guessed = import.guessed();
    let losses = import.losses().iter();
    let mut counts = import.counts();
    counts.transcripts.rejected += writing.carried.left_out + writing.unlabelled;
    ImportOutcome {
        counts,
        why: formats
            .keys()
            .filter_map(|format| Some((*format, import.reason_for(format)?)))
            .collect(),
        formats,
        passed: passed
            .map(|(kind, files, one)| (kind.to_owned(), files, one.to_owned()))
            .collect(),
        guessed: guessed
            .map(|(options, files)| (options.to_owned(), files))
            .collect(),
        example: writing.example,
        models: writing.models,
        problems: writing.problems,
        warnings: import.warnings().to_vec(),
        warned: import.warned(),
        losses: losses
            .map(|loss: Loss<'_>| (loss.format, loss.path.to_owned(), loss.count))
            .collect(),
        repeated: import.repeated(),
        sources: import.sources().clone(),
        joined: None,
        labels: ImportedLabels::default(),
        carried: writing.carried,
        torn: writing.torn,
        beside,
    }
}
