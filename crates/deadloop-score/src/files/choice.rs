//! choice.csv: the setting of each model, and the evidence for it.

use std::path::Path;

use super::openings::TEST_OPENINGS;
use super::store::{FileError, write_csv};
use crate::choose::choices::{Choice, Choices};
use crate::choose::options::ChooseOptions;
use crate::constraint::Constraint;
use crate::intervals::{Interval, PoissonCache};
use crate::measure::{ENDED, Metric, RECALL, measures, wrong_rate};
use crate::tally::{Count, Tally};
use deadloop_replay::detect::Unit;
use deadloop_tables::{Schema, TableCell, Type, named};

const HELD_OUT_BOUNDS: [&str; 6] = [
    "held_out_ended_lo",
    "held_out_ended_hi",
    "held_out_recall_lo",
    "held_out_recall_hi",
    "held_out_fa_lo",
    "held_out_fa_hi",
];

/// Metrics that stand in the table in sample, held out and in use, whatever the objective is.
fn shown(unit: Unit) -> impl Iterator<Item = Metric> {
    measures(unit).filter(|measure| measure.shown.choice)
}

/// Writes `choice.csv`: `*` first, then what the settings file does as a whole, where it names a model (`model` is
/// `settings.toml`, `why` is `shipped`), then the models by name.
///
/// `setting` is what `settings.toml` holds; `candidate` is what was tried against it, and the figures in sample and
/// held out are the candidate's, those of what is held where nothing was tried. `in_sample`, `held_out`, `optimism` (see
/// [`Choice::optimism`]) and `in_use` are in the objective, and for some measures more. `difference` (in points) and the
/// probabilities compare the candidate, held out, with what it would replace. `margins` says how far inside each limit the
/// candidate is, held out, and with which probability. `prior_…` is how much the other models helped, in loops and healthy
/// chars. `test_openings` counts how often the sealed split was scored with these settings (see
/// [`count_opening`](super::openings::count_opening)): 0 when it is written.
pub fn write_choice(
    dir: &Path,
    choices: &Choices,
    options: &ChooseOptions,
) -> Result<(), FileError> {
    let first = std::iter::once(&choices.pooled).chain(&choices.shipped);
    let all = first.chain(&choices.models);
    let verdict = choices.advice.verdict.name();
    let rows = all.map(|choice| row(choice, verdict, options));
    write_csv(dir, "choice", &schema(options.judge.unit), rows)
}

fn schema(unit: Unit) -> Schema {
    let texts = [
        "model",
        "setting",
        "why",
        "reason",
        "verdict",
        "candidate",
        "ships",
    ];
    let counts = ["transcripts", "loops", "clean", "exposure", "folds_without"];
    let mut schema: Schema = [
        named(&texts, Type::Text),
        named(
            &["difference", "difference_lo", "difference_hi"],
            Type::Float,
        ),
        named(&["p_better", "p_fewer_wrong", "p_within"], Type::Float),
        named(&counts, Type::Int),
        named(&["objective"], Type::Text),
        named(
            &["in_sample", "held_out", "optimism", "in_use"],
            Type::Float,
        ),
        named(&["constraints", "margins"], Type::Text),
    ]
    .concat();
    for metric in shown(unit) {
        for part in ["in_sample", "held_out", "in_use"] {
            schema.push((format!("{part}_{}", metric.name), Type::Float));
        }
    }
    schema.extend(named(
        &["held_out_wrong", "in_use_wrong", "held_out_exposure"],
        Type::Int,
    ));
    schema.extend(named(&HELD_OUT_BOUNDS, Type::Float));
    schema.extend(named(&["prior_loops", "prior_clean_chars"], Type::Float));
    schema.extend(named(&[TEST_OPENINGS], Type::Int));
    schema
}

fn row(choice: &Choice, verdict: &str, options: &ChooseOptions) -> Vec<TableCell> {
    let (tally, held, used) = (&choice.tally, &choice.held_out_tally, &choice.in_use_tally);
    let value =
        |metric: Metric, tally: &Tally| TableCell::Float(metric.value(tally, &options.worth));
    let ships = choice.ships.map(|ship| format!("{ship:?}").to_lowercase());
    let figures = choice.figures.as_ref();
    let range = figures.and_then(|f| f.interval_points());
    let constraints: Vec<String> = options
        .constraints
        .iter()
        .map(ToString::to_string)
        .collect();
    let margins: Vec<String> = options
        .constraints
        .iter()
        .map(|c| margin(c, held, options))
        .collect();
    let mut row = vec![
        TableCell::text(choice.model.clone()),
        TableCell::text(choice.setting.clone()),
        TableCell::text(choice.why.name()),
        TableCell::text(choice.reason.clone()),
        TableCell::text(verdict),
        TableCell::maybe(choice.candidate_setting.as_ref()),
        TableCell::Text(ships),
        TableCell::Float(figures.map(|f| f.points())),
        TableCell::Float(range.map(|(lo, _)| lo)),
        TableCell::Float(range.map(|(_, hi)| hi)),
        TableCell::Float(figures.map(|f| f.better)),
        TableCell::Float(figures.map(|f| f.fewer_wrong)),
        TableCell::Float(figures.map(|f| f.within)),
        TableCell::count(tally.get(Count::Transcripts)),
        TableCell::count(tally.loops()),
        TableCell::count(tally.clean()),
        TableCell::count(tally.get(Count::Exposure)),
        TableCell::count(choice.folds_without as u64),
        TableCell::text(options.objective.name),
        value(options.objective, tally),
        value(options.objective, held),
        TableCell::Float(choice.optimism(options.objective, &options.worth)),
        value(options.objective, used),
        TableCell::text(constraints.join("; ")),
        TableCell::text(margins.join("; ")),
    ];
    for metric in shown(options.judge.unit) {
        row.extend([tally, held, used].map(|tally| value(metric, tally)));
    }
    row.extend([held.wrong(), used.wrong(), held.get(Count::Exposure)].map(TableCell::count));
    row.extend(held_out_bounds(held, options.judge.unit).map(TableCell::Float));
    let strength = choice.borrowing.map(|b| b.strength());
    row.push(TableCell::Float(strength.map(|(loops, _)| loops)));
    row.push(TableCell::Float(strength.map(|(_, chars)| chars)));
    row.push(TableCell::count(0));
    row
}

/// In the order of [`HELD_OUT_BOUNDS`].
fn held_out_bounds(tally: &Tally, unit: Unit) -> [Option<f64>; 6] {
    let mut cache = PoissonCache::default();
    let mut ends = |metric: Metric| {
        let interval: Option<Interval> = metric.interval(tally, &mut cache);
        [interval.map(|i| i.lo), interval.map(|i| i.hi)]
    };
    let [a, b] = ends(&ENDED);
    let ([c, d], [e, f]) = (ends(&RECALL), ends(wrong_rate(unit)));
    [a, b, c, d, e, f]
}

/// `fa_per_mchar<=1: 0.1235 (P 0.88)`, negative where the limit is broken.
fn margin(constraint: &Constraint, tally: &Tally, options: &ChooseOptions) -> String {
    let sign = if constraint.at_most { 1.0 } else { -1.0 };
    let Some(value) = constraint.metric.value(tally, &options.worth) else {
        return format!("{constraint}: n/a");
    };
    let margin = sign * (constraint.bound - value);
    let sure = constraint.probability(tally);
    let sure = sure.map_or_else(String::new, |p| format!(" (P {p:.2})"));
    format!("{constraint}: {margin:.4}{sure}")
}
