//! JSON Schemas (draft 2020-12) of settings, grids and transcripts.
//!
//! The parameters of detectors come from the registry. `deadloop generate` writes the schemas for editors.
//!
//! | to find | look in |
//! |---|---|
//! | settings and grids | `settings` |
//! | one parameter | `params` |
//! | a transcript and its labels | `transcript` |

use serde_json::{Map, Value as Json};

use crate::failure::RunResult;

mod params;
mod settings;
mod transcript;

/// A kind of file with its schema.
pub struct FileSchema {
    /// The name of the kind.
    pub name: &'static str,
    title: &'static str,
    body: fn() -> RunResult<Map<String, Json>>,
}

/// Every kind of file.
pub static SCHEMAS: [FileSchema; 3] = [
    FileSchema {
        name: "settings",
        title: "deadloop settings",
        body: settings::settings,
    },
    FileSchema {
        name: "grid",
        title: "deadloop grid",
        body: settings::grid,
    },
    FileSchema {
        name: "transcript",
        title: "deadloop transcript",
        body: || Ok(transcript::transcript()),
    },
];

impl FileSchema {
    /// Returns the schema.
    ///
    /// # Errors
    /// Returns an error if the presets that ship with a detector cannot be read.
    pub fn schema(&self) -> RunResult<Json> {
        let mut schema = Map::new();
        let draft = "https://json-schema.org/draft/2020-12/schema";
        schema.insert("$schema".into(), draft.into());
        schema.insert("title".into(), self.title.into());
        schema.extend((self.body)()?);
        Ok(Json::Object(schema))
    }
}

/// Returns the object in a value of `json!`.
fn object(value: Json) -> Map<String, Json> {
    match value {
        Json::Object(object) => object,
        _ => Map::new(),
    }
}
