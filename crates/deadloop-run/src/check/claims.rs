//! Claims about a guard, judged by a replay of a labelled corpus.

use std::path::Path;

use deadloop_corpus::Selection;
use deadloop_detect::{Settings, Unit};
use deadloop_replay::{Job, Plan, PlanGuards, run};
use deadloop_score::{
    Constraint, Evidence, Interval, JudgeOptions, PoissonCache, Tally, Worth, units, wrong_rate,
};
use serde_json::{Value, json};

use crate::corpus::survey::{SurveyRequest, survey};
use crate::failure::{Code, RunResult};
use crate::host::{Host, watched};
use crate::replay::programs;
use crate::replay::subject_run::failed;

deadloop_detect::words! {
    /// The verdict of a corpus on a claim.
    pub enum ClaimVerdict {
        /// The whole 95 % interval is within the claim.
        Held = "held",
        /// The whole 95 % interval is outside the claim.
        Refuted = "refuted",
        /// The interval crosses the limit, or there is nothing to count.
        Open = "cannot tell",
    }
}

/// A claim with its measured value and verdict.
pub struct JudgedClaim {
    /// The claim.
    pub claim: Constraint,
    /// The estimate. `None` if there is nothing to count.
    pub value: Option<f64>,
    /// The 95 % interval: Wilson for a share, exact Poisson for a rate.
    pub interval: Option<Interval>,
    /// The verdict.
    pub verdict: ClaimVerdict,
}

impl JudgedClaim {
    fn of(claim: Constraint, tally: &Tally) -> Self {
        let interval = claim.metric.interval(tally, &mut PoissonCache::default());
        let verdict = match interval {
            Some(Interval { lo, hi }) => match (claim.admits(lo), claim.admits(hi)) {
                (true, true) => ClaimVerdict::Held,
                (false, false) => ClaimVerdict::Refuted,
                _ => ClaimVerdict::Open,
            },
            None => ClaimVerdict::Open,
        };
        Self {
            claim,
            value: claim.metric.value(tally, &Worth::default()),
            interval,
            verdict,
        }
    }

    /// Returns the claim as JSON.
    pub fn json(&self) -> Value {
        json!({
            "claim": self.claim.to_string(), "verdict": self.verdict.name(), "value": self.value,
            "lo": self.interval.map(|of| of.lo), "hi": self.interval.map(|of| of.hi),
        })
    }
}

/// Reads a file of claims, one per line, such as `ended>=0.9` or `fa_per_mchar<=1`. `#` begins a comment.
///
/// # Errors
/// Returns an error if the file cannot be read or holds no claim, or if a line is not a claim about a share or a rate
/// of wrong alarms.
pub fn read_claims(path: &Path) -> RunResult<Vec<Constraint>> {
    let file = path.display();
    let text =
        std::fs::read_to_string(path).map_err(|e| Code::Usage.error(format!("{file}: {e}")))?;
    let mut claims = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let bad = |what: String| Code::Usage.error(format!("{file}:{}: {what}", at + 1));
        let claim: Constraint = line.parse().map_err(|e| bad(format!("{e}")))?;
        if claim.metric.counts(&Tally::default()).is_none() {
            return Err(bad(format!(
                "{line}: expected a share, as ended>=0.9, or a rate of wrong alarms, as fa_per_mchar<=1"
            )));
        }
        claims.push(claim);
    }
    if claims.is_empty() {
        return Err(Code::Usage.error(format!("{file}: no claim; expected a line as ended>=0.9")));
    }
    Ok(claims)
}

/// Replays settings over a corpus and judges the claims, each in its own unit or that of the labels.
///
/// # Errors
/// Returns an error if the corpus is not whole, a program does not start, or the host stopped it.
pub fn judge_claims(
    claims: &[Constraint],
    settings: &Settings,
    corpus: &Path,
    host: &dyn Host,
) -> RunResult<Vec<JudgedClaim>> {
    let mut plan = Plan::default();
    let cell = plan.add_settings(settings);
    let running = programs::start(&plan, host)?;
    let surveyed = survey(SurveyRequest {
        path: corpus,
        selection: Selection::default(),
        by: &[],
        entry: None,
        host,
    })?;
    surveyed.accept(false, host)?;
    let job = Job {
        corpus: &surveyed.corpus,
        ids: &surveyed.ids(),
        subject: &PlanGuards {
            plan: &plan,
            programs: &running,
            chunks: None,
        },
    };
    let ran = watched(host, "replaying", |watch| run(&job, None, watch));
    let records = ran.map_err(failed)?.records;
    programs::tell_errors(&records, host);
    let evidence = Evidence::new(&plan, &surveyed.cases, &records)?;
    let labels = units(&surveyed.cases).first().copied();
    let judged = claims.iter().map(|claim| {
        let rate = Unit::ALL
            .into_iter()
            .find(|unit| wrong_rate(*unit) == claim.metric);
        let judge = JudgeOptions {
            unit: rate.or(labels).unwrap_or_default(),
            ..JudgeOptions::default()
        };
        JudgedClaim::of(*claim, &evidence.tally(cell, &evidence.all(), &judge))
    });
    Ok(judged.collect())
}
