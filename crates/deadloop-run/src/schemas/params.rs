//! The schema of a detector's parameter, from its registry entry.

use deadloop_detect::Value;
use deadloop_detect::harness::{Domain, Param, ParamRole};
use serde_json::{Map, Value as Json, json};

/// The maximum number of values in a grid for one parameter.
const MAX_GRID_VALUES: u64 = u16::MAX as u64;

/// Returns the schema of a TOML table of parameters, for a grid if `in_grid` or else for settings.
pub(super) fn params_table(params: &[Param], in_grid: bool) -> Json {
    let one = |param: &Param| {
        let schema = if in_grid {
            grid_values_schema(&param.domain)
        } else {
            value_schema(&param.domain)
        };
        (param.name.to_owned(), describe_param(param, schema))
    };
    let properties: Map<String, Json> = params.iter().map(one).collect();
    json!({"type": "object", "properties": properties, "additionalProperties": false})
}

/// Adds the description and the default to a schema, for editors.
fn describe_param(param: &Param, mut schema: Json) -> Json {
    let mark = match param.mark {
        ParamRole::Structural => "structural",
        ParamRole::Threshold(_) => "threshold",
    };
    let unit = match param.unit {
        "" => String::new(),
        unit => format!(", in {unit}"),
    };
    if let Some(schema) = schema.as_object_mut() {
        let default = serde_json::to_value(Value::from(param.default)).unwrap_or_default();
        let about = format!("{} ({mark}{unit})", param.doc);
        schema.insert("description".into(), about.into());
        schema.insert("default".into(), default);
    }
    schema
}

fn value_schema(domain: &Domain) -> Json {
    let text = json!({"type": "string", "minLength": 1});
    match *domain {
        Domain::Int { min, max } => whole_number(min, max),
        Domain::Float { min, max } => json!({"type": "number", "minimum": min, "maximum": max}),
        Domain::Word(words) => json!({"enum": words}),
        Domain::WordOrInt { words, min, max } => {
            json!({"anyOf": [{"enum": words}, whole_number(min, max)]})
        }
        Domain::Words(words) => {
            json!({"type": "array", "items": {"enum": words}, "uniqueItems": true})
        }
        Domain::Rising { min, max } => json!({
            "type": "array", "items": whole_number(min, max), "minItems": 1, "uniqueItems": true,
        }),
        Domain::CharSet => text,
        Domain::Regex => json!({"type": "string"}),
        Domain::Regexes => json!({"type": "array", "items": {"type": "string"}}),
        Domain::Flag => json!({"type": "boolean"}),
        Domain::Texts | Domain::Globs => json!({"type": "array", "items": text}),
        Domain::Rows(fields) => json!({"type": "array", "items": row_schema(fields)}),
        Domain::Program => json!({
            "type": "array", "prefixItems": [text], "items": {"type": "string"}, "minItems": 1,
        }),
        Domain::Free => json!({"type": "object"}),
    }
}

fn whole_number(min: i64, max: i64) -> Json {
    json!({"type": "integer", "minimum": min, "maximum": max})
}

fn row_schema(fields: &[&str]) -> Json {
    let number = |name: &&str| ((*name).to_owned(), whole_number(1, i64::from(u32::MAX)));
    let properties: Map<String, Json> = fields.iter().map(number).collect();
    json!({
        "type": "object", "properties": properties, "required": fields,
        "additionalProperties": false,
    })
}

/// Returns the schema of a parameter in a grid: a value, a list of values, or a range of numbers.
fn grid_values_schema(domain: &Domain) -> Json {
    let one = value_schema(domain);
    let list = json!({"type": "array", "items": one, "minItems": 1, "maxItems": MAX_GRID_VALUES});
    let mut ways = vec![one, list];
    match *domain {
        Domain::Int { min, max } | Domain::WordOrInt { min, max, .. } => {
            ways.extend(range_schemas(&whole_number(min, max), ("integer", 1)));
        }
        Domain::Float { .. } => ways.extend(range_schemas(&value_schema(domain), ("number", 0))),
        _ => {}
    }
    json!({"anyOf": ways})
}

/// Returns the schemas of the ranges `{ from, to, step }` and `{ from, to, factor }`. `least` is the smallest step. If
/// it is 0, any step above 0 is valid.
fn range_schemas(from: &Json, (kind, least): (&str, u64)) -> [Json; 2] {
    let step = match least {
        0 => json!({"type": kind, "exclusiveMinimum": 0}),
        least => json!({"type": kind, "minimum": least}),
    };
    let above = json!({"allOf": [from, {"exclusiveMinimum": 0}]});
    let factor = json!({"type": "number", "exclusiveMinimum": 1});
    let range = |from: &Json, name: &str, by: Json| {
        json!({
            "type": "object",
            "properties": {"from": from, "to": {"type": kind}, name: by},
            "required": ["from", "to", name], "additionalProperties": false,
        })
    };
    [range(from, "step", step), range(&above, "factor", factor)]
}
