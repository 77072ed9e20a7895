//! Short names of settings: the name of a known guard, and the differences from it.

use super::ALL_MODELS;
use std::sync::LazyLock;

use deadloop_score::choose::{ParamChange, changes, described};
use deadloop_score::replay::detect::Setting;
use deadloop_score::replay::detect::harness::{DETECTORS, Member, Params};
use deadloop_score::replay::shipped::all_presets;

/// A guard that short names refer to.
#[derive(Debug, Clone)]
pub struct NamedGuard {
    /// Its name. Empty for the guard in use.
    pub name: String,
    /// Its members.
    pub guard: Setting,
}

/// The presets, and every detector with its defaults.
static SHIPPED: LazyLock<Vec<NamedGuard>> = LazyLock::new(|| {
    let defaults = DETECTORS.iter().map(|detector| {
        let members = vec![Member::new(detector, Params::defaults(detector.params))];
        (detector.name.to_owned(), Setting { members })
    });
    let presets = all_presets().unwrap_or_default();
    let all = defaults.chain(presets);
    all.map(|(name, guard)| NamedGuard { name, guard })
        .collect()
});

/// Returns the short name of a setting: its differences from the guard in use, or the nearest named guard, preset or
/// detector with its defaults, and the differences from it.
pub fn short_name(own: &Setting, named: &[NamedGuard]) -> String {
    let (name, mut changes) = nearest_guard(own, named);
    // The command line of a program is no parameter to choose.
    if changes.iter().any(|change| change.param == "params") {
        changes.retain(|change| change.param != "command");
    }
    let several = own.members.len() > 1 || changes.iter().any(|one| one.guard != changes[0].guard);
    let differs = join_changes(&changes, several);
    match (name.as_str(), differs.as_str()) {
        ("", "") => "as in use".to_owned(),
        ("", differs) => differs.to_owned(),
        (name, "") => name.to_owned(),
        (name, differs) => format!("{name} with {differs}"),
    }
}

/// Returns the name of the known guard that is nearest to a setting, and the differences from it.
pub(super) fn nearest_guard(own: &Setting, named: &[NamedGuard]) -> (String, Vec<ParamChange>) {
    let detectors = |setting: &Setting| setting.members.iter().map(|m| m.detector.name).collect();
    let family: Vec<&str> = detectors(own);
    let shipped = SHIPPED
        .iter()
        .filter(|base| detectors(&base.guard) == family)
        .map(|base| (&base.name, read_by(&base.guard, own)));
    let named = named.iter().map(|base| (&base.name, base.guard.clone()));
    let all = named.chain(shipped);
    let all = all.map(|(name, base)| (name.clone(), changes(ALL_MODELS, &base, own)));
    // Without a known guard of these detectors, the whole setting differs.
    let nothing = Setting::default();
    all.min_by_key(|(_, changes)| changes.len())
        .unwrap_or_else(|| (String::new(), changes(ALL_MODELS, &nothing, own)))
}

/// Returns a shipped guard that reads the channels of `own`.
fn read_by(base: &Setting, own: &Setting) -> Setting {
    let mut base = base.clone();
    for (member, own) in base.members.iter_mut().zip(&own.members) {
        member.channel = own.channel;
    }
    base
}

/// Joins changes: `periodic: 4 copies of the unit in a row, without periodic-2`. With `several` members each is named.
fn join_changes(changes: &[ParamChange], several: bool) -> String {
    let part = |(last, change): (&str, &ParamChange)| {
        let lead = if several && last != change.guard {
            format!("{}: ", change.guard)
        } else {
            String::new()
        };
        let to = change.to.as_deref().map_or("–".into(), brief);
        match (change.param.as_str(), change.param()) {
            ("detector", _) if change.to.is_none() => format!("without {}", change.guard),
            ("detector", _) => format!("added {}", change.guard),
            ("params", _) => lead + to.trim_matches(['{', '}']),
            (_, Some(param)) => lead + &described(param, &to),
            (_, None) => format!("{lead}reads {to}"),
        }
    };
    let before = std::iter::once("").chain(changes.iter().map(|change| change.guard.as_str()));
    let parts: Vec<String> = before.zip(changes).map(part).collect();
    parts.join(", ")
}

/// The longest value in a name, in chars.
const LONGEST: usize = 60;

/// Shortens a value for a name. Several rows of a list are shortened to their values: `50/180/5 500/250/3`.
pub fn brief(value: &str) -> String {
    let rows = value.matches('{').count();
    let mut text = value.trim_matches('"').to_owned();
    if rows > 0 {
        text.retain(|c| !c.is_whitespace());
        text = text.trim_matches(['[', ']']).to_owned();
    }
    if rows > 1 {
        let row = |row: &str| -> String {
            let values = row.trim_matches(['{', '}']).split(',');
            let values = values.map(|pair| pair.split_once('=').map_or(pair, |(_, value)| value));
            values.collect::<Vec<_>>().join("/")
        };
        text = text.split("},").map(row).collect::<Vec<_>>().join(" ");
    }
    match text.char_indices().nth(LONGEST) {
        None => text,
        Some((at, _)) => format!("{}…", &text[..at]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadloop_score::replay::detect::Settings;

    fn guard(text: &str) -> Setting {
        Settings::parse(text).unwrap().guard().clone()
    }

    fn periodic(params: &str) -> String {
        format!("[[guard]]\ndetector = \"periodic\"\n[guard.params]\n{params}\n")
    }

    #[test]
    fn a_name_says_all_that_differs_from_the_nearest_guard_and_no_default() {
        let two = periodic("min_copies = 3") + &periodic("min_copies = 5\nmin_chars = 900");
        let named = [
            ("", two.clone()),
            ("ours", periodic("max_period = 77\nmin_single = 9")),
        ];
        let named = named.map(|(name, text)| NamedGuard {
            name: name.into(),
            guard: guard(&text),
        });
        let name = |text: &str| short_name(&guard(text), &named);
        assert_eq!(name(&two), "as in use");
        let other = two.replace("900", "800");
        assert_eq!(
            name(&other),
            "periodic-2: length of all copies together = 800 chars"
        );
        assert_eq!(
            name(&periodic("max_period = 77\nmin_single = 8")),
            "ours with 8 chars of copies without a letter or number"
        );
        assert_eq!(name(&periodic("")), "periodic", "the defaults");
        let many = "min_copies = 7\nmax_period = 9\nmin_chars = 30\nmin_bare = 1\nmin_form = 2\nmin_single = 4";
        let name = name(&periodic(many));
        assert_eq!(name.split(", ").count(), 6, "{name}");
        let novelty =
            "[[guard]]\ndetector = \"novelty\"\n[guard.params]\nhold = 49\nstride = 250\n";
        let alone = short_name(&guard(novelty), &[]);
        assert_eq!(
            alone, "novelty with 49 samples in a row that must show it",
            "a stride of 250 is its default"
        );
    }

    #[test]
    fn a_value_is_short_and_its_own() {
        assert_eq!(brief("[2000, 3000]"), "[2000, 3000]");
        assert_eq!(brief("\"lists\""), "lists");
        assert_eq!(
            brief("[{ max_period = 50, min_copies = 5 }]"),
            "{max_period=50,min_copies=5}"
        );
        assert_eq!(brief("[{ max_period = 50, n = 5 }, { n = 2 }]"), "50/5 2");
        assert_eq!(brief(&"x".repeat(70)), format!("{}…", "x".repeat(60)));
    }
}
