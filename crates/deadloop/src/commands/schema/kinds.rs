//! JSON Schemas (draft 2020-12) of the files that people write. What a detector takes comes from the registry,
//! what a spec takes from the keys that read it; `deadloop schema` prints them, editors read them.
//!
//! | to find | look in |
//! |---|---|
//! | settings and grids | `settings` |
//! | grids of repairers and of budgets | `grids` |
//! | pinned cases and presets | `cases` |
//! | one parameter | `params` |
//! | a transcript and its labels | `transcript` |
//! | the tables that commands leave | `results` |
//! | the card of a corpus, and how its texts are split | `dataset` |

use clap::ValueEnum;
use deadloop_corpus::synth::{forms_schema, spec_schema};
use serde_json::{Map, Value as Json};

use crate::exit::Outcome;

use super::{cases, dataset, grids, results, settings, transcript};

/// A kind of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// What production loads, and --settings takes
    Settings,
    /// What tune and sweep search
    Grid,
    /// What synth makes a corpus from
    Spec,
    /// Hard negatives that a spec names
    Forms,
    /// One line of a corpus
    Transcript,
    /// dataset.toml, the card of a corpus
    Dataset,
    /// What repair searches, and watch --repair takes
    Repairers,
    /// What budget sweeps
    Budgets,
    /// What check-cases runs
    Cases,
    /// Parameters under names, beside their detector
    Presets,
    /// The columns of every table that a command leaves; without --json as text
    Results,
}

impl Kind {
    /// Its schema.
    pub(crate) fn schema(self) -> Outcome<Json> {
        let (title, body) = match self {
            Self::Settings => ("deadloop settings", settings::settings()?),
            Self::Grid => ("deadloop grid", settings::grid()?),
            Self::Spec => ("deadloop synth spec", spec_schema()),
            Self::Forms => ("deadloop forms", forms_schema()),
            Self::Transcript => ("deadloop transcript", transcript::transcript()),
            Self::Dataset => ("deadloop dataset card", dataset::card()),
            Self::Repairers => ("deadloop repairers", grids::repairers()?),
            Self::Budgets => ("deadloop budgets", grids::budgets()),
            Self::Cases => ("deadloop cases", cases::cases()?),
            Self::Presets => ("deadloop presets", cases::presets()),
            Self::Results => ("deadloop results", results::results()),
        };
        let mut schema = Map::new();
        let draft = "https://json-schema.org/draft/2020-12/schema";
        schema.insert("$schema".into(), draft.into());
        schema.insert("title".into(), title.into());
        schema.extend(body);
        Ok(Json::Object(schema))
    }
}

/// The object that `json!` made.
pub(super) fn object(value: Json) -> Map<String, Json> {
    match value {
        Json::Object(object) => object,
        _ => Map::new(),
    }
}
