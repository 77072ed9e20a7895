//! Keys of a chart: a line and a mark, then a name; they wrap like words.

use super::DrawError;
use super::canvas::{Anchor, Canvas, Label, Mark, Pen};
use super::text::{elide_apart, measure};
use super::theme::Ink;

/// One entry of a legend.
#[derive(Debug, Clone)]
pub(crate) struct Key {
    /// What the series is called.
    pub(crate) name: String,
    /// Its line, if it has one.
    pub(crate) pen: Option<Pen>,
    /// Its mark, if it has one.
    pub(crate) mark: Option<(Mark, Ink)>,
}

/// Keys with their places, laid out for a width.
pub(crate) struct Legend {
    keys: Vec<(Key, String, f64, f64)>,
    height: f64,
}

const ROW: f64 = 22.0;
const SWATCH: f64 = 30.0;
const SIZE: f64 = 13.0;

impl Legend {
    /// Lays `keys` out in rows of `width` pixels; names longer than `longest` pixels are cut.
    pub(crate) fn new(keys: Vec<Key>, width: f64, longest: f64) -> Self {
        let (mut x, mut y) = (0.0, ROW / 2.0);
        let mut placed = Vec::with_capacity(keys.len());
        let names: Vec<&str> = keys.iter().map(|key| key.name.as_str()).collect();
        let names = elide_apart(&names, longest.min(width - SWATCH), SIZE);
        for (key, name) in keys.into_iter().zip(names) {
            let takes = SWATCH + measure(&name, SIZE) + 18.0;
            if x > 0.0 && x + takes - 18.0 > width {
                (x, y) = (0.0, y + ROW);
            }
            placed.push((key, name, x, y));
            x += takes;
        }
        let height = if placed.is_empty() {
            0.0
        } else {
            y + ROW / 2.0
        };
        Self {
            keys: placed,
            height,
        }
    }

    /// How high the legend is.
    pub(crate) fn height(&self) -> f64 {
        self.height
    }

    /// Draws the legend with its upper left corner at `(left, top)`.
    pub(crate) fn draw(&self, canvas: &Canvas, left: f64, top: f64) -> Result<(), DrawError> {
        for (key, name, x, y) in &self.keys {
            let (x, y) = (left + x, top + y);
            if let Some(pen) = key.pen {
                canvas.line(&[(x, y), (x + SWATCH - 6.0, y)], pen)?;
            }
            if let Some((mark, ink)) = key.mark {
                canvas.mark((x + SWATCH / 2.0 - 3.0, y), mark, 5.0, ink)?;
            }
            if *name != key.name {
                canvas.title(key.name.as_str());
            }
            canvas.text(
                (x + SWATCH, y),
                name,
                Label::new(Ink::Text, Anchor::Start).size(SIZE),
            )?;
        }
        Ok(())
    }
}
