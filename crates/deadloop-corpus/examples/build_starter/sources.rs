//! The hand-written sources, compiled in so that a build has no other input than the recordings.

use deadloop_corpus::plant::{Numbering, PlantKind, Planting, Rng};
use serde::Deserialize;

use crate::hard::Lang;
use crate::item::Bucket;

const PROSE_EN: &str = include_str!("../../../../datasets/sources/prose-en.txt");
const PROSE_ZH: &str = include_str!("../../../../datasets/sources/prose-zh.txt");
const LOOPS: &str = include_str!("../../../../datasets/sources/loops.toml");
const CORRECTIONS: &str = include_str!("../../../../datasets/sources/corrections.toml");

/// The paragraphs of a language.
pub(crate) fn prose(lang: Lang) -> Vec<&'static str> {
    let text = lang.choose(PROSE_EN, PROSE_ZH);
    text.split("\n\n")
        .map(str::trim)
        .filter(|text| !text.is_empty())
        .collect()
}

/// What may be repeated in one language, in one kind of loop.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Unit {
    pub(crate) lang: String,
    kind: String,
    pub(crate) texts: Vec<String>,
    #[serde(default)]
    fillers: Vec<String>,
}

impl Unit {
    pub(crate) fn kind(&self) -> Option<PlantKind> {
        PlantKind::ALL
            .into_iter()
            .find(|kind| kind.name() == self.kind)
    }

    /// A plan for the text at `at`, counted round.
    pub(crate) fn plan(
        &self,
        kind: PlantKind,
        at: usize,
        bucket: Bucket,
        rng: &mut Rng,
    ) -> Planting {
        let numberings = [Numbering::Dot, Numbering::Bracket, Numbering::Chinese];
        let styles = if self.lang == "zh" { 3 } else { 2 };
        Planting {
            kind,
            unit: self.texts[at % self.texts.len()].clone(),
            fillers: self.fillers.clone(),
            numbering: numberings[rng.below(styles)],
            first_number: 1,
            onset: bucket.onset(rng),
            copies: rng.between(4, 6),
            tail: rng.between(700, 2600),
        }
    }
}

/// All units.
pub(crate) fn loops() -> Result<Vec<Unit>, toml::de::Error> {
    #[derive(Deserialize)]
    struct File {
        unit: Vec<Unit>,
    }
    toml::from_str(LOOPS).map(|file: File| file.unit)
}

/// A label of a recording that was looked at and found wrong.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Correction {
    pub(crate) transcript: String,
    pub(crate) class: String,
    #[serde(default)]
    pub(crate) kind: String,
    pub(crate) channel: String,
    pub(crate) start: Option<u64>,
    pub(crate) onset: Option<u64>,
    pub(crate) earliest: Option<u64>,
    pub(crate) period: Option<u64>,
    pub(crate) note: String,
}

/// What `corrections.toml` says of the recordings.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Corrections {
    pub(crate) left_out: Vec<LeftOut>,
    pub(crate) correction: Vec<Correction>,
    pub(crate) doubted: Vec<Correction>,
}

/// A recording that says what others say, in another split.
#[derive(Deserialize)]
pub(crate) struct LeftOut {
    pub(crate) transcript: String,
}

/// All that is known of single recordings.
pub(crate) fn corrections() -> Result<Corrections, toml::de::Error> {
    toml::from_str(CORRECTIONS)
}
