//! The report's files, each written beside its name and renamed, so that a kill leaves no half of one.

use crate::charts::{Chart, draw_all};
use crate::data::{ComparedResults, ReportData};
use crate::draw::DrawError;
use crate::drill::redact;
use crate::load::{LoadError, load};
use crate::page::{PageError, pages};
use deadloop_score::{FileError, read_text_if_named, write_bytes, write_excerpts};
use std::path::{Path, PathBuf};

/// Why a report could not be made.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// The folder could not be read.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A chart could not be drawn.
    #[error(transparent)]
    Draw(#[from] DrawError),
    /// The pages could not be made.
    #[error(transparent)]
    Page(#[from] PageError),
}

/// What was written.
#[derive(Debug, Clone)]
pub struct Report {
    /// Every file, in the order of writing.
    pub files: Vec<PathBuf>,
    /// Whether letters and digits of the transcripts are hidden, now or since an earlier report.
    pub redacted: bool,
}

/// How a report is made.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// A folder that `deadloop compare` left: its differences and flips are shown.
    pub comparison: Option<PathBuf>,
    /// Whether letters and digits of the transcripts are hidden, for good: in the excerpts that the folder keeps too.
    pub redact: bool,
}

/// Reads a result folder and writes its report into it. Nothing is replayed.
pub fn render(dir: &Path, options: &Options) -> Result<Report, ReportError> {
    let mut data = load(dir)?;
    if let Some(folder) = &options.comparison {
        data.comparison = Some(comparison(&folder.join("comparison.json"))?);
    }
    if options.redact && !data.redacted {
        redact(&mut data);
        // The folder itself forgets what was said: every later report is made from this.
        if let Some((head, opened)) = &data.opened {
            write_excerpts(dir, head, opened)?;
        }
    }
    let redacted = data.redacted;
    Ok(Report {
        redacted,
        ..write(&data, dir)?
    })
}

/// What `deadloop compare` wrote.
fn comparison(path: &Path) -> Result<ComparedResults, LoadError> {
    let missing = || FileError::at(path, "is not there; expected what deadloop compare wrote");
    let text = read_text_if_named(path)?.ok_or_else(missing)?;
    let wrong = |e: serde_json::Error| {
        FileError::at(path, format!("{e}; expected what deadloop compare wrote"))
    };
    Ok(serde_json::from_str(&text).map_err(wrong)?)
}

/// Writes `report.html`, `report.md`, `charts/*.svg` and `charts/*.csv` into `dir`; files of an earlier report that this
/// one has no data for are removed.
pub fn write(data: &ReportData, dir: &Path) -> Result<Report, ReportError> {
    let charts = draw_all(data)?;
    let pages = pages(data, &charts)?;
    let folder = dir.join("charts");
    std::fs::create_dir_all(&folder).map_err(|e| FileError::at(&folder, e))?;
    let mut report = Report {
        files: Vec::new(),
        redacted: data.redacted,
    };
    for chart in &charts {
        report.chart(chart, &folder)?;
    }
    report.put(dir.join("report.md"), pages.markdown.as_bytes())?;
    report.put(dir.join("report.html"), pages.html.as_bytes())?;
    Ok(report)
}

impl Report {
    /// The files of one chart; those that it does not have now go.
    fn chart(&mut self, chart: &Chart, folder: &Path) -> Result<(), FileError> {
        let name = chart.entry.name;
        let [svg, csv] = ["svg", "csv"].map(|ending| folder.join(format!("{name}.{ending}")));
        let Some(drawn) = &chart.drawn else {
            return [svg, csv].iter().try_for_each(|path| remove(path));
        };
        self.put(svg, drawn.file().as_bytes())?;
        let numbers = chart.csv().map_err(|e| FileError::at(&csv, e))?;
        self.put(csv, &numbers.unwrap_or_default())
    }

    fn put(&mut self, path: PathBuf, bytes: &[u8]) -> Result<(), FileError> {
        write_bytes(&path, bytes)?;
        self.files.push(path);
        Ok(())
    }
}

fn remove(path: &Path) -> Result<(), FileError> {
    match std::fs::remove_file(path) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(FileError::at(path, e)),
        _ => Ok(()),
    }
}
