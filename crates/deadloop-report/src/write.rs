//! The files of a report.
//!
//! Each is written under a temporary name and renamed, so that a killed process leaves no partial file.

use crate::charts::{Chart, draw_all};
use crate::data::ReportData;
use crate::draw::DrawError;
use crate::drill::redact;
use crate::load::{LoadError, load};
use crate::page::{PageError, pages};
use deadloop_score::{FileError, write_bytes, write_excerpts};
use std::path::{Path, PathBuf};

/// The reason why a report could not be made.
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

/// The files of a report that was written.
#[derive(Debug, Clone)]
pub struct ReportFiles {
    /// Every file, in the order of writing.
    pub files: Vec<PathBuf>,
    /// Whether letters and digits of the transcripts are hidden, now or since an earlier report.
    pub redacted: bool,
}

/// The options of a report.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Whether letters and digits of the transcripts are hidden for good, in the folder's excerpts too.
    pub redact: bool,
}

/// Reads a result folder and writes its report into it. Nothing is replayed.
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

/// Writes `report.html`, `report.md` and `charts/*.svg` into `dir`. Removes charts of an earlier report for which there
/// is no data now.
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
        report.chart(chart, &folder)?;
    }
    report.put(dir.join("report.md"), pages.markdown.as_bytes())?;
    report.put(dir.join("report.html"), pages.html.as_bytes())?;
    Ok(report)
}

impl ReportFiles {
    /// Writes the file of a chart, or removes it if the chart has no data.
    fn chart(&mut self, chart: &Chart, folder: &Path) -> Result<(), FileError> {
        let name = chart.entry.name;
        let path = folder.join(format!("{name}.svg"));
        match &chart.drawn {
            Some(drawn) => self.put(path, drawn.stand_alone().as_bytes()),
            None => remove(&path),
        }
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
