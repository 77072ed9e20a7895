//! choice.csv: the setting of each model, and the evidence for it.

use std::path::Path;

use super::openings::TEST_OPENINGS;
use super::store::{FileError, write_csv};
use crate::choose::choices::{Choice, Choices};
use crate::choose::duel::Figures;
use crate::choose::options::ChooseOptions;
use crate::constraint::Constraint;
use crate::intervals::{Interval, PoissonCache};
use crate::measure::{ENDED, Metric, RECALL, measures, wrong_rate};
use crate::tally::{Count, Tally};
use deadloop_replay::detect::Unit;
use deadloop_tables::{Columns, columns};

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
    let columns = choice_columns(options.judge.unit);
    let rows = all.map(|choice| {
        columns.cells(&Row {
            held_out: held_out_bounds(&choice.held_out_tally, options.judge.unit),
            choice,
            verdict,
            options,
        })
    });
    write_csv(dir, "choice", &columns.schema(), rows)
}

/// What a row is made from.
pub(super) struct Row<'a> {
    choice: &'a Choice,
    verdict: &'static str,
    options: &'a ChooseOptions,
    /// The ends of the intervals of ended, recall and the rate of wrong alarms, held out.
    held_out: [Option<f64>; 6],
}

impl Row<'_> {
    /// The objective in a tally.
    fn objective(&self, tally: &Tally) -> Option<f64> {
        self.value(self.options.objective, tally)
    }

    fn value(&self, metric: Metric, tally: &Tally) -> Option<f64> {
        metric.value(tally, &self.options.worth)
    }

    fn figures(&self) -> Option<&Figures> {
        self.choice.figures.as_ref()
    }

    fn range(&self) -> Option<(f64, f64)> {
        self.figures()?.interval_points()
    }

    /// What is said of each limit.
    fn limits(&self, said: impl Fn(&Constraint) -> String) -> String {
        let limits: Vec<String> = self.options.constraints.iter().map(said).collect();
        limits.join("; ")
    }
}

/// The columns of `choice.csv`, in a unit of choice.
pub(super) fn choice_columns<'a>(unit: Unit) -> Columns<Row<'a>> {
    let mut list = about_the_choice();
    for metric in shown(unit) {
        let of = metric.unit.words();
        let about = |whose| format!("{} of the {whose}: {}.", metric.name, metric.meaning);
        list.extend(columns![Row<'a>;
            (format!("in_sample_{}", metric.name), Float[of], about("candidate, in sample"), |row| row.value(metric, &row.choice.tally)),
            (format!("held_out_{}", metric.name), Float[of], about("candidate, held out"), |row| row.value(metric, &row.choice.held_out_tally)),
            (format!("in_use_{}", metric.name), Float[of], about("setting in use"), |row| row.value(metric, &row.choice.in_use_tally)),
        ]);
    }
    list.extend(columns![Row<'a>;
        ("held_out_wrong", Int["alarms"], "Wrong alarms of the candidate, held out.", |row| row.choice.held_out_tally.wrong()),
        ("in_use_wrong", Int["alarms"], "Wrong alarms of the setting in use.", |row| row.choice.in_use_tally.wrong()),
        ("held_out_exposure", Int["unit"], "Healthy output watched, held out.", |row| row.choice.held_out_tally.get(Count::Exposure)),
    ]);
    let ends = ["ended", "recall", "fa"].map(|of| [(of, "lo", "lower"), (of, "hi", "upper")]);
    for (at, (of, end, which)) in ends.into_iter().flatten().enumerate() {
        let unit = if of == "fa" { "per million units" } else { "" };
        let about = format!(
            "The {which} end of the 95 % interval of {of}, held out; fa is the rate of wrong alarms."
        );
        list.extend(columns![Row<'a>;
            (format!("held_out_{of}_{end}"), Float[unit], about, |row| row.held_out[at]),
        ]);
    }
    list.extend(columns![Row<'a>;
        ("prior_loops", Float["loops"], "How much the other models helped, in loops.", |row| row.choice.borrowing.map(|b| b.strength().0)),
        ("prior_clean_chars", Float["unit"], "How much they helped, in healthy output.", |row| row.choice.borrowing.map(|b| b.strength().1)),
        (TEST_OPENINGS, Int["openings"], "How often the sealed split was scored with these settings: 0 when it is written.", |_row| 0),
    ]);
    list
}

/// The columns in front, which are the same in every unit.
fn about_the_choice<'a>() -> Columns<Row<'a>> {
    columns![Row<'a>;
        ("model", Text, "The model; `*`: all together; `settings.toml`: each model under its own setting.", |row| &row.choice.model),
        ("setting", Text, "What settings.toml holds.", |row| &row.choice.setting),
        ("why", Text, "Why: own, pooled, few labels, shipped.", |row| row.choice.why.name()),
        ("reason", Text, "The same in a sentence.", |row| &row.choice.reason),
        ("verdict", Text, "Ship, decide, collect, keep or none, for all together.", |row| row.verdict),
        ("candidate", Text, "What was tried against it.", |row| row.choice.candidate_setting.as_ref()),
        ("ships", Text, "What of the candidate ships; empty: nothing.", |row| row.choice.ships.map(|ship| format!("{ship:?}").to_lowercase())),
        ("difference", Float["points"], "How much better the candidate is than what it would replace, held out.", |row| row.figures().map(Figures::points)),
        ("difference_lo", Float["points"], "The lower end of its 95 % interval.", |row| row.range().map(|(lo, _)| lo)),
        ("difference_hi", Float["points"], "The upper end.", |row| row.range().map(|(_, hi)| hi)),
        ("p_better", Float, "The probability that it is better.", |row| row.figures().map(|f| f.better)),
        ("p_fewer_wrong", Float, "The probability that it has fewer wrong alarms.", |row| row.figures().map(|f| f.fewer_wrong)),
        ("p_within", Float, "The probability that it is within every limit.", |row| row.figures().map(|f| f.within)),
        ("transcripts", Int["transcripts"], "How many transcripts there are.", |row| row.choice.tally.get(Count::Transcripts)),
        ("loops", Int["transcripts"], "How many of them loop.", |row| row.choice.tally.loops()),
        ("clean", Int["transcripts"], "How many have no loop.", |row| row.choice.tally.clean()),
        ("exposure", Int["unit"], "Healthy output watched.", |row| row.choice.tally.get(Count::Exposure)),
        ("folds_without", Int["folds"], "In how many folds nothing satisfied the limits.", |row| row.choice.folds_without as u64),
        ("objective", Text, "What is made best.", |row| row.options.objective.name),
        ("in_sample", Float["as the objective"], "The candidate's, on what it was chosen on.", |row| row.objective(&row.choice.tally)),
        ("held_out", Float["as the objective"], "The candidate's, on folds that it was not chosen on.", |row| row.objective(&row.choice.held_out_tally)),
        ("optimism", Float["as the objective"], "By how much the first is too good.", |row| row.choice.optimism(row.options.objective, &row.options.worth)),
        ("in_use", Float["as the objective"], "That of the setting in use.", |row| row.objective(&row.choice.in_use_tally)),
        ("constraints", Text, "The limits.", |row| row.limits(ToString::to_string)),
        (
            "margins", Text,
            "How far inside each limit the candidate is, held out, and with which probability.",
            |row| row.limits(|limit| margin(limit, &row.choice.held_out_tally, row.options)),
        ),
    ]
}

/// The lower and the upper ends of ended, recall and the rate of wrong alarms.
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
