//! The first look at what a request names: the transcripts that are meant.

use deadloop_corpus::Entry;
use deadloop_score::Case;

use crate::failure::RunResult;
use crate::findings::Refuses;
use crate::kept::Kept;
use crate::request::Request;
use crate::survey::{Surveyed, Wanted, drop_sealed, open, survey_into};

/// The transcripts that are meant, without those that are sealed.
pub fn look(request: &Request<'_>) -> RunResult<Surveyed> {
    look_further(request, &|_| None, |_, _| ()).map(|(surveyed, _)| surveyed)
}

/// The same, and what a look at each gave.
pub(crate) fn look_further<C: Kept, T: Send>(
    request: &Request<'_>,
    refuses: Refuses<'_>,
    look: impl Fn(&Entry, &Case) -> T + Sync,
) -> RunResult<(Surveyed<C>, Vec<T>)> {
    let wanted = Wanted {
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
