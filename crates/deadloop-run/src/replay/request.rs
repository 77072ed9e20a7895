//! [`Request`]: the options of a run.

use std::path::Path;

use deadloop_corpus::Selection;
use deadloop_detect::Unit;
use serde::Serialize;
use serde_json::{Value, json};

use crate::failure::{Code, RunResult};
use crate::folder::Folder;
use crate::host::Host;
use crate::option::SPLIT;
use crate::options::{JudgingOptions, OutputOptions, SelectionOptions};

/// The name of the split on which choices are scored and never made.
pub const SEALED: &str = "test";

/// The request of a command: its corpus, options and result folder.
pub struct Request<'a> {
    /// The command as named in the manifest: `replay`, `sweep`, `tune`.
    pub command: &'static str,
    /// The path of the corpus, a folder or one file.
    pub corpus: &'a Path,
    /// The folder of the results.
    pub out: &'a Path,
    /// The filters that select transcripts.
    pub select: SelectionOptions,
    /// The options for judging alarms.
    pub judging: JudgingOptions,
    /// The options for the output.
    pub output: OutputOptions,
    /// Whether the fields of the further breakdown are the default ones. If so, transcripts without these fields cause
    /// no warning.
    pub by_default: bool,
    /// Whether the caller reads transcripts again after the run, to show them.
    pub opens: bool,
    /// The files that are read besides the corpus.
    pub read: Vec<&'a Path>,
    /// Further inputs on which the result depends.
    pub inputs: Vec<String>,
    /// The text of the grid, if any.
    pub grid: Option<String>,
    /// The split that must not be read, if any.
    pub sealed: Option<&'static str>,
    /// The unit of the default grids and limits, if defaults are used.
    pub unit: Option<Unit>,
    /// The command with its options, recorded in the parts of shards.
    pub asked: Value,
    /// The host, which shows progress and can stop the run.
    pub host: &'a dyn Host,
}

/// Returns a command with its options, in the form recorded in the parts of shards.
///
/// # Errors
/// Returns an error if a file of the options has a name that is not UTF-8.
pub fn record(command: &str, options: &impl Serialize) -> RunResult<Value> {
    let options = serde_json::to_value(options)
        .map_err(|e| Code::Usage.error(format!("settings and grids: {e}; expected other names")))?;
    Ok(json!({ command: options }))
}

impl<'a> Request<'a> {
    /// Creates the default request, which replays all of `corpus` into `out`.
    pub fn new(corpus: &'a Path, out: &'a Path, host: &'a dyn Host) -> Self {
        Self {
            command: "replay",
            corpus,
            out,
            select: SelectionOptions::default(),
            judging: JudgingOptions::default(),
            output: OutputOptions::default(),
            by_default: false,
            opens: true,
            read: Vec::new(),
            inputs: Vec::new(),
            grid: None,
            sealed: None,
            unit: None,
            asked: Value::Null,
            host,
        }
    }

    /// Creates the folder and checks that it is writable.
    ///
    /// # Errors
    /// Returns an error if the folder cannot be created or written to, or if an output would overwrite an input.
    pub fn folder(&self) -> RunResult<Folder> {
        // A wrong filter is refused before there is a folder.
        self.selection()?;
        let read = std::iter::once(self.corpus).chain(self.read.iter().copied());
        let read: Vec<&Path> = read.collect();
        Folder::prepare(self.out, self.output.folder.force, &read, self.host)
    }

    /// Returns the filters that select transcripts.
    ///
    /// # Errors
    /// Returns an error if they select the sealed split.
    pub(crate) fn selection(&self) -> RunResult<Selection> {
        let split = self.select.split.as_deref();
        if let Some(sealed) = self.sealed.filter(|sealed| split == Some(*sealed)) {
            let what = format!(
                "{} never looks at the split {sealed}; score the choice on it by a replay of {SPLIT} {sealed}",
                self.command
            );
            return Err(Code::Usage.error(what));
        }
        self.select.selection()
    }
}
