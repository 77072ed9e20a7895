//! The progress bar: rate and time left on a terminal, nothing in a pipe; and Ctrl-C.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use deadloop_replay::Watch;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::exit::{Code, Outcome};

static CANCEL: AtomicBool = AtomicBool::new(false);
static HANDLER: OnceLock<()> = OnceLock::new();

/// From now on Ctrl-C (or SIGTERM) ends the work in good order; a second one ends the program.
pub(crate) fn heed_interrupts() -> Outcome {
    heed_interrupts_with(|| ())
}

/// The same; the first one also does `also`, on a thread of its own. The first caller's counts.
pub(crate) fn heed_interrupts_with(also: impl Fn() + Send + 'static) -> Outcome {
    if HANDLER.set(()).is_err() {
        return Ok(());
    }
    let stop = move || {
        if CANCEL.swap(true, Ordering::Relaxed) {
            std::process::exit(i32::from(Code::Interrupted as u8));
        }
        also();
    };
    Ok(ctrlc::set_handler(stop)?)
}

/// A pass over a corpus with a bar that says what it is for.
pub(crate) fn watched<T>(what: &'static str, quiet: bool, pass: impl FnOnce(&Watch<'_>) -> T) -> T {
    let bar = bar(what, quiet);
    let told = |read: u64, total: u64| {
        bar.set_length(total.max(read));
        bar.set_position(read);
    };
    let result = pass(&Watch {
        cancel: &CANCEL,
        progress: &told,
    });
    bar.finish_and_clear();
    result
}

fn bar(what: &'static str, quiet: bool) -> ProgressBar {
    // indicatif draws nothing where stderr is no terminal.
    let target = if quiet {
        ProgressDrawTarget::hidden()
    } else {
        ProgressDrawTarget::stderr()
    };
    let bar = ProgressBar::with_draw_target(None, target).with_message(what);
    let template = "{msg} {wide_bar} {bytes}/{total_bytes}, {bytes_per_sec}, {eta} left";
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
