//! The files of a report, written into its result folder.
//!
//! Each file is written under a temporary name and renamed, so that a killed process leaves no partial file.

use crate::charts::{Chart, draw_all};
use crate::data::ReportData;
use crate::draw::DrawError;
use crate::drill::redact;
use crate::load::{LoadError, load};
use crate::page::{PageError, pages};
use deadloop_score::{FileError, write_bytes, write_excerpts};
use std::path::{Path, PathBuf};

/// The error for a report that could not be made.
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
    /// The pages could not be rendered.
    #[error(transparent)]
    Page(#[from] PageError),
}

/// The files of a written report.
#[derive(Debug, Clone)]
pub struct ReportFiles {
    /// The paths of the files, in the order of writing.
    pub files: Vec<PathBuf>,
    /// Whether letters and digits of the transcripts are hidden, now or since an earlier report.
    pub redacted: bool,
}

/// The options of a report.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Whether letters and digits of the transcripts are hidden permanently, including the excerpts in the folder.
    pub redact: bool,
}

/// Reads a result folder and writes its report into the folder. Nothing is replayed.
pub fn render(dir: &Path, options: &Options) -> Result<ReportFiles, ReportError> {
    let mut data = load(dir)?;
    if options.redact && !data.redacted {
        redact(&mut data);
        // Later reports are made from the folder's excerpts, so these are redacted too.
        if let Some((head, opened)) = &data.opened {
            write_excerpts(dir, head, opened)?;
        }
    }
    let redacted = data.redacted;
    Ok(ReportFiles {
        redacted,
        ..write(&data, dir)?
    })
}

/// Writes `report.html`, `report.md` and `charts/*.svg` into `dir`. Charts of an earlier report without data are
/// removed.
pub fn write(data: &ReportData, dir: &Path) -> Result<ReportFiles, ReportError> {
    let charts = draw_all(data)?;
    let pages = pages(data, &charts)?;
    let folder = dir.join("charts");
    if charts.iter().any(|chart| chart.drawn.is_some()) {
        std::fs::create_dir_all(&folder).map_err(|e| FileError::at(&folder, e))?;
    }
    let mut report = ReportFiles {
        files: Vec::new(),
        redacted: data.redacted,
    };
    for chart in &charts {
        report.write_chart(chart, &folder)?;
    }
    report.write_file(dir.join("report.md"), pages.markdown.as_bytes())?;
    report.write_file(dir.join("report.html"), pages.html.as_bytes())?;
    Ok(report)
}

impl ReportFiles {
    /// Writes the file of a chart, or removes it if the chart has no data.
    fn write_chart(&mut self, chart: &Chart, folder: &Path) -> Result<(), FileError> {
        let name = chart.entry.name;
        let path = folder.join(format!("{name}.svg"));
        match &chart.drawn {
            Some(drawn) => self.write_file(path, drawn.to_svg_file().as_bytes()),
            None => remove_if_exists(&path),
        }
    }

    fn write_file(&mut self, path: PathBuf, bytes: &[u8]) -> Result<(), FileError> {
        write_bytes(&path, bytes)?;
        self.files.push(path);
        Ok(())
    }
}

fn remove_if_exists(path: &Path) -> Result<(), FileError> {
    match std::fs::remove_file(path) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(FileError::at(path, e)),
        _ => Ok(()),
    }
}
