//! What a spec may not ask for: names of nothing, keys without meaning for a kind, and keys that are
//! impossible together.

use std::collections::BTreeSet;

use super::fields::{Bounds, Fields, SpecError};
use super::items::ITEM;
use super::keys::Key;
use super::spec::{Loop, Spec};
use crate::plant::PlantKind;

impl Spec {
    /// Refuses what no transcript could satisfy.
    pub(super) fn possible(
        &self,
        table: &Fields,
        l: &Loop,
        langs: &[String],
    ) -> Result<(), SpecError> {
        let refuse = |key: &str, what: String, expected: &str| {
            Err(SpecError::at(table.line_of(key), what, expected))
        };
        room(table, &l.onsets, l.period, "chars")?;
        ends(table, l.transient, l.after)?;
        if let Some(name) = &l.unit {
            named(table, "unit", name, self.units.iter().map(|u| &u.name))?;
            let of = |lang: &&String| !self.units.iter().any(|u| u.is(name, lang));
            if let Some(lang) = langs.iter().find(of) {
                return refuse(
                    "unit",
                    format!("unit {name} has no texts in {lang}"),
                    "a [[unit]] of that name and language",
                );
            }
        }
        let near = l.kind == PlantKind::NearRepeat;
        let fills = l.drift.as_ref().is_some_and(|drift| drift.fills() && near);
        let named = || {
            langs
                .iter()
                .filter_map(|lang| self.units(l.unit.as_deref()?, lang))
        };
        if !fills && named().any(|unit| unit.texts.iter().any(|text| text.contains("{}"))) {
            let expected = "near-repeat with drift fill or counter, or texts without {}";
            return refuse(
                "unit",
                format!("{} of texts with {{}} in them", l.kind),
                expected,
            );
        }
        match &l.drift {
            None if near => {
                return refuse(
                    "kind",
                    "near-repeat without drift".into(),
                    "drift = { kind = … }: how the copies differ",
                );
            }
            None if l.lead.high > 0 => {
                return refuse(
                    "lead",
                    "lead without drift".into(),
                    "drift = { kind = … }: how those copies differ",
                );
            }
            Some(_) if !near && l.lead.low == 0 => {
                let what = format!("{} whose copies differ", l.kind);
                return refuse(
                    "drift",
                    what,
                    "kind = \"near-repeat\", or lead of 1 and more: copies that drift before exact ones",
                );
            }
            Some(drift) => drift.possible(table, l, self, langs)?,
            None => {}
        }
        if l.nested.is_some_and(|times| times.high + 1 > l.period.high) {
            return refuse(
                "nested",
                format!(
                    "{} times a unit in {} chars",
                    l.nested.map_or(0, |n| n.high),
                    l.period
                ),
                "a longer period",
            );
        }
        Ok(())
    }
}

/// The first copy must fit before every onset.
pub(super) fn room(
    table: &Fields,
    onsets: &[Bounds],
    period: Bounds,
    unit: &str,
) -> Result<(), SpecError> {
    match onsets.iter().find(|onset| onset.high < period.low) {
        None => Ok(()),
        Some(onset) => {
            let what = format!("onset {onset} leaves no room for a first copy of {period} {unit}");
            let expected = format!("an onset of at least {} {unit}", period.low);
            Err(SpecError::at(table.line_of("onset"), what, expected))
        }
    }
}

/// A loop that the model escaped from has something after it.
pub(super) fn ends(table: &Fields, transient: bool, after: Bounds) -> Result<(), SpecError> {
    if transient && after.low == 0 {
        let what = "class = \"transient\" without an end";
        return Err(SpecError::at(
            table.line_of("class"),
            what,
            "after of 1 and more",
        ));
    }
    Ok(())
}

/// Where `name` stands among `names`.
pub(super) fn named<'a>(
    table: &Fields,
    key: &str,
    name: &str,
    mut names: impl Iterator<Item = &'a String> + Clone,
) -> Result<usize, SpecError> {
    let all: BTreeSet<&str> = names.clone().map(String::as_str).collect();
    names.position(|other| other == name).ok_or_else(|| {
        let known: Vec<&str> = all.into_iter().collect();
        let expected = if known.is_empty() {
            "a table of that name".to_owned()
        } else {
            format!("one of {}", known.join(", "))
        };
        SpecError::at(
            table.line_of(key),
            format!("{key} {name}: there is none"),
            expected,
        )
    })
}

/// Refuses keys that the kind does not have.
pub(super) fn allowed(table: &Fields, kind: &str) -> Result<(), SpecError> {
    let has = |key: &&Key| key.kinds.is_empty() || key.kinds.contains(&kind);
    let known: Vec<&str> = ITEM.iter().filter(has).map(|key| key.name).collect();
    let without = table.given().filter(|name| !known.contains(name));
    match without.min_by_key(|name| table.line_of(name)) {
        None => Ok(()),
        Some(name) => {
            let what = format!("{name} has no meaning for kind {kind}");
            let expected = format!("one of {}", known.join(", "));
            Err(SpecError::at(table.line_of(name), what, expected))
        }
    }
}
