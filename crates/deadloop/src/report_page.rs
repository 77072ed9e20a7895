//! Renders the report of a result folder and prints its path.

use std::path::Path;

use deadloop_report::{Options, ReportError, ReportFiles};

use crate::args::GlobalArgs;
use crate::exit::{Code, Outcome};
use crate::show;

/// Writes the report of a folder from its files.
pub(crate) fn render(dir: &Path, options: &Options, global: GlobalArgs) -> Outcome<ReportFiles> {
    let report = deadloop_report::render(dir, options).map_err(|e| match e {
        ReportError::Load(_) => Code::Usage.because(e),
        _ => Code::Unexpected.because(e),
    })?;
    if !global.quiet {
        show::remark(format_args!(
            "report: {}",
            dir.join("report.html").display()
        ));
    }
    Ok(report)
}
