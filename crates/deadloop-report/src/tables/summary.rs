//! The tables of `repair` and of `budget`, from the summary in the manifest.

use super::{PageCell, PageColumn, PageRow, PageTable};
use crate::numbers::{UNDEFINED, decimal};
use serde_json::{Map, Value};

/// The key in the summary, the title and the note of each table.
const SUMMARY_TABLES: [(&str, &str, &str); 4] = [
    (
        "repairers",
        "Streams by variant",
        "Presets, programs, the unchanged stream (none), and the best variant of each repairer. A damaged stream that comes out \
         wrong is harm, and so is a false repair of an intact one. Waits: in 95 % of the streams no more chars were read without \
         anything coming out.",
    ),
    (
        "faults",
        "Streams by fault",
        "The variant of each repairer that does no harm and recovers most.",
    ),
    (
        "budgets",
        "Budgets",
        "A window in which no setting acts has one row. Tokens, and their cost at a price of a cached token, are those of the runs \
         that do not overflow, of what no guard sends in a window without end.",
    ),
    (
        "limits",
        "Iteration limits",
        "The healthy runs that a limit cuts and the loops that it ends, if it stops the run; how often one asks that grows by half \
         at each yes. A useful turn is in no loop.",
    ),
];

/// The maximum number of rows that are not folded.
const MAX_SHOWN: usize = 60;

/// A field of a row: the name of its column, its value, and whether it is a parameter.
type SummaryField = (String, Value, bool);

/// Builds the tables of the lists in a summary. Columns of words come first.
pub(super) fn list_tables(summary: &Map<String, Value>) -> Vec<PageTable> {
    let table = |(list, title, note): (&str, &str, &str)| {
        let rows = summary.get(list)?.as_array()?.iter();
        let rows = rows.filter_map(Value::as_object);
        let rows: Vec<Vec<SummaryField>> = rows.map(flatten_fields).collect();
        let get = |row: &[SummaryField], name: &str| {
            let field = row.iter().find(|(own, ..)| own == name);
            field.map_or(Value::Null, |(_, value, _)| value.clone())
        };
        // A word or a parameter that is equal in all rows distinguishes none of them.
        let differs = |name: &str| rows.iter().any(|row| get(row, name) != get(&rows[0], name));
        let mut names: Vec<&str> = Vec::new();
        for (name, value, is_param) in rows.iter().flatten() {
            let is_constant = (*is_param || value.is_string()) && !differs(name);
            if !is_constant && !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        let is_number = |name: &str| rows.iter().all(|row| !get(row, name).is_string());
        names.sort_by_key(|name| is_number(name));
        let column = |name: &&str| PageColumn {
            name: (*name).to_owned().into(),
            number: is_number(name),
        };
        let columns = names.iter().map(column).collect();
        let row = |row: &Vec<SummaryField>| PageRow {
            cells: names.iter().map(|name| cell(&get(row, name))).collect(),
            role: "",
        };
        let rows = rows.iter().map(row).collect();
        let table = PageTable::new(title, note, columns, rows)?;
        Some(table.fold(MAX_SHOWN, "more rows", "manifest.json"))
    };
    SUMMARY_TABLES.into_iter().filter_map(table).collect()
}

/// Returns the fields of a row. Parameters are fields too, and each cost is named by its price.
fn flatten_fields(row: &Map<String, Value>) -> Vec<SummaryField> {
    let field = |(name, value): (&String, &Value)| match value {
        Value::Object(params) => {
            let params = params.iter();
            params
                .map(|(name, value)| (name.clone(), value.clone(), true))
                .collect()
        }
        Value::Array(costs) => {
            let column = |cost: &Value| format!("{name} at {}", cost["cache"]);
            costs
                .iter()
                .map(|cost| (column(cost), cost["ratio"].clone(), false))
                .collect()
        }
        value => vec![(name.replace('_', " "), value.clone(), false)],
    };
    row.iter().flat_map(field).collect()
}

fn cell(value: &Value) -> PageCell {
    match value {
        Value::String(text) => PageCell::text(text.as_str()),
        Value::Null => PageCell::text(UNDEFINED),
        value => match value.as_u64() {
            Some(n) => PageCell::count(n),
            None => PageCell::figure(value.as_f64(), decimal),
        },
    }
}
