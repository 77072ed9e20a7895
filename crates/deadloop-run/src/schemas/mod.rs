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
    /// The name of the kind, which also names the schema file.
    pub name: &'static str,
    title: &'static str,
    build_body: fn() -> RunResult<Map<String, Json>>,
}

/// The kinds of files that have a schema.
pub static SCHEMAS: [FileSchema; 3] = [
    FileSchema {
        name: "settings",
        title: "deadloop settings",
        build_body: settings::settings_schema,
    },
    FileSchema {
        name: "grid",
        title: "deadloop grid",
        build_body: settings::grid_schema,
    },
    FileSchema {
        name: "transcript",
        title: "deadloop transcript",
        build_body: || Ok(transcript::transcript_schema()),
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
        schema.extend((self.build_body)()?);
        Ok(Json::Object(schema))
    }
}

/// Returns the object in a value, or an empty one if the value is no object.
fn into_object(value: Json) -> Map<String, Json> {
    match value {
        Json::Object(object) => object,
        _ => Map::new(),
    }
}
