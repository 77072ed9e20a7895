//! The page of `deadloop budget`: [`Page`] is what it is made of, left in `budget.json`, so that `deadloop report`
//! can render it again; [`write()`] and [`render()`] write `report.html`.

mod costs;
mod data;
mod html;
mod lengths;
mod turns;

pub use data::{BudgetPoint, LIMIT_HEADER, Page, PriceRow, Strip, Trace, World};

use std::path::{Path, PathBuf};

use deadloop_score::{FileError, read_text_if_named, write_text};

use crate::draw::{DrawError, Picture};
use crate::page::PageError;

const DATA: &str = "budget.json";

/// Widths of the charts, in pixels: on a screen, on a phone.
const WIDTHS: [f64; 2] = [960.0, 366.0];

/// Why the page could not be made.
#[derive(Debug, thiserror::Error)]
pub enum BudgetPageError {
    /// A file cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// `budget.json` is not as a run writes it.
    #[error("{0}: {1}; expected what deadloop budget wrote")]
    Data(PathBuf, serde_json::Error),
    /// The folder has no `budget.json`.
    #[error("{0}: is not there; expected a folder that deadloop budget wrote")]
    Missing(PathBuf),
    /// A chart could not be drawn.
    #[error(transparent)]
    Draw(#[from] DrawError),
    /// The template could not be filled.
    #[error(transparent)]
    Page(#[from] PageError),
}

/// A chart in both widths.
pub(crate) struct Both {
    pub(crate) wide: String,
    pub(crate) narrow: String,
}

/// Draws a chart in both widths.
fn both(draw: impl Fn(f64, &str) -> Result<Picture, DrawError>) -> Result<Both, DrawError> {
    Ok(Both {
        wide: draw(WIDTHS[0], "wide")?.svg(),
        narrow: draw(WIDTHS[1], "narrow")?.svg(),
    })
}

/// Writes `budget.json` and `report.html` of a result; returns the path of the page.
///
/// # Errors
/// A file cannot be written, or a chart cannot be drawn.
pub fn write(dir: &Path, page: &Page) -> Result<PathBuf, BudgetPageError> {
    let path = dir.join(DATA);
    let json = serde_json::to_string(page).map_err(|e| BudgetPageError::Data(path.clone(), e))?;
    write_text(&path, &(json + "\n"))?;
    rendered(dir, page)
}

/// Writes `report.html` again from `budget.json`; returns the path of the page.
///
/// # Errors
/// `budget.json` cannot be read, or the page cannot be written.
pub fn render(dir: &Path) -> Result<PathBuf, BudgetPageError> {
    let path = dir.join(DATA);
    let Some(text) = read_text_if_named(&path)? else {
        return Err(BudgetPageError::Missing(path));
    };
    let page: Page = serde_json::from_str(&text).map_err(|e| BudgetPageError::Data(path, e))?;
    rendered(dir, &page)
}

fn rendered(dir: &Path, page: &Page) -> Result<PathBuf, BudgetPageError> {
    let path = dir.join("report.html");
    write_text(&path, &html::page(page)?)?;
    Ok(path)
}
