//! A comparison on the terminal.

use std::fmt::{self, Display, Formatter};

use deadloop_score::{Direction, Effect, Flip, Row, Side, SideOutcome, SignificanceTest, p_shown};

use super::pinned_comparison::{PinnedComparison, gate_word, verdict_words};
use crate::layout::TextDocument;
use crate::option::OUT;
use crate::visible::{visible, visible_lines};
use crate::words::count;

/// The maximum number of flips that are listed.
const LISTED: usize = 40;

impl Display for PinnedComparison {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let c = &self.comparison;
        // The verdict comes first, for readers of one line.
        let verdict = format!(
            " {}: {}: {}",
            c.verdict.name(),
            verdict_words(c.verdict),
            c.why.join("\n   ")
        );
        let sides = format!(
            "\n BASE  {}\n NEW   {}\n {}; seed {}, {} replicates",
            side(&self.base),
            side(&self.new),
            self.numbers(),
            self.options.resampling.seed,
            count(self.options.resampling.replicates as u64),
        );
        let gate = |g: &deadloop_score::Gate| {
            let word = gate_word(g.passed, c.verdict);
            format!(" gate {}: {word}: {}", g.gate.name(), g.why)
        };
        let gates: Vec<String> = c.gates.iter().map(gate).collect();
        let text = TextDocument::default()
            .prose(visible_lines(&verdict))
            .prose(sides);
        let text = metrics(self, text.lines("")).prose(format!("\n {}", self.healthy()));
        let text = pinned_lines(self, flips(self, text)).lines("");
        text.prose(visible_lines(&gates.join("\n"))).fmt(f)
    }
}

fn side(side: &Side) -> String {
    let id = side.settings.get("*").map_or("", String::as_str);
    let models = match side.settings.len() {
        0 | 1 => String::new(),
        n => format!(", {} models with their own", n - 1),
    };
    visible(&format!("{} ({id}{models}), {}", side.name, side.source))
}

/// Returns the rows of all models together, and those of single models that improved or regressed. Also returns the
/// number of others.
pub(super) fn select_rows(rows: &[Row]) -> (Vec<&Row>, usize) {
    let tells = |row: &&Row| {
        row.model == "*" || matches!(row.verdict, Some(Effect::Improved | Effect::Regressed))
    };
    let told: Vec<&Row> = rows.iter().filter(tells).collect();
    let left = rows.len() - told.len();
    (told, left)
}

/// The header of the rows.
pub(super) const HEADER: [&str; 8] = [
    "model",
    "metric",
    "base",
    "new",
    "difference",
    "95 %",
    "p",
    "verdict",
];

/// Returns the cells of a row under [`HEADER`].
pub(super) fn cells(row: &Row) -> Vec<String> {
    let value = |x: Option<f64>| x.map_or("n/a".into(), |x| row.format_value(x, false));
    let signed = |x: Option<f64>| x.map_or("n/a".into(), |x| row.format_value(x, true));
    let interval = row.lo.zip(row.hi);
    let p = match (row.test, row.p, row.differ) {
        (_, Some(p), _) => p_shown(p),
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

fn metrics(compared: &PinnedComparison, text: TextDocument) -> TextDocument {
    let (told, left) = select_rows(&compared.comparison.rows);
    let table = told.into_iter().map(cells).collect();
    let text = text.table(&HEADER, table, 2..HEADER.len());
    match left {
        0 => text,
        left => text.prose(format!(
            " {left} rows of single models neither improved nor regressed"
        )),
    }
}

/// Returns the flips, the worse ones first, then in the order of the corpus.
pub(super) fn worst_first(compared: &PinnedComparison) -> Vec<&Flip> {
    let mut flips: Vec<&Flip> = compared.comparison.flipped().collect();
    flips.sort_by_key(|flip| flip.direction);
    flips
}

/// Counts the flips by direction, and the alarms that only moved.
pub(super) fn count_flips(compared: &PinnedComparison) -> String {
    let of = |d| {
        compared
            .comparison
            .flipped()
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
pub(super) fn outcome_words(said: &SideOutcome) -> String {
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

fn flips(compared: &PinnedComparison, text: TextDocument) -> TextDocument {
    let all = worst_first(compared);
    let text = text.prose(format!("\n {}", count_flips(compared)));
    if all.is_empty() {
        return text;
    }
    let row = |flip: &&Flip| {
        vec![
            visible(&flip.transcript),
            flip.direction.name().into(),
            outcome_words(&flip.base),
            outcome_words(&flip.new),
        ]
    };
    let rows = all.iter().take(LISTED).map(row).collect();
    let mut text = text
        .lines("")
        .table(&["transcript", "NEW is", "BASE", "NEW"], rows, 0..0);
    if all.len() > LISTED {
        let left = all.len() - LISTED;
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

fn pinned_lines(compared: &PinnedComparison, text: TextDocument) -> TextDocument {
    let n = compared.pinned.len();
    if n == 0 {
        return text;
    }
    let told = compared.pinned.iter().filter(|pin| pin.is_notable());
    let lines: String = told
        .map(|pin| format!("\n {}", visible(&pin.what)))
        .collect();
    text.prose(format!("\n {n} pinned cases{lines}"))
}
