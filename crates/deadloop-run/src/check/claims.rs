//! Judges claims about a guard by a replay of a labelled corpus.

use std::path::Path;

use deadloop_corpus::parse_where;
use deadloop_detect::{Channel, Kind, Settings, Unit};
use deadloop_replay::Plan;
use deadloop_score::{
    Case, Constraint, Evidence, GoalError, Interval, JudgeOptions, PoissonCache, Stakes, Tally,
    units, wrong_rate,
};
use serde::Serialize;

use crate::corpus::survey::SurveyRequest;
use crate::failure::{Code, RunResult};
use crate::host::Host;
use crate::replay::in_memory::replay_in_memory;

deadloop_detect::words! {
    /// The verdict on a claim.
    pub enum ClaimVerdict {
        /// The whole 95 % interval is within the claim.
        Held = "held",
        /// The whole 95 % interval is outside the claim.
        Refuted = "refuted",
        /// The interval crosses the limit, or nothing can be counted.
        Open = "cannot tell",
    }
}

/// A claim, which is a limit on a measure. It holds for all transcripts, or for those whose fields have the given
/// values.
#[derive(Debug)]
pub(super) struct GuardClaim {
    line: String,
    limit: Constraint,
    wheres: Vec<(String, String)>,
}

impl GuardClaim {
    fn parse(line: &str) -> Result<Self, String> {
        let (limit, fields) = line.split_once(" where ").unwrap_or((line, ""));
        let bare = |text: String| text.trim().trim_matches('"').to_owned();
        let pair = |text| parse_where(text).map(|(key, value)| (bare(key), bare(value)));
        let fields = fields.split(" and ").filter(|text| !text.is_empty());
        Ok(Self {
            line: line.to_owned(),
            limit: limit.parse().map_err(|e: GoalError| e.to_string())?,
            wheres: fields.map(pair).collect::<Result<_, _>>()?,
        })
    }

    /// Returns whether the claim covers a case, by its fields and by the kind and channel of its label. `fields` names
    /// the values of [`Case::by`].
    fn covers(&self, case: &Case, fields: &[String]) -> bool {
        let truth = case.truth.as_ref();
        let span = truth.and_then(|of| of.first_loop().or(of.spans.first()));
        let channel = span.map(|of| of.channel);
        let channel = channel.or_else(|| truth?.channels.first().copied());
        self.wheres.iter().all(|(key, value)| {
            let has = match key.as_str() {
                "kind" => span.and_then(|of| of.kind).map(Kind::name),
                "channel" => channel.map(Channel::name),
                _ => {
                    let at = fields.iter().position(|field| field == key);
                    at.and_then(|at| case.by[at].as_deref())
                }
            };
            has == Some(value.as_str())
        })
    }

    fn verdict_on(&self, interval: Option<Interval>) -> ClaimVerdict {
        match interval.map(|of| (self.limit.admits(of.lo), self.limit.admits(of.hi))) {
            Some((true, true)) => ClaimVerdict::Held,
            Some((false, false)) => ClaimVerdict::Refuted,
            _ => ClaimVerdict::Open,
        }
    }

    /// Returns the number of further labels that would decide the claim if all counts grew in proportion. `None` if a
    /// hundred times as many labels would not.
    fn missing_labels(&self, tally: &Tally, cache: &mut PoissonCache) -> Option<u64> {
        let metric = self.limit.metric;
        let (k, n) = metric.counts(tally)?;
        let clean = metric.is_wrong_rate().then(|| tally.clean());
        let labels = clean.unwrap_or(n);
        let mut more = (1..10_000).map(|nth| nth * (labels / 100).max(1));
        more.find(|more| {
            let grown = |count| count * (labels + more) / labels.max(1);
            let interval = metric.interval_of(grown(k), grown(n), cache);
            self.verdict_on(interval) != ClaimVerdict::Open
        })
    }

    fn judge(&self, tally: &Tally) -> JudgedClaim {
        let cache = &mut PoissonCache::default();
        let interval = self.limit.metric.interval(tally, cache);
        let verdict = self.verdict_on(interval);
        let open = verdict == ClaimVerdict::Open;
        JudgedClaim {
            claim: self.line.clone(),
            value: self.limit.metric.value(tally, &Stakes::default()),
            lo: interval.map(|of| of.lo),
            hi: interval.map(|of| of.hi),
            verdict,
            more: open.then(|| self.missing_labels(tally, cache)).flatten(),
        }
    }
}

/// A claim with its measured value and verdict.
#[derive(Serialize)]
pub struct JudgedClaim {
    /// The text of the claim.
    pub claim: String,
    /// The verdict.
    pub verdict: ClaimVerdict,
    /// The estimated value. `None` if there is nothing to count.
    pub value: Option<f64>,
    /// The lower end of the 95 % interval, which is Wilson for a share and exact Poisson for a rate.
    pub lo: Option<f64>,
    /// The upper end of the interval.
    pub hi: Option<f64>,
    /// The number of further labels that would decide an open claim at the same rates: loops for a share of loops, else
    /// clean transcripts. `None` if a hundred times as many would not.
    pub more: Option<u64>,
}

/// Reads a file of claims, one a line, such as `ended>=0.9` or `fa_per_mchar<=1 where lang = "zh"`. `#` begins a
/// comment.
///
/// # Errors
/// Returns an error if the file cannot be read or holds no claim, or if a line is not a claim about a share or a rate
/// of wrong alarms.
pub(super) fn read_claims(path: &Path) -> RunResult<Vec<GuardClaim>> {
    let file = path.display();
    let text =
        std::fs::read_to_string(path).map_err(|e| Code::Usage.error(format!("{file}: {e}")))?;
    let mut claims = Vec::new();
    for (at, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let bad = |what: String| Code::Usage.error(format!("{file}:{}: {what}", at + 1));
        let claim = GuardClaim::parse(line).map_err(bad)?;
        if claim.limit.metric.counts(&Tally::default()).is_none() {
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

/// Replays settings over a corpus, and judges the claims. A claim is in the unit of its rate, or otherwise in that of
/// the labels.
///
/// # Errors
/// Returns an error if the corpus is incomplete, a program does not start, or the host stops the replay.
pub(super) fn judge_claims(
    claims: &[GuardClaim],
    settings: &Settings,
    corpus: &Path,
    host: &dyn Host,
) -> RunResult<Vec<JudgedClaim>> {
    let mut plan = Plan::default();
    let cell = plan.add_settings(settings);
    let wheres = claims.iter().flat_map(|claim| &claim.wheres);
    let fields: Vec<String> = wheres.map(|(key, _)| key.clone()).collect();
    let wanted = SurveyRequest {
        by: &fields,
        ..SurveyRequest::all(corpus, host)
    };
    let (surveyed, records) = replay_in_memory(wanted, &plan, false, None)?;
    let evidence = Evidence::new(&plan, &surveyed.cases, &records)?;
    let labels = units(&surveyed.cases).first().copied();
    let judged = claims.iter().map(|claim| {
        let rate = Unit::ALL
            .into_iter()
            .find(|unit| wrong_rate(*unit) == claim.limit.metric);
        let judge = JudgeOptions {
            unit: rate.or(labels).unwrap_or_default(),
            ..JudgeOptions::default()
        };
        let mut pick = evidence.all();
        pick.retain(|at| claim.covers(&surveyed.cases[*at], &fields));
        claim.judge(&evidence.tally(cell, &pick, &judge))
    });
    Ok(judged.collect())
}
