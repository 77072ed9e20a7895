//! [`catch_silently`]: catches panics of polars on broken files, without printing them.
//!
//! The caller reports an error instead.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

thread_local! {
    /// Whether a panic on this thread is being caught.
    static IS_CATCHING: Cell<bool> = const { Cell::new(false) };
}

static HOOK: Once = Once::new();

/// Runs `work` on this thread and returns its result. `None` if it panicked, which is not printed.
pub(super) fn catch_silently<T>(work: impl FnOnce() -> T) -> Option<T> {
    // The previous hook still runs for all other panics.
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !IS_CATCHING.get() {
                before(info);
            }
        }));
    });
    let outer = IS_CATCHING.replace(true);
    // The state of a panicked call is dropped with the closure.
    let done = catch_unwind(AssertUnwindSafe(work));
    IS_CATCHING.set(outer);
    done.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_none_and_the_next_one_is_heard() {
        assert_eq!(catch_silently(|| 1), Some(1));
        assert_eq!(
            catch_silently(|| catch_silently(|| panic!("unheard")).is_none()),
            Some(true)
        );
        assert!(catch_silently::<()>(|| panic!("unheard")).is_none());
        assert!(!IS_CATCHING.get());
    }
}
