//! The sentences of a choice, shared by every output.
//!
//! The outputs are terminal, page, Markdown, `--json`, manifest and settings.toml.

use super::search::text_lacking;
use super::verdict::{Choice, Choices, Figures, Provenance, Ruling};
use super::{
    Candidate, ChooseOptions, Chooser, FEWEST_FOR_SAFER, FEWEST_LOOPS, MODEL_LOOPS, PairedTest,
    Rung, Sample,
};
use crate::intervals::poisson_upper;
use crate::measure::{BREAK_EVEN, Measure, MeasureUnit, wrong_rate};
use crate::sentences::{self, capital, exposure, response, several, thousands};
use crate::tally::{Count, Tally};

/// Formats a value with its unit: `84.1 %`, `0.55`, `1,252`, `n/a`.
pub fn format_value(measure: &Measure, value: Option<f64>) -> String {
    let Some(value) = value else {
        return "n/a".into();
    };
    match measure.unit {
        MeasureUnit::Share => format!("{:.1} %", 100.0 * value),
        MeasureUnit::PerMillion => format!("{value:.2}"),
        MeasureUnit::Chars => thousands(value.round_ties_even() as i64),
    }
}

/// Adds the sentences to the choices.
pub(super) fn add_sentences(choices: &mut Choices, chooser: &Chooser<'_>, sample: &Sample) {
    let options = chooser.options;
    let in_use = options.in_use_is.as_str();
    choices.all.reason = reason_of(&choices.all, in_use, options);
    let all = choices.all.name.clone();
    for model in &mut choices.models {
        model.reason = reason_of(model, &all, options);
    }
    let reason = match choices.advice.verdict {
        Ruling::Ship => ship_sentence(choices, options) + &over_limit(choices, chooser),
        Ruling::Keep => keep_sentence(choices, chooser) + &over_limit(choices, chooser),
        Ruling::Collect => list_missing(choices, chooser, sample),
    };
    let more = [
        by_themselves(choices, options),
        doubts(choices, chooser),
        pays(choices, chooser, sample),
        too_little(choices, chooser, sample),
        sentences::spared(
            &name_setting(choices, options),
            &choices.all.held_out,
            &options.worth,
            options.judge.unit,
        ),
    ];
    choices.advice.more = more.into_iter().flatten().collect();
    choices.advice.reason = reason;
}

/// Formats a comparison of the whole file on all labels: `saved 84.1 % instead of 60.2 % (+23.9 points), 13 wrong
/// alarms instead of 31`.
fn compare_figures(new: &Figures, old: &Figures, options: &ChooseOptions) -> String {
    let objective = options.objective;
    let values = [new.objective, old.objective].map(|value| format_value(objective, value));
    let points = new.objective.zip(old.objective).map(|(a, b)| {
        let point = objective.point(b);
        let difference = if point > 0.0 { (a - b) / point } else { 0.0 };
        // Adding 0 turns -0 into 0.
        format!(" ({:+.1} points)", difference + 0.0)
    });
    let wrong = match (new.wrong, old.wrong) {
        (0, 0) => "no wrong alarm in either".to_owned(),
        (new, old) => format!(
            "{} instead of {}",
            several(new, "wrong alarm"),
            thousands(old as i64)
        ),
    };
    format!(
        "{} {} instead of {}{}, {wrong}",
        objective.title_in(options.judge.unit),
        values[0],
        values[1],
        points.unwrap_or_default(),
    )
}

fn ship_sentence(choices: &Choices, options: &ChooseOptions) -> String {
    let advice = &choices.advice;
    let of_folds = if advice.by_folds { ", held out" } else { "" };
    let figures = compare_figures(&advice.file, &advice.in_use, options);
    let own: Vec<&Choice> = choices
        .models
        .iter()
        .filter(|model| model.ships.is_some())
        .collect();
    let models = match own.as_slice() {
        [] => String::new(),
        [one] => format!("{} gets {}", one.model, one.name),
        [one, other] => format!(
            "{} and {} get settings of their own",
            one.model, other.model
        ),
        [one, rest @ ..] => format!(
            "{} and {} get settings of their own",
            one.model,
            several(rest.len() as u64, "more model")
        ),
    };
    match (advice.rule, models.as_str()) {
        (Some(_), "") => format!("Ship {}: {figures}{of_folds}.", choices.all.name),
        (Some(_), models) => format!(
            "Ship {}, and {models}: {figures}{of_folds}.",
            choices.all.name
        ),
        (None, models) => {
            format!(
                "Ship settings.toml: {models}, all others keep {}: {figures}{of_folds}.",
                options.in_use_is
            )
        }
    }
}

fn keep_sentence(choices: &Choices, chooser: &Chooser<'_>) -> String {
    let (advice, options) = (&choices.advice, chooser.options);
    let now = &options.in_use_is;
    let (sign, in_use) = (options.objective.sign(), advice.in_use.objective);
    let better = |rung: &&Rung| {
        in_use.is_some_and(|old| {
            merit(&rung.held_out, options) - sign * old > options.objective.point(old)
        })
    };
    let keeps = |rung: &Rung| is_within(rung, options);
    let all = || advice.limits.iter().filter(better);
    if !options.ships_grid {
        // Only a rung that would ship is a hint.
        let would = all().filter(|rung| rung.ships.is_some() && keeps(rung));
        let would = would
            .max_by(|a, b| merit(&a.held_out, options).total_cmp(&merit(&b.held_out, options)));
        let hint = would.map_or_else(String::new, |rung| {
            let detector = chooser.evidence.plan.setting(rung.cell).members[0].detector.name;
            format!(
                " A setting of {detector} is better, held out: {}. Settings of its grid may ship with --grid (deadloop detectors {detector} --grid writes the grid).",
                compare_figures(&rung.held_out, &advice.in_use, options),
            )
        });
        let limits = limits(options);
        return format!("Keep {now}: no ready guard is surely better within {limits}.{hint}");
    }
    let Some(rung) = all().find(|rung| keeps(rung)).or_else(|| all().next()) else {
        return format!("Keep {now}: nothing that was tried is better.");
    };
    let figures = compare_figures(&rung.held_out, &advice.in_use, options);
    let limits = limits(options);
    if keeps(rung) {
        format!(
            "Keep {now}: a better setting may break {limits}, and there is too little healthy text to tell ({figures}, held out)."
        )
    } else {
        format!("Keep {now}: a better setting breaks {limits} ({figures}, held out).")
    }
}

/// Returns the objective, larger for a better setting.
fn merit(figures: &Figures, options: &ChooseOptions) -> f64 {
    let value = figures.objective;
    value.map_or(f64::NEG_INFINITY, |x| options.objective.sign() * x)
}

/// Whether a row's held-out rate of wrong alarms is within the limit on this rate.
fn is_within(rung: &Rung, options: &ChooseOptions) -> bool {
    let limit = options.limit();
    limit.is_none_or(|limit| {
        limit.metric != wrong_rate(options.judge.unit)
            || rung.held_out.rate.is_some_and(|rate| limit.admits(rate))
    })
}

/// Lists the missing labels and the facts known without them.
fn list_missing(choices: &Choices, chooser: &Chooser<'_>, sample: &Sample) -> String {
    let all = choices.all.in_use.loops();
    let lacks = match sample.loops {
        0 => "none of the labelled transcripts is a loop".to_owned(),
        n if n < FEWEST_LOOPS && all > n => format!(
            "of {} {n} {} (copies of a text count once, labels in doubt do not), and {FEWEST_LOOPS} are the least",
            several(all, "labelled loop"),
            if n == 1 { "counts" } else { "count" }
        ),
        n if n < FEWEST_LOOPS => format!(
            "{} {}, and {FEWEST_LOOPS} are the least",
            several(n, "labelled loop"),
            if n == 1 { "is there" } else { "are there" }
        ),
        n => format!(
            "the {} come from {}, and {FEWEST_LOOPS} groups are the least (a group is what belongs together, as the answers to one prompt)",
            several(n, "labelled loop"),
            several(sample.loop_groups, "group")
        ),
    };
    let known = known_without_loops(choices, chooser, sample);
    let rate = wrong_rate(chooser.options.judge.unit);
    let has_limit = known.is_some() && chooser.options.constraints.iter().all(|c| c.metric == rate);
    let over = (!has_limit).then(|| over_limit(choices, chooser));
    let all: String = known.into_iter().chain(over).collect();
    format!("Collect labelled loops: {lacks}.{all}")
}

/// Reports wrong alarms if there are too few loops: `The setting in use stops 24 healthy runs (1.17 per thousand calls,
/// limit 0.2), the recommended guard 2; too few loops to say what the recommended guard misses.`
fn known_without_loops(
    choices: &Choices,
    chooser: &Chooser<'_>,
    sample: &Sample,
) -> Option<String> {
    let options = chooser.options;
    let tally = |cell: usize| chooser.sum(&Candidate::from_ready(cell), &sample.pick);
    let now = tally(choices.in_use);
    let guards = options.ready.iter();
    let (fewest, guard) = guards
        .map(|guard| (tally(guard.cell).wrong(), guard))
        .min_by_key(|(n, _)| *n)?;
    let rate = wrong_rate(options.judge.unit);
    let limit = options.limit().filter(|limit| limit.metric == rate);
    (fewest < now.wrong()).then(|| {
        let safer = if sample.is_enough_for_safer() {
            String::new()
        } else {
            let (loops, groups) = FEWEST_FOR_SAFER;
            format!(
                " With {loops} loops in {groups} groups, {} may ship as safer.",
                guard.name
            )
        };
        format!(
            " {} stops {} ({} per {}{}), {} {}; too few loops to say what {} misses.{safer}",
            capital(&options.in_use_is),
            several(
                now.wrong(),
                &format!("healthy {}", response(options.judge.unit))
            ),
            format_value(rate, rate.value(&now, &options.worth)),
            exposure(options.judge.unit),
            limit.map_or_else(String::new, |limit| format!(", limit {}", limit.bound)),
            guard.name,
            thousands(fewest as i64),
            guard.name
        )
    })
}

/// Reports that the file breaks a limit by estimate, and names a row within it.
fn over_limit(choices: &Choices, chooser: &Chooser<'_>) -> String {
    let (advice, options) = (&choices.advice, chooser.options);
    if !advice.over_limit {
        return String::new();
    }
    let broken = options.constraints.iter().filter_map(|limit| {
        let (value, met) = limit.estimate(&choices.all.held_out, &options.worth);
        let value = value.filter(|_| !met)?;
        Some(format!(
            "{limit} ({})",
            format_value(limit.metric, Some(value))
        ))
    });
    let broken: Vec<String> = broken.collect();
    // The best row within the limit; ties go to the strictest.
    let rows = advice.limits.iter().rev();
    let row = rows
        .filter(|rung| {
            let limit = options.limit();
            limit.is_some_and(|limit| limit.metric == wrong_rate(options.judge.unit))
                && is_within(rung, options)
        })
        .max_by(|a, b| merit(&a.held_out, options).total_cmp(&merit(&b.held_out, options)));
    let guard = guard_within(choices, chooser);
    let row = row.map(|rung| {
        let name = rung.name(options.limited());
        format!(" The row \"at most {name}\" below is within it.")
    });
    let mut within: String = guard.into_iter().chain(row).collect();
    if within.is_empty() {
        within += " No setting that was tried is within it, held out.";
    }
    let default = if options.given { "" } else { "default " };
    let s = if broken.len() == 1 { "" } else { "s" };
    format!(
        " {} breaks the {default}limit{s} {}.{within}",
        capital(&name_setting(choices, options)),
        broken.join(" and ")
    )
}

/// Names the best ready guard within the limits, and compares it with the file.
fn guard_within(choices: &Choices, chooser: &Chooser<'_>) -> Option<String> {
    let (options, every) = (chooser.options, chooser.evidence.all());
    let tally = |cell: usize| chooser.sum(&Candidate::from_ready(cell), &every);
    let guards = options.ready.iter().map(|guard| (guard, tally(guard.cell)));
    let within = guards.filter(|(_, tally)| options.is_within(tally));
    let figures = within.map(|(guard, tally)| (guard, Figures::new(&tally, options)));
    // Ties go to the first.
    let best = figures
        .rev()
        .max_by(|(_, a), (_, b)| merit(a, options).total_cmp(&merit(b, options)));
    best.map(|(guard, figures)| {
        let figures = compare_figures(&figures, &choices.advice.file, options);
        format!(
            " Of the ready guards {} is within it: {figures}.",
            guard.name
        )
    })
}

/// Names the setting that runs once the verdict is followed.
fn name_setting(choices: &Choices, options: &ChooseOptions) -> String {
    match choices.advice.verdict {
        Ruling::Ship => "the file".to_owned(),
        Ruling::Keep | Ruling::Collect => options.in_use_is.clone(),
    }
}

/// Reports the stops of repetitions that would have ended on their own.
fn by_themselves(choices: &Choices, options: &ChooseOptions) -> Option<String> {
    let advice = &choices.advice;
    let [new, old] = [&advice.file, &advice.in_use].map(|figures| figures.transient);
    if (new, old) == (0, 0) {
        return None;
    }
    let stops = sentences::transient_stops(new);
    let before = if advice.verdict == Ruling::Ship && new != old {
        format!(" instead of {}", thousands(old as i64))
    } else {
        String::new()
    };
    let who = capital(&name_setting(choices, options));
    Some(format!(
        "{who} makes {stops}{before}. They are not in the wrong alarms; --transient clean counts them there."
    ))
}

/// Reports the labels in doubt, and whether they reverse the comparison.
fn doubts(choices: &Choices, chooser: &Chooser<'_>) -> Option<String> {
    let n = choices.advice.doubted;
    if n == 0 {
        return None;
    }
    let options = chooser.options;
    let labels = several(n, "label");
    let (are, them) = if n == 1 {
        ("is", "it")
    } else {
        ("are", "them")
    };
    let mut text = format!(
        "{labels} {are} in doubt and left out of the choice: no person confirmed {them}, and the finder and good guards contradict {them} (deadloop label --disputes)."
    );
    let difference = |tallies: [&Tally; 2]| {
        let [new, old] = tallies.map(|tally| options.objective.value(tally, &options.worth));
        new.zip(old)
            .map(|(new, old)| options.objective.sign() * (new - old))
    };
    let with = difference([&choices.all.held_out, &choices.all.in_use]);
    let without = choices.all.test.as_ref().and_then(|test| test.difference);
    if with
        .zip(without)
        .is_some_and(|(with, without)| with * without < 0.0)
    {
        text += " With them the comparison turns round.";
    }
    Some(text)
}

/// Reports the share of loops above which the guard pays for itself.
fn pays(choices: &Choices, chooser: &Chooser<'_>, sample: &Sample) -> Option<String> {
    let options = chooser.options;
    let tally = &choices.all.held_out;
    if tally.loops() == 0 || tally.clean() == 0 {
        return None;
    }
    let (who, pay, they) = match choices.advice.verdict {
        Ruling::Ship => ("The new settings".to_owned(), "pay", "they pay"),
        _ => (capital(&options.in_use_is), "pays", "it pays"),
    };
    let copies = if sample.copies > 0 {
        " (each copy of a text counts)"
    } else {
        ""
    };
    Some(match BREAK_EVEN.value(tally, &options.worth) {
        None => format!("{who} {pay} nowhere: no loop is stopped."),
        Some(share) if share > 0.0 => {
            format!(
                "{who} {pay} where more than {}{copies}.",
                sentences::format_loop_share(share, options.judge.unit)
            )
        }
        Some(_) => {
            let never = chooser.tally_of_never(&chooser.evidence.all());
            let mean = never.get(Count::Exposure) as f64 / never.clean().max(1) as f64;
            // A cut response is thrown away and generated again.
            let wasted = 2.0 * mean * poisson_upper(0, 0.05) / tally.clean().max(1) as f64;
            let spared = tally.get(Count::Saved) as f64 / tally.loops().max(1) as f64;
            let share = wasted / (spared + wasted);
            format!(
                "{who} cut no clean {} here. With 95 % confidence, {they} where more than {}{copies}.",
                response(options.judge.unit),
                sentences::format_loop_share(share, options.judge.unit)
            )
        }
    })
}

/// Reports the healthy text that is missing for a setting of the grid to ship.
fn too_little(choices: &Choices, chooser: &Chooser<'_>, sample: &Sample) -> Option<String> {
    let options = chooser.options;
    let mut all = choices.models.iter().chain([&choices.all]);
    if !options.ships_grid || all.any(|choice| choice.source == Provenance::Grid) {
        return None;
    }
    let winner = Candidate::from_ready(choices.all.cell);
    let now = chooser.sum(&winner, &sample.pick);
    let (limit, times) = (options.limit()?, text_lacking(chooser, sample, &now)?);
    let mut rungs = choices.advice.limits.iter();
    let shipped = merit(&choices.advice.file, options);
    if !rungs.any(|rung| merit(&rung.held_out, options) > shipped) {
        return None;
    }
    Some(format!(
        "To show that a setting of the grid keeps {limit} takes {times:.1} times as much healthy text, so none of them ships."
    ))
}

/// Gives the reason for the setting of one model, or of all.
fn reason_of(choice: &Choice, against: &str, options: &ChooseOptions) -> String {
    let tried = if options.ships_grid {
        "nothing that was tried"
    } else {
        "no ready guard"
    };
    match (choice.ships, &choice.test) {
        (Some(by), Some(test)) => {
            let is = by.name();
            format!(
                "{} is {is} than {against}: {}",
                choice.name,
                format_test(test, options)
            )
        }
        _ if choice.source == Provenance::All => {
            let loops = choice.in_use.loops();
            if loops < MODEL_LOOPS {
                format!(
                    "{}, fewer than {MODEL_LOOPS}: it has {against}",
                    several(loops, "loop")
                )
            } else {
                format!("{tried} is better here than {against}")
            }
        }
        _ => format!("{tried} is surely better than {against}"),
    }
}

/// Formats a test on the transcripts of the choice: `+23.1 points (80 %: 21.0 to 25.3), 2 wrong alarms against 9`.
fn format_test(test: &PairedTest, options: &ChooseOptions) -> String {
    let points = test.difference.map_or_else(String::new, |difference| {
        format!(
            "{:+.1} points of {} (80 %: {:+.1} to {:+.1}), ",
            test.in_points(difference) + 0.0,
            options.objective.name,
            test.in_points(test.lo) + 0.0,
            test.in_points(test.hi) + 0.0
        )
    });
    let [new, old] = test.wrong;
    format!(
        "{points}{} against {}",
        several(new, "wrong alarm"),
        thousands(old as i64)
    )
}

/// Formats the limits: `the default limit fa_per_mchar<=1`.
fn limits(options: &ChooseOptions) -> String {
    let each: Vec<String> = options
        .constraints
        .iter()
        .map(ToString::to_string)
        .collect();
    let default = if options.given { "" } else { "default " };
    let s = if each.len() == 1 { "" } else { "s" };
    format!("the {default}limit{s} {}", each.join(" and "))
}
