//! What speaks against shipping a choice: its held-out rate, too little clean text, what it is worth.

use super::most;
use crate::data::{ALL_MODELS, ReportData};
use crate::numbers::{decimal, percent};
use deadloop_score::power::Claim;

/// A choice that is worth less than what there is without it.
pub(super) struct Worth {
    /// What it is worth, and what is worth more.
    pub(super) told: String,
    /// What to do instead.
    pub(super) instead: &'static str,
}

/// Why the choice cannot be relied on yet: the held-out rate is over the limit, or too little text could have shown
/// that it is below.
pub(super) fn doubts(data: &ReportData) -> Vec<String> {
    let mut choices = data.choices.iter();
    let pooled = choices.find(|choice| choice.model == ALL_MODELS);
    let Some((shown, limit)) = data.shipped.as_ref().or(pooled).zip(data.run.limit) else {
        return Vec::new();
    };
    let mut sentences = Vec::new();
    if let Some(rate) = shown.fa.value.filter(|rate| *rate > limit) {
        sentences.push(format!(
            "Held out it makes {} false alarms per million clean chars, more than the {limit} that {} allowed.",
            decimal(Some(rate)),
            if limit == 1.0 { "is" } else { "are" },
        ));
    }
    if pooled.is_some_and(|choice| choice.thin) {
        let chars = most(data, |score| score.exposure) as f64 / 1e6;
        let mchar = |chars: Option<u64>| decimal(chars.map(|chars| chars as f64 / 1e6));
        let claim = Claim::Rate(limit);
        if let Some(least) = claim.need(0).filter(|least| *least as f64 > chars * 1e6) {
            sentences.push(format!(
                "The choice is thin: {} million clean chars are too few to show a rate of at most {limit}, which takes {} million without a false alarm, {} with one; the estimate decided.",
                decimal(Some(chars)),
                mchar(Some(least)),
                mchar(claim.need(1)),
            ));
        }
    }
    sentences
}

/// That the choice is worth less than no detector, or than the setting in use, at the price that the run was given.
pub(super) fn worth(data: &ReportData, pooled: usize) -> Option<Worth> {
    let (pi, lambda) = data.run.worth?;
    let utility = |at: usize| data.score(at, ALL_MODELS)?.utility;
    let chosen = utility(pooled)?;
    let current = data.current().filter(|at| *at != pooled).and_then(utility);
    let (than, instead) = match current.filter(|current| *current > chosen) {
        None if chosen >= 0.0 => return None,
        None => (
            "no detector is better, with 0".to_owned(),
            "run without a detector at this price",
        ),
        Some(current) if current < 0.0 => (
            format!(
                "the setting in use is better, with {}, and no detector better still, with 0",
                decimal(Some(current))
            ),
            "run without a detector at this price",
        ),
        Some(current) => (
            format!(
                "the setting in use is better, with {}",
                decimal(Some(current))
            ),
            "keep the setting in use at this price",
        ),
    };
    let told = format!(
        "At a lambda of {lambda}, and a share of {} of production that loops, its utility in-sample is {}: {than}.",
        percent(Some(pi)),
        decimal(Some(chosen))
    );
    Some(Worth { told, instead })
}
