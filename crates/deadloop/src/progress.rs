//! Progress bars with rate and time left, shown only on a terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Returns a progress bar over bytes, labelled `what`.
pub(crate) fn bytes_bar(what: &'static str, quiet: bool) -> ProgressBar {
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

/// Returns a progress bar over `total` items, labelled `what`.
pub(crate) fn items_bar(what: &'static str, total: u64, quiet: bool) -> ProgressBar {
    let bar = bytes_bar(what, quiet);
    bar.set_length(total);
    match ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len}, {per_sec}, {eta} left") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
