//! The sentences of a choice, shared by every output.
//!
//! The outputs are terminal, page, Markdown, `--json`, manifest and settings.toml.

use std::cmp::Ordering;

use super::search::{first_best, text_lacking};
use super::test::in_points;
use super::verdict::{Choice, Choices, Figures, Provenance, Ruling};
use super::{
    Candidate, ChooseOptions, Chooser, FEWEST_FOR_SAFER, FEWEST_LOOPS, MODEL_LOOPS, PairedTest,
    Rung, Sample, Ship,
};
use crate::constraint::Constraint;
use crate::intervals::poisson_upper;
use crate::measure::{BREAK_EVEN, Measure, MeasureUnit};
use crate::sentences::{self, capital, exposure, format_loop_share, response, several, thousands};
use crate::tally::Count;

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

/// The name of the file in sentences.
const FILE: &str = "settings.toml";

/// Adds the sentences to the choices.
pub(super) fn add_sentences(choices: &mut Choices, chooser: &Chooser<'_>, sample: &Sample) {
    let options = chooser.options;
    choices.all.reason = reason_for(&choices.all, &options.in_use_is, options);
    for model in &mut choices.models {
        model.reason = reason_for(model, &choices.all.name, options);
    }
    let (is_shipped, in_use) = (choices.advice.verdict == Ruling::Ship, &*options.in_use_is);
    let writer = SentenceWriter {
        choices,
        chooser,
        options,
        sample,
        runs: if is_shipped { FILE } else { in_use },
    };
    let (held_out, unit) = (&choices.all.held_out, options.judge.unit);
    let (over, cost) = (writer.over_limit_sentence(), || {
        writer.cost_of_limit_sentence()
    });
    let reason = match choices.advice.verdict {
        Ruling::Ship => writer.ship_sentence() + &over + &writer.rule_above_limit() + &cost(),
        Ruling::Keep => writer.keep_sentence() + &over + &cost(),
        Ruling::Collect => writer.collect_sentence() + &over + &writer.without_loops_sentence(),
    };
    let more = [
        writer.transient_stops_sentence(),
        writer.doubted_labels_sentence(),
        writer.break_even_sentence(),
        writer.no_grid_sentence(),
        sentences::spared(writer.runs, held_out, &options.worth, unit),
    ];
    choices.advice.more = more.into_iter().flatten().collect();
    choices.advice.reason = reason;
}

/// The inputs of the sentences about the whole file.
struct SentenceWriter<'a> {
    choices: &'a Choices,
    chooser: &'a Chooser<'a>,
    options: &'a ChooseOptions,
    sample: &'a Sample,
    /// The name of the setting that runs once the verdict is followed.
    runs: &'a str,
}

impl SentenceWriter<'_> {
    /// Compares two settings on all labels: `saves 84.1 % of the looping text instead of 60.2 %, wrong alarms fall from
    /// 31 to 13, and transient stops rise from 2 to 55`.
    fn describe_change(&self, new: &Figures, old: &Figures) -> String {
        let objective = self.options.objective;
        let [value, before] = [new, old].map(|of| format_value(objective, of.objective));
        let text = self.options.judge.unit.name().replace("chars", "text");
        let does = match objective.name {
            "saved" => format!("saves {value} of the looping {text}"),
            "ended" => format!("ends {value} of the loops"),
            name => format!("has a {name} of {value}"),
        };
        let still = if value == before { "still " } else { "" };
        let instead = (value != before).then(|| format!(" instead of {before}"));
        let instead = instead.unwrap_or_default();
        let change = |new: u64, old: u64| {
            let [to, from] = [new, old].map(|n| thousands(n as i64));
            match new.cmp(&old) {
                Ordering::Less => format!("fall from {from} to {to}"),
                Ordering::Equal => format!("stay at {to}"),
                Ordering::Greater => format!("rise from {from} to {to}"),
            }
        };
        let wrong = change(new.wrong, old.wrong);
        let transient = change(new.transient, old.transient);
        format!("{still}{does}{instead}, wrong alarms {wrong}, and transient stops {transient}")
    }

    fn ship_sentence(&self) -> String {
        let (choices, advice) = (self.choices, &self.choices.advice);
        let of_folds = if advice.by_folds { "held out, " } else { "" };
        let models = choices.models.iter();
        let own: Vec<&Choice> = models.filter(|model| model.ships.is_some()).collect();
        let own = match own.as_slice() {
            [] => None,
            [one] => Some(format!("{} for {}", one.name, one.model)),
            many => Some(format!("settings of their own for {} models", many.len())),
        };
        let (all, in_use) = (&choices.all.name, &advice.in_use_is);
        let it = if own.is_some() { FILE } else { "it" };
        let what = match (advice.rule, own) {
            (Some(_), None) => all.clone(),
            (Some(_), Some(own)) => format!("{all}, and {own}"),
            (None, own) => own.unwrap_or_default() + &format!(", and keep {in_use} for all others"),
        };
        let figures = self.describe_change(&advice.file, &advice.in_use);
        format!("Ship {what}: {of_folds}{it} {figures}.")
    }

    fn keep_sentence(&self) -> String {
        let (advice, options) = (&self.choices.advice, self.options);
        let (limits, now) = (self.name_limits(), &advice.in_use_is);
        let merit = |rung: &&Rung| options.signed(rung.held_out.objective);
        let better = |rung: &&Rung| {
            let old = advice.in_use.objective;
            old.is_some_and(|x| merit(rung) - options.signed(old) > options.objective.point(x))
        };
        let better = || advice.limit_rows().filter(better);
        let figures = |rung: &Rung| self.describe_change(&rung.held_out, &advice.in_use);
        if !options.ships_grid {
            // Only a rung that would ship is a hint. Ties go to the laxest.
            let would = better().filter(|rung| rung.ships.is_some() && rung.is_within);
            let hint = first_best(would.rev(), merit).map(|rung| {
                let guard = self.chooser.evidence.plan.setting(rung.cell);
                let (detector, figures) = (guard.members[0].detector.name, figures(rung));
                format!(
                    " A setting of {detector} is better: held out, it {figures}. It ships only with --grid."
                )
            });
            let hint = hint.unwrap_or_default();
            let others = options.ready.iter().filter(|guard| guard.name != *now);
            let others: Vec<&str> = others.map(|guard| guard.name.as_str()).collect();
            let others = match others.as_slice() {
                [] => "no ready guard is".to_owned(),
                [one] => format!("{one} is not"),
                all => format!("none of the ready guards ({}) is", all.join(", ")),
            };
            return format!(
                "Keep {now}: {others} shown to be better within {limits} (80 % confidence).{hint}"
            );
        }
        let within = better().find(|rung| rung.is_within);
        let why = match within {
            Some(_) => "there is too little healthy text to tell whether it stays within",
            None => "it breaks",
        };
        match within.or(better().next()) {
            Some(rung) => format!(
                "Keep {now}: a setting of the grid is better, but {why} {limits}. Held out, it {}.",
                figures(rung)
            ),
            None => format!("Keep {now}: nothing that was tried is better."),
        }
    }

    /// Lists the missing labels and the facts known without them.
    fn collect_sentence(&self) -> String {
        let tally = &self.choices.all.in_use;
        let all = tally.loops();
        let labelled = all + tally.clean() + tally.transient();
        let lacks = match self.sample.loops {
            0 if labelled == 0 => "no transcript has a label".to_owned(),
            0 => "none of the labelled transcripts is a loop".to_owned(),
            n if n < FEWEST_LOOPS => {
                let why = " (copies of a text count once, and labels in doubt do not count)";
                let count = match (n == all, n) {
                    (true, 1) => "1 is labelled".to_owned(),
                    (true, _) => format!("{n} are labelled"),
                    (false, 1) => format!("1 of {all} counts{why}"),
                    (false, _) => format!("{n} of {all} count{why}"),
                };
                format!("a choice needs {FEWEST_LOOPS}, and {count}")
            }
            n => format!(
                "the {} come from {}, and a choice needs {FEWEST_LOOPS} groups (the answers to one prompt are a group, for example)",
                several(n, "labelled loop"),
                several(self.sample.loop_groups, "group")
            ),
        };
        format!("Collect labelled loops: {lacks}.")
    }

    /// Compares wrong alarms if there are too few loops: `It makes 24 wrong alarms, and 3 transient stops. The recommended
    /// guard makes 2 wrong alarms, and 3 transient stops. It takes more loops to tell what the recommended guard misses.`
    fn without_loops_sentence(&self) -> String {
        let advice = &self.choices.advice;
        let fewest = advice.ready.iter().min_by_key(|guard| guard.figures.wrong);
        let Some(fewest) = fewest.filter(|one| one.figures.wrong < advice.in_use.wrong) else {
            return self.cost_of_limit_sentence();
        };
        let [now, then] = [&advice.in_use, &fewest.figures]
            .map(|of| sentences::wrong_and_transient(of.wrong, of.transient));
        let name = &fewest.name;
        let (who, guard) = (capital(self.runs), capital(name));
        let mut text = format!(
            " {who} makes {now}. {guard} makes {then}. It takes more loops to tell what {name} misses."
        );
        if !self.sample.has_enough_for_safer() {
            let (loops, groups) = FEWEST_FOR_SAFER;
            text += &format!(" With {loops} loops in {groups} groups, {name} may ship as safer.");
        }
        text
    }

    /// Returns a sentence about the limits that the estimates of the file exceed.
    fn over_limit_sentence(&self) -> String {
        let (options, who) = (self.options, capital(self.runs));
        let broken = options.constraints.iter().filter_map(|limit| {
            let (value, met) = limit.estimate(&self.choices.all.held_out, &options.worth);
            let value = format_value(limit.metric, Some(value.filter(|_| !met)?));
            let (Constraint { metric, bound, .. }, per) = (limit, exposure(options.judge.unit));
            Some(if metric.is_wrong_rate() {
                let default = self.default_word();
                format!(" {who} makes {value} wrong alarms per {per}, above the {default}limit of {bound}.")
            } else {
                format!(" {who} breaks {}: its {} is {value}.", self.name_limit(limit), metric.name)
            })
        });
        let broken = broken.filter(|_| self.choices.advice.over_limit);
        broken.collect()
    }

    /// Names the rule by which the file ships although it is above a limit. Empty if it is not.
    fn rule_above_limit(&self) -> String {
        let (advice, objective) = (&self.choices.advice, self.options.objective.name);
        let (is, now) = (&advice.is, &advice.in_use_is);
        match advice.rule {
            _ if !advice.over_limit => String::new(),
            Some(Ship::Safer) => format!(
                " It ships by the rule \"safer\": with 80 % confidence, {is} makes fewer wrong alarms than {now}, and loses at most one point of {objective}."
            ),
            None => format!(
                " It ships because it is better for single models, each tested against {now}."
            ),
            _ if advice.file.wrong <= advice.in_use.wrong => format!(
                " It ships by the rule \"better\": with 80 % confidence, its {objective} is better than that of {now}, and it makes no more wrong alarms."
            ),
            _ => " It ships because this is not sure: at a true rate as high as the limit, so many wrong alarms have a chance above 10 %.".to_owned(),
        }
    }

    /// Names the setting within the limits that costs least: a ready guard, or a row of what a limit costs. Empty if the file
    /// is within them.
    fn cost_of_limit_sentence(&self) -> String {
        let (options, advice) = (self.options, &self.choices.advice);
        let Some(old) = advice.file.objective.filter(|_| advice.over_limit) else {
            return String::new();
        };
        let with = ["", " (only with --grid)"][usize::from(!options.ships_grid)];
        let row_name = |rung: &Rung| {
            let name = rung.name(options.limited());
            format!("the row \"at most {name}\" below{with}")
        };
        let guards = advice.ready.iter();
        let guards = guards.map(|guard| (guard.is_within, guard.name.clone(), &guard.figures));
        let rows = advice.limit_rows();
        let rows = rows.map(|rung| (rung.is_within, row_name(rung), &rung.held_out));
        let lost = |of: &Figures| options.signed(Some(old)) - options.signed(of.objective);
        let within = guards.chain(rows).filter(|(is_within, ..)| *is_within);
        // Ties go to the ready guards, then to the strictest row.
        let best = first_best(within, |(.., of)| -lost(of));
        let least = best.as_ref().map_or(f64::INFINITY, |(.., of)| lost(of));
        let mut text = match best {
            None => " No setting that was tried is within the limit.".to_owned(),
            Some((_, name, figures)) => {
                let points = in_points(least, options.objective.point(old));
                let cost = format!("{points:.1} points of {}", options.objective.name);
                let cost = if points < 0.05 { "nothing" } else { &cost };
                let figures = self.describe_change(figures, &advice.file);
                format!(" To stay within the limit costs {cost}: {name} {figures}.")
            }
        };
        // A row just above the limit can be far cheaper.
        let is_cheap = |rung: &&Rung| {
            let of = &rung.held_out;
            !rung.is_within && 4.0 * lost(of) < least && of.wrong < advice.file.wrong
        };
        let cheap = advice.limit_rows().filter(is_cheap);
        if let Some(rung) = cheap.min_by_key(|rung| rung.held_out.wrong) {
            let (name, figures) = (capital(&row_name(rung)), &rung.held_out);
            let figures = self.describe_change(figures, &advice.file);
            text += &format!(" {name} is above the limit too, but costs less: it {figures}.");
        }
        text
    }

    /// Names the limits.
    fn name_limits(&self) -> String {
        let limits = self.options.constraints.iter();
        let limits = limits.map(|limit| self.name_limit(limit));
        limits.collect::<Vec<String>>().join(" and ")
    }

    /// Names a limit: `the default limit of 1 wrong alarm per million chars`.
    fn name_limit(&self, limit: &Constraint) -> String {
        let default = self.default_word();
        if !limit.at_most || !limit.metric.is_wrong_rate() {
            return format!("the {default}limit {limit}");
        }
        let (n, per) = (limit.bound, exposure(self.options.judge.unit));
        let s = if n == 1.0 { "" } else { "s" };
        format!("the {default}limit of {n} wrong alarm{s} per {per}")
    }

    fn default_word(&self) -> &'static str {
        if self.options.given { "" } else { "default " }
    }

    /// Explains transient stops, if there are any.
    fn transient_stops_sentence(&self) -> Option<String> {
        let advice = &self.choices.advice;
        let rows = advice.limits.iter().map(|rung| &rung.held_out);
        let mut all = rows.chain([&advice.file, &advice.in_use]);
        all.any(|figures| figures.transient > 0).then(|| {
            "A transient stop cuts a repetition that would have ended by itself, perhaps before a loop. With --transient clean it is a wrong alarm.".to_owned()
        })
    }

    /// Reports the labels in doubt, and whether they reverse the comparison.
    fn doubted_labels_sentence(&self) -> Option<String> {
        let (all, n, options) = (&self.choices.all, self.choices.advice.doubted, self.options);
        if n == 0 {
            return None;
        }
        let mut text = format!(
            "The choice leaves out {} in doubt: no person confirmed them, and both a ready guard and the offline search for loops contradict them (deadloop label CORPUS --disputes DIR lists them).",
            several(n, "label")
        );
        let [new, old] = [&all.held_out, &all.in_use].map(|tally| options.merit(tally));
        let without = all.test.as_ref().and_then(|test| test.difference);
        let with = Some(new - old).filter(|with| with.is_finite());
        let product = with.zip(without).map(|(with, without)| with * without);
        if product.is_some_and(|product| product < 0.0) {
            text += &format!(
                " With these labels, {} would be the better one.",
                options.in_use_is
            );
        }
        Some(text)
    }

    /// Reports the share of loops above which the guard pays for itself.
    fn break_even_sentence(&self) -> Option<String> {
        let (options, unit) = (self.options, self.options.judge.unit);
        let tally = &self.choices.all.held_out;
        if tally.loops() == 0 || tally.clean() == 0 {
            return None;
        }
        let (runs, who) = (self.runs, capital(self.runs));
        Some(match BREAK_EVEN.value(tally, &options.worth) {
            None => format!("{who} spares nothing: it stops no loop."),
            Some(share) if share > 0.0 => {
                let share = format_loop_share(share, unit);
                format!("At a loop rate above {share}, {runs} spares more than it wastes.")
            }
            Some(_) => {
                let never = self.chooser.tally_of_never(&self.chooser.evidence.all());
                let mean = never.get(Count::Exposure) as f64 / never.clean().max(1) as f64;
                // A cut response is thrown away and generated again.
                let wasted = 2.0 * mean * poisson_upper(0, 0.05) / tally.clean().max(1) as f64;
                let spared = tally.get(Count::Saved) as f64 / tally.loops().max(1) as f64;
                let share = format_loop_share(wasted / (spared + wasted), unit);
                let clean = format!("clean {}", response(unit));
                format!(
                    "{who} cuts none of {}. That proves, with 95 % confidence, that it spares more than it wastes at a loop rate above {share}. With more of them, it would prove more.",
                    several(tally.clean(), &clean)
                )
            }
        })
    }

    /// Explains why no setting of the grid ships: healthy text is missing, or none is better. `None` if one ships, or none may.
    fn no_grid_sentence(&self) -> Option<String> {
        let (choices, options) = (self.choices, self.options);
        let mut all = choices.models.iter().chain([&choices.all]);
        if !options.ships_grid || all.any(|choice| choice.source == Provenance::Grid) {
            return None;
        }
        let (advice, limits) = (&choices.advice, self.name_limits());
        let file = Candidate::from_ready(choices.all.cell);
        let now = self.chooser.sum(&file, &self.sample.pick);
        let merit = |figures: &Figures| options.signed(figures.objective);
        let is_better = |rung: &Rung| merit(&rung.held_out) > merit(&advice.file);
        match text_lacking(self.chooser, self.sample, &now) {
            None => (advice.verdict == Ruling::Ship).then(|| {
                format!("No setting of the grid is shown to be better within {limits} (80 % confidence).")
            }),
            Some(times) => advice.limits.iter().any(is_better).then(|| {
                format!("No setting of the grid ships: to show that one is within {limits} takes {times:.1} times as much healthy text.")
            }),
        }
    }
}

/// Gives the reason for the setting of one model, or of all.
fn reason_for(choice: &Choice, against: &str, options: &ChooseOptions) -> String {
    let tried = if options.ships_grid {
        "nothing that was tried"
    } else {
        "no ready guard"
    };
    let loops = choice.in_use.loops();
    match (choice.ships, &choice.test) {
        (Some(by), Some(test)) => {
            let (name, is, tested) = (&choice.name, by.name(), describe_test(test, options));
            format!("{name} is {is} than {against}: {tested}")
        }
        _ if choice.source != Provenance::All => {
            format!("{tried} proves better than {against}")
        }
        _ if loops < MODEL_LOOPS => {
            let loops = several(loops, "loop");
            format!("{loops}, fewer than {MODEL_LOOPS}: it has {against}")
        }
        _ => format!("{tried} is better here than {against}"),
    }
}

/// Formats a test on the transcripts of the choice: `+23.1 points (80 %: 21.0 to 25.3), 2 wrong alarms against 9`.
pub(super) fn describe_test(test: &PairedTest, options: &ChooseOptions) -> String {
    let points = test.difference.map(|difference| {
        // Adding 0 turns -0 into 0.
        let [x, lo, hi] = [difference, test.lo, test.hi].map(|x| test.in_points(x) + 0.0);
        let objective = options.objective.name;
        format!("{x:+.1} points of {objective} (80 %: {lo:+.1} to {hi:+.1}), ")
    });
    let [new, old] = test.wrong;
    let (new, old) = (several(new, "wrong alarm"), thousands(old as i64));
    format!("{}{new} against {old}", points.unwrap_or_default())
}
