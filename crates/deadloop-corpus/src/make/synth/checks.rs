//! What a spec may not ask for: names of nothing, keys without meaning for a kind, and keys that are
//! impossible together.

use std::collections::BTreeSet;

use super::drift::Drift;
use super::fields::{Bounds, Fields, SpecError};
use super::items::ITEM;
use super::keys::Key;
use super::spec::{CorpusSpec, Loop};
use crate::make::plant::PlantKind;

impl CorpusSpec {
    /// Refuses what no transcript could satisfy.
    pub(super) fn possible(
        &self,
        table: &Fields,
        l: &Loop,
        langs: &[String],
    ) -> Result<(), SpecError> {
        room(table, &l.onsets, l.period, "chars")?;
        ends(table, l.transient, l.after)?;
        self.unit_possible(table, l, langs)?;
        self.drift_possible(table, l, langs)?;
        match l.nested {
            Some(times) if times.high + 1 > l.period.high => Err(SpecError::at(
                table.line_of("nested"),
                format!("{} times a unit in {} chars", times.high, l.period),
                "a longer period",
            )),
            _ => Ok(()),
        }
    }

    /// Refuses a unit that there is not, or whose texts have places that nothing fills.
    fn unit_possible(&self, table: &Fields, l: &Loop, langs: &[String]) -> Result<(), SpecError> {
        let Some(name) = &l.unit else {
            return Ok(());
        };
        let refuse = |what, expected| Err(SpecError::at(table.line_of("unit"), what, expected));
        named(table, "unit", name, self.units.iter().map(|u| &u.name))?;
        let without = |lang: &&String| !self.units.iter().any(|u| u.is(name, lang));
        if let Some(lang) = langs.iter().find(without) {
            return refuse(
                format!("unit {name} has no texts in {lang}"),
                "a [[unit]] of that name and language",
            );
        }
        let fills = l.kind == PlantKind::NearRepeat && l.drift.as_ref().is_some_and(Drift::fills);
        let mut units = langs.iter().filter_map(|lang| self.units(name, lang));
        if !fills && units.any(|unit| unit.texts.iter().any(|text| text.contains("{}"))) {
            return refuse(
                format!("{} of texts with {{}} in them", l.kind),
                "near-repeat with drift fill, draw or counter, or texts without {}",
            );
        }
        Ok(())
    }

    /// Refuses copies that should differ and do not say how, or say how and should not differ.
    fn drift_possible(&self, table: &Fields, l: &Loop, langs: &[String]) -> Result<(), SpecError> {
        let near = l.kind == PlantKind::NearRepeat;
        let refuse =
            |key, what: String, expected| Err(SpecError::at(table.line_of(key), what, expected));
        match &l.drift {
            None if near => refuse(
                "kind",
                "near-repeat without drift".into(),
                "drift = { kind = … }: how the copies differ",
            ),
            None if l.lead.high > 0 => refuse(
                "lead",
                "lead without drift".into(),
                "drift = { kind = … }: how those copies differ",
            ),
            Some(_) if !near && l.lead.low == 0 => refuse(
                "drift",
                format!("{} whose copies differ", l.kind),
                "kind = \"near-repeat\", or lead of 1 and more: copies that drift before exact ones",
            ),
            Some(drift) => drift.possible(table, l, self, langs),
            None => Ok(()),
        }
    }
}

impl CorpusSpec {
    /// Refuses words of doubt that there are not.
    pub(super) fn doubt_possible(
        &self,
        line: usize,
        glue: Option<&str>,
        langs: &[String],
    ) -> Result<(), SpecError> {
        let known = |lang: &String| glue.and_then(|name| self.units(name, lang)).is_some();
        match langs.iter().find(|lang| !known(lang)) {
            None => Ok(()),
            Some(lang) => Err(SpecError::at(
                line,
                format!("no words of doubt in {lang}"),
                "glue: the name of a [[unit]] of that language",
            )),
        }
    }

    /// The words of doubt of a name in a language; empty if no unit of words is glued on.
    pub(super) fn doubt(&self, glue: Option<&str>, lang: &str) -> &[String] {
        let unit = glue.and_then(|name| self.units(name, lang));
        unit.map_or(&[], |unit| &unit.texts)
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
    let has = |key: &&Key| key.is_of(kind);
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
