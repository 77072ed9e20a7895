//! [`report`]: renders the report of a result folder again.

use std::fmt::{self, Display, Formatter};
use std::path::{Path, PathBuf};

use deadloop_report::{Options, ReportError, ReportFiles};
use deadloop_score::Manifest;
use serde::Serialize;

use crate::failure::{Code, RunResult};
use crate::host::Host;

options! {
    /// The options of a report.
    pub struct ReportOptions {
        /// A folder that tune, sweep, replay, repair or budget wrote
        #[arg(value_name = "DIR")]
        pub dir: PathBuf,
        /// Hide the letters and digits of the transcripts in the page; copies and structure stay
        #[arg(long)]
        pub redact: bool,
    }
}

/// The answer of [`report`].
#[derive(Debug, Serialize)]
pub struct ReportAnswer {
    /// The paths of the report's files.
    pub files: Vec<String>,
    /// Whether the texts of the transcripts are hidden.
    pub redacted: bool,
}

/// The message after a redaction: which files are safe to share, and what to check first.
const REDACTED_MESSAGE: &str = "\
redacted, for good: the letters and digits of the transcripts are hidden in report.html and in cases.jsonl,
which it is made from
safe to share: report.html, report.md, charts/, the tables: none of them holds text of a transcript
look first at: ids, groups and names of models (in all of them); settings.toml; outcomes (`error`, `detail`: what
programs said); rejected.jsonl (what was wrong with a line); manifest.json (paths and arguments)";

/// Renders the report of a folder from its result files.
///
/// # Errors
/// Returns an error if the folder holds no result, or a file cannot be written.
pub fn report(options: &ReportOptions, host: &dyn Host) -> RunResult<ReportAnswer> {
    let dir = options.dir.as_path();
    if !dir.join("manifest.json").is_file() {
        let what = "no manifest.json; expected a folder that tune, sweep, replay, repair or budget finished";
        return Err(Code::Usage.error(format!("{}: {what}", dir.display())));
    }
    host.writes(dir);
    let redact = options.redact;
    let made = render(dir, &Options { redact }, host)?;
    if redact {
        update_file_sizes(dir)?;
    }
    let files = made.files.iter().map(|file| file.display().to_string());
    Ok(ReportAnswer {
        files: files.collect(),
        redacted: made.redacted,
    })
}

impl Display for ReportAnswer {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(if self.redacted { REDACTED_MESSAGE } else { "" })
    }
}

/// Writes the report of a folder from its result files.
pub(crate) fn render(dir: &Path, options: &Options, host: &dyn Host) -> RunResult<ReportFiles> {
    let report = deadloop_report::render(dir, options).map_err(|e| match e {
        ReportError::Load(_) => Code::Usage.because(e),
        _ => Code::Unexpected.because(e),
    })?;
    host.notify(&format!("report: {}", dir.join("report.html").display()));
    Ok(report)
}

/// Updates the file sizes in the manifest. Otherwise the next run of the command would find the changed files damaged.
fn update_file_sizes(dir: &Path) -> RunResult {
    let mut manifest = Manifest::read(dir)?;
    for (name, bytes) in &mut manifest.files {
        // A missing file is reported when it is needed.
        if let Ok(about) = std::fs::metadata(dir.join(name)) {
            *bytes = about.len();
        }
    }
    Ok(manifest.write(dir)?)
}
