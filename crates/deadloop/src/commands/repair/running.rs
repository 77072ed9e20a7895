//! The variants of a run, and how they repair the transcripts of a corpus. A variant is a repairer with its
//! parameters, or a program.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use deadloop_corpus::{Entry, Transcript};
use deadloop_detect::repair::Mended;
use deadloop_replay::{Mender, Repaired};
use deadloop_report::WrongOne;

use super::pages::columns;
use super::scored::{Fare, Judged, Scored};
use super::streams::Stream;
use super::work::{before_and_gold, mend, question};
use crate::exit::{Code, Outcome};
use deadloop_replay::repairers::Variant;
use deadloop_run::open;

/// The most wrong repairs that the page shows in full.
const OPENED: u64 = 5_000;

/// What was asked, ready to run.
pub(crate) struct Work {
    /// The variants, in the order of tables.
    pub(crate) variants: Vec<Variant>,
    /// For each variant its program, started; `None` for a repairer of deadloop's own.
    pub(crate) menders: Vec<Option<Mender>>,
}

impl Work {
    /// Asks the program of the variant at index `at` to repair a transcript.
    ///
    /// # Errors
    /// Returns why the program failed, or that the variant is not a program.
    pub(crate) fn ask(&self, at: usize, transcript: &Transcript) -> Result<Repaired, String> {
        let mender = self.menders.get(at).and_then(Option::as_ref);
        let mender = mender.ok_or("it is no program")?;
        // The survey has a flag of its own: a program that hangs ends by its timeout.
        mender.mend(&question(transcript), &AtomicBool::new(false))
    }

    /// Repairs a transcript with every variant and judges the results. `None` if the truth about it is not known.
    pub(crate) fn judged(&self, entry: &Entry) -> Option<Outcome<Judged>> {
        let transcript = &entry.transcript;
        let stream = match Stream::of(transcript) {
            Ok(stream) => stream?,
            Err(what) => {
                let what = format!("{}: {}: {what}", entry.place, transcript.id);
                return Some(Err(Code::Usage.error(what)));
            }
        };
        let each = self
            .variants
            .iter()
            .enumerate()
            .filter_map(|(at, variant)| {
                let came = mend(variant, &stream, || self.ask(at, transcript))?;
                Some(Fare {
                    variant: at,
                    verdict: came.verdict,
                    detail: came.detail,
                    delay: came.delay,
                })
            });
        Some(Ok(Judged {
            id: transcript.id.clone(),
            group: transcript
                .group
                .clone()
                .unwrap_or_else(|| transcript.id.clone()),
            fault: stream.fault.map(|fault| fault.name().to_owned()),
            severity: stream.severity,
            came: each.collect(),
        }))
    }
}

/// The wrong repairs of the variants that the page shows, made again to show them, and how many more there are.
pub(crate) fn wrong(
    (corpus, no_excerpts): (&Path, bool),
    work: &Work,
    outcomes: &[Judged],
    scored: &Scored,
) -> Outcome<(Vec<WrongOne>, u64)> {
    let shown: Vec<usize> = scored
        .chosen
        .iter()
        .flat_map(|chosen| columns(chosen, &work.variants))
        .collect();
    let wrong = |judged: &&Judged| {
        let mut came = judged.came.iter();
        came.any(|fare| fare.verdict == Some(Mended::Wrong) && shown.contains(&fare.variant))
    };
    let asked: BTreeMap<&str, &Judged> = outcomes
        .iter()
        .filter(wrong)
        .map(|j| (j.id.as_str(), j))
        .collect();
    let (mut opened, mut left) = (Vec::new(), 0);
    for entry in open(corpus)?.entries() {
        let Ok(Entry { transcript, .. }) = entry else {
            continue;
        };
        let Some(judged) = asked.get(transcript.id.as_str()) else {
            continue;
        };
        let Ok(Some(stream)) = Stream::of(&transcript) else {
            continue;
        };
        for Fare {
            variant: at,
            verdict,
            ..
        } in &judged.came
        {
            if *verdict != Some(Mended::Wrong) || !shown.contains(at) {
                continue;
            }
            if opened.len() as u64 >= OPENED || no_excerpts {
                left += 1;
                continue;
            }
            let variant = &work.variants[*at];
            let (before, gold) = before_and_gold(variant, &stream);
            let came = mend(variant, &stream, || work.ask(*at, &transcript));
            opened.push(WrongOne {
                transcript: transcript.id.clone(),
                variant: variant.name.clone(),
                fault: judged.fault.clone().unwrap_or_default(),
                before,
                after: came.map(|came| came.after).unwrap_or_default(),
                gold,
            });
        }
    }
    opened.sort_by(|a, b| (&a.variant, &a.fault).cmp(&(&b.variant, &b.fault)));
    Ok((opened, left))
}
