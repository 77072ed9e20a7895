//! The first look at what a request names: the transcripts that are meant, and what is known of them before a replay.

use deadloop_corpus::Entry;
use deadloop_replay::Plan;
use deadloop_score::{Case, PackedCases, PackedRecords};

use crate::failure::RunResult;
use crate::kept::Kept;
use crate::notice::noticed;
use crate::own_limits::{self, OwnLimits};
use crate::programs::Errors;
use crate::request::Request;
use crate::survey::{Surveyed, Wanted, drop_sealed, open, survey_into};

/// Surveys the selected transcripts, applies the prices, and returns each run's own limit on turns; for parts, their
/// records too.
pub(crate) fn find(request: &Request<'_>, plan: &Plan) -> RunResult<Found> {
    let (mut surveyed, limits, known) = match request.parts.as_deref() {
        None => look_further(request).map(|(s, limits)| (s, limits, None))?,
        Some(parts) => parts
            .look(request, plan)
            .map(|(s, said)| (s, Vec::new(), Some(said)))?,
    };
    if let Some(kinds) = noticed(&surveyed.cases, plan) {
        surveyed.cases.alter(|case| case.notice(&kinds));
    }
    if let Some(prices) = &request.judging.prices {
        surveyed.cases.alter(|case| case.price(prices));
    }
    Ok((surveyed, OwnLimits::of(&limits), known))
}

/// What [`find`] returns.
pub(crate) type Found = (
    Surveyed<PackedCases>,
    OwnLimits,
    Option<(PackedRecords, Errors)>,
);

/// The transcripts that are meant, without those that are sealed.
pub fn look(request: &Request<'_>) -> RunResult<Surveyed> {
    look_further(request).map(|(surveyed, _)| surveyed)
}

/// The same, and the limit on turns that each had.
fn look_further<C: Kept>(request: &Request<'_>) -> RunResult<(Surveyed<C>, Vec<Option<u32>>)> {
    let wanted = Wanted {
        path: request.corpus,
        selection: request.selection()?,
        by: request.by,
        entry: None,
        host: request.host,
    };
    let look = |entry: &Entry, _: &Case| own_limits::of(entry);
    let (mut surveyed, limits) = survey_into(open(request.corpus)?, wanted, look)?;
    let limits = drop_sealed(&mut surveyed, limits, request.sealed);
    Ok((surveyed, limits))
}
