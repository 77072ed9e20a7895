//! A comparison on the terminal.

use deadloop_score::{Direction, Effect, Flip, Row, Side, SideOutcome, SignificanceTest, p_shown};

use super::pinned_comparison::{PinnedComparison, gate_word, verdict_words};
use crate::show;
use crate::visible::visible;

/// Formats the comparison, with at most `most` flips.
pub(crate) fn words(compared: &PinnedComparison, most: usize) -> String {
    let c = &compared.comparison;
    // The verdict comes first, for readers of one line.
    let verdict = format!(
        " {}: {}: {}",
        c.verdict.name(),
        verdict_words(c.verdict),
        c.why.join("\n   ")
    );
    let mut parts = vec![visible_lines(&verdict)];
    parts.push(format!(
        " BASE  {}\n NEW   {}\n {}; seed {}, {} replicates",
        side(&compared.base),
        side(&compared.new),
        compared.numbers(),
        compared.options.resampling.seed,
        show::count(compared.options.resampling.replicates as u64),
    ));
    parts.push(metrics(compared));
    parts.push(format!(" {}", compared.healthy()));
    parts.extend(flips(compared, most));
    parts.extend(pinned_lines(compared));
    let gate = |g: &deadloop_score::Gate| {
        format!(
            " gate {}: {}: {}",
            g.gate.name(),
            gate_word(g.passed, c.verdict),
            g.why
        )
    };
    let end: Vec<String> = c.gates.iter().map(gate).collect();
    parts.push(visible_lines(&end.join("\n")));
    parts.join("\n\n")
}

fn visible_lines(text: &str) -> String {
    text.lines().map(visible).collect::<Vec<_>>().join("\n")
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

fn metrics(compared: &PinnedComparison) -> String {
    let (told, left) = select_rows(&compared.comparison.rows);
    let table: Vec<Vec<String>> = told.into_iter().map(cells).collect();
    let mut text = show::table(&HEADER, &table, 2);
    if left > 0 {
        text += &format!("\n {left} rows of single models neither improved nor regressed");
    }
    text
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
                show::count(at)
            )
        }
        _ => said.verdict.name().into(),
    }
}

fn flips(compared: &PinnedComparison, most: usize) -> Vec<String> {
    let all = worst_first(compared);
    let counted = format!(" {}", count_flips(compared));
    if all.is_empty() {
        return vec![counted];
    }
    let row = |flip: &&Flip| {
        vec![
            visible(&flip.transcript),
            flip.direction.name().into(),
            outcome_words(&flip.base),
            outcome_words(&flip.new),
        ]
    };
    let rows: Vec<Vec<String>> = all.iter().take(most).map(row).collect();
    let mut text = show::table(&["transcript", "NEW is", "BASE", "NEW"], &rows, 4);
    if all.len() > most {
        let left = all.len() - most;
        text += &format!("\n … and {left} more: flips.csv of --out DIR");
    }
    text += &match &compared.command {
        Some(command) => format!("\n each is explained by {}", visible(command)),
        None => "\n --out DIR writes the settings of both sides and the command that explains each"
            .into(),
    };
    vec![counted, text]
}

fn pinned_lines(compared: &PinnedComparison) -> Option<String> {
    if compared.pinned.is_empty() {
        return None;
    }
    let told = compared.pinned.iter().filter(|pin| pin.is_notable());
    let lines: Vec<String> = told.map(|pin| format!(" {}", visible(&pin.what))).collect();
    let n = compared.pinned.len();
    Some(
        format!(" {n} pinned cases\n{}", lines.join("\n"))
            .trim_end()
            .into(),
    )
}
