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

use deadloop_corpus::synth::{forms_schema, spec_schema};
use serde_json::{Map, Value as Json};

use crate::failure::RunResult;

mod cases;
mod dataset;
mod grids;
mod params;
mod results;
mod settings;
mod transcript;

pub(crate) use results::tables;
pub use results::{column_kind, in_words};

/// A kind of file with its schema.
pub struct FileSchema {
    /// What the kind is called.
    pub name: &'static str,
    /// What such a file is.
    pub about: &'static str,
    title: &'static str,
    body: fn() -> RunResult<Map<String, Json>>,
}

/// Every kind of file.
pub static SCHEMAS: [FileSchema; 11] = [
    FileSchema {
        name: "settings",
        about: "What production loads, and --settings takes",
        title: "deadloop settings",
        body: settings::settings,
    },
    FileSchema {
        name: "grid",
        about: "What tune and sweep search",
        title: "deadloop grid",
        body: settings::grid,
    },
    FileSchema {
        name: "spec",
        about: "What synth makes a corpus from",
        title: "deadloop synth spec",
        body: || Ok(spec_schema()),
    },
    FileSchema {
        name: "forms",
        about: "Hard negatives that a spec names",
        title: "deadloop forms",
        body: || Ok(forms_schema()),
    },
    FileSchema {
        name: "transcript",
        about: "One line of a corpus",
        title: "deadloop transcript",
        body: || Ok(transcript::transcript()),
    },
    FileSchema {
        name: "dataset",
        about: "dataset.toml, the card of a corpus",
        title: "deadloop dataset card",
        body: || Ok(dataset::card()),
    },
    FileSchema {
        name: "repairers",
        about: "What repair searches, and watch --repair takes",
        title: "deadloop repairers",
        body: grids::repairers,
    },
    FileSchema {
        name: "budgets",
        about: "What budget sweeps",
        title: "deadloop budgets",
        body: || Ok(grids::budgets()),
    },
    FileSchema {
        name: "cases",
        about: "What check-cases runs",
        title: "deadloop cases",
        body: cases::cases,
    },
    FileSchema {
        name: "presets",
        about: "Parameters under names, beside their detector",
        title: "deadloop presets",
        body: || Ok(cases::presets()),
    },
    FileSchema {
        name: "results",
        about: "The columns of every table that a command leaves; without --json as text",
        title: "deadloop results",
        body: || Ok(results::results()),
    },
];

impl FileSchema {
    /// Its schema.
    ///
    /// # Errors
    /// The presets that ship with a detector cannot be read.
    pub fn schema(&self) -> RunResult<Json> {
        let mut schema = Map::new();
        let draft = "https://json-schema.org/draft/2020-12/schema";
        schema.insert("$schema".into(), draft.into());
        schema.insert("title".into(), self.title.into());
        schema.extend((self.body)()?);
        Ok(Json::Object(schema))
    }
}

/// The schemas of all kinds, under their names.
///
/// # Errors
/// As [`FileSchema::schema`].
pub fn all_schemas() -> RunResult<Json> {
    let one = |of: &FileSchema| Ok((of.name.to_owned(), of.schema()?));
    let all: Map<String, Json> = SCHEMAS.iter().map(one).collect::<RunResult<_>>()?;
    Ok(Json::Object(all))
}

/// The object that `json!` made.
fn object(value: Json) -> Map<String, Json> {
    match value {
        Json::Object(object) => object,
        _ => Map::new(),
    }
}
