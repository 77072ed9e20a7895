//! Starts detectors that are programs, identifies them and reports their errors.

use std::path::Path;

use deadloop_replay::{BlockDecision, Plan, Programs, Record, StartError, Subject};
use deadloop_score::ProgramInfo;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::failure::{Code, Failure, RunResult};
use crate::host::Host;

/// Starts the programs of a plan.
pub(crate) fn start_programs(plan: &Plan, host: &dyn Host) -> RunResult<Programs> {
    let _waited_for = host.begin(None);
    Programs::start(plan, host.cancel()).map_err(start_failure)
}

/// Converts the error of a program that did not start.
pub(crate) fn start_failure(error: StartError) -> Failure {
    match error {
        StartError::Refused { .. } => Code::Usage.because(error),
        StartError::Interrupted => Code::Interrupted.because(error),
    }
}

/// The identity of a subject's programs: names, versions and files.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct ProgramIdentity {
    /// The descriptions of the programs for the manifest.
    pub(crate) described: Vec<ProgramInfo>,
    /// The inputs of a result from programs: their reported names and versions, and hashes of the files in their
    /// commands. An edited detector often keeps its version. Files that the programs load themselves are not covered.
    pub(crate) inputs: Vec<String>,
}

impl ProgramIdentity {
    /// Identifies the running programs of a subject.
    pub(crate) fn from_subject(subject: &impl Subject) -> Self {
        let mut known = Self::default();
        for (program, ready) in subject.list_programs() {
            known
                .inputs
                .push(format!("{} {}", ready.name, ready.version));
            let files = program.command.iter().filter_map(|word| file_digest(word));
            known.inputs.extend(files);
            known.described.push(ProgramInfo {
                command: program.command.clone(),
                params: program.params.to_string(),
                name: ready.name.clone(),
                version: ready.version.clone(),
            });
        }
        known
    }
}

fn file_digest(word: &str) -> Option<String> {
    let path = Path::new(word);
    let bytes = path.is_file().then(|| std::fs::read(path).ok())??;
    Some(format!("{:x?}", Sha256::digest(bytes)))
}

/// Notifies the host of the number of transcripts on which a detector failed, and of the first error.
pub(crate) fn notify_errors(records: &[Record], host: &dyn Host) {
    let mut errors = DetectorErrors::default();
    records
        .iter()
        .for_each(|record| errors.add(&record.transcript, &record.blocks));
    errors.notify_host(host);
}

/// The counts of detector errors, and the first error.
#[derive(Debug, Default)]
pub(crate) struct DetectorErrors {
    records: usize,
    /// The number of transcripts with an error.
    failed: usize,
    /// The id of the first transcript with an error, and the error.
    first: Option<(String, String)>,
    /// The number of transcripts on which every block failed.
    failed_wholly: usize,
    /// The error of the first block on the first transcript.
    first_block_error: Option<String>,
}

impl DetectorErrors {
    /// Adds a record, in the order of the corpus.
    pub(crate) fn add(&mut self, transcript: &str, blocks: &[BlockDecision]) {
        let errors = || blocks.iter().filter_map(|block| block.error.as_ref());
        if self.records == 0 {
            self.first_block_error = blocks.first().and_then(|block| block.error.clone());
        }
        self.records += 1;
        self.failed_wholly += usize::from(errors().count() == blocks.len());
        if let Some(error) = errors().next() {
            self.failed += 1;
            let first = || (transcript.to_owned(), error.clone());
            self.first.get_or_insert_with(first);
        }
    }

    /// Notifies the host of the number of transcripts on which a detector failed, and of the first error.
    pub(crate) fn notify_host(&self, host: &dyn Host) {
        if let Some((id, first)) = &self.first {
            let all = self.failed;
            host.notify(&format!(
                "a detector failed on {all} transcripts, which are not scored (`error` in the outcomes); the first, {id}: {first}"
            ));
        }
    }

    /// Returns an error message if the detectors failed on every transcript, so that nothing was scored.
    pub(crate) fn total_failure(&self) -> Option<String> {
        let first = self.first_block_error.as_ref()?;
        (self.failed_wholly == self.records).then(|| {
            format!(
                "the detector failed on all {} transcripts, so nothing is scored; on the first: {first}",
                self.records
            )
        })
    }
}
