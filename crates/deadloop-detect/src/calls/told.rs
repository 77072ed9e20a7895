//! [`Told`]: a measure is emitted when it changes, so that facts are few and a guard that goes on hears of it again.

/// The value that was reported last, as long as some setting accepts it.
#[derive(Clone, Copy, Default)]
pub(crate) struct Told(Option<i64>);

impl Told {
    /// Whether the measure is to be emitted: the loosest setting accepts it (`wanted`), and it is not the value that was
    /// emitted last.
    pub(crate) fn is_news(&mut self, value: i64, wanted: bool) -> bool {
        let now = wanted.then_some(value);
        let before = std::mem::replace(&mut self.0, now);
        now.is_some() && now != before
    }
}
