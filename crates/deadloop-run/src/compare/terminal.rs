//! Formats a comparison for the terminal.

use std::fmt::{self, Display, Formatter};

use deadloop_score::{Direction, Effect, Flip, Row, Side, SideOutcome, SignificanceTest, format_p};

use super::pinned_comparison::{PinnedComparison, format_gate, format_verdict};
use crate::layout::TextDocument;
use crate::option::OUT;
use crate::visible::{visible, visible_lines};
use crate::words::count;

/// The maximum number of flips to list.
const MAX_LISTED_FLIPS: usize = 40;

impl Display for PinnedComparison {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let c = &self.comparison;
        // The verdict comes first, for readers of one line.
        let verdict = format!(
            " {}: {}: {}",
            c.verdict.name(),
            format_verdict(c.verdict),
            c.why.join("\n   ")
        );
        let sides = format!(
            "\n BASE  {}\n NEW   {}\n {}; seed {}, {} replicates",
            format_side(&self.base),
            format_side(&self.new),
            self.format_counts(),
            self.options.resampling.seed,
            count(self.options.resampling.replicates as u64),
        );
        let gate = |g: &deadloop_score::Gate| {
            let word = format_gate(g.passed, c.verdict);
            format!(" gate {}: {word}: {}", g.gate.name(), g.why)
        };
        let gates: Vec<String> = c.gates.iter().map(gate).collect();
        let text = TextDocument::default()
            .prose(visible_lines(&verdict))
            .prose(sides);
        let text = push_metrics(self, text.lines(""))
            .prose(format!("\n {}", self.format_healthy_alarms()));
        let text = push_pinned(self, push_flips(self, text)).lines("");
        text.prose(visible_lines(&gates.join("\n"))).fmt(f)
    }
}

fn format_side(side: &Side) -> String {
    let id = side.settings.get("*").map_or("", String::as_str);
    let models = match side.settings.len() {
        0 | 1 => String::new(),
        n => format!(", {} models with their own", n - 1),
    };
    visible(&format!("{} ({id}{models}), {}", side.name, side.source))
}

/// Returns the rows to show, and the number of other rows. Shown are the rows of all models together, and the rows of
/// single models that improved or regressed.
pub(super) fn select_rows(rows: &[Row]) -> (Vec<&Row>, usize) {
    let is_shown = |row: &&Row| {
        row.model == "*" || matches!(row.verdict, Some(Effect::Improved | Effect::Regressed))
    };
    let selected: Vec<&Row> = rows.iter().filter(is_shown).collect();
    let left = rows.len() - selected.len();
    (selected, left)
}

/// The header of the table of metrics.
pub(super) const METRIC_HEADER: [&str; 8] = [
    "model",
    "metric",
    "base",
    "new",
    "difference",
    "95 %",
    "p",
    "verdict",
];

/// Returns the cells of a row under [`METRIC_HEADER`].
pub(super) fn metric_cells(row: &Row) -> Vec<String> {
    let value = |x: Option<f64>| x.map_or("n/a".into(), |x| row.format_value(x, false));
    let signed = |x: Option<f64>| x.map_or("n/a".into(), |x| row.format_value(x, true));
    let interval = row.lo.zip(row.hi);
    let p = match (row.test, row.p, row.differ) {
        (_, Some(p), _) => format_p(p),
        (_, None, 0) => "none differ".into(),
        (SignificanceTest::SignFlip, None, n) => format!("{n} differ: too few"),
        (SignificanceTest::Interval, None, _) => "by interval".into(),
    };
    vec![
        if row.model == "*" {
            "all".into()
        } else {
            visible(&row.model)
        },
        row.metric.clone(),
        value(row.base),
        value(row.new),
        signed(row.difference),
        interval.map_or("n/a".into(), |(lo, hi)| {
            format!(
                "{} to {}",
                row.format_value(lo, true),
                row.format_value(hi, true)
            )
        }),
        p,
        row.verdict.map_or("n/a", Effect::name).into(),
    ]
}

fn push_metrics(compared: &PinnedComparison, text: TextDocument) -> TextDocument {
    let (selected, left) = select_rows(&compared.comparison.rows);
    let table = selected.into_iter().map(metric_cells).collect();
    let text = text.table(&METRIC_HEADER, table, 2..METRIC_HEADER.len());
    match left {
        0 => text,
        left => text.prose(format!(
            " {left} rows of single models neither improved nor regressed"
        )),
    }
}

/// Returns the flips: those for the worse first, otherwise in the order of the corpus.
pub(super) fn worst_first(compared: &PinnedComparison) -> Vec<&Flip> {
    let mut flips: Vec<&Flip> = compared.comparison.flips().collect();
    flips.sort_by_key(|flip| flip.direction);
    flips
}

/// Formats the number of flips in each direction, and the number of alarms that only moved.
pub(super) fn flip_counts(compared: &PinnedComparison) -> String {
    let of = |d| {
        compared
            .comparison
            .flips()
            .filter(|f| f.direction == d)
            .count()
    };
    let [worse, better, neutral] =
        [Direction::Worse, Direction::Better, Direction::Neutral].map(of);
    let all = worse + better + neutral;
    let rest = match neutral {
        0 => String::new(),
        n => format!(", {n} neither"),
    };
    let moved = compared.comparison.moved;
    format!(
        "{all} verdicts changed: {worse} worse, {better} better{rest}; of {moved} more the alarm moved and the verdict did not"
    )
}

/// Formats the outcome of a side in a few words.
pub(super) fn format_outcome(said: &SideOutcome) -> String {
    match (said.alarm_at, &said.alarm_channel) {
        (Some(at), Some(channel)) => {
            let kind = said.alarm_kind.as_deref().unwrap_or("");
            format!(
                "{} at {} of {channel}, {kind}",
                said.verdict.name(),
                count(at)
            )
        }
        _ => said.verdict.name().into(),
    }
}

fn push_flips(compared: &PinnedComparison, text: TextDocument) -> TextDocument {
    let all = worst_first(compared);
    let text = text.prose(format!("\n {}", flip_counts(compared)));
    if all.is_empty() {
        return text;
    }
    let row = |flip: &&Flip| {
        vec![
            visible(&flip.transcript),
            flip.direction.name().into(),
            format_outcome(&flip.base),
            format_outcome(&flip.new),
        ]
    };
    let rows = all.iter().take(MAX_LISTED_FLIPS).map(row).collect();
    let mut text = text
        .lines("")
        .table(&["transcript", "NEW is", "BASE", "NEW"], rows, 0..0);
    if all.len() > MAX_LISTED_FLIPS {
        let left = all.len() - MAX_LISTED_FLIPS;
        text = text.prose(format!(" … and {left} more: flips.csv of {OUT} DIR"));
    }
    text.prose(match &compared.command {
        Some(command) => format!(" each is explained by {}", visible(command)),
        None => {
            format!(
                " {OUT} DIR writes the settings of both sides and the command that explains each"
            )
        }
    })
}

fn push_pinned(compared: &PinnedComparison, text: TextDocument) -> TextDocument {
    let n = compared.pinned.len();
    if n == 0 {
        return text;
    }
    let selected = compared.pinned.iter().filter(|pin| pin.is_notable());
    let lines: String = selected
        .map(|pin| format!("\n {}", visible(&pin.what)))
        .collect();
    text.prose(format!("\n {n} pinned cases{lines}"))
}
