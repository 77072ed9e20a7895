//! How much of the data that a claim or a difference needs is in a corpus, in words.

use std::path::Path;

use deadloop_run::evidence::{Holding, Holdings};
use deadloop_run::{Wanted, survey};
use deadloop_score::power::Claim;
use serde_json::{Value, json};

use crate::args::{Global, Select};
use crate::exit::Outcome;
use crate::host::Terminal;
use crate::show;

/// Reads a corpus and counts its labels.
pub(super) fn held(corpus: &Path, select: &Select, global: Global) -> Outcome<Holdings> {
    let wanted = Wanted {
        path: corpus,
        selection: select.selection()?,
        by: &[],
        entry: None,
        host: &Terminal::of(global),
    };
    let found = survey(wanted)?;
    found.accept(select.skips(), &Terminal::silent())?;
    Ok(Holdings::of(&found.cases))
}

/// Whether this much data supports a claim, as a sentence and as JSON.
pub(super) fn of_claim(has: Holding, claim: Claim, things: &str, errors: &str) -> (String, Value) {
    let allowed = has.errors(claim);
    let missing = claim.need(0).map(|size| size.saturating_sub(has.size));
    let verdict = match (allowed, missing) {
        (Some(most), _) => format!("enough with at most {} {errors}", show::count(most)),
        (None, Some(more)) => format!("at least {} more are needed", show::count(more)),
        (None, None) => "no corpus is large enough".into(),
    };
    (
        sentence(has, things, &verdict),
        json!({"has": has.size, "groups": has.groups, "errors": allowed, "missing": missing}),
    )
}

/// Whether this much data shows a difference, which needs between `least` and `most` things, as a
/// sentence and as JSON.
pub(super) fn of_difference(
    has: Holding,
    [least, most]: [Option<u64>; 2],
    things: &str,
) -> (String, Value) {
    let missing = least.map(|size| size.saturating_sub(has.size));
    let verdict = match (missing, most) {
        (Some(0), Some(most)) if most <= has.size => "enough".to_owned(),
        (Some(0), _) => {
            "enough only if the new setting errs nowhere but where the old one does".to_owned()
        }
        (Some(more), _) => format!("at least {} more are needed", show::count(more)),
        (None, _) => "not enough".to_owned(),
    };
    (
        sentence(has, things, &verdict),
        json!({"has": has.size, "groups": has.groups, "missing": missing}),
    )
}

fn sentence(has: Holding, things: &str, verdict: &str) -> String {
    let groups = match has.groups {
        1 => "1 group".to_owned(),
        n => format!("{} groups", show::count(n as u64)),
    };
    format!(
        "The corpus has {} {things}, in {groups}: {verdict}.",
        show::count(has.size)
    )
}
