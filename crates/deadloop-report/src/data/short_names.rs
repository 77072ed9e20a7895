//! Short names of settings, made of the name of a known guard and the differences from it.

use super::ALL_MODELS;
use std::sync::LazyLock;

use deadloop_score::choose::{ParamChange, changes, describe_value};
use deadloop_score::replay::detect::Setting;
use deadloop_score::replay::detect::harness::{DETECTORS, Member, Params};
use deadloop_score::replay::shipped::all_presets;

/// A guard that the short names of settings refer to.
#[derive(Debug, Clone)]
pub struct NamedGuard {
    /// The name of the guard. Empty for the guard in use.
    pub name: String,
    /// The members of the guard.
    pub guard: Setting,
}

/// The presets, and every detector with its defaults.
static SHIPPED_GUARDS: LazyLock<Vec<NamedGuard>> = LazyLock::new(|| {
    let defaults = DETECTORS.iter().map(|detector| {
        let members = vec![Member::new(detector, Params::defaults(detector.params))];
        (detector.name.to_owned(), Setting { members })
    });
    let presets = all_presets().unwrap_or_default();
    let all = defaults.chain(presets);
    all.map(|(name, guard)| NamedGuard { name, guard })
        .collect()
});

/// Returns the short name of a setting: its differences from the known guard that gives the fewest words.
///
/// Known guards are `named`, the presets, and every detector with its defaults.
pub fn short_name(own: &Setting, named: &[NamedGuard]) -> String {
    let (name, changes) = nearest_guard(own, named);
    format_name(own, &name, &changes)
}

/// Formats the short name of a setting from the name of a known guard and the differences from it.
fn format_name(own: &Setting, name: &str, changes: &[ParamChange]) -> String {
    // The command line of a program is no parameter to choose.
    let has_params = changes.iter().any(|change| change.param == "params");
    let shown = |change: &&ParamChange| !has_params || change.param != "command";
    let changes: Vec<&ParamChange> = changes.iter().filter(shown).collect();
    let several = own.members.len() > 1 || changes.iter().any(|one| one.guard != changes[0].guard);
    let differs = join_changes(&changes, several);
    match (name, differs.as_str()) {
        ("", "") => "as in use".to_owned(),
        ("", differs) => differs.to_owned(),
        (name, "") => name.to_owned(),
        (name, differs) => format!("{name} with {differs}"),
    }
}

/// Returns the name of the known guard with the shortest list of differences from a setting, and this list.
pub(super) fn nearest_guard(own: &Setting, named: &[NamedGuard]) -> (String, Vec<ParamChange>) {
    let detectors = |setting: &Setting| setting.members.iter().map(|m| m.detector.name).collect();
    let family: Vec<&str> = detectors(own);
    let shipped = SHIPPED_GUARDS
        .iter()
        .filter(|base| detectors(&base.guard) == family)
        .map(|base| (&base.name, with_channels_of(&base.guard, own)));
    let named = named.iter().map(|base| (&base.name, base.guard.clone()));
    let all = named.chain(shipped);
    let all = all.map(|(name, base)| (name.clone(), changes(ALL_MODELS, &base, own)));
    // Without a known guard of these detectors, the whole setting differs.
    let nothing = Setting::default();
    all.min_by_key(|(name, changes)| format_name(own, name, changes).split(' ').count())
        .unwrap_or_else(|| (String::new(), changes(ALL_MODELS, &nothing, own)))
}

/// Returns a shipped guard whose members read the channels of the members of `own`.
fn with_channels_of(base: &Setting, own: &Setting) -> Setting {
    let mut base = base.clone();
    for (member, own) in base.members.iter_mut().zip(&own.members) {
        member.channel = own.channel;
    }
    base
}

/// Joins the descriptions of changes, such as `periodic: 4 copies in a row; without periodic-2`.
///
/// If the setting has `several` members, each of them is named. An equal change of several members is one: `periodic +
/// periodic-2: 4 copies in a row`.
fn join_changes(changes: &[&ParamChange], several: bool) -> String {
    let mut parts: Vec<(Vec<&str>, String)> = Vec::new();
    for change in changes {
        let to = change.to.as_deref().map_or("–".into(), brief);
        let is_guard = change.param == "detector";
        let text = match (change.param.as_str(), change.param()) {
            _ if is_guard && change.to.is_none() => format!("without {}", change.guard),
            _ if is_guard => format!("added {}", change.guard),
            ("params", _) => to.trim_matches(['{', '}']).to_owned(),
            (_, Some(param)) => describe_value(param, &to),
            (_, None) => format!("reads {to}"),
        };
        let own = (several && !is_guard).then_some(change.guard.as_str());
        match parts.iter_mut().find(|(_, known)| *known == text) {
            Some((members, _)) => members.extend(own),
            None => parts.push((own.into_iter().collect(), text)),
        }
    }
    parts.sort_by(|(a, _), (b, _)| a.cmp(b));
    let of_members = parts.chunk_by(|(a, _), (b, _)| a == b).map(|parts| {
        let texts: Vec<&str> = parts.iter().map(|(_, text)| text.as_str()).collect();
        match parts[0].0.join(" + ") {
            none if none.is_empty() => texts.join(", "),
            members => format!("{members}: {}", texts.join(", ")),
        }
    });
    of_members.collect::<Vec<String>>().join("; ")
}

/// The maximum length of a value in a short name, in chars.
const MAX_VALUE_CHARS: usize = 60;

/// Shortens a value for a short name. A list of several rows is shortened to their values, such as `50/180/5
/// 500/250/3`.
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
    match text.char_indices().nth(MAX_VALUE_CHARS) {
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
        let both = two.replace("detector", "channel = \"answer\"\ndetector");
        assert_eq!(name(&both), "periodic + periodic-2: reads answer");
        let other = two.replace("900", "800");
        assert_eq!(name(&other), "periodic-2: 800 chars in all copies");
        assert_eq!(
            name(&periodic("max_period = 77\nmin_single = 8")),
            "ours with 8 chars without a letter or number"
        );
        assert_eq!(name(&periodic("")), "periodic", "the defaults");
        let many = "min_copies = 7\nmax_period = 9\nmin_chars = 30\nmin_bare = 1\nmin_form = 2\nmin_single = 4";
        let name = name(&periodic(many));
        assert_eq!(name.split(", ").count(), 6, "{name}");
        let novelty =
            "[[guard]]\ndetector = \"novelty\"\n[guard.params]\nhold = 49\nstride = 250\n";
        let alone = short_name(&guard(novelty), &[]);
        assert_eq!(
            alone, "novelty with 49 samples in a row",
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
