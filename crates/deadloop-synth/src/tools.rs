//! Calls of the tools of a spec.

use serde_json::Value as Json;

use super::spec::Tool;
use crate::planted_loops::Rng;

impl Tool {
    /// Draws arguments for a call of the tool.
    pub(super) fn draw_arguments(&self, rng: &mut Rng) -> Json {
        let arguments = self.arguments.iter().flat_map(|all| &all.0);
        let drawn = arguments.map(|(name, values)| {
            let value = rng.choose(values).cloned();
            (name.clone(), value.unwrap_or_default())
        });
        Json::Object(drawn.collect())
    }

    /// Draws a result of the tool.
    pub(super) fn draw_result(&self, rng: &mut Rng) -> String {
        let drawn = match &self.results {
            Some(all) => rng.choose(all).map(ToString::to_string),
            None => rng.choose(&["ok"]).map(ToString::to_string),
        };
        drawn.unwrap_or_default()
    }
}
