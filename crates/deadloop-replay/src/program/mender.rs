//! [`Mender`]: a program that repairs transcripts.
//!
//! It uses the protocol of detector programs and answers each transcript with one `repaired` line.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use deadloop_corpus::Transcript;
use deadloop_detect::harness::Program;
use serde_json::Value as Json;

use super::process::{Halt, Process};
use super::protocol::ProgramName;
use super::script::Script;
use super::{StartError, launch, lock};

/// The answer of a repairing program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MenderAnswer {
    /// The fields of the answer. Those that the program left out are missing.
    pub fields: serde_json::Map<String, Json>,
}

/// A repairing program, with one process per thread that uses it. Dropping the value kills the processes.
pub struct Mender {
    program: Program,
    name: ProgramName,
    idle: Mutex<Vec<Process>>,
}

impl Mender {
    /// Starts one process and waits until it is ready. Further processes are started as needed.
    ///
    /// # Errors
    /// Returns an error if the program cannot be started or refuses its parameters, or if `cancel` was raised.
    pub fn start(program: Program, cancel: &AtomicBool) -> Result<Self, StartError> {
        let stop = || cancel.load(Ordering::Relaxed);
        let started = launch(&program, &stop);
        let (process, name) = started.map_err(|halt| StartError::new(&program, halt))?;
        Ok(Self {
            program,
            name,
            idle: Mutex::new(vec![process]),
        })
    }

    /// Returns the program with the name and version that it reported when it started.
    pub fn info(&self) -> (&Program, &ProgramName) {
        (&self.program, &self.name)
    }

    /// Sends a transcript to the program and returns the answer.
    ///
    /// # Errors
    /// Returns an error if the program died, sent an invalid answer, or took too long. The error includes the end of
    /// the program's stderr. The next transcript gets a new process.
    pub fn mend(
        &self,
        transcript: &Transcript,
        cancel: &AtomicBool,
    ) -> Result<MenderAnswer, String> {
        let stop = || cancel.load(Ordering::Relaxed);
        let script = Script::new(transcript, None, None)?;
        let idle = lock(&self.idle).pop();
        let mut process = match idle {
            Some(process) => process,
            None => launch(&self.program, &stop).map_err(describe_halt)?.0,
        };
        let patience = Duration::from_millis(self.program.timeout_ms);
        let answer = process.ask(script.blocks.clone(), patience, &stop);
        let answer = answer.map_err(describe_halt);
        match answer.and_then(|line| read_answer(&line, &script.transcript)) {
            Ok(repaired) => {
                lock(&self.idle).push(process);
                Ok(repaired)
            }
            Err(what) => Err(process.end_with_stderr(&what)),
        }
    }
}

fn describe_halt(halt: Halt) -> String {
    match halt {
        Halt::Interrupted => "interrupted".to_owned(),
        Halt::Failed(what) | Halt::Ended(what) => what,
    }
}

fn read_answer(line: &[u8], asked: &str) -> Result<MenderAnswer, String> {
    let value: Json =
        serde_json::from_slice(line).map_err(|e| format!("its answer is no JSON: {e}"))?;
    let Json::Object(fields) = value else {
        return Err("its answer is no object".into());
    };
    if fields.get("type").and_then(Json::as_str) != Some("repaired") {
        return Err("its answer is not of type repaired".into());
    }
    match fields.get("transcript").and_then(Json::as_str) {
        Some(of) if of != asked => Err(format!("its answer is of {of:?}, {asked:?} was asked")),
        _ => Ok(MenderAnswer { fields }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_of_the_transcript_that_was_asked() {
        let ok = read_answer(br#"{"type":"repaired","transcript":"a","text":"x"}"#, "a");
        assert_eq!(ok.unwrap().fields["text"], "x");
        for bad in [
            &br#"{"type":"verdict"}"#[..],
            br#"{"type":"repaired","transcript":"b"}"#,
            b"[1]",
            b"x",
        ] {
            assert!(read_answer(bad, "a").is_err());
        }
    }
}
