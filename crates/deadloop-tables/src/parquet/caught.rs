//! Panics of a library that is known to panic on broken files: caught, and kept off the terminal. What the
//! user reads is the problem that is made of them.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

thread_local! {
    /// Whether a panic of this thread is caught here.
    static CATCHING: Cell<bool> = const { Cell::new(false) };
}

static HOOK: Once = Once::new();

/// Runs something of a library, on this thread. `None`: it panicked, and printed nothing.
pub(super) fn caught<T>(work: impl FnOnce() -> T) -> Option<T> {
    // The hook that was there goes on for all panics that are nobody's plan.
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !CATCHING.get() {
                before(info);
            }
        }));
    });
    let outer = CATCHING.replace(true);
    // What was half done is dropped with the closure.
    let done = catch_unwind(AssertUnwindSafe(work));
    CATCHING.set(outer);
    done.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_none_and_the_next_one_is_heard() {
        assert_eq!(caught(|| 1), Some(1));
        assert_eq!(
            caught(|| caught(|| panic!("unheard")).is_none()),
            Some(true)
        );
        assert!(caught::<()>(|| panic!("unheard")).is_none());
        assert!(!CATCHING.get());
    }
}
