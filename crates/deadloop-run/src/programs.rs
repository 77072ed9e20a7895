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

/// What to say where detectors failed on every transcript, so that nothing could be scored.
pub fn failed_on_all(records: &[Record]) -> Option<String> {
    let errors = |r: &Record| r.blocks.iter().all(|b| b.error.is_some());
    let first = records.first()?.blocks.first()?.error.clone()?;
    records.iter().all(errors).then(|| {
        format!(
            "the detector failed on all {} transcripts, so nothing is scored; on the first: {first}",
            records.len()
        )
    })
}

/// Says on how many transcripts a detector failed, and how on the first.
pub fn tell_errors(records: &[Record], host: &dyn Host) {
    let error = |r: &Record| r.blocks.iter().find_map(|b| b.error.clone());
    let mut failed = records.iter().filter_map(|r| Some((r, error(r)?)));
    if let Some((record, first)) = failed.next() {
        let all = 1 + failed.count();
        host.tell(&format!(
            "a detector failed on {all} transcripts, which are not scored (`error` in the outcomes); the first, {}: {first}",
            record.transcript
        ));
    }
}
