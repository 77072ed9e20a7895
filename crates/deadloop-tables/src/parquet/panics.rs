//! Panics of polars on broken files, caught and kept off the terminal.
//!
//! The user reads the error that is made of the panic.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

thread_local! {
    /// Whether a panic of this thread is caught here.
    static CATCHING: Cell<bool> = const { Cell::new(false) };
}

static HOOK: Once = Once::new();

/// Runs `work` on this thread. `None` if it panicked. The panic is not printed.
pub(super) fn catch<T>(work: impl FnOnce() -> T) -> Option<T> {
    // The previous hook still runs for all other panics.
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !CATCHING.get() {
                before(info);
            }
        }));
    });
    let outer = CATCHING.replace(true);
    // The state of a panicked call is dropped with the closure.
    let done = catch_unwind(AssertUnwindSafe(work));
    CATCHING.set(outer);
    done.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_none_and_the_next_one_is_heard() {
        assert_eq!(catch(|| 1), Some(1));
        assert_eq!(catch(|| catch(|| panic!("unheard")).is_none()), Some(true));
        assert!(catch::<()>(|| panic!("unheard")).is_none());
        assert!(!CATCHING.get());
    }
}
