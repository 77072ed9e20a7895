//! choice.csv: the setting of each model, and the evidence for it.

use std::path::Path;

use super::openings::TEST_OPENINGS;
use super::store::{FileError, write_csv};
use super::table::{Cell, Schema, Type, named};
use crate::choice::{Choice, Choices, ChooseOptions};
use crate::constraint::{Constraint, Standing};
use crate::intervals::{Interval, PoissonCache, wilson};
use crate::metric::Metric;
use crate::scores::fa_interval;
use crate::tally::{Count, Tally};

/// Metrics that stand in the table both in sample and held out, whatever the objective is.
const SHOWN: [Metric; 5] = [
    Metric::Recall,
    Metric::Precision,
    Metric::FaPerMchar,
    Metric::Delay,
    Metric::Saved,
];

const HELD_OUT_BOUNDS: [&str; 4] = [
    "held_out_recall_lo",
    "held_out_recall_hi",
    "held_out_fa_lo",
    "held_out_fa_hi",
];

/// Writes `choice.csv`: `*` first, then what the settings file does as a whole, where it names a model
/// (`model` is `settings.toml`, `why` is `shipped`), then the models by name.
///
/// `in_sample`, `held_out`, `optimism` (see [`Choice::optimism`]) and `current` are in the objective;
/// the first two stand for recall, precision, `fa_per_mchar`, delay and saved as well. `margins` says how far inside each
/// constraint the setting is on these transcripts, and whether a bound or the estimate was compared;
/// `decided` says it for the counts that decided (see [`Choice::decided`]).
/// Of the held-out recall and false alarms there are intervals too (Wilson, exact Poisson), and the
/// healthy chars that were watched held out. `prior_…` is how much the other models helped, in loops
/// and healthy chars; `left_out…` is what the choice of the other models alone does on this model.
/// `test_openings` counts how often the sealed split was scored with these settings (see
/// [`count_opening`](super::openings::count_opening)): 0 when it is written.
pub fn write_choice(
    dir: &Path,
    choices: &Choices,
    options: &ChooseOptions,
) -> Result<(), FileError> {
    let first = std::iter::once(&choices.pooled).chain(&choices.shipped);
    let all = first.chain(&choices.models);
    write_csv(
        dir,
        "choice",
        &schema(),
        all.map(|choice| row(choice, options)),
    )
}

fn schema() -> Schema {
    let lead = [
        ("model", Type::Text),
        ("setting", Type::Text),
        ("why", Type::Text),
        ("reason", Type::Text),
        ("thin", Type::Int),
        ("kept_current", Type::Int),
        ("probability", Type::Float),
        ("transcripts", Type::Int),
        ("loops", Type::Int),
        ("clean", Type::Int),
        ("exposure", Type::Int),
        ("objective", Type::Text),
        ("in_sample", Type::Float),
        ("held_out", Type::Float),
        ("optimism", Type::Float),
        ("current", Type::Float),
        ("folds_without", Type::Int),
        ("constraints", Type::Text),
        ("margins", Type::Text),
        ("decided", Type::Text),
    ];
    let mut schema: Schema = lead
        .into_iter()
        .map(|(name, of)| (name.to_owned(), of))
        .collect();
    for metric in SHOWN {
        schema.push((format!("in_sample_{}", metric.name()), Type::Float));
        schema.push((format!("held_out_{}", metric.name()), Type::Float));
    }
    schema.extend(named(&["held_out_exposure"], Type::Int));
    schema.extend(named(&HELD_OUT_BOUNDS, Type::Float));
    schema.extend(named(&["prior_loops", "prior_clean_chars"], Type::Float));
    schema.extend(named(&["left_out_setting"], Type::Text));
    schema.extend(named(
        &["left_out", "left_out_recall", "left_out_fa_per_mchar"],
        Type::Float,
    ));
    schema.extend(named(&[TEST_OPENINGS], Type::Int));
    schema
}

fn row(choice: &Choice, options: &ChooseOptions) -> Vec<Cell> {
    let tally = &choice.tally;
    let constraints: Vec<String> = options
        .constraints
        .iter()
        .map(ToString::to_string)
        .collect();
    let margins = |standings: &[Standing]| {
        let stand = options.constraints.iter().zip(standings);
        let margins: Vec<String> = stand.map(|(c, s)| margin(c, s)).collect();
        Cell::text(margins.join("; "))
    };
    let mut row = vec![
        Cell::text(choice.model.clone()),
        Cell::text(choice.setting.clone()),
        Cell::text(choice.why.name()),
        Cell::text(choice.reason.clone()),
        Cell::Int(Some(choice.thin.into())),
        Cell::Int(Some(choice.kept.into())),
        Cell::Float(choice.probability),
        Cell::count(tally.get(Count::Transcripts)),
        Cell::count(tally.loops()),
        Cell::count(tally.clean()),
        Cell::count(tally.get(Count::Exposure)),
        Cell::text(options.objective.name()),
        Cell::Float(choice.in_sample),
        Cell::Float(choice.held_out),
        Cell::Float(choice.optimism(options.objective, &options.worth)),
        Cell::Float(choice.current),
        Cell::count(choice.folds_without as u64),
        Cell::text(constraints.join("; ")),
        margins(&choice.standings),
        margins(&choice.decided),
    ];
    for metric in SHOWN {
        row.push(Cell::Float(metric.value(&choice.tally, &options.worth)));
        row.push(Cell::Float(
            metric.value(&choice.held_out_tally, &options.worth),
        ));
    }
    row.push(Cell::count(choice.held_out_tally.get(Count::Exposure)));
    row.extend(held_out_bounds(&choice.held_out_tally).map(Cell::Float));
    let strength = choice.borrowing.map(|b| b.strength());
    row.push(Cell::Float(strength.map(|(loops, _)| loops)));
    row.push(Cell::Float(strength.map(|(_, chars)| chars)));
    let left_out = choice.left_out.as_ref();
    row.push(left_out.map_or(Cell::Text(None), |l| Cell::text(l.setting.clone())));
    for metric in [options.objective, Metric::Recall, Metric::FaPerMchar] {
        let value = left_out.and_then(|l| metric.value(&l.tally, &options.worth));
        row.push(Cell::Float(value));
    }
    row.push(Cell::count(0));
    row
}

/// In the order of [`HELD_OUT_BOUNDS`].
fn held_out_bounds(tally: &Tally) -> [Option<f64>; 4] {
    let recall = wilson(tally.get(Count::Hit), tally.loops());
    let fa = fa_interval(tally, &mut PoissonCache::default());
    let ends = |interval: Option<Interval>| [interval.map(|i| i.lo), interval.map(|i| i.hi)];
    let ([a, b], [c, d]) = (ends(recall), ends(fa));
    [a, b, c, d]
}

/// `fa_per_mchar<=1: 0.1235 (bound 0.8765)`, negative where the constraint is violated here.
fn margin(constraint: &Constraint, standing: &Standing) -> String {
    let by = if standing.by_bound {
        "bound"
    } else {
        "estimate"
    };
    match (standing.margin(constraint), standing.compared) {
        (Some(margin), Some(value)) => format!("{constraint}: {margin:.4} ({by} {value:.4})"),
        _ => format!("{constraint}: n/a"),
    }
}
