//! choice.csv: the setting of each model in the written file, and the evidence for it.

use std::path::Path;

use deadloop_replay::detect::Unit;
use deadloop_tables::{Schema, schema};

use super::openings::OPENINGS_COLUMN;
use super::store::{FileError, write_csv};
use crate::choose::{Choice, Choices, ChooseOptions, PairedTest, within};
use crate::measure::{DELAY, ENDED, Metric, RECALL, SAVED, wrong_rate};
use crate::tally::{Count, Tally};

/// Writes `choice.csv`: a row `*` for the whole file, then a row for each model, by name.
///
/// The columns `held_out_…` are the figures of the settings file, on held-out folds if a part of the file was chosen by
/// folds. The columns `in_sample_…` are the figures of a replay of the file, and `in_use_…` those of the setting in
/// use. All of these figures count all labels. `difference` belongs to the test by which the setting replaces the
/// incumbent. The test counts each text once and leaves out labels in doubt. `test_openings` counts how often the
/// sealed split was scored with these settings. It is 0 in a new file.
pub fn write_choice(
    dir: &Path,
    choices: &Choices,
    options: &ChooseOptions,
) -> Result<(), FileError> {
    let in_use = choices.advice.in_use_is.as_str();
    let verdict = choices.advice.verdict.name();
    let rows = std::iter::once(&choices.all).chain(&choices.models);
    let row = |choice| ChoiceData {
        choice,
        in_use,
        verdict,
        options,
    };
    let rows: Vec<ChoiceData<'_>> = rows.map(row).collect();
    write_csv(
        dir,
        "choice",
        &choice_schema(options.judge.unit).frame(&rows),
    )
}

/// The data of a row of `choice.csv`.
pub(crate) struct ChoiceData<'a> {
    choice: &'a Choice,
    in_use: &'a str,
    verdict: &'static str,
    options: &'a ChooseOptions,
}

impl ChoiceData<'_> {
    fn value(&self, metric: Metric, tally: &Tally) -> Option<f64> {
        metric.value(tally, &self.options.worth)
    }

    fn in_points(&self, difference: impl Fn(&PairedTest) -> Option<f64>) -> Option<f64> {
        let test = self.choice.test.as_ref()?;
        Some(test.in_points(difference(test)?))
    }
}

/// Returns the columns of `choice.csv` for the unit in which the choice was made.
pub(crate) fn choice_schema<'a>(unit: Unit) -> Schema<ChoiceData<'a>> {
    let mut list = schema![ChoiceData<'a>;
        ("model", Text, "The model; `*`: the whole file.", |row| &row.choice.model),
        ("verdict", Text, "The verdict of the choice: ship, keep or collect.", |row| row.verdict),
        ("in_use", Text, "The name of the setting in use.", |row| row.in_use),
        ("gets", Text, "The name of the setting in the file.", |row| &row.choice.name),
        ("setting", Text, "Its id; of `*` the setting of models without a table.", |row| &row.choice.setting),
        ("from", Text, "Its source: in use, ready, grid, all models.", |row| row.choice.source.name()),
        ("why", Text, "The reason in a sentence.", |row| &row.choice.reason),
        ("ships", Text, "The rule by which it replaces what would run otherwise: better or safer; empty: it does not.", |row| row.choice.ships.map(|ship| ship.name())),
        ("difference", Float["points"], "The difference of the test, in points of the objective.", |row| row.in_points(|test| test.difference)),
        ("difference_lo", Float["points"], "The lower end of its 80 % interval.", |row| row.in_points(|test| Some(test.lo))),
        ("difference_hi", Float["points"], "The upper end.", |row| row.in_points(|test| Some(test.hi))),
        ("objective", Text, "The measure in which the setting has to be best.", |row| row.options.objective.name),
        ("limits", Text, "The limits.", |row| {
            let limits: Vec<String> = row.options.constraints.iter().map(ToString::to_string).collect();
            limits.join("; ")
        }),
        ("transcripts", Int["transcripts"], "Transcripts.", |row| row.choice.in_sample.get(Count::Transcripts)),
        ("loops", Int["transcripts"], "Transcripts with a loop.", |row| row.choice.in_sample.loops()),
        ("clean", Int["transcripts"], "Clean transcripts.", |row| row.choice.in_sample.clean()),
    ];
    for metric in [
        &SAVED,
        &ENDED,
        &RECALL,
        within(unit),
        &DELAY,
        wrong_rate(unit),
    ] {
        let of = metric.unit.words();
        let about = |whose| format!("{} of {whose}: {}.", metric.name, metric.meaning);
        list.extend(schema![ChoiceData<'a>;
            (format!("in_use_{}", metric.name), Float[of], about("the setting in use"), |row| row.value(metric, &row.choice.in_use)),
            (format!("held_out_{}", metric.name), Float[of], about("the file, held out"), |row| row.value(metric, &row.choice.held_out)),
            (format!("in_sample_{}", metric.name), Float[of], about("the file, in-sample"), |row| row.value(metric, &row.choice.in_sample)),
        ]);
    }
    list.extend(schema![ChoiceData<'a>;
        ("in_use_wrong", Int["alarms"], "Wrong alarms of the setting in use.", |row| row.choice.in_use.wrong()),
        ("held_out_wrong", Int["alarms"], "Wrong alarms of the file, held out.", |row| row.choice.held_out.wrong()),
        ("in_sample_wrong", Int["alarms"], "Wrong alarms of the file, in-sample.", |row| row.choice.in_sample.wrong()),
        ("in_use_transient", Int["alarms"], "Transient stops of the setting in use.", |row| row.choice.in_use.get(Count::TransientStop)),
        ("held_out_transient", Int["alarms"], "Transient stops of the file, held out.", |row| row.choice.held_out.get(Count::TransientStop)),
        ("in_sample_transient", Int["alarms"], "Transient stops of the file, in-sample.", |row| row.choice.in_sample.get(Count::TransientStop)),
        (OPENINGS_COLUMN, Int["openings"], "How often the sealed split was scored with these settings: 0 when it is written.", |_row| 0_u64),
    ]);
    list
}
