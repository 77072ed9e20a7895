//! Limits on turns that no run could meet, because the limit of its own (`meta.max_turns`) had ended it before.

use deadloop_corpus::Entry;
use deadloop_detect::{Member, Settings};

use crate::show;

/// The limit that a recording says it had, turns.
pub(crate) fn of(entry: &Entry) -> Option<u64> {
    entry.transcript.meta.get("max_turns")?.as_u64()
}

/// What is to be said of settings whose limits are above those of the recordings; `own`: of each of them.
pub(crate) fn remarks(settings: &Settings, own: &[Option<u64>]) -> Vec<String> {
    let others = settings.overrides().map(|(_, setting)| setting);
    let settings = std::iter::once(settings.guard()).chain(others);
    let members = settings.flat_map(|setting| &setting.members);
    let mut told = Vec::new();
    for (name, limit) in members.filter_map(limit) {
        let above = own.iter().flatten().filter(|own| limit > **own).count() as u64;
        let line = format!(
            "{name}: its limit of {} is above the recording's own (meta.max_turns) in {}, where it can never be met",
            show::several(limit, "turn"),
            show::several(above, "run")
        );
        if above > 0 && !told.contains(&line) {
            told.push(line);
        }
    }
    told
}

/// The limit on turns that a guard has, and which.
fn limit(member: &Member) -> Option<(&'static str, u64)> {
    let name = member.detector.name;
    match name {
        "iterations" if member.params.text("unit") == "turns" => {
            Some((name, member.params.count("limit")))
        }
        "loom" => Some((name, member.params.count("max_iterations"))),
        _ => None,
    }
}
