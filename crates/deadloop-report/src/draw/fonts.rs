//! The system's fonts: which of them has a char, and its outline.
//!
//! A chart's text is drawn char by char, each from the first font that has it, so that a CJK name in a Latin label
//! comes out whole. There is no shaping: scripts whose letters join (Arabic) or move (Devanagari) are side by side.
//! The SVG has none of this; there the viewer writes.

use fontdb::{Database, ID, Style};
use std::cell::RefCell;
use std::collections::BTreeMap;
use ttf_parser::{Face, OutlineBuilder};
use zeno::{Command, PathBuilder, Point};

/// Families that are tried first, as in the style of the page.
const FIRST: [&str; 12] = [
    "Segoe UI",
    "Roboto",
    "Noto Sans",
    "Helvetica Neue",
    "Arial",
    "Liberation Sans",
    "DejaVu Sans",
    "Noto Sans CJK SC",
    "PingFang SC",
    "Microsoft YaHei",
    "WenQuanYi Micro Hei",
    "Droid Sans Fallback",
];

/// There is no font to write with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "no font was found in the font folders of this system, so a PNG could not be written on; expected one with Latin \
     letters (Debian: fonts-dejavu-core; for Chinese, Japanese and Korean fonts-noto-cjk)"
)]
pub struct NoFont;

/// Fonts in the order in which they are tried.
pub(crate) struct Fonts {
    all: Database,
    /// Regular faces, then bold ones.
    order: [Vec<ID>; 2],
    /// The face of each char that was asked for, regular or bold; `None` where no face has it.
    known: RefCell<BTreeMap<(char, bool), Option<ID>>>,
}

impl Fonts {
    /// The fonts in the font folders of this system and of this user.
    ///
    /// # Errors
    /// Returns [`NoFont`] if no font has the letter `a`.
    pub(crate) fn of_the_system() -> Result<Self, NoFont> {
        let mut all = Database::new();
        all.load_system_fonts();
        let fonts = Self::new(all);
        if fonts.has('a') {
            Ok(fonts)
        } else {
            Err(NoFont)
        }
    }

    /// No font at all.
    #[cfg(test)]
    pub(crate) fn none() -> Self {
        Self::new(Database::new())
    }

    fn new(all: Database) -> Self {
        let order = [400, 600].map(|weight| {
            let mut faces: Vec<_> = all
                .faces()
                .filter(|face| face.style == Style::Normal)
                .collect();
            faces.sort_by_cached_key(|face| {
                let named = |family: &str| face.families.iter().any(|own| own.0 == family);
                let first = FIRST.iter().position(|family| named(family));
                (
                    first.unwrap_or(FIRST.len()),
                    face.monospaced,
                    face.stretch.to_number().abs_diff(5),
                    face.weight.0.abs_diff(weight),
                    face.post_script_name.clone(),
                )
            });
            faces.into_iter().map(|face| face.id).collect()
        });
        Self {
            all,
            order,
            known: RefCell::default(),
        }
    }

    /// Whether a char can be written.
    pub(crate) fn has(&self, c: char) -> bool {
        self.face(c, false).is_some()
    }

    /// The outlines of a text that begins at (0, 0) on its baseline, `size` pixels to the em, y downwards; and how wide
    /// it is. A char that no font has takes no room.
    pub(super) fn outline(&self, text: &str, size: f32, bold: bool) -> (Vec<Command>, f32) {
        let (mut path, mut width) = (Vec::new(), 0.0);
        for c in text.chars() {
            let Some(id) = self.face(c, bold) else {
                continue;
            };
            let advance = self.with_face(id, |face| {
                let scale = size / f32::from(face.units_per_em().max(1));
                let glyph = face.glyph_index(c)?;
                let mut pen = GlyphPen {
                    path: &mut path,
                    left: width,
                    scale,
                };
                face.outline_glyph(glyph, &mut pen);
                Some(f32::from(face.glyph_hor_advance(glyph)?) * scale)
            });
            width += advance.unwrap_or(0.0);
        }
        (path, width)
    }

    /// The first face with a char. A face that has it as a bitmap only, as emoji often are, has no outline of it.
    fn face(&self, c: char, bold: bool) -> Option<ID> {
        if let Some(known) = self.known.borrow().get(&(c, bold)) {
            return *known;
        }
        let drawn = |face: &Face<'_>| {
            let glyph = face.glyph_index(c)?;
            let outlined = face.glyph_bounding_box(glyph).is_some();
            (outlined || c.is_whitespace()).then_some(())
        };
        let mut order = self.order[usize::from(bold)].iter().copied();
        let found = order.find(|id| self.with_face(*id, drawn).is_some());
        self.known.borrow_mut().insert((c, bold), found);
        found
    }

    fn with_face<T>(&self, id: ID, read: impl FnOnce(&Face<'_>) -> Option<T>) -> Option<T> {
        self.all
            .with_face_data(id, |data, index| read(&Face::parse(data, index).ok()?))
            .flatten()
    }
}

/// Puts a glyph into a path: font units, y upwards, become pixels, y downwards.
struct GlyphPen<'p> {
    path: &'p mut Vec<Command>,
    left: f32,
    scale: f32,
}

impl GlyphPen<'_> {
    fn at(&self, x: f32, y: f32) -> Point {
        Point::new(self.left + x * self.scale, -y * self.scale)
    }
}

impl OutlineBuilder for GlyphPen<'_> {
    fn move_to(&mut self, x: f32, y: f32) {
        let to = self.at(x, y);
        self.path.move_to(to);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let to = self.at(x, y);
        self.path.line_to(to);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let (by, to) = (self.at(x1, y1), self.at(x, y));
        self.path.quad_to(by, to);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let (a, b, to) = (self.at(x1, y1), self.at(x2, y2), self.at(x, y));
        self.path.curve_to(a, b, to);
    }

    fn close(&mut self) {
        self.path.close();
    }
}
