//! Faults as the truth of a run: those that some detector of it names count, on every other an alarm is false.

use std::collections::BTreeSet;
use std::sync::Arc;

use deadloop_detect::Kind;
use deadloop_replay::Plan;
use deadloop_score::{Case, Class};

/// Makes labels of class `fault` the truth for the detectors of a plan.
pub fn notice(cases: &mut [Case], plan: &Plan) {
    if !cases.iter().any(|case| case.class() == Some(Class::Fault)) {
        return;
    }
    let models: BTreeSet<Arc<str>> = cases.iter().map(|case| case.model.clone()).collect();
    let guards = plan.blocks().iter().flat_map(|block| {
        let guards = models.iter().map(|model| block.guard(model));
        guards.collect::<Vec<_>>()
    });
    let members = guards.flat_map(|guard| &guard.members);
    let kinds = members.flat_map(|member| member.detector.notices());
    let mut kinds: Vec<Kind> = kinds.copied().map(Kind::Fault).collect();
    kinds.sort_unstable();
    kinds.dedup();
    cases.iter_mut().for_each(|case| case.notice(&kinds));
}
