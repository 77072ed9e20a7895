//! Replays a plan in memory, without a result folder.

use std::num::NonZeroU64;

use deadloop_replay::{Job, Plan, PlanGuards, Record, RunError, run};

use crate::corpus::survey::{CorpusSurvey, SurveyRequest, survey};
use crate::failure::{Code, RunResult};
use crate::host::watched;
use crate::replay::programs;
use crate::replay::subject_run::run_failure;

/// Replays a plan over the selected transcripts of a corpus. If `skips`, bad lines are left out.
pub(crate) fn replay_in_memory(
    wanted: SurveyRequest<'_>,
    plan: &Plan,
    skips: bool,
    chunks: Option<NonZeroU64>,
) -> RunResult<(CorpusSurvey, Vec<Record>)> {
    let host = wanted.host;
    let programs = &programs::start_programs(plan, host)?;
    let surveyed = survey(wanted)?;
    surveyed.accept(skips, host)?;
    let job = Job {
        corpus: &surveyed.corpus,
        ids: &surveyed.places,
        subject: &PlanGuards {
            plan,
            programs,
            chunks,
        },
    };
    let ran = watched(host, "replaying", |watch| run(&job, None, watch));
    let ran = ran.map_err(|error| match error {
        // There is no journal to resume from.
        RunError::Interrupted { .. } => Code::Interrupted.because(error),
        error => run_failure(error),
    })?;
    programs::notify_errors(&ran.records, host);
    Ok((surveyed, ran.records))
}
