//! budget.csv: what clean text alone says about settings and a budget of false alarms.

use std::path::Path;

use deadloop_replay::Plan;

use super::store::{FileError, write_csv};
use crate::choose::calibrate::{Calibration, Supported};

deadloop_tables::table_row! {
    /// A row of `budget.csv`: what clean text says about one setting and the budget of false alarms.
    pub struct SupportedLine {
        /// The model; `*`: all together.
        model: Text,
        /// What the setting is: current, chosen, or loosest, which is a loosest setting that is supported.
        what: Text,
        /// The setting.
        setting: Text,
        /// Its false alarms on clean text.
        wrong: Int["alarms"],
        /// The clean text that was watched.
        exposure: Int["chars"],
        /// The one-sided 95 % upper bound of the rate of false alarms.
        fa_bound: Float["alarms per million chars"],
        /// 1 where that is within the budget.
        supported: Int,
        /// The clean text without an alarm that the claim still takes.
        missing_chars: Int["chars"],
        /// Its parameters.
        params: Text,
    }
}

/// Writes `budget.csv`: the current setting and the chosen one on all models together (`*`), the
/// chosen one on each model, and the loosest settings that are supported. `missing_chars` is how many
/// clean chars without an alarm the claim still takes.
pub fn write_budget(dir: &Path, plan: &Plan, calibration: &Calibration) -> Result<(), FileError> {
    let columns = SupportedLine::columns();
    let row = |(model, what, one): (&str, &str, &Supported)| {
        let params = plan.setting(one.cell).columns();
        let params: Vec<String> = params.iter().map(|(k, v)| format!("{k}={v}")).collect();
        columns.cells(&SupportedLine {
            model: Some(model.into()),
            what: Some(what.into()),
            setting: Some(one.setting.as_str().into()),
            wrong: Some(one.wrong),
            exposure: Some(one.exposure),
            fa_bound: one.bound,
            supported: Some(one.holds().into()),
            missing_chars: Some(one.missing),
            params: Some(params.join("; ").into()),
        })
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
    write_csv(dir, "budget", &columns.schema(), rows.map(row))
}
