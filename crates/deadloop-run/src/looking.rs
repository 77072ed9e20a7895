//! The first look at what a request names: the transcripts that are meant, and what is known of them before a replay.

use deadloop_corpus::Entry;
use deadloop_score::Case;
use serde::de::DeserializeOwned;

use crate::failure::RunResult;
use crate::findings::Refuses;
use crate::kept::Kept;
use crate::request::Request;
use crate::survey::{Surveyed, Wanted, drop_sealed, open, survey_into};

/// What is known of a corpus before a subject is asked: the transcripts that are meant, in the order of the corpus; what a
/// look at each gave, where its text was read here; for parts, what the subject said of each.
pub(crate) struct Seen<C, T, S> {
    pub(crate) surveyed: Surveyed<C>,
    pub(crate) looks: Vec<T>,
    pub(crate) known: Option<Vec<Option<S>>>,
}

/// Surveys the transcripts that are meant. `fingerprint`: that of the subject, which parts have to be of.
pub(crate) fn find<C: Kept, T: Send, S: DeserializeOwned>(
    request: &Request<'_>,
    fingerprint: &str,
    refuses: Refuses<'_>,
    look: impl Fn(&Entry, &Case) -> T + Sync,
) -> RunResult<Seen<C, T, S>> {
    match request.parts.as_deref() {
        None => {
            let (surveyed, looks) = look_further(request, refuses, look)?;
            Ok(Seen {
                surveyed,
                looks,
                known: None,
            })
        }
        Some(parts) => {
            let (surveyed, known) = parts.look(request, fingerprint)?;
            Ok(Seen {
                surveyed,
                looks: Vec::new(),
                known: Some(known),
            })
        }
    }
}

/// The transcripts that are meant, without those that are sealed.
pub fn look(request: &Request<'_>) -> RunResult<Surveyed> {
    look_further(request, &|_| None, |_, _| ()).map(|(surveyed, _)| surveyed)
}

/// The same, and what a look at each gave.
fn look_further<C: Kept, T: Send>(
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
