//! The lookup of one transcript of a corpus by its id.

use deadloop_corpus::Entry;
use deadloop_detect::harness::did_you_mean;
use deadloop_score::Case;

use crate::corpus::survey::{CorpusSurvey, list_problems};
use crate::failure::{Code, Failure, RunResult};
use crate::host::Host;
use crate::visible::visible;

/// The maximum number of ids to list when the requested one is unknown.
const MAX_IDS: usize = 10;

impl CorpusSurvey {
    /// Returns the transcript requested by [`SurveyRequest::entry`](crate::SurveyRequest::entry), and its case. If
    /// `skips`, the problems of the corpus are only counted.
    ///
    /// # Errors
    /// Returns an error if no transcript has this id, its labels are bad, or the corpus is not whole and `skips` is
    /// false.
    pub fn one(&self, id: &str, skips: bool, host: &dyn Host) -> RunResult<(&Entry, &Case)> {
        if !skips && !self.problems.is_empty() {
            return Err(Code::Usage.error(list_problems(&self.problems)));
        }
        if !self.problems.is_empty() {
            host.notify(&format!("{} problems skipped", self.problems.len()));
        }
        let case = self.cases.iter().find(|case| *case.id == *id);
        match (self.entry.as_deref(), case) {
            (Some(entry), Some(case)) => Ok((entry, case)),
            // Its labels are bad, so it was left out.
            (Some(_), None) => Err(Code::Usage.error(list_problems(&self.problems))),
            (None, _) => Err(self.unknown_transcript(id)),
        }
    }

    fn unknown_transcript(&self, id: &str) -> Failure {
        let wanted = id.to_lowercase();
        let ids = || self.cases.iter().map(|case| &*case.id);
        let near: Vec<&str> = ids()
            .filter(|id| id.to_lowercase().contains(&wanted))
            .collect();
        let what = match near.len() {
            0 => format!(
                "none contains that; the {} of the corpus look like",
                self.cases.len()
            ),
            1 => "1 contains that".into(),
            n => format!("{n} contain that"),
        };
        let told = if near.is_empty() {
            ids().take(3).collect()
        } else {
            near
        };
        let mut told: Vec<String> = told.into_iter().take(MAX_IDS + 1).map(visible).collect();
        if told.len() > MAX_IDS {
            told[MAX_IDS] = "…".into();
        }
        let meant = did_you_mean(id, ids());
        let id = visible(id);
        Code::NothingSelected.error(format!(
            "no transcript is called {id}{meant}; {what}: {}",
            told.join(", ")
        ))
    }
}
