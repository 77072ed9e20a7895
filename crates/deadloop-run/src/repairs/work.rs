//! The variants of a run, with their programs: how they repair a transcript, and how that is judged.

use std::sync::atomic::AtomicBool;

use deadloop_corpus::{Entry, Transcript};
use deadloop_replay::repairers::{Mending, Variant, question};
use deadloop_replay::{Mender, Repaired, StartError};
use deadloop_score::ProgramInfo;
use deadloop_score::repairs::{Came, Fare, KnownStream, MendedStream, judge_repair};

use crate::failure::{Code, RunResult};
use crate::host::Host;

/// What was asked, ready to run.
pub(super) struct Work {
    /// The variants, in the order of tables.
    pub(super) variants: Vec<Variant>,
    /// For each variant its program, started; `None` for a repairer of deadloop's own.
    menders: Vec<Option<Mender>>,
}

impl Work {
    /// Starts the programs of variants.
    pub(super) fn start(variants: Vec<Variant>, host: &dyn Host) -> RunResult<Self> {
        let start = |variant: &Variant| {
            let Mending::Program(program, _) = &variant.made else {
                return Ok(None);
            };
            let _waited_for = host.begin(None);
            let mender = Mender::start(program.clone(), host.cancel());
            mender.map(Some).map_err(|e| match e {
                StartError::Refused { .. } => Code::Usage.because(e),
                StartError::Interrupted => Code::Interrupted.because(e),
            })
        };
        Ok(Self {
            menders: variants.iter().map(start).collect::<RunResult<_>>()?,
            variants,
        })
    }

    /// What a result depends on besides the grid: who the programs say they are.
    pub(super) fn inputs(&self) -> Vec<String> {
        let menders = self.menders.iter().flatten();
        menders.map(|m| format!("{:?}", m.ready())).collect()
    }

    /// What the manifest says about the programs.
    pub(super) fn programs(&self) -> Vec<ProgramInfo> {
        let programs = self.variants.iter().zip(&self.menders);
        let programs = programs.filter_map(|(variant, mender)| match (&variant.made, mender) {
            (Mending::Program(program, _), Some(mender)) => Some(ProgramInfo {
                command: program.command.clone(),
                params: program.params.to_string(),
                name: mender.ready().name.clone(),
                version: mender.ready().version.clone(),
            }),
            _ => None,
        });
        programs.collect()
    }

    /// Asks the program of the variant at index `at` to repair a transcript.
    ///
    /// # Errors
    /// Returns why the program failed, or that the variant is not a program.
    pub(super) fn ask(&self, at: usize, transcript: &Transcript) -> Result<Repaired, String> {
        let mender = self.menders.get(at).and_then(Option::as_ref);
        let mender = mender.ok_or("it is no program")?;
        // The survey has a flag of its own: a program that hangs ends by its timeout.
        mender.mend(&question(transcript), &AtomicBool::new(false))
    }

    /// Repairs a stream with the variant at index `at` and judges the result. `None` if the variant does not read such
    /// streams.
    pub(super) fn came(
        &self,
        at: usize,
        transcript: &Transcript,
        stream: &KnownStream,
    ) -> Option<Came> {
        mend(&self.variants[at], stream, || self.ask(at, transcript))
    }

    /// Repairs a transcript with every variant and judges the results. `None` if the truth about it is not known.
    pub(super) fn judged(&self, entry: &Entry) -> Option<RunResult<MendedStream>> {
        let transcript = &entry.transcript;
        let stream = match KnownStream::of(transcript) {
            Ok(stream) => stream?,
            Err(what) => {
                let what = format!("{}: {}: {what}", entry.place, transcript.id);
                return Some(Err(Code::Usage.error(what)));
            }
        };
        let each = (0..self.variants.len()).filter_map(|at| {
            let came = self.came(at, transcript, &stream)?;
            Some(Fare {
                variant: at,
                verdict: came.verdict,
                detail: came.detail,
                delay: came.delay,
            })
        });
        let group = transcript.group.as_ref().unwrap_or(&transcript.id);
        Some(Ok(MendedStream {
            id: transcript.id.clone(),
            group: group.clone(),
            fault: stream.fault.map(|fault| fault.name().to_owned()),
            severity: stream.severity,
            came: each.collect(),
        }))
    }
}

/// Repairs a stream with a variant and judges the result; `ask` asks its program, if it is one. `None` if the variant does
/// not read such streams.
pub fn mend(
    variant: &Variant,
    stream: &KnownStream,
    ask: impl FnOnce() -> Result<Repaired, String>,
) -> Option<Came> {
    if !stream.is_for(variant.stream()) {
        return None;
    }
    let made = variant.mend(&stream.arrived, ask)?;
    Some(judge_repair(
        variant,
        stream,
        made.as_ref().map_err(Clone::clone),
    ))
}
