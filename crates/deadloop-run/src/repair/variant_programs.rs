//! [`VariantPrograms`]: the variants of repairers, run on streams and judged.

use std::sync::atomic::AtomicBool;

use deadloop_corpus::Transcript;
use deadloop_detect::harness::Program;
use deadloop_replay::repairers::{RepairMethod, Variant, without_metadata};
use deadloop_replay::{InvalidTranscript, Mender, MenderAnswer, PassResult, ProgramName, Subject};
use deadloop_score::repairs::{
    KnownStream, RepairResult, StreamVerdicts, VariantVerdict, judge_repair,
};
use serde::{Deserialize, Serialize};

use super::broken_arguments::{BrokenCalls, find_broken_calls};
use crate::failure::RunResult;
use crate::host::Host;
use crate::replay::programs::start_failure;

/// The variants of a measurement, with their running programs.
pub(super) struct VariantPrograms {
    /// The variants, in the order of tables.
    pub(super) variants: Vec<Variant>,
    /// The running program of each variant. `None` for a built-in repairer.
    menders: Vec<Option<Mender>>,
}

impl VariantPrograms {
    /// Starts the programs of all variants that are programs.
    pub(super) fn start(variants: Vec<Variant>, host: &dyn Host) -> RunResult<Self> {
        let start = |variant: &Variant| {
            let RepairMethod::Program(program, _) = &variant.method else {
                return Ok(None);
            };
            let _waited_for = host.begin(None);
            let mender = Mender::start(program.clone(), host.cancel());
            mender.map(Some).map_err(start_failure)
        };
        Ok(Self {
            menders: variants.iter().map(start).collect::<RunResult<_>>()?,
            variants,
        })
    }

    /// Runs the program of the variant at index `at` on a transcript.
    ///
    /// # Errors
    /// Returns an error if the program failed, or if the variant is not a program.
    pub(super) fn run(&self, at: usize, transcript: &Transcript) -> Result<MenderAnswer, String> {
        let mender = self.menders.get(at).and_then(Option::as_ref);
        let mender = mender.ok_or("it is no program")?;
        // A stop is handled between two transcripts. A program that hangs ends by its timeout.
        mender.mend(&without_metadata(transcript), &AtomicBool::new(false))
    }

    /// Repairs a stream with every variant that reads its kind, and judges the results.
    fn judge_variants(&self, transcript: &Transcript, stream: &KnownStream) -> StreamVerdicts {
        let each = (0..self.variants.len()).filter_map(|at| {
            let came = mend_and_judge(&self.variants[at], stream, || self.run(at, transcript))?;
            Some(VariantVerdict {
                variant: at,
                verdict: came.verdict,
                detail: came.detail,
                delay: came.delay,
            })
        });
        StreamVerdicts {
            id: transcript.id.clone(),
            fault: stream.fault.map(|fault| fault.name().to_owned()),
            severity: stream.severity,
            came: each.collect(),
        }
    }
}

/// The result for one transcript: verdicts on its stream, and its calls.
#[derive(Serialize, Deserialize)]
pub(super) struct RepairAnswer {
    /// The verdicts on the repaired stream, if its truth is known.
    pub(super) stream: Option<StreamVerdicts>,
    /// The recorded calls of the transcript.
    pub(super) calls: BrokenCalls,
}

impl Subject for VariantPrograms {
    type Reply = RepairAnswer;

    fn fingerprint(&self) -> String {
        let each = self.variants.iter();
        each.map(|variant| format!("{} {}\n", variant.name, variant.toml()))
            .collect()
    }

    fn find_invalid(&self, transcript: &Transcript) -> Option<InvalidTranscript> {
        KnownStream::from_transcript(transcript).err()
    }

    fn list_programs(&self) -> Vec<(&Program, &ProgramName)> {
        self.menders.iter().flatten().map(Mender::info).collect()
    }

    fn compute(&self, transcript: &Transcript, _: &AtomicBool) -> PassResult<RepairAnswer> {
        let stream = KnownStream::from_transcript(transcript).ok().flatten();
        Ok(RepairAnswer {
            stream: stream.map(|stream| self.judge_variants(transcript, &stream)),
            calls: find_broken_calls(transcript),
        })
    }

    /// Returns whether every variant has a verdict. A variant that failed has none.
    fn is_whole(&self, reply: &RepairAnswer) -> bool {
        let mut verdicts = reply.stream.iter().flat_map(|stream| &stream.came);
        verdicts.all(|verdict| verdict.verdict.is_some())
    }

    fn can_return(&self, reply: &RepairAnswer) -> bool {
        let mut streams = reply.stream.iter();
        streams.all(|s| s.came.iter().all(|v| v.variant < self.variants.len()))
    }

    fn is_slow(&self) -> bool {
        self.menders.iter().any(Option::is_some)
    }
}

/// Repairs a stream with a variant and judges the result. `ask` runs the variant if it is a program. `None` if the
/// variant does not read this kind of stream.
pub(super) fn mend_and_judge(
    variant: &Variant,
    stream: &KnownStream,
    ask: impl FnOnce() -> Result<MenderAnswer, String>,
) -> Option<RepairResult> {
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

#[cfg(test)]
mod tests {
    use deadloop_score::repairs::RepairVerdict;

    use super::*;

    #[test]
    fn an_answer_in_which_a_variant_failed_is_asked_again() {
        let work = VariantPrograms {
            variants: Vec::new(),
            menders: Vec::new(),
        };
        let looked = |verdicts: &[Option<RepairVerdict>]| RepairAnswer {
            stream: Some(StreamVerdicts {
                id: "a".to_owned(),
                fault: None,
                severity: 0,
                came: verdicts
                    .iter()
                    .map(|verdict| VariantVerdict {
                        variant: 0,
                        verdict: *verdict,
                        detail: String::new(),
                        delay: None,
                    })
                    .collect(),
            }),
            calls: BrokenCalls::default(),
        };
        assert!(work.is_whole(&looked(&[
            Some(RepairVerdict::Lost),
            Some(RepairVerdict::Intact)
        ])));
        assert!(!work.is_whole(&looked(&[Some(RepairVerdict::Lost), None])));
    }
}
