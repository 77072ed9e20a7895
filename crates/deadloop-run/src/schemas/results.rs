//! The columns of every table that a command leaves, from the lists by which the tables are written.

use deadloop_score::{ColumnDoc, ResultTable, Type, result_tables};
use serde_json::{Map, Value as Json, json};

/// Every table that a command leaves: those of its folder, and those whose file the user names.
pub(crate) fn tables() -> Vec<ResultTable> {
    let mut all = result_tables();
    all.push(ResultTable {
        file: "facts.csv",
        left_by: "replay --facts facts.csv",
        row: "a fact that a guard saw in a transcript",
        columns: crate::facts::described(),
    });
    all
}

/// A JSON Schema of the rows of each table, as `read_json` of a row would have them.
pub(super) fn results() -> Map<String, Json> {
    let tables = tables();
    let table = |table: &ResultTable| {
        let columns = table.columns.iter();
        let columns: Map<String, Json> = columns.map(|of| (of.name.clone(), column(of))).collect();
        let schema = json!({
            "description": format!("{}: a row is {}", table.left_by, table.row),
            "type": "object",
            "properties": columns,
        });
        (name(table), schema)
    };
    let tables: Map<String, Json> = tables.iter().map(table).collect();
    super::object(json!({"type": "object", "properties": tables}))
}

/// The file; two commands leave a `scores.parquet`, and not of the same columns.
fn name(table: &ResultTable) -> String {
    match (table.file, table.left_by) {
        ("scores.parquet", "repair") => "scores.parquet of repair".into(),
        (file, _) => file.into(),
    }
}

fn column(of: &ColumnDoc) -> Json {
    let kind = match of.of {
        Type::Text => "string",
        Type::Int => "integer",
        Type::Float => "number",
    };
    let kinds = if of.name.contains('*') {
        json!(["string", "integer", "number", "null"])
    } else {
        json!([kind, "null"])
    };
    let mut column = json!({"type": kinds, "description": of.about});
    if let (Some(column), false) = (column.as_object_mut(), of.unit.is_empty()) {
        column.insert("x-unit".into(), of.unit.clone().into());
    }
    column
}

/// The same for people: a line for each column, with its type, its unit and what it means.
pub fn in_words() -> String {
    let mut text = String::from(
        "An empty cell is n/a. A unit `unit` is that of the row, or of the choice. A *.parquet has a *.csv beside it with --csv.\n",
    );
    for table in tables() {
        text += &format!(
            "\n{} ({}): a row is {}\n",
            table.file, table.left_by, table.row
        );
        let wide = |of: fn(&ColumnDoc) -> usize| table.columns.iter().map(of).max().unwrap_or(0);
        let names = wide(|of| of.name.len());
        let kinds = wide(|of| column_kind(of).len());
        for of in &table.columns {
            text += &format!(
                "  {:names$}  {:kinds$}  {}\n",
                of.name,
                column_kind(of),
                of.about
            );
        }
    }
    text.truncate(text.trim_end().len());
    text
}

/// The type of a column and its unit.
pub fn column_kind(of: &ColumnDoc) -> String {
    let kind = match of.of {
        Type::Text if of.name.contains('*') => "text or number",
        Type::Text => "text",
        Type::Int => "whole number",
        Type::Float => "number",
    };
    match of.unit.as_str() {
        "" => kind.to_owned(),
        unit => format!("{kind}, {unit}"),
    }
}
