//! The recommended guards and default grids that deadloop ships.
//!
//! They are the defaults when the user names no settings or grid. `tune`, its simulations and embedding programs all
//! read them here, so that they search the same grids.

use deadloop_detect::harness::{DETECTORS, Detector, InvalidValue, Member, Params, Preset};
use deadloop_detect::{
    RECOMMENDED, RECOMMENDED_AGENTS, Response, Setting, Settings, SettingsError, Unit,
};

use crate::Grid;

/// The grids around the recommended guards. Each combines several detectors, so it is in no detector's folder.
const RECOMMENDED_GRIDS: &[&str] = &[
    include_str!("recommended.toml"),
    include_str!("recommended-others.toml"),
];
const AGENT_GRIDS: &[&str] = &[include_str!("recommended-agents.toml")];

/// Returns the text of the recommended guards for alarms counted in `unit`. The guards for runs include the guards for
/// text.
pub fn recommended(unit: Unit) -> String {
    match unit {
        Unit::Chars => RECOMMENDED.into(),
        _ => format!("{RECOMMENDED}\n{RECOMMENDED_AGENTS}"),
    }
}

/// The members of a guard that a new choice may replace. All other members are kept.
///
/// For example, a timeout chosen on silent streams must not replace the guard against loops.
#[derive(Clone, Copy, Debug)]
pub struct Scope {
    unit: Unit,
    loops: bool,
    faults: bool,
}

impl Scope {
    /// Returns the scope of a choice in `unit` among the settings of `grids`. It covers detectors of loops, of faults,
    /// or both, as the grids do.
    pub fn new(grids: &[Grid], unit: Unit) -> Self {
        let members = || grids.iter().flat_map(|grid| &grid.members);
        Self {
            unit,
            loops: members().any(|m| !detects_faults(m.base.detector)),
            faults: members().any(|m| detects_faults(m.base.detector)),
        }
    }

    /// Returns whether the scope contains `member`.
    pub fn has(self, member: &Member) -> bool {
        let covered = if detects_faults(member.detector) {
            self.faults
        } else {
            self.loops
        };
        covered && is_eligible(member, self.unit)
    }
}

fn detects_faults(detector: &Detector) -> bool {
    !detector.faults.is_empty()
}

/// Returns whether a choice in `unit` may include a setting with this member. The member must end streams and count in
/// that unit.
fn is_eligible(member: &Member, unit: Unit) -> bool {
    // Calls and turns are both units of a run, so either fits the other.
    let fits = |of: Unit| (of == Unit::Chars) == (unit == Unit::Chars);
    member.response.level() == Response::Stop && member.unit().is_none_or(fits)
}

/// Returns the grids that `tune` searches by default, with their text: those of stopping detectors with the unit
/// `unit`.
///
/// The grids around the recommended guards come first, then those of their detectors.
///
/// # Errors
/// Returns an error if a shipped file is invalid. A test reads them all.
pub fn default_grids(unit: Unit) -> Result<(Vec<Grid>, String), SettingsError> {
    let recommended = Settings::parse(&recommended(unit))?;
    let members = &recommended.guard().members;
    let is_part = |d: &&Detector| members.iter().any(|m| *m.detector == **d);
    let searched = || DETECTORS.iter().copied().filter(|d| is_searched(d, unit));
    let first = searched().filter(is_part);
    let others = searched().filter(|d| !is_part(d));
    let around = match unit {
        Unit::Chars => RECOMMENDED_GRIDS,
        _ => AGENT_GRIDS,
    };
    let grids = first.chain(others).map(|detector| detector.grid);
    let texts: Vec<&str> = around.iter().copied().chain(grids).collect();
    let grids = texts.iter().map(|text| Grid::parse(text));
    Ok((grids.collect::<Result<_, _>>()?, texts.join("\n")))
}

/// Returns whether `tune` searches a detector by default for alarms counted in `unit`. It searches detectors of faults
/// only if the user names them.
fn is_searched(detector: &'static Detector, unit: Unit) -> bool {
    let member = Member::new(detector, Params::defaults(detector.params));
    member.unit().is_some() && is_eligible(&member, unit) && !detects_faults(detector)
}

/// Returns the presets of all detectors as settings, each with its name.
///
/// # Errors
/// Returns an error if a shipped file is invalid. A test reads them all.
pub fn all_presets() -> Result<Vec<(String, Setting)>, InvalidValue> {
    let mut all = Vec::new();
    for detector in DETECTORS.iter().copied() {
        for preset in detector.presets()? {
            all.push((preset.name.clone(), make_setting(detector, &preset)));
        }
    }
    Ok(all)
}

fn make_setting(detector: &'static Detector, preset: &Preset) -> Setting {
    let mut params = Params::defaults(detector.params);
    preset
        .params
        .iter()
        .for_each(|(name, value)| params.set(name, value.clone()));
    Setting {
        members: vec![Member::new(detector, params)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadloop_detect::harness::{Measurement, ParamRole};
    use std::collections::BTreeSet;

    /// Checks that each stopping detector of loops is searched by default, in its unit.
    #[test]
    fn no_detector_is_left_out_of_the_default_search() {
        for detector in DETECTORS.iter().copied() {
            let unit = match detector.measure {
                Measurement::Program(_) => continue,
                Measurement::Text(_) => Unit::Chars,
                Measurement::Run(channel, _) => channel.unit(),
            };
            let (grids, _) = default_grids(unit).unwrap();
            let mut members = grids.iter().flat_map(|grid| &grid.members);
            let is_there = members.any(|member| *member.base.detector == *detector);
            assert_eq!(
                is_there,
                detector.response == Response::Stop && detector.faults.is_empty(),
                "{}",
                detector.name
            );
        }
    }

    /// Checks that a grid of timeouts chooses only timeouts, the default grids choose only guards of loops, and a grid
    /// with both chooses both.
    #[test]
    fn a_choice_is_made_among_what_its_grids_look_for() {
        let stall = "[[guard]]\ndetector = \"stall\"\n";
        let both = format!("{RECOMMENDED}\n{stall}");
        let settings = Settings::parse(&both).unwrap();
        let chosen = |grids: &[Grid]| -> Vec<&str> {
            let scope = Scope::new(grids, Unit::Chars);
            let members = settings.guard().members.iter().filter(|m| scope.has(m));
            members.map(|m| m.detector.name).collect()
        };
        let timeouts = Grid::parse(stall).unwrap();
        assert_eq!(chosen(&[timeouts]), ["stall"]);
        let (default, _) = default_grids(Unit::Chars).unwrap();
        assert_eq!(chosen(&default), ["periodic"; 7]);
        let all = [Grid::parse(&both).unwrap()];
        let (last, loops) = (chosen(&all).pop(), chosen(&all).len());
        assert_eq!((last, loops), (Some("stall"), 8));
    }

    /// Checks that each threshold of the recommended guard is searched below and above its value.
    #[test]
    fn thresholds_of_the_recommended_guard_have_neighbours() {
        let grids = RECOMMENDED_GRIDS.iter().map(|g| Grid::parse(g).unwrap());
        let grids: Vec<Grid> = grids.collect();
        let settings = Settings::parse(RECOMMENDED).unwrap();
        let mut searched = BTreeSet::new();
        for (nth, member) in settings.guard().members.iter().enumerate() {
            let lists = grids.iter().flat_map(|grid| &grid.members[nth].values);
            for (param, values) in lists {
                let ParamRole::Threshold(threshold) = param.mark else {
                    continue;
                };
                let here = threshold.number(member.params.get(param.name).unwrap());
                let sides = values.iter().map(|v| threshold.number(v).cmp(&here));
                assert_eq!(sides.collect::<BTreeSet<_>>().len(), 3, "{}", param.name);
                searched.insert((nth, param.name));
            }
        }
        assert_eq!(searched.len(), 12, "{searched:?}");
    }

    /// Checks the order: the grids around the recommended guard, its detector, and the others as registered.
    #[test]
    fn the_default_grids_of_text_stand_in_their_order() {
        let (grids, _) = default_grids(Unit::Chars).unwrap();
        let first = grids.iter().map(|grid| grid.members[0].base.detector.name);
        let names: Vec<&str> = first.collect();
        assert_eq!(names[..3], ["periodic"; 3]);
        let place = |name: &&str| DETECTORS.iter().position(|d| d.name == *name);
        assert!(names[3..].is_sorted_by_key(place), "{names:?}");
    }
}
