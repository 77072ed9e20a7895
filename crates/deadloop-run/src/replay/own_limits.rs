//! Warns about turn limits above the limit of the recording (`meta.max_turns`).

use deadloop_corpus::Entry;
use deadloop_detect::Settings;
use deadloop_detect::harness::Member;

use crate::words;

/// Returns the turn limit stated by a recording. It is a `u32`, since one is kept in memory for each transcript.
pub(crate) fn recorded_limit(entry: &Entry) -> Option<u32> {
    let limit = entry.transcript.meta.get("max_turns")?.as_u64()?;
    Some(u32::try_from(limit).unwrap_or(u32::MAX))
}

/// Returns remarks on turn limits of settings that are above those of the recordings.
pub(crate) fn limit_remarks(settings: &Settings, known: &[Option<u32>]) -> Vec<String> {
    let others = settings.overrides().map(|(_, setting)| setting);
    let settings = std::iter::once(settings.guard()).chain(others);
    let members = settings.flat_map(|setting| &setting.members);
    let mut remarks = Vec::new();
    for (name, limit) in members.filter_map(turn_limit) {
        let above = known
            .iter()
            .flatten()
            .filter(|own| u64::from(**own) < limit);
        let above = above.count() as u64;
        let line = format!(
            "{name}: its limit of {} is above the recording's own (meta.max_turns) in {}, where it can never be met",
            words::several(limit, "turn"),
            words::several(above, "run")
        );
        if above > 0 && !remarks.contains(&line) {
            remarks.push(line);
        }
    }
    remarks
}

/// Returns the turn limit of a member with the name of its detector. `None` if it has no such limit.
fn turn_limit(member: &Member) -> Option<(&'static str, u64)> {
    let name = member.detector.name;
    match name {
        "iterations" if member.params.text("unit") == "turns" => {
            Some((name, member.params.count("limit")))
        }
        "loom" => Some((name, member.params.count("max_iterations"))),
        _ => None,
    }
}
