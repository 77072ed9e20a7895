//! budget.csv: what clean text alone says about settings and a budget of false alarms.

use std::path::Path;

use deadloop_replay::Plan;

use super::store::{FileError, write_csv};
use crate::choose::calibrate::{Calibration, Supported};
use deadloop_tables::{Schema, TableCell, Type};

const COLUMNS: [(&str, Type); 9] = [
    ("model", Type::Text),
    ("what", Type::Text),
    ("setting", Type::Text),
    ("wrong", Type::Int),
    ("exposure", Type::Int),
    ("fa_bound", Type::Float),
    ("supported", Type::Int),
    ("missing_chars", Type::Int),
    ("params", Type::Text),
];

/// Writes `budget.csv`: the current setting and the chosen one on all models together (`*`), the
/// chosen one on each model, and the loosest settings that are supported. `missing_chars` is how many
/// clean chars without an alarm the claim still takes.
pub fn write_budget(dir: &Path, plan: &Plan, calibration: &Calibration) -> Result<(), FileError> {
    let schema: Schema = COLUMNS.map(|(name, of)| (name.to_owned(), of)).to_vec();
    let row = |(model, what, one): (&str, &str, &Supported)| {
        let params = plan.setting(one.cell).columns();
        let params: Vec<String> = params.iter().map(|(k, v)| format!("{k}={v}")).collect();
        vec![
            TableCell::text(model),
            TableCell::text(what),
            TableCell::text(one.setting.clone()),
            TableCell::count(one.wrong),
            TableCell::count(one.exposure),
            TableCell::Float(one.bound),
            TableCell::Int(Some(one.holds().into())),
            TableCell::count(one.missing),
            TableCell::text(params.join("; ")),
        ]
    };
    let Calibration {
        current,
        chosen,
        loosest,
        models,
        ..
    } = calibration;
    let rows = std::iter::once(("*", "current", current))
        .chain(chosen.iter().map(|one| ("*", "chosen", one)))
        .chain(
            models
                .iter()
                .map(|(model, one)| (model.as_str(), "chosen", one)),
        )
        .chain(loosest.iter().map(|one| ("*", "loosest", one)));
    write_csv(dir, "budget", &schema, rows.map(row))
}
