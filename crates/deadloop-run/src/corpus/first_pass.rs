//! The first pass over the selected transcripts of a request.

use deadloop_corpus::Entry;
use deadloop_score::Case;

use crate::corpus::case_store::CaseStore;
use crate::corpus::findings::Refuses;
use crate::corpus::survey::{SurveyRequest, Surveyed, drop_sealed, open, survey_into};
use crate::failure::RunResult;
use crate::replay::request::Request;

/// Surveys the selected transcripts, except sealed ones.
pub fn look(request: &Request<'_>) -> RunResult<Surveyed> {
    look_further(request, &|_| None, |_, _| ()).map(|(surveyed, _)| surveyed)
}

/// Surveys the selected transcripts, and also returns the result of `look` for each.
pub(crate) fn look_further<C: CaseStore, T: Send>(
    request: &Request<'_>,
    refuses: Refuses<'_>,
    look: impl Fn(&Entry, &Case) -> T + Sync,
) -> RunResult<(Surveyed<C>, Vec<T>)> {
    let wanted = SurveyRequest {
        path: request.corpus,
        selection: request.selection()?,
        by: request.by,
        entry: None,
        host: request.host,
    };
    let (mut surveyed, looks) = survey_into(open(request.corpus)?, wanted, refuses, look)?;
    let looks = drop_sealed(&mut surveyed, looks, request.sealed);
    Ok((surveyed, looks))
}
