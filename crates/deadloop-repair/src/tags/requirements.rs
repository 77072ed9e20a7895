//! Checks the required fields and the forbidden control text of actions.

use crate::meaning::Action;
use crate::registry::list;
use deadloop_detect::Value;
use deadloop_detect::harness::Params;

/// The field whose value may also be the text outside of all fields.
const CONTENT_FIELD: &str = "content";
/// The name of an action's number in `need`.
pub(super) const NUMBER_FIELD: &str = "number";

/// The requirements of a setting.
#[derive(Clone, Debug)]
pub(super) struct ActionRequirements {
    /// The required fields of each action that has any.
    fields: Vec<(String, Vec<String>)>,
    control: Vec<String>,
}

impl ActionRequirements {
    pub(super) fn new(params: &Params) -> Self {
        Self {
            fields: required_fields(params),
            control: list(params, "control"),
        }
    }

    /// Returns whether an action has the required fields and no control text. With `tagged`, its content has a tag,
    /// which may be a misnamed field, so the content does not count as the field `content`.
    pub(super) fn hold(&self, action: &Action, tagged: bool, work: &mut u64) -> bool {
        let needed = self.fields.iter().find(|(name, _)| *name == action.name);
        let mut needed = needed.iter().flat_map(|(_, fields)| fields);
        needed.all(|field| has(action, field, tagged)) && !self.has_control_mark(action, work)
    }

    fn has_control_mark(&self, action: &Action, work: &mut u64) -> bool {
        let values = action.fields.iter().map(|(_, value)| value);
        let mut texts = values.chain([&action.content]);
        texts.any(|text| {
            *work += text.len() as u64;
            self.control.iter().any(|mark| text.contains(mark.as_str()))
        })
    }
}

fn has(action: &Action, field: &str, tagged: bool) -> bool {
    let mut fields = action.fields.iter();
    fields.any(|(name, value)| name == field && !value.is_empty())
        || (field == NUMBER_FIELD && action.number.is_some())
        || (field == CONTENT_FIELD && !action.content.is_empty() && !tagged)
}

/// Returns the parameter `need`: names of actions, each with the names of its fields.
pub(super) fn required_fields(params: &Params) -> Vec<(String, Vec<String>)> {
    let Some(Value::Table(table)) = params.get("need") else {
        return Vec::new();
    };
    let names = |value: &Value| match value {
        Value::List(items) => items.iter().map(name).collect(),
        other => vec![name(other)],
    };
    let row = |(action, value): (&String, &Value)| (action.clone(), names(value));
    table.iter().map(row).collect()
}

/// Returns a name. A value of another type becomes the empty name, which no field has.
fn name(value: &Value) -> String {
    value.as_text().unwrap_or_default().to_owned()
}
