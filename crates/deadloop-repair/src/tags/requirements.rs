//! [`ActionRequirements`]: checks required fields and forbidden control text of actions.

use crate::meaning::Action;
use crate::registry::get_texts;
use deadloop_detect::Value;
use deadloop_detect::harness::Params;

/// The name of the field whose value may also be the text outside of all fields.
const CONTENT_FIELD: &str = "content";
/// The name of an action's number in `need`.
pub(super) const NUMBER_FIELD: &str = "number";

/// The requirements on actions in a setting.
#[derive(Clone, Debug)]
pub(super) struct ActionRequirements {
    /// The required fields of each action that has any.
    fields: Vec<(String, Vec<String>)>,
    /// The markers of control text.
    control: Vec<String>,
}

impl ActionRequirements {
    pub(super) fn new(params: &Params) -> Self {
        Self {
            fields: required_fields(params),
            control: get_texts(params, "control"),
        }
    }

    /// Returns whether an action has the required fields and no control text. `tagged` content has a tag, which may be
    /// a misnamed field, so it is not accepted as the field `content`.
    pub(super) fn are_met_by(&self, action: &Action, tagged: bool, work: &mut u64) -> bool {
        let needed = self.fields.iter().find(|(name, _)| *name == action.name);
        let mut needed = needed.iter().flat_map(|(_, fields)| fields);
        needed.all(|field| has_field(action, field, tagged)) && !self.has_control_mark(action, work)
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

fn has_field(action: &Action, field: &str, tagged: bool) -> bool {
    let mut fields = action.fields.iter();
    fields.any(|(name, value)| name == field && !value.is_empty())
        || (field == NUMBER_FIELD && action.number.is_some())
        || (field == CONTENT_FIELD && !action.content.is_empty() && !tagged)
}

/// Returns the parameter `need`: names of actions, each with the names of its required fields.
pub(super) fn required_fields(params: &Params) -> Vec<(String, Vec<String>)> {
    let Some(Value::Table(table)) = params.get("need") else {
        return Vec::new();
    };
    let names = |value: &Value| match value {
        Value::List(items) => items.iter().map(name_from_value).collect(),
        other => vec![name_from_value(other)],
    };
    let row = |(action, value): (&String, &Value)| (action.clone(), names(value));
    table.iter().map(row).collect()
}

/// Returns a name. A value that is no text becomes the empty name, which no field has.
fn name_from_value(value: &Value) -> String {
    value.as_text().unwrap_or_default().to_owned()
}
