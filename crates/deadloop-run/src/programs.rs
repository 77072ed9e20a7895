//! Detectors that are programs: started before any work, known again, their errors told.

use std::path::Path;

use deadloop_replay::{Plan, Programs, Record, StartError};
use deadloop_score::ProgramInfo;
use sha2::{Digest, Sha256};

use crate::failure::{Code, RunResult};
use crate::host::Host;

/// Starts the programs of a plan.
pub fn start(plan: &Plan, host: &dyn Host) -> RunResult<Programs> {
    let _waited_for = host.begin(None);
    Programs::start(plan, host.cancel()).map_err(|e| match e {
        StartError::Refused { .. } => Code::Usage.because(e),
        StartError::Interrupted => Code::Interrupted.because(e),
    })
}

/// What a result depends on besides settings: who the programs say they are, and the files that
/// their commands name, since who edits a detector seldom thinks of its version. What those files
/// load in turn is not known here.
pub fn inputs(programs: &Programs) -> Vec<String> {
    let mut inputs = Vec::new();
    for (program, ready) in programs.ready() {
        inputs.push(format!("{} {}", ready.name, ready.version));
        let files = program.command.iter().filter_map(|word| digest(word));
        inputs.extend(files);
    }
    inputs
}

fn digest(word: &str) -> Option<String> {
    let path = Path::new(word);
    let bytes = path.is_file().then(|| std::fs::read(path).ok())??;
    Some(format!("{:x?}", Sha256::digest(bytes)))
}

/// What the manifest says about them.
pub fn described(programs: &Programs) -> Vec<ProgramInfo> {
    let info = programs.ready().map(|(program, ready)| ProgramInfo {
        command: program.command.clone(),
        params: program.params.to_string(),
        name: ready.name.clone(),
        version: ready.version.clone(),
    });
    info.collect()
}

/// Says on how many transcripts a detector failed, and how on the first.
pub fn tell_errors(records: &[Record], host: &dyn Host) {
    let mut errors = Errors::default();
    records.iter().for_each(|record| errors.add(record));
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
    pub(crate) fn add(&mut self, record: &Record) {
        let errors = || {
            record
                .blocks
                .iter()
                .filter_map(|block| block.error.as_ref())
        };
        if self.records == 0 {
            let block = record.blocks.first();
            self.begin = block.and_then(|block| block.error.clone());
        }
        self.records += 1;
        self.wholly += usize::from(errors().count() == record.blocks.len());
        if let Some(error) = errors().next() {
            self.failed += 1;
            let first = || (record.transcript.to_string(), error.clone());
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
