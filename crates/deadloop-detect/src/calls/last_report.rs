//! [`LastReport`]: a filter that reports a measure only when it changes.
//!
//! So facts stay few, and a guard that continues after an alarm still gets each change.

/// The latest reported value, as long as some setting accepts it.
#[derive(Clone, Copy, Default)]
pub(crate) struct LastReport(Option<i64>);

impl LastReport {
    /// Returns whether the measure is to be reported. The loosest setting must accept the value (`wanted`), and it must
    /// differ from the latest reported one.
    pub(crate) fn is_news(&mut self, value: i64, wanted: bool) -> bool {
        let now = wanted.then_some(value);
        let before = std::mem::replace(&mut self.0, now);
        now.is_some() && now != before
    }
}
