//! The report's files, each written beside its name and renamed, so that a kill leaves no half of one.

use crate::charts::{NOT_ASKED, draw_all};
use crate::data::{Comparison, ReportData};
use crate::draw::DrawError;
use crate::drill::redact;
use crate::load::{LoadError, load};
use crate::page::{PageError, pages};
use deadloop_score::{FileError, write_text};
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
    /// The charts that the folder has no data for, and why.
    pub absent: Vec<(&'static str, &'static str)>,
}

/// How a report is made.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// A folder that `deadloop compare` left: its differences and flips are shown.
    pub comparison: Option<PathBuf>,
    /// Whether letters and digits of the transcripts are hidden.
    pub redact: bool,
}

/// Reads a result folder and writes its report into it. Nothing is replayed.
pub fn render(dir: &Path, options: &Options) -> Result<Report, ReportError> {
    let mut data = load(dir)?;
    if let Some(folder) = &options.comparison {
        data.comparison = Some(comparison(&folder.join("comparison.json"))?);
    }
    if options.redact {
        redact(&mut data);
    }
    write(&data, dir)
}

/// What `deadloop compare` wrote.
fn comparison(path: &Path) -> Result<Comparison, FileError> {
    let text = std::fs::read_to_string(path).map_err(|e| FileError::at(path, e))?;
    let wrong = |e: serde_json::Error| {
        FileError::at(path, format!("{e}; expected what deadloop compare wrote"))
    };
    serde_json::from_str(&text).map_err(wrong)
}

/// Writes `report.html`, `report.md` and `charts/*.svg` into `dir`; charts of an earlier report that there is no data
/// for any more are removed.
pub fn write(data: &ReportData, dir: &Path) -> Result<Report, ReportError> {
    let charts = draw_all(data)?;
    let pages = pages(data, &charts)?;
    let folder = dir.join("charts");
    std::fs::create_dir_all(&folder).map_err(|e| FileError::at(&folder, e))?;
    let mut report = Report {
        files: Vec::new(),
        absent: Vec::new(),
    };
    for chart in &charts {
        let path = folder.join(format!("{}.svg", chart.entry.name));
        match &chart.drawn {
            Ok(layouts) => put(&mut report, path, &layouts.file())?,
            Err(why) => {
                remove(&path)?;
                if *why != NOT_ASKED {
                    report.absent.push((chart.entry.name, why));
                }
            }
        }
    }
    put(&mut report, dir.join("report.md"), &pages.markdown)?;
    put(&mut report, dir.join("report.html"), &pages.html)?;
    Ok(report)
}

fn put(report: &mut Report, path: PathBuf, text: &str) -> Result<(), FileError> {
    write_text(&path, text)?;
    report.files.push(path);
    Ok(())
}

fn remove(path: &Path) -> Result<(), FileError> {
    match std::fs::remove_file(path) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(FileError::at(path, e)),
        _ => Ok(()),
    }
}
