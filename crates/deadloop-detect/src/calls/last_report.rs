//! [`LastReport`]: a filter that reports a measure only when it changes.
//!
//! This keeps facts few. A guard that continues after an alarm still gets each change.

/// The latest reported value. `None` once no setting accepts the measure.
#[derive(Clone, Copy, Default)]
pub(crate) struct LastReport(Option<i64>);

impl LastReport {
    /// Returns whether the measure is to be reported. It must differ from the last report, and the loosest setting must
    /// accept it (`accepted`).
    pub(crate) fn is_news(&mut self, value: i64, accepted: bool) -> bool {
        let now = accepted.then_some(value);
        let before = std::mem::replace(&mut self.0, now);
        now.is_some() && now != before
    }
}
