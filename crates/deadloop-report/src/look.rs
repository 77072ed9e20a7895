//! How a setting looks: the same shape, ink and line in every chart.

use crate::data::ReportData;
use crate::draw::{Dash, Ink, Mark, Pen, SERIES};

/// The look of a setting.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Look {
    /// The shape of its points.
    pub(crate) mark: Mark,
    /// Its line, whose ink is also its points'.
    pub(crate) pen: Pen,
}

impl Look {
    /// The choice.
    pub(crate) const CHOSEN: Self = Self {
        mark: Mark::Star,
        pen: Pen {
            ink: Ink::Chosen,
            width: 2.6,
            dash: Dash::Solid,
        },
    };
    /// What is in use.
    const CURRENT: Self = Self {
        mark: Mark::Disc,
        pen: Pen {
            ink: Ink::Current,
            width: 2.6,
            dash: Dash::Solid,
        },
    };

    /// How many settings have a look that no other one has.
    pub(crate) const DISTINCT: usize = 7;

    /// The look of a setting that is not shown as the choice. Where none is in use, the first one takes its look; the
    /// others have theirs by their F1, so that those that charts show are told apart.
    pub(crate) fn of(data: &ReportData, setting: usize) -> Self {
        match data.leading().iter().position(|at| *at == setting) {
            Some(0) => Self::CURRENT,
            Some(n) => Self::other(n - 1),
            None => Self::other(0),
        }
    }

    /// The n-th of the others; the first two inks belong to current and chosen.
    pub(crate) fn other(n: usize) -> Self {
        let marks = [
            Mark::Triangle,
            Mark::Diamond,
            Mark::Square,
            Mark::TriangleDown,
            Mark::Pentagon,
            Mark::Cross,
        ];
        let ink = SERIES[2 + n % (SERIES.len() - 2)];
        Self {
            mark: marks[n % marks.len()],
            pen: Pen {
                ink,
                width: 1.8,
                dash: Dash::nth(1 + n),
            },
        }
    }

    /// The ink of its line and points.
    pub(crate) fn ink(&self) -> Ink {
        self.pen.ink
    }
}
