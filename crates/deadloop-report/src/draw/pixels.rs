//! A picture as PNG, on light paper: zeno fills and strokes paths, `fonts.rs` has the letters.

use super::fonts::Fonts;
use super::picture::{FINE, Form, Paint, Picture, Step, Stroke, Words};
use super::theme::Ink;
use crate::visible::visible;
use flate2::{Compression, Crc, write::ZlibEncoder};
use std::io::Write;
use zeno::{Command, Mask, PathBuilder, Point, Style};

/// Pixels of the PNG in a pixel of the SVG: sharp on dense screens and in print.
const SCALE: f32 = 2.0;

/// The picture while it is painted.
struct Sheet {
    width: usize,
    height: usize,
    /// Red, green, blue of each pixel, row by row.
    pixels: Vec<u8>,
}

impl Picture {
    /// As a PNG file. The same fonts give the same bytes.
    pub(crate) fn png(&self, fonts: &Fonts) -> std::io::Result<Vec<u8>> {
        let pixels = |length: f64| (length * f64::from(SCALE)).ceil() as usize;
        let mut sheet = Sheet::new(pixels(self.width), pixels(self.height));
        for shape in &self.shapes {
            sheet.paint(&shape.form, fonts);
        }
        sheet.encode()
    }

    /// The chars for which no font has a letter: they are left out of the PNG.
    pub(crate) fn unwritable(&self, fonts: &Fonts) -> Vec<char> {
        let texts = self.shapes.iter().filter_map(|shape| match &shape.form {
            Form::Text(words) => Some(visible(&words.text)),
            _ => None,
        });
        let chars: Vec<char> = texts
            .flat_map(|text| text.chars().collect::<Vec<_>>())
            .collect();
        chars.into_iter().filter(|c| !fonts.has(*c)).collect()
    }
}

impl Sheet {
    fn new(width: usize, height: usize) -> Self {
        Self {
            width,
            height,
            pixels: rgb(Ink::Paper).repeat(width * height),
        }
    }

    fn paint(&mut self, form: &Form, fonts: &Fonts) {
        match form {
            Form::Rect(corner, size, paint) => self.outlined(&rectangle(*corner, *size), *paint),
            Form::Circle(middle, radius, paint) => {
                let mut path = Vec::new();
                path.add_circle(at(*middle), length(*radius));
                self.outlined(&path, *paint);
            }
            Form::Line(points, stroke) => self.stroke(&line(points), *stroke),
            Form::Polygon(corners, ink) => {
                let mut path = line(corners);
                path.close();
                self.fill(&path, *ink);
            }
            Form::Text(words) => self.write(words, fonts),
        }
    }

    fn outlined(&mut self, path: &[Command], paint: Paint) {
        match paint {
            Paint::Fill(ink) => self.fill(path, ink),
            Paint::Edge(stroke) => self.stroke(path, stroke),
        }
    }

    fn fill(&mut self, path: &[Command], ink: Ink) {
        self.cover(path, Style::default(), ink);
    }

    fn stroke(&mut self, path: &[Command], Stroke { ink, dash, width }: Stroke) {
        let dashes: Vec<f32> = dash
            .pattern()
            .unwrap_or_default()
            .iter()
            .map(|pixels| pixels * SCALE)
            .collect();
        let mut style = zeno::Stroke::new(length(width));
        style.join(zeno::Join::Round).dash(&dashes, 0.0);
        self.cover(path, Style::Stroke(style), ink);
    }

    fn write(&mut self, words: &Words, fonts: &Fonts) {
        let size = length(words.size);
        let (path, width) = fonts.outline(&visible(&words.text), size, words.bold);
        let place = at(words.at);
        let by = Point::new(
            place.x - width * words.across as f32,
            place.y + size * words.down as f32,
        );
        let moved: Vec<Command> = path.iter().map(|command| shifted(command, by)).collect();
        self.fill(&moved, words.ink);
    }

    /// Lays ink where the path covers a pixel, as far as it does.
    fn cover(&mut self, path: &[Command], style: Style<'_>, ink: Ink) {
        let (mask, place) = Mask::new(path).style(style).render();
        let color = rgb(ink);
        for (row, covered) in mask.chunks_exact(place.width.max(1) as usize).enumerate() {
            let y = i64::from(place.top) + row as i64;
            for (column, share) in covered.iter().enumerate().filter(|(_, share)| **share > 0) {
                let x = i64::from(place.left) + column as i64;
                self.blend((x, y), color, *share);
            }
        }
    }

    fn blend(&mut self, (x, y): (i64, i64), color: [u8; 3], share: u8) {
        let place = usize::try_from(x).ok().zip(usize::try_from(y).ok());
        let Some((x, y)) = place.filter(|(x, y)| *x < self.width && *y < self.height) else {
            return;
        };
        let start = (y * self.width + x) * 3;
        let share = u32::from(share);
        for (below, above) in self.pixels[start..start + 3].iter_mut().zip(color) {
            let mixed = u32::from(above) * share + u32::from(*below) * (255 - share);
            *below = ((mixed + 127) / 255) as u8;
        }
    }

    /// Eight bits a colour, rows unfiltered: charts are flat areas, which deflate does well by itself.
    fn encode(&self) -> std::io::Result<Vec<u8>> {
        let mut rows = ZlibEncoder::new(Vec::new(), Compression::new(7));
        for row in self.pixels.chunks_exact(self.width.max(1) * 3) {
            rows.write_all(&[0])?;
            rows.write_all(row)?;
        }
        let mut header = Vec::new();
        for side in [self.width, self.height] {
            header.extend(u32::try_from(side).unwrap_or(u32::MAX).to_be_bytes());
        }
        header.extend([8, 2, 0, 0, 0]);
        let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
        for (name, data) in [
            (b"IHDR", header),
            (b"IDAT", rows.finish()?),
            (b"IEND", Vec::new()),
        ] {
            let mut sum = Crc::new();
            sum.update(name);
            sum.update(&data);
            file.extend(u32::try_from(data.len()).unwrap_or(u32::MAX).to_be_bytes());
            file.extend(name);
            file.extend(data);
            file.extend(sum.sum().to_be_bytes());
        }
        Ok(file)
    }
}

fn length(steps: i32) -> f32 {
    steps as f32 / FINE as f32 * SCALE
}

fn at((x, y): Step) -> Point {
    Point::new(length(x), length(y))
}

fn line(points: &[Step]) -> Vec<Command> {
    let mut path = Vec::with_capacity(points.len() + 1);
    for (n, point) in points.iter().enumerate() {
        match n {
            0 => path.move_to(at(*point)),
            _ => path.line_to(at(*point)),
        };
    }
    path
}

fn rectangle((x, y): Step, (width, height): (i32, i32)) -> Vec<Command> {
    let mut path = line(&[
        (x, y),
        (x + width, y),
        (x + width, y + height),
        (x, y + height),
    ]);
    path.close();
    path
}

fn shifted(command: &Command, by: Point) -> Command {
    let to = |point: &Point| Point::new(point.x + by.x, point.y + by.y);
    match command {
        Command::MoveTo(a) => Command::MoveTo(to(a)),
        Command::LineTo(a) => Command::LineTo(to(a)),
        Command::QuadTo(a, b) => Command::QuadTo(to(a), to(b)),
        Command::CurveTo(a, b, c) => Command::CurveTo(to(a), to(b), to(c)),
        Command::Close => Command::Close,
    }
}

/// The ink on light paper: `#rrggbb` as numbers.
fn rgb(ink: Ink) -> [u8; 3] {
    let hex = ink.light().trim_start_matches('#');
    [0, 2, 4].map(|at| {
        hex.get(at..at + 2)
            .and_then(|two| u8::from_str_radix(two, 16).ok())
            .unwrap_or(0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::{Anchor, Canvas, Label, Mark, Pen};

    fn picture(text: &str) -> Picture {
        let canvas = Canvas::new("t", "t", 120.0, 40.0);
        canvas.rect((0.0, 0.0), (10.0, 10.0), Ink::Limit).unwrap();
        canvas
            .mark((30.0, 10.0), Mark::Disc, 6.0, Ink::Chosen)
            .unwrap();
        canvas
            .line(&[(0.0, 30.0), (120.0, 30.0)], Pen::solid(Ink::Text, 2.0))
            .unwrap();
        canvas
            .text((50.0, 15.0), text, Label::new(Ink::Text, Anchor::Start))
            .unwrap();
        canvas.finish().unwrap()
    }

    /// The colour of a pixel, by a reader that shares nothing with the writer but deflate.
    fn color(png: &[u8], x: usize, y: usize) -> [u8; 3] {
        let (mut at, mut packed, mut width) = (8, Vec::new(), 0);
        while at < png.len() {
            let number =
                |from: usize| u32::from_be_bytes(png[from..from + 4].try_into().unwrap()) as usize;
            let (length, data) = (number(at), at + 8);
            match &png[at + 4..data] {
                b"IHDR" => width = number(data),
                b"IDAT" => packed.extend(&png[data..data + length]),
                _ => {}
            }
            at = data + length + 4;
        }
        let mut rows = Vec::new();
        let mut reader = flate2::read::ZlibDecoder::new(&packed[..]);
        std::io::Read::read_to_end(&mut reader, &mut rows).unwrap();
        let start = y * (width * 3 + 1) + 1 + x * 3;
        rows[start..start + 3].try_into().unwrap()
    }

    #[test]
    fn shapes_have_their_inks_and_their_places() {
        let png = picture("").png(&Fonts::none()).unwrap();
        assert_eq!(color(&png, 10, 10), rgb(Ink::Limit), "the rectangle");
        assert_eq!(color(&png, 60, 20), rgb(Ink::Chosen), "the disc");
        assert_eq!(color(&png, 200, 60), rgb(Ink::Text), "the line");
        assert_eq!(color(&png, 200, 10), rgb(Ink::Paper), "nothing there");
    }

    #[test]
    fn without_a_font_every_char_is_told() {
        assert_eq!(picture("a模").unwritable(&Fonts::none()), ['a', '模']);
    }

    #[test]
    fn letters_are_drawn_where_the_system_has_them() {
        let Ok(fonts) = Fonts::of_the_system() else {
            return;
        };
        let blank = picture("").png(&fonts).unwrap();
        for text in ["ab", "模型"] {
            let picture = picture(text);
            if picture.unwritable(&fonts).is_empty() {
                assert_ne!(picture.png(&fonts).unwrap(), blank, "{text}");
            }
        }
        let two = ["模", "型"].map(picture);
        if two.iter().all(|one| one.unwritable(&fonts).is_empty()) {
            let [one, other] = two.map(|one| one.png(&fonts).unwrap());
            assert_ne!(one, other, "a box for every char");
        }
    }
}
