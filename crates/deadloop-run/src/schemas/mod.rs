//! JSON Schemas (draft 2020-12) of settings, grids and transcripts.
//!
//! The parameters of detectors come from the registry, all other words from the `.json` files here. `deadloop generate`
//! writes the schemas for editors.
//!
//! | to find | look in |
//! |---|---|
//! | guards of settings and grids | `guard` |
//! | one parameter | `params` |

use deadloop_corpus::EVENT_TYPES;
use deadloop_detect::{Channel, Fault, Kind, Lang};
use deadloop_score::Class;
use serde_json::{Map, Value as Json, json};

use crate::failure::{Code, RunResult};

mod guard;
mod params;

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
        build_body: settings_schema,
    },
    FileSchema {
        name: "grid",
        title: "deadloop grid",
        build_body: grid_schema,
    },
    FileSchema {
        name: "transcript",
        title: "deadloop transcript",
        build_body: transcript_schema,
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

/// Returns the schema of settings files.
fn settings_schema() -> RunResult<Map<String, Json>> {
    let lang = json!(Lang::NAMES);
    let places = [
        ("/properties/messages/properties/lang/enum", lang),
        ("/$defs", json!({"guard": guard::guard_schema(false)?})),
    ];
    fill_template(include_str!("settings.json"), places)
}

/// Returns the schema of grids, which `tune` and `sweep` search.
fn grid_schema() -> RunResult<Map<String, Json>> {
    let guards = json!({"guard": guard::guard_schema(true)?});
    fill_template(include_str!("grid.json"), [("/$defs", guards)])
}

/// Returns the schema of a transcript, which is one line of a corpus. Unknown fields are kept, and null counts as absent.
fn transcript_schema() -> RunResult<Map<String, Json>> {
    let channels = [Channel::Reasoning, Channel::Answer, Channel::Tools];
    let channels = channels.map(Channel::name).into_iter().map(Some);
    let kinds = Kind::NAMES.into_iter().chain(Fault::NAMES).map(Some);
    let or_null = |words: Vec<Option<&str>>| json!(words);
    let places = [
        (
            "/properties/events/items/properties/type/enum",
            json!(EVENT_TYPES),
        ),
        (
            "/properties/labels/items/properties/class/enum",
            json!(Class::NAMES),
        ),
        (
            "/properties/labels/items/properties/kind/enum",
            or_null(kinds.chain([None]).collect()),
        ),
        (
            "/properties/labels/items/properties/channel/enum",
            or_null(channels.chain([None]).collect()),
        ),
    ];
    fill_template(include_str!("transcript.json"), places)
}

/// Fills a template, with each value at its JSON pointer.
fn fill_template<'p>(
    template: &str,
    places: impl IntoIterator<Item = (&'p str, Json)>,
) -> RunResult<Map<String, Json>> {
    let unexpected = |e: serde_json::Error| Code::Unexpected.error(e);
    let mut schema: Json = serde_json::from_str(template).map_err(unexpected)?;
    for (pointer, value) in places {
        if let Some(place) = schema.pointer_mut(pointer) {
            *place = value;
        }
    }
    serde_json::from_value(schema).map_err(unexpected)
}
