//! Uses fault labels as the truth for detectors that notice faults.
//!
//! A fault label counts if a detector of the plan notices its kind. On any other fault an alarm is wrong.

use std::collections::BTreeSet;
use std::sync::Arc;

use deadloop_detect::{Kind, ModelTask};
use deadloop_replay::Plan;
use deadloop_score::{Case, CaseSet, Class};

/// Makes labels of class `fault` the truth for the detectors of a plan.
pub(crate) fn apply_noticed_faults(cases: &mut [Case], plan: &Plan) {
    if let Some(kinds) = noticed_faults(&*cases, plan) {
        cases.iter_mut().for_each(|case| case.notice(&kinds));
    }
}

/// Returns the kinds of faults that a plan's detectors notice. `None` if no case is labelled as a fault.
pub(crate) fn noticed_faults(cases: &(impl CaseSet + ?Sized), plan: &Plan) -> Option<Vec<Kind>> {
    if !cases.any(|case| case.class() == Some(Class::Fault)) {
        return None;
    }
    let mut model_tasks: BTreeSet<(Arc<str>, Option<Arc<str>>)> = BTreeSet::new();
    cases.each(|_, case| {
        model_tasks.insert((case.model.clone(), case.task.clone()));
    });
    let guards = plan.blocks().iter().flat_map(|block| {
        let guards = model_tasks.iter().map(|(model, task)| {
            let task = task.as_deref().unwrap_or("");
            block.guard(ModelTask { model, task })
        });
        guards.collect::<Vec<_>>()
    });
    let members = guards.flat_map(|guard| &guard.members);
    let kinds = members.flat_map(|member| member.detector.faults);
    let mut kinds: Vec<Kind> = kinds.copied().map(Kind::Fault).collect();
    kinds.sort_unstable();
    kinds.dedup();
    Some(kinds)
}
