//! Names beside points: right of the point, else left of it, else nowhere (its title has the name).

use super::DrawError;
use super::canvas::{Anchor, At, Canvas, Label};
use super::text::{elide, measure};
use super::theme::Ink;

const SIZE: f64 = 12.0;
/// Half the side of what a point takes, and half the height of a name.
const HALF: f64 = 7.0;
/// The longest name, in pixels.
const LONGEST: f64 = 150.0;
/// Where names end, left of the ticks of the plot.
const EDGES: (f64, f64) = (52.0, 4.0);

/// Left, right, top, bottom of what is taken.
type Taken = [f64; 4];

/// Writes the names of those points that have one, each where it covers no point, no other name and not the upright
/// line at `blocked`.
pub(crate) fn names_beside(
    canvas: &Canvas,
    points: &[(At, Option<&str>)],
    blocked: Option<f64>,
) -> Result<(), DrawError> {
    let around = |((x, y), _): &(At, Option<&str>)| [x - HALF, x + HALF, y - HALF, y + HALF];
    let mut taken: Vec<Taken> = points.iter().map(around).collect();
    taken.extend(blocked.map(|x| [x - 3.0, x + 3.0, f64::NEG_INFINITY, f64::INFINITY]));
    for ((x, y), name) in points {
        let Some(name) = name.map(|name| elide(name, LONGEST, SIZE)) else {
            continue;
        };
        let width = measure(&name, SIZE);
        let sides = [
            (x + HALF + 1.0, Anchor::Start),
            (x - HALF - 1.0, Anchor::End),
        ];
        let free = sides.into_iter().find_map(|(at, anchor)| {
            let left = if anchor == Anchor::Start {
                at
            } else {
                at - width
            };
            let wanted = [left, left + width, y - HALF - 0.5, y + HALF + 0.5];
            let inside = left > EDGES.0 && left + width < canvas.width() - EDGES.1;
            let clear = taken.iter().all(|other| apart(wanted, *other));
            (inside && clear).then_some((wanted, at, anchor))
        });
        if let Some((wanted, at, anchor)) = free {
            taken.push(wanted);
            canvas.text((at, *y), &name, Label::new(Ink::Muted, anchor).size(SIZE))?;
        }
    }
    Ok(())
}

fn apart(a: Taken, b: Taken) -> bool {
    a[1] <= b[0] || b[1] <= a[0] || a[3] <= b[2] || b[3] <= a[2]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_without_room_is_not_written() {
        let written = |points: &[(At, Option<&str>)]| {
            let canvas = Canvas::new("t", "t", 200.0, 60.0);
            names_beside(&canvas, points, None).unwrap();
            canvas.finish().unwrap().svg().matches("<text").count()
        };
        let free = ((100.0, 30.0), Some("name"));
        assert_eq!(written(&[free]), 1);
        assert_eq!(
            written(&[free, ((110.0, 30.0), None)]),
            1,
            "it goes to the left"
        );
        let walled = [free, ((110.0, 30.0), None), ((90.0, 30.0), None)];
        assert_eq!(written(&walled), 0);
    }
}
