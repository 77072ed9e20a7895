//! What an action must have, and must not.

use crate::params::Params;
use crate::repair::meaning::Action;
use crate::repair::registry::list;
use crate::value::Value;

/// The field that what stands in no field may stand for.
const CONTENT: &str = "content";
/// The number of an action, among its fields.
pub(super) const NUMBER: &str = "number";

/// The demands of a setting.
#[derive(Clone, Debug)]
pub(super) struct Needs {
    /// The fields of each action that has to have some.
    fields: Vec<(String, Vec<String>)>,
    control: Vec<String>,
}

impl Needs {
    pub(super) fn new(params: &Params) -> Self {
        Self {
            fields: fields(params),
            control: list(params, "control"),
        }
    }

    /// Whether an action has what it needs, and no control text. `tagged`: there is a tag in its content,
    /// which may be a field under another name.
    pub(super) fn hold(&self, action: &Action, tagged: bool, work: &mut u64) -> bool {
        let needed = self.fields.iter().find(|(name, _)| *name == action.name);
        let mut needed = needed.iter().flat_map(|(_, fields)| fields);
        needed.all(|field| has(action, field, tagged)) && !self.controlled(action, work)
    }

    fn controlled(&self, action: &Action, work: &mut u64) -> bool {
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
        || (field == NUMBER && action.number.is_some())
        || (field == CONTENT && !action.content.is_empty() && !tagged)
}

/// `need`: names of actions, and of the fields of each.
pub(super) fn fields(params: &Params) -> Vec<(String, Vec<String>)> {
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

/// What is no text is the name of nothing.
fn name(value: &Value) -> String {
    value.as_text().unwrap_or_default().to_owned()
}
