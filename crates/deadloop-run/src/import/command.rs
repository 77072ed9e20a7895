//! [`import`]: writes a corpus from recordings in other formats.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

#[cfg(feature = "clap")]
use clap::builder::{PossibleValue, PossibleValuesParser};
use deadloop_corpus::{Corpus, CorpusWriter, Entry, Problem, ThinkOptions};
use deadloop_import::Import;
#[cfg(feature = "clap")]
use deadloop_import::import_formats;
use deadloop_import::options::{ImportFields, ImportOptions};
use deadloop_import::source::stores::find_stores;
use deadloop_score::Case;

use super::carried_files::CarriedFiles;
use super::labels::ImportedLabels;
use super::target::{ImportTarget, JoinedCorpus, RejectedLines, SourceStamps, read_sources};
use crate::failure::{Code, Failure, RunResult};
use crate::host::{Host, watched};
use crate::option::{FORCE, FROM, PREFIX_IDS, RESUME, THINK};
use crate::options::OnBad;
use crate::words::typed;

options! {
    /// The options of an imported corpus.
    pub struct ImportRunOptions {
        /// Recordings: files, or folders with everything in them. From a corpus its transcripts, labels and splits are taken,
        /// and its card if it is the only corpus
        #[arg(required_unless_present = "from", value_name = "FILE")]
        pub files: Vec<PathBuf>,
        /// The format of all files [default: detected from the content of each]; or auto-agents, which imports the sessions
        /// of the agents that are used on this machine
        #[arg(long, value_name = "FORMAT", value_parser = format_parser())]
        pub from: Option<String>,
        /// A TOML file that describes the format of all files, for a log of your own
        #[arg(long, value_name = "FILE", conflicts_with = "from")]
        pub format: Option<PathBuf>,
        /// The folder of the new corpus
        #[arg(long, value_name = "CORPUS", required_unless_present = "dry_run")]
        pub out: Option<PathBuf>,
        /// Write nothing: say what would be imported, and show one transcript
        #[arg(long, conflicts_with_all = ["label", "force"])]
        pub dry_run: bool,
        /// The model of recordings that do not name theirs [default: unknown]
        #[arg(long, value_name = "NAME")]
        pub model: Option<String>,
        /// The column or field with the text, as `data.output`, `choices[0].text` or `turns[]` [default: by its usual names]
        #[arg(long, value_name = "PATH", help_heading = "Columns of tables")]
        pub text_field: Option<String>,
        /// The column with the thinking
        #[arg(long, value_name = "PATH", help_heading = "Columns of tables")]
        pub reasoning_field: Option<String>,
        /// The column that says why the model stopped
        #[arg(long, value_name = "PATH", help_heading = "Columns of tables")]
        pub finish_field: Option<String>,
        /// The column with the id
        #[arg(long, value_name = "PATH", help_heading = "Columns of tables")]
        pub id_field: Option<String>,
        /// The column with what belongs together in a fold, usually the prompt
        #[arg(long, value_name = "PATH", help_heading = "Columns of tables")]
        pub group_field: Option<String>,
        /// The column with the name of the model
        #[arg(long, value_name = "PATH", conflicts_with = "model", help_heading = "Columns of tables")]
        pub model_field: Option<String>,
        /// The column that says when it was recorded
        #[arg(long, value_name = "PATH", help_heading = "Columns of tables")]
        pub time_field: Option<String>,
        /// The separation of thinking from the answer in texts that hold both: words as in `watch --think`
        #[arg(long, value_name = "WORD", value_delimiter = ',')]
        pub think: Vec<String>,
        /// Put the name of the file before each id, for files that all have the ids 1, 2, 3 (not for a corpus, whose
        /// labels use the ids)
        #[arg(long)]
        pub prefix_ids: bool,
        /// Propose labels for unlabelled transcripts too, as `deadloop label` does; proposals of earlier imports are made
        /// anew. `deadloop tune` can follow at once
        #[arg(long)]
        pub label: bool,
        /// The handling of a bad record: stop, or leave it out and list it in rejected.jsonl [default: stop; in folders,
        /// but for the corpora in them, leave it out]
        #[arg(long, value_enum)]
        pub on_bad: Option<OnBad>,
        /// Replace the transcripts and the card of an existing corpus; its splits and the labels of people stay unless others
        /// are imported, and proposals stay as long as their text does
        #[arg(long)]
        pub force: bool,
        /// Add to the corpus of --out, which lists its files in sources.csv: folders that have not changed since are passed
        /// over, a session that is there already is replaced, labels and splits stay. Without a corpus there, make one
        #[arg(long, conflicts_with_all = ["force", "dry_run"])]
        pub resume: bool,
    }
}

#[cfg(feature = "clap")]
fn format_parser() -> PossibleValuesParser {
    let values = import_formats().map(|format| match format.name {
        // The former name of this format.
        "table" => PossibleValue::new(format.name)
            .help(format.help)
            .alias("huggingface"),
        name => PossibleValue::new(name).help(format.help),
    });
    let agents = PossibleValue::new(AUTO_AGENTS).help("the sessions of the agents on this machine");
    PossibleValuesParser::new(values.chain([agents]))
}

/// The format name for the session stores of all agents.
const AUTO_AGENTS: &str = "auto-agents";

/// The maximum number of problems kept in memory. rejected.jsonl lists all of them.
const MAX_KEPT_PROBLEMS: usize = 10_000;

/// The answer of [`import`].
pub struct ImportAnswer {
    /// The import, after all recordings were read.
    pub(super) import: Import,
    pub(super) state: ImportState,
    /// The number of problems in labels and splits.
    pub(super) side_file_problems: u64,
    /// The effect on the corpus.
    pub end: ImportEnd,
    /// The counts of the existing corpus, if the import added to one.
    pub joined: Option<JoinedCorpus>,
    /// The labels of the corpus.
    pub labels: ImportedLabels,
}

/// The effect of an import on the corpus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImportEnd {
    /// A dry run, which writes nothing.
    DryRun,
    /// The transcripts were written to the corpus.
    Written(PathBuf),
    /// The corpus had all transcripts already.
    Unchanged(PathBuf),
}

/// An existing corpus to which an import adds.
struct ExistingCorpus {
    corpus: Corpus,
    sources: SourceStamps,
}

impl ExistingCorpus {
    /// Opens the corpus at `out`. `None` if nothing exists there.
    fn read(out: &Path) -> RunResult<Option<Self>> {
        if !out.exists() {
            return Ok(None);
        }
        let refuse = |what: String| Code::Usage.at(RESUME, format!("{}: {what}", out.display()));
        let corpus = Corpus::open(out).map_err(|e| refuse(e.to_string()))?;
        let sources = read_sources(out)?.ok_or_else(|| {
            refuse(format!(
                "was imported without {RESUME}, so it has no list of its files (sources.csv); import it anew with {RESUME} {FORCE}"
            ))
        })?;
        Ok(Some(Self { corpus, sources }))
    }
}

/// Reads recordings and writes them as a corpus, with the labels, splits and card that belong to them.
///
/// # Errors
/// Returns an error if a file that must be whole is bad, no transcript is found, the folder cannot be written, or the
/// host stopped it.
pub fn import(options: &ImportRunOptions, host: &dyn Host) -> RunResult<ImportAnswer> {
    let auto = options.from.as_deref() == Some(AUTO_AGENTS);
    let files = input_paths(options, auto, host)?;
    let out = options.out.as_deref().filter(|_| !options.dry_run);
    let target = out.map(|out| ImportTarget::prepare(out, options.force || options.resume, host));
    let target = target.transpose()?;
    let mut reading = import_options(options)?;
    let before = out.filter(|_| options.resume);
    let before = before.map(ExistingCorpus::read).transpose()?.flatten();
    if let Some(before) = &before {
        reading.known = before.sources.clone();
    }
    let import = Import::new(&files, reading).map_err(|e| Code::Usage.error(e))?;
    let folders = import.corpora().map(|(folder, _)| folder.to_path_buf());
    let folders = folders.filter(|_| options.on_bad.is_none() && !auto);
    let writer = target
        .as_ref()
        .map(|target| target.transcript_writer(before.is_some()));
    let (carried, label_problems) = CarriedFiles::read(&import);
    let state = ImportState {
        on_bad: options.on_bad.unwrap_or(default_on_bad(&files, auto)),
        writer: writer.transpose()?,
        rejected: target.as_ref().map(ImportTarget::rejected_lines),
        carried,
        strict_folders: folders.collect(),
        ..ImportState::default()
    };
    let mut answer = ImportAnswer {
        import,
        state,
        side_file_problems: 0,
        end: ImportEnd::DryRun,
        joined: None,
        labels: ImportedLabels::default(),
    };
    answer.read_recordings(label_problems, host)?;
    if answer.state.is_stopped {
        return Err(answer.problem_failure(options, host));
    }
    let none = answer.counts().transcripts.used() == 0;
    match (target, out, before) {
        (Some(target), Some(out), Some(_)) if none => {
            if options.label {
                answer.labels = target.propose_in_existing(host)?;
            }
            answer.end = ImportEnd::Unchanged(out.to_path_buf());
        }
        _ if none => {
            let summary = answer.summary(None);
            let what = format!("no transcript was found in the input\n{summary}");
            return Err(Code::NothingSelected.error(what));
        }
        (Some(target), _, before) => answer.complete(target, before, (options, &files), host)?,
        (None, ..) => {}
    }
    Ok(answer)
}

/// Returns how bad files are handled if the user does not say it.
///
/// One bad file of many must not stop the import of a folder. A file named by the user must be whole, and so must a corpus
/// in a folder.
fn default_on_bad(files: &[PathBuf], auto: bool) -> OnBad {
    let folders = auto || files.iter().all(|path| path.is_dir());
    [OnBad::Fail, OnBad::Skip][usize::from(folders)]
}

/// Returns the recordings to read: those of the agents on this machine if `auto`, else the named files.
fn input_paths(options: &ImportRunOptions, auto: bool, host: &dyn Host) -> RunResult<Vec<PathBuf>> {
    let files = if auto {
        find_agent_stores(options, host)?
    } else {
        options.files.clone()
    };
    if files.is_empty() {
        let what = format!("no file is named; expected recordings, or {FROM} {AUTO_AGENTS}");
        return Err(Code::Usage.error(what));
    }
    Ok(files)
}

/// Returns the options for reading recordings.
fn import_options(args: &ImportRunOptions) -> RunResult<ImportOptions> {
    let words = args.think.iter().map(String::as_str);
    let think = ThinkOptions::default().with_words(words);
    Ok(ImportOptions {
        think: think.map_err(|e| Code::Usage.error(format!("{THINK}: {e}")))?,
        from: args.from.clone().filter(|from| from != AUTO_AGENTS),
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

/// Returns the files of the options, and the session folders of the agents on this machine.
fn find_agent_stores(options: &ImportRunOptions, host: &dyn Host) -> RunResult<Vec<PathBuf>> {
    let home = std::env::home_dir().unwrap_or_default();
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let stores = find_stores(&home, variable);
    for store in &stores {
        host.notify(&format!("{}: {}", store.agent, store.path.display()));
    }
    if stores.is_empty() && options.files.is_empty() {
        let what = format!("no sessions of an agent below {}", home.display());
        return Err(Code::NothingSelected.error(what));
    }
    let found = stores.into_iter().map(|store| store.path);
    Ok(options.files.iter().cloned().chain(found).collect())
}

impl ImportAnswer {
    /// Reads all recordings, and writes transcripts and rejected records. `label_problems` are the problems of
    /// labels.csv.
    fn read_recordings(&mut self, label_problems: Vec<Problem>, host: &dyn Host) -> RunResult {
        let Self { import, state, .. } = self;
        self.side_file_problems = state.reject_all(label_problems)?;
        let total = import.total_bytes();
        watched(host, "importing", |watch| {
            let mut reported = 0;
            while let Some(item) = import.next() {
                if watch.cancel.load(Ordering::Relaxed) {
                    return Err(Code::Interrupted.error("interrupted; nothing was written"));
                }
                let read = import.bytes_read();
                if read != std::mem::replace(&mut reported, read) {
                    (watch.progress)(read, total);
                }
                match item {
                    Ok(entry) => state.add_entry(entry)?,
                    Err(problem) => state.reject(problem)?,
                }
            }
            Ok(())
        })?;
        self.side_file_problems += state.reject_all(state.carried.problems())?;
        if let Some(writer) = state.writer.take() {
            writer.finish()?;
        }
        state.rejected.take().map_or(Ok(()), RejectedLines::finish)
    }

    /// Completes the corpus and moves it to its final name.
    fn complete(
        &mut self,
        target: ImportTarget,
        before: Option<ExistingCorpus>,
        (options, files): (&ImportRunOptions, &[PathBuf]),
        host: &dyn Host,
    ) -> RunResult {
        if let Some(before) = &before {
            let joined = target.join_with(&before.corpus)?;
            target.keep_rejected(self.import.sources())?;
            self.state.models.clone_from(&joined.models);
            self.joined = Some(joined);
        }
        if options.resume {
            let before = before.map(|before| before.sources).unwrap_or_default();
            target.write_sources(self.import.sources(), &before)?;
        }
        match self.state.carried.card_of_only_corpus(files) {
            Some(card) => target.copy_card(&card)?,
            None => target.write_card(self.state.models.keys(), &self.format_counts())?,
        }
        target.write_splits(&self.state.carried)?;
        self.labels = target.write_labels_csv(&self.state.carried, options.label, host)?;
        self.end = ImportEnd::Written(target.finish()?);
        Ok(())
    }

    /// Returns the failure of an import that a problem stopped.
    fn problem_failure(&self, options: &ImportRunOptions, host: &dyn Host) -> Failure {
        let mut what = self.list_problems();
        if self.import.repeated_ids() > 0 && !options.prefix_ids {
            let words: Vec<String> = host.command_line().iter().skip(1).map(typed).collect();
            what += "\nids repeat; to put the name of its file before each, type:";
            what += &format!("\n  deadloop {} {PREFIX_IDS}", words.join(" "));
        }
        Code::Usage.error(what)
    }
}

/// The state of an import while recordings are read.
#[derive(Default)]
pub(super) struct ImportState {
    on_bad: OnBad,
    /// The writer of transcripts. `None` in a dry run.
    writer: Option<CorpusWriter>,
    rejected: Option<RejectedLines>,
    /// The first transcript, in a dry run.
    pub(super) example: Option<Entry>,
    /// The number of transcripts of each model.
    pub(super) models: BTreeMap<String, u64>,
    pub(super) problems: Vec<Problem>,
    pub(super) carried: CarriedFiles,
    /// The number of transcripts left out because of an invalid label.
    pub(super) bad_labels: u64,
    /// The folders of corpora, which must have no problems.
    strict_folders: Vec<PathBuf>,
    /// Whether a problem stops the import.
    is_stopped: bool,
}

impl ImportState {
    fn reject(&mut self, problem: Problem) -> RunResult {
        let mut strict = self.strict_folders.iter();
        self.is_stopped |= self.on_bad == OnBad::Fail
            || strict.any(|folder| problem.place.file.starts_with(folder));
        if let Some(rejected) = &mut self.rejected {
            rejected.add(&problem)?;
        }
        if self.problems.len() < MAX_KEPT_PROBLEMS {
            self.problems.push(problem);
        }
        Ok(())
    }

    fn reject_all(&mut self, problems: Vec<Problem>) -> RunResult<u64> {
        let count = problems.len() as u64;
        problems.into_iter().try_for_each(|p| self.reject(p))?;
        Ok(count)
    }

    fn add_entry(&mut self, entry: Entry) -> RunResult {
        match self.carried.add(&entry) {
            Err(problem) => return self.reject(problem),
            Ok(false) => return Ok(()),
            Ok(true) => {}
        }
        // A corpus comes with its labels. Labels that `check` would reject are not imported.
        let labels = self.carried.corpus_labels(&entry);
        if entry.labels.is_some() || labels.is_some() {
            let (_, mut problems) = Case::from_entry(&entry, labels, &[]);
            if !problems.is_empty() {
                self.bad_labels += 1;
                return self.reject(problems.swap_remove(0));
            }
        }
        // An import that will fail only looks for further problems.
        if !self.is_stopped
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
