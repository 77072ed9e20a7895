//! The progress bar: rate and time left on a terminal, nothing in a pipe.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Returns a progress bar labelled `what`.
pub(crate) fn bar(what: &'static str, quiet: bool) -> ProgressBar {
    // indicatif draws nothing if stderr is not a terminal.
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

/// Returns a progress bar over `total` items.
pub(crate) fn progress_bar(what: &'static str, total: u64, quiet: bool) -> ProgressBar {
    let bar = bar(what, quiet);
    bar.set_length(total);
    match ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len}, {per_sec}, {eta} left") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
