//! The sentences of a choice, shared by every output.
//!
//! The outputs are terminal, page, Markdown, `--json`, manifest and settings.toml.

use super::search::{first_best, text_lacking};
use super::test::in_points;
use super::verdict::{Choice, Choices, Figures, Provenance, Ruling};
use super::{
    Candidate, ChooseOptions, Chooser, FEWEST_FOR_SAFER, FEWEST_LOOPS, MODEL_LOOPS, PairedTest,
    ReadyGuard, Rung, Sample,
};
use crate::constraint::Constraint;
use crate::intervals::poisson_upper;
use crate::measure::{BREAK_EVEN, Measure, MeasureUnit, wrong_rate};
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

/// Adds the sentences to the choices.
pub(super) fn add_sentences(choices: &mut Choices, chooser: &Chooser<'_>, sample: &Sample) {
    let options = chooser.options;
    choices.all.reason = reason_of(&choices.all, &options.in_use_is, options);
    for model in &mut choices.models {
        model.reason = reason_of(model, &choices.all.name, options);
    }
    let ships = choices.advice.verdict == Ruling::Ship;
    let writer = SentenceWriter {
        choices,
        chooser,
        options,
        sample,
        runs: if ships {
            "the file"
        } else {
            &options.in_use_is
        },
    };
    let (held_out, unit) = (&choices.all.held_out, options.judge.unit);
    let reason = match choices.advice.verdict {
        Ruling::Ship => writer.shipped() + &writer.over_limit(),
        Ruling::Keep => writer.kept() + &writer.over_limit(),
        Ruling::Collect => writer.lacking(),
    };
    let more = [
        writer.transient_stops(),
        writer.doubts(),
        writer.pays(),
        writer.too_little(),
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
    /// Formats a comparison of the whole file on all labels: `saved 84.1 % instead of 60.2 % (+23.9 points), 13 wrong
    /// alarms instead of 31`.
    fn instead(&self, new: &Figures, old: &Figures) -> String {
        let objective = self.options.objective;
        let value = |figures: &Figures| format_value(objective, figures.objective);
        let (value, before) = (value(new), value(old));
        let points = new.objective.zip(old.objective).map(|(a, b)| {
            let points = in_points(a - b, objective.point(b));
            format!(" ({points:+.1} points)")
        });
        let wrong = match (new.wrong, old.wrong) {
            (0, 0) => "no wrong alarm in either".to_owned(),
            (new, old) if new == old => format!("{} in both", several(new, "wrong alarm")),
            (new, old) => {
                let old = thousands(old as i64);
                format!("{} instead of {old}", several(new, "wrong alarm"))
            }
        };
        let title = objective.title_in(self.options.judge.unit);
        if value == before {
            return format!("{title} {value} in both, {wrong}");
        }
        let points = points.unwrap_or_default();
        format!("{title} {value} instead of {before}{points}, {wrong}")
    }

    fn shipped(&self) -> String {
        let (choices, advice) = (self.choices, &self.choices.advice);
        let of_folds = if advice.by_folds { ", held out" } else { "" };
        let figures = self.instead(&advice.file, &advice.in_use);
        let models = choices.models.iter();
        let own: Vec<&Choice> = models.filter(|model| model.ships.is_some()).collect();
        let models = match own.as_slice() {
            [] => None,
            [one] => Some(format!("{} gets {}", one.model, one.name)),
            [one, rest @ ..] => {
                let others = match rest {
                    [other] => other.model.clone(),
                    _ => several(rest.len() as u64, "more model"),
                };
                let one = &one.model;
                Some(format!("{one} and {others} get settings of their own"))
            }
        };
        let (all, in_use) = (&choices.all.name, &advice.in_use_is);
        let what = match (advice.rule, models) {
            (Some(_), None) => all.clone(),
            (Some(_), Some(models)) => format!("{all}, and {models}"),
            (None, models) => {
                let models = models.unwrap_or_default();
                format!("settings.toml: {models}, all others keep {in_use}")
            }
        };
        format!("Ship {what}: {figures}{of_folds}.")
    }

    fn kept(&self) -> String {
        let (advice, options) = (&self.choices.advice, self.options);
        let limits = options.constraints.iter().map(ToString::to_string);
        let limits = limits_named(options, &limits.collect::<Vec<String>>());
        let now = &advice.in_use_is;
        let merit = |rung: &&Rung| options.signed(rung.held_out.objective);
        let better = |rung: &&Rung| {
            let old = advice.in_use.objective;
            old.is_some_and(|x| merit(rung) - options.signed(old) > options.objective.point(x))
        };
        let better = || advice.limits.iter().filter(better);
        let figures = |rung: &Rung| self.instead(&rung.held_out, &advice.in_use);
        if !options.ships_grid {
            // Only a rung that would ship is a hint. Ties go to the laxest.
            let would = better().filter(|rung| rung.ships.is_some() && self.is_within(rung));
            let hint = first_best(would.rev(), merit).map(|rung| {
                let guard = self.chooser.evidence.plan.setting(rung.cell);
                let (detector, figures) = (guard.members[0].detector.name, figures(rung));
                format!(
                    " A setting of {detector} is better, held out: {figures}. Settings of its grid may ship with --grid (deadloop detectors {detector} --grid writes the grid)."
                )
            });
            let hint = hint.unwrap_or_default();
            let others = options.ready.iter().filter(|guard| guard.name != *now);
            let others: Vec<&str> = others.map(|guard| guard.name.as_str()).collect();
            let named = format!(" ({})", others.join(", "));
            let others = if others.is_empty() { "" } else { &named };
            return format!(
                "Keep {now}: no ready guard{others} is surely better within {limits}.{hint}"
            );
        }
        let within = better().find(|rung| self.is_within(rung));
        match (within, better().next()) {
            (Some(rung), _) => format!(
                "Keep {now}: a better setting may break {limits}, and there is too little healthy text to tell ({}, held out).",
                figures(rung)
            ),
            (None, Some(rung)) => {
                let figures = figures(rung);
                format!("Keep {now}: a better setting breaks {limits} ({figures}, held out).")
            }
            (None, None) => format!("Keep {now}: nothing that was tried is better."),
        }
    }

    /// Returns the limit on the rate of wrong alarms.
    fn rate_limit(&self) -> Option<&Constraint> {
        let rate = wrong_rate(self.options.judge.unit);
        self.options.limit().filter(|limit| limit.metric == rate)
    }

    /// Returns whether a row's held-out rate of wrong alarms is within the limit on this rate.
    fn is_within(&self, rung: &Rung) -> bool {
        let rate = rung.held_out.rate;
        let keeps = |limit: &Constraint| rate.is_some_and(|rate| limit.admits(rate));
        self.rate_limit().is_none_or(keeps)
    }

    /// Lists the missing labels and the facts known without them.
    fn lacking(&self) -> String {
        let all = self.choices.all.in_use.loops();
        let lacks = match self.sample.loops {
            0 => "none of the labelled transcripts is a loop".to_owned(),
            n if n < FEWEST_LOOPS => format!(
                "{n} of {} {} (copies of a text count once, labels in doubt do not), and at least {FEWEST_LOOPS} are needed",
                several(all, "labelled loop"),
                if n == 1 { "counts" } else { "count" }
            ),
            n => format!(
                "the {} come from {}, and at least {FEWEST_LOOPS} groups are needed (a group is what belongs together, as the answers to one prompt)",
                several(n, "labelled loop"),
                several(self.sample.loop_groups, "group")
            ),
        };
        let known = self.known_without_loops();
        let rate = wrong_rate(self.options.judge.unit);
        let mut limits = self.options.constraints.iter();
        let over = match &known {
            Some(_) if limits.all(|limit| limit.metric == rate) => String::new(),
            _ => self.over_limit(),
        };
        let known = known.unwrap_or_default();
        format!("Collect labelled loops: {lacks}.{known}{over}")
    }

    /// Reports wrong alarms if there are too few loops: `The setting in use stops 24 healthy runs (1.17 per thousand
    /// calls, limit 0.2), the recommended guard 2; too few loops to say what the recommended guard misses.`
    fn known_without_loops(&self) -> Option<String> {
        let (options, unit) = (self.options, self.options.judge.unit);
        let tally = |of: &Candidate| self.chooser.sum(of, &self.sample.pick);
        let now = tally(&Candidate::from_ready(self.choices.in_use));
        let guards = options.ready.iter();
        let (fewest, name) = guards
            .map(|guard| (tally(&guard.candidate()).wrong(), &guard.name))
            .min_by_key(|(n, _)| *n)?;
        if fewest >= now.wrong() {
            return None;
        }
        let rate = wrong_rate(unit);
        let value = format_value(rate, rate.value(&now, &options.worth));
        let limit = self.rate_limit();
        let limit = limit.map(|limit| format!(", limit {}", limit.bound));
        let mut text = format!(
            " {} stops {} ({value} per {}{}), {name} {}; too few loops to say what {name} misses.",
            capital(&options.in_use_is),
            several(now.wrong(), &format!("healthy {}", response(unit))),
            exposure(unit),
            limit.unwrap_or_default(),
            thousands(fewest as i64),
        );
        if !self.sample.is_enough_for_safer() {
            let (loops, groups) = FEWEST_FOR_SAFER;
            text += &format!(" With {loops} loops in {groups} groups, {name} may ship as safer.");
        }
        Some(text)
    }

    /// Reports that the file breaks a limit by estimate, and names a row within it.
    fn over_limit(&self) -> String {
        let (advice, options) = (&self.choices.advice, self.options);
        if !advice.over_limit {
            return String::new();
        }
        let broken = options.constraints.iter().filter_map(|limit| {
            let (value, met) = limit.estimate(&self.choices.all.held_out, &options.worth);
            let value = value.filter(|_| !met)?;
            let value = format_value(limit.metric, Some(value));
            Some(format!("{limit} ({value})"))
        });
        let broken: Vec<String> = broken.collect();
        // Ties go to the strictest row.
        let has_limit = self.rate_limit().is_some();
        let rows = advice.limits.iter();
        let rows = rows.filter(|rung| has_limit && self.is_within(rung));
        let row = first_best(rows, |rung| options.signed(rung.held_out.objective));
        let row = row.map(|rung| {
            let name = rung.name(options.limited());
            format!(" The row \"at most {name}\" below is within it.")
        });
        let mut within: String = self.guard_within().into_iter().chain(row).collect();
        if within.is_empty() {
            within += " No setting that was tried is within it, held out.";
        }
        let who = capital(self.runs);
        format!(" {who} breaks {}.{within}", limits_named(options, &broken))
    }

    /// Names the best ready guard within the limits, and compares it with the file.
    fn guard_within(&self) -> Option<String> {
        let (options, every) = (self.options, self.chooser.evidence.all());
        let guards = options.ready.iter();
        let tally = |guard: &ReadyGuard| self.chooser.sum(&guard.candidate(), &every);
        let guards = guards.map(|guard| (&guard.name, tally(guard)));
        let within = guards.filter(|(_, tally)| options.is_within(tally));
        let (name, tally) = first_best(within, |(_, tally)| options.merit(tally))?;
        let figures = Figures::new(&tally, options);
        let figures = self.instead(&figures, &self.choices.advice.file);
        let text = format!(" Of the ready guards {name} is within it: {figures}.");
        Some(text)
    }

    /// Reports the stops of repetitions that would have ended on their own.
    fn transient_stops(&self) -> Option<String> {
        let advice = &self.choices.advice;
        let [new, old] = [&advice.file, &advice.in_use].map(|figures| figures.transient);
        if (new, old) == (0, 0) {
            return None;
        }
        let (who, stops) = (capital(self.runs), sentences::transient_stops(new));
        let differs = advice.verdict == Ruling::Ship && new != old;
        let before = differs.then(|| format!(" instead of {}", thousands(old as i64)));
        let before = before.unwrap_or_default();
        Some(format!(
            "{who} makes {stops}{before}. They are not among the wrong alarms; with --transient clean they are."
        ))
    }

    /// Reports the labels in doubt, and whether they reverse the comparison.
    fn doubts(&self) -> Option<String> {
        let (all, n) = (&self.choices.all, self.choices.advice.doubted);
        if n == 0 {
            return None;
        }
        let labels = several(n, "label");
        let (are, them) = match n {
            1 => ("is", "it"),
            _ => ("are", "them"),
        };
        let mut text = format!(
            "{labels} {are} in doubt and left out of the choice: no person confirmed {them}, and the finder and good guards contradict {them} (deadloop label --disputes)."
        );
        let [new, old] = [&all.held_out, &all.in_use].map(|tally| self.options.merit(tally));
        let without = all.test.as_ref().and_then(|test| test.difference);
        let with = Some(new - old).filter(|with| with.is_finite());
        let product = with.zip(without).map(|(with, without)| with * without);
        if product.is_some_and(|product| product < 0.0) {
            text += " With them the comparison turns round.";
        }
        Some(text)
    }

    /// Reports the share of loops above which the guard pays for itself.
    fn pays(&self) -> Option<String> {
        let (options, unit) = (self.options, self.options.judge.unit);
        let tally = &self.choices.all.held_out;
        if tally.loops() == 0 || tally.clean() == 0 {
            return None;
        }
        let (who, they, spare) = match self.choices.advice.verdict {
            Ruling::Ship => ("the new settings", "they", "spare more than they waste"),
            _ => (self.runs, "it", "spares more than it wastes"),
        };
        let who = capital(who);
        let copies = match self.sample.copies {
            0 => "",
            _ => " (each copy of a text counts)",
        };
        Some(match BREAK_EVEN.value(tally, &options.worth) {
            None => format!("{who} {spare} nowhere: no loop is stopped."),
            Some(share) if share > 0.0 => {
                let looping = format_loop_share(share, unit);
                format!("{who} {spare} where more than {looping}{copies}.")
            }
            Some(_) => {
                let never = self.chooser.tally_of_never(&self.chooser.evidence.all());
                let mean = never.get(Count::Exposure) as f64 / never.clean().max(1) as f64;
                // A cut response is thrown away and generated again.
                let wasted = 2.0 * mean * poisson_upper(0, 0.05) / tally.clean().max(1) as f64;
                let spared = tally.get(Count::Saved) as f64 / tally.loops().max(1) as f64;
                let looping = format_loop_share(wasted / (spared + wasted), unit);
                format!(
                    "{who} cut no clean {} here. With 95 % confidence, {they} {spare} where more than {looping}{copies}.",
                    response(unit)
                )
            }
        })
    }

    /// Reports the healthy text that is missing for a setting of the grid to ship.
    fn too_little(&self) -> Option<String> {
        let (choices, options) = (self.choices, self.options);
        let mut all = choices.models.iter().chain([&choices.all]);
        if !options.ships_grid || all.any(|choice| choice.source == Provenance::Grid) {
            return None;
        }
        let file = Candidate::from_ready(choices.all.cell);
        let now = self.chooser.sum(&file, &self.sample.pick);
        let times = text_lacking(self.chooser, self.sample, &now)?;
        let merit = |figures: &Figures| options.signed(figures.objective);
        let shipped = merit(&choices.advice.file);
        let mut rungs = choices.advice.limits.iter();
        let is_better = rungs.any(|rung| merit(&rung.held_out) > shipped);
        let limit = options.limit().filter(|_| is_better)?;
        Some(format!(
            "To show that a setting of the grid keeps {limit} takes {times:.1} times as much healthy text, so none of them ships."
        ))
    }
}

/// Gives the reason for the setting of one model, or of all.
fn reason_of(choice: &Choice, against: &str, options: &ChooseOptions) -> String {
    let tried = if options.ships_grid {
        "nothing that was tried"
    } else {
        "no ready guard"
    };
    let loops = choice.in_use.loops();
    match (choice.ships, &choice.test) {
        (Some(by), Some(test)) => {
            let (name, is, tested) = (&choice.name, by.name(), tested(test, options));
            format!("{name} is {is} than {against}: {tested}")
        }
        _ if choice.source != Provenance::All => {
            format!("{tried} is surely better than {against}")
        }
        _ if loops < MODEL_LOOPS => {
            let loops = several(loops, "loop");
            format!("{loops}, fewer than {MODEL_LOOPS}: it has {against}")
        }
        _ => format!("{tried} is better here than {against}"),
    }
}

/// Formats a test on the transcripts of the choice: `+23.1 points (80 %: 21.0 to 25.3), 2 wrong alarms against 9`.
fn tested(test: &PairedTest, options: &ChooseOptions) -> String {
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

/// Formats limits with these names: `the default limit fa_per_mchar<=1`.
fn limits_named(options: &ChooseOptions, names: &[String]) -> String {
    let default = if options.given { "" } else { "default " };
    let s = if names.len() == 1 { "" } else { "s" };
    format!("the {default}limit{s} {}", names.join(" and "))
}
