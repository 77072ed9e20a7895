//! What `deadloop tune --budget` found on a corpus without loops: rows of its `budget.csv`.

/// What clean text says about one setting and the budget of false alarms.
#[derive(Debug, Clone, Default)]
pub struct SupportedRow {
    /// The model, or [`ALL_MODELS`](crate::ALL_MODELS).
    pub model: String,
    /// `in use`, `chosen` or `loosest`.
    pub what: String,
    /// Index into [`ReportData::settings`](crate::ReportData::settings).
    pub setting: usize,
    /// False alarms.
    pub wrong: u64,
    /// Clean chars that were watched.
    pub exposure: u64,
    /// The one-sided 95 % upper bound of the false alarms per million chars.
    pub bound: Option<f64>,
    /// Whether that is within the budget.
    pub holds: bool,
    /// Clean chars without an alarm that the claim still takes.
    pub missing: u64,
}
