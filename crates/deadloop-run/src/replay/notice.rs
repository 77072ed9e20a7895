//! Fault labels as the truth of a run.
//!
//! A fault counts if some detector of the plan names its kind. On any other fault an alarm is wrong.

use std::collections::BTreeSet;
use std::sync::Arc;

use deadloop_detect::{Kind, ModelTask};
use deadloop_replay::Plan;
use deadloop_score::{Case, CaseSet, Class};

/// Makes labels of class `fault` the truth for the detectors of a plan.
pub(crate) fn notice(cases: &mut [Case], plan: &Plan) {
    if let Some(kinds) = noticed_faults(&*cases, plan) {
        cases.iter_mut().for_each(|case| case.notice(&kinds));
    }
}

/// Returns the kinds of faults that a plan's detectors notice. `None` if no label is of a fault.
pub(crate) fn noticed_faults(cases: &(impl CaseSet + ?Sized), plan: &Plan) -> Option<Vec<Kind>> {
    if !cases.any(|case| case.class() == Some(Class::Fault)) {
        return None;
    }
    let mut works: BTreeSet<(Arc<str>, Option<Arc<str>>)> = BTreeSet::new();
    cases.each(|_, case| {
        works.insert((case.model.clone(), case.task.clone()));
    });
    let guards = plan.blocks().iter().flat_map(|block| {
        let guards = works.iter().map(|(model, task)| {
            let task = task.as_deref().unwrap_or("");
            block.guard(ModelTask { model, task })
        });
        guards.collect::<Vec<_>>()
    });
    let members = guards.flat_map(|guard| &guard.members);
    let kinds = members.flat_map(|member| member.detector.notices);
    let mut kinds: Vec<Kind> = kinds.copied().map(Kind::Fault).collect();
    kinds.sort_unstable();
    kinds.dedup();
    Some(kinds)
}
