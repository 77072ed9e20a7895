//! The report's files, each written beside its name and renamed, so that a kill leaves no half of one.

use crate::charts::draw_all;
use crate::data::ReportData;
use crate::draw::DrawError;
use crate::load::{LoadError, load};
use crate::page::pages;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Why a report could not be made.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// A file could not be read or written.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The folder could not be read.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A chart could not be drawn.
    #[error(transparent)]
    Draw(#[from] DrawError),
    /// A template could not be filled.
    #[error("the page could not be filled: {0}")]
    Page(#[from] minijinja::Error),
}

/// What was written.
#[derive(Debug, Clone)]
pub struct Report {
    /// Every file, in the order of writing.
    pub files: Vec<PathBuf>,
    /// The charts that the folder has no data for, and why.
    pub absent: Vec<(&'static str, &'static str)>,
}

/// Reads a result folder and writes its report into it. Nothing is replayed.
pub fn render(dir: &Path) -> Result<Report, ReportError> {
    write(&load(dir)?, dir)
}

/// Writes `report.html`, `report.md` and `charts/*.svg` into `dir`; charts of an earlier report that there is no data
/// for any more are removed.
pub fn write(data: &ReportData, dir: &Path) -> Result<Report, ReportError> {
    let charts = draw_all(data)?;
    let pages = pages(data, &charts)?;
    let folder = dir.join("charts");
    std::fs::create_dir_all(&folder).map_err(|source| ReportError::File {
        path: folder.clone(),
        source,
    })?;
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
                report.absent.push((chart.entry.name, why));
            }
        }
    }
    put(&mut report, dir.join("report.md"), &pages.markdown)?;
    put(&mut report, dir.join("report.html"), &pages.html)?;
    Ok(report)
}

fn put(report: &mut Report, path: PathBuf, text: &str) -> Result<(), ReportError> {
    replace(&path, text).map_err(|source| ReportError::File {
        path: path.clone(),
        source,
    })?;
    report.files.push(path);
    Ok(())
}

fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".deadloop-");
    // A temporary file is private unless told otherwise; a report is readable as any new file is.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = builder.tempfile_in(path.parent().unwrap_or(Path::new(".")))?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}

fn remove(path: &Path) -> Result<(), ReportError> {
    match std::fs::remove_file(path) {
        Err(source) if source.kind() != std::io::ErrorKind::NotFound => Err(ReportError::File {
            path: path.to_owned(),
            source,
        }),
        _ => Ok(()),
    }
}
