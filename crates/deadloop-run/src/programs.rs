//! Detectors that are programs: started before any work, known again, their errors told.

use std::path::Path;

use deadloop_replay::{Decided, Plan, Programs, Record, StartError, Subject};
use deadloop_score::ProgramInfo;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::failure::{Code, Failure, RunResult};
use crate::host::Host;

/// Starts the programs of a plan.
pub fn start(plan: &Plan, host: &dyn Host) -> RunResult<Programs> {
    let _waited_for = host.begin(None);
    Programs::start(plan, host.cancel()).map_err(unstarted)
}

/// Why the programs of a subject cannot be asked.
pub(crate) fn unstarted(error: StartError) -> Failure {
    match error {
        StartError::Refused { .. } => Code::Usage.because(error),
        StartError::Interrupted => Code::Interrupted.because(error),
    }
}

/// The programs of a subject.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Known {
    /// What the manifest says about them.
    pub(crate) described: Vec<ProgramInfo>,
    /// What a result depends on besides settings: who the programs say they are, and the files that their commands
    /// name, since who edits a detector seldom thinks of its version. What those files load in turn is not known here.
    pub(crate) inputs: Vec<String>,
}

impl Known {
    /// Those of a subject, which are running.
    pub(crate) fn of(subject: &impl Subject) -> Self {
        let mut known = Self::default();
        for (program, ready) in subject.programs() {
            known
                .inputs
                .push(format!("{} {}", ready.name, ready.version));
            let files = program.command.iter().filter_map(|word| digest(word));
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

fn digest(word: &str) -> Option<String> {
    let path = Path::new(word);
    let bytes = path.is_file().then(|| std::fs::read(path).ok())??;
    Some(format!("{:x?}", Sha256::digest(bytes)))
}

/// Says on how many transcripts a detector failed, and how on the first.
pub fn tell_errors(records: &[Record], host: &dyn Host) {
    let mut errors = Errors::default();
    records
        .iter()
        .for_each(|record| errors.add(&record.transcript, &record.blocks));
    errors.tell(host);
}

/// How detectors failed, as far as it is told.
#[derive(Debug, Default)]
pub(crate) struct Errors {
    records: usize,
    failed: usize,
    /// The first transcript on which one did, and how.
    first: Option<(String, String)>,
    /// Transcripts on which every block did.
    wholly: usize,
    /// What the first block said of the first transcript.
    begin: Option<String>,
}

impl Errors {
    /// One more record, in the order of the corpus.
    pub(crate) fn add(&mut self, transcript: &str, blocks: &[Decided]) {
        let errors = || blocks.iter().filter_map(|block| block.error.as_ref());
        if self.records == 0 {
            self.begin = blocks.first().and_then(|block| block.error.clone());
        }
        self.records += 1;
        self.wholly += usize::from(errors().count() == blocks.len());
        if let Some(error) = errors().next() {
            self.failed += 1;
            let first = || (transcript.to_owned(), error.clone());
            self.first.get_or_insert_with(first);
        }
    }

    /// Says on how many transcripts a detector failed, and how on the first.
    pub(crate) fn tell(&self, host: &dyn Host) {
        if let Some((id, first)) = &self.first {
            let all = self.failed;
            host.tell(&format!(
                "a detector failed on {all} transcripts, which are not scored (`error` in the outcomes); the first, {id}: {first}"
            ));
        }
    }

    /// What to say where detectors failed on every transcript, so that nothing could be scored.
    pub(crate) fn on_all(&self) -> Option<String> {
        let first = self.begin.as_ref()?;
        (self.wholly == self.records).then(|| {
            format!(
                "the detector failed on all {} transcripts, so nothing is scored; on the first: {first}",
                self.records
            )
        })
    }
}
