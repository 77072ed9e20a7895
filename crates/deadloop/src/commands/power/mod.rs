//! `deadloop power`: how many loops and how much clean text a claim, or a difference, needs.

use std::path::PathBuf;

use clap::Args;
use deadloop_detect::Unit as Counted;
use deadloop_score::measure::{ENDED, FPR, PRECISION, RECALL};
use deadloop_score::power::{ALPHA, Claim, MOST_ERRORS, Need};
use deadloop_score::{Constraint, Metric, metric, withins, wrong_rate};
use serde_json::{Value, json};

mod difference;
mod held;

use crate::args::{Global, Select};
use crate::exit::{Code, Outcome};
use crate::show;
use deadloop_run::evidence::Holdings;
use difference::differs;
use held::{held, of_claim, of_difference};

pub(crate) const HELP: &str = "Examples:\n  deadloop power --claim 'fa_per_mchar<=1' --claim 'recall>=0.9'\n  deadloop power --claim 'recall>=0.9' --truth 0.95\n  deadloop power --claim 'recall>=0.9' --claim 'fa_per_mchar<=1' --truth recall=0.95 --truth fa_per_mchar=0.5\n  deadloop power --difference recall --from 0.80 --to 0.90\n  deadloop power recordings/ --claim 'fa_per_mchar<=1'     # also how much of it these recordings have\n\nAll figures are exact (binomial by Clopper-Pearson, Poisson, McNemar), without a normal approximation.";

/// Whether a metric is one of `within_N`.
fn is_within(metric: Metric) -> bool {
    Counted::ALL
        .into_iter()
        .any(|unit| withins(unit).contains(&metric))
}

/// The arguments of `deadloop power`.
#[derive(Debug, Args)]
pub(crate) struct Power {
    /// A labelled corpus: also print how much of that data it has
    corpus: Option<PathBuf>,
    /// A claim as a constraint is written: fa_per_mchar<=N (fa_per_kcall, fa_per_kturn), or fpr<=P, recall>=P, within_N>=P,
    /// precision>=P; may be repeated
    #[arg(
        long = "claim",
        value_name = "EXPR",
        required_unless_present = "difference"
    )]
    claims: Vec<String>,
    /// The true value, in the metric's own units: prints how much data then shows the claim with the probability --power.
    /// With several claims, METRIC=VALUE for each of them
    #[arg(long = "truth", value_name = "[METRIC=]VALUE", requires = "claims")]
    truths: Vec<String>,
    /// A metric in which two settings differ on the same transcripts: recall, within_N, fpr or fa_per_mchar
    /// (fa_per_kcall, fa_per_kturn)
    #[arg(long, value_name = "METRIC", requires = "from", requires = "to")]
    difference: Option<String>,
    /// The metric under the old setting
    #[arg(long, value_name = "VALUE", requires = "difference")]
    from: Option<f64>,
    /// The metric under the new setting
    #[arg(long, value_name = "VALUE", requires = "difference")]
    to: Option<f64>,
    /// The probability with which the difference, or the claim, is to be shown
    #[arg(long, value_name = "P", default_value_t = 0.8, value_parser = probability)]
    power: f64,
    /// For a claim: list sizes for up to this many errors
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u64).range(0..=1000))]
    errors: u64,
    #[command(flatten)]
    select: Select,
}

fn probability(text: &str) -> Result<f64, String> {
    let p = text.parse::<f64>().ok().filter(|p| *p > 0.0 && *p < 1.0);
    p.ok_or_else(|| "expected a number between 0 and 1".into())
}

pub(super) fn run(args: &Power, global: Global) -> Outcome {
    let mut answers: Vec<Answer> = Vec::new();
    let truths = truths(args)?;
    for text in &args.claims {
        answers.push(claimed(text, args, &truths)?);
    }
    if let (Some(metric), Some(from), Some(to)) = (&args.difference, args.from, args.to) {
        answers.push(differs(metric, from, to, args.power)?);
    }
    let next = match &args.corpus {
        Some(corpus) => {
            let held = held(corpus, &args.select, global)?;
            answers.iter_mut().for_each(|answer| answer.hold(&held));
            let review = if held.labelled() { " --review" } else { "" };
            format!("deadloop label {}{review}", show::typed(corpus))
        }
        None if !args.select.typed().is_empty() => {
            let what = format!("{}: of which corpus?", args.select.typed().trim());
            return Err(Code::Usage.error(what));
        }
        None => "deadloop power CORPUS --claim 'recall>=0.9'".to_owned(),
    };
    if global.json {
        let all: Vec<&Value> = answers.iter().map(|a| &a.json).collect();
        return show::print(&serde_json::to_string(&all)?);
    }
    let texts: Vec<&str> = answers.iter().map(|a| a.text.as_str()).collect();
    show::print(&texts.join("\n\n"))?;
    show::next(&[&next], global)
}

/// The answer about a claim or a difference.
struct Answer {
    text: String,
    json: Value,
    metric: Metric,
    unit: Unit,
    takes: Takes,
}

/// How much data the claim or the difference needs.
enum Takes {
    Claim(Claim),
    /// The least and the most transcripts it may need; `None` if the number is too large to compute.
    Difference([Option<u64>; 2]),
}

impl Answer {
    /// Adds how much of that data a corpus has.
    fn hold(&mut self, held: &Holdings) {
        let (text, json) = match (held.has(self.metric), &self.takes) {
            (Some(has), Takes::Claim(claim)) => {
                of_claim(has, *claim, self.unit.things, self.unit.errors)
            }
            (Some(has), Takes::Difference(sizes)) => of_difference(has, *sizes, self.unit.things),
            (None, _) => {
                let text = format!(
                    "How many {} there are depends on the guard.",
                    self.unit.things
                );
                (text, Value::Null)
            }
        };
        self.text += &format!("\n{text}");
        self.json["corpus"] = json;
    }
}

/// The names of what is counted and of an error, in the plural.
struct Unit {
    things: &'static str,
    errors: &'static str,
}

/// The unit in which a rate of wrong alarms is counted, and the factor that turns a value of the
/// metric into alarms per million of them. `None` if the metric is no such rate.
fn rate_of(metric: Metric) -> Option<(Unit, f64)> {
    let unit = Counted::ALL
        .into_iter()
        .find(|unit| wrong_rate(*unit) == metric)?;
    let things = match unit {
        Counted::Chars => "clean chars",
        Counted::Calls => "clean calls",
        Counted::Turns => "clean turns",
    };
    let errors = "wrong alarms";
    Some((Unit { things, errors }, 1e6 / metric.scale()))
}

const CLEAN: Unit = Unit {
    things: "clean transcripts",
    errors: "false alarms",
};

/// Printed beside a size that is not exact: the reason.
const APPROXIMATE: &str = "a normal approximation, since sizes with more than 10 000 errors in them are \
                           not worked out exactly";
const _: () = assert!(MOST_ERRORS == 10_000, "APPROXIMATE says it");

/// The true value of each metric that is claimed, as `--truth` states it.
type Truths = Vec<(Metric, f64)>;

fn truths(args: &Power) -> Outcome<Truths> {
    let claimed: Vec<Constraint> = args
        .claims
        .iter()
        .map(|text| parsed(text))
        .collect::<Outcome<_>>()?;
    let one = |text: &String| {
        let bad = |what: String| Code::Usage.error(format!("--truth {text}: {what}"));
        let (of, value) = match (text.split_once('='), &claimed[..]) {
            (Some((name, value)), _) => {
                let of = metric(name).map_err(|e| bad(e.to_string()))?;
                (of, value)
            }
            (None, [only]) => (only.metric, text.as_str()),
            (None, several) => {
                let names: Vec<&str> = several.iter().map(|c| c.metric.name).collect();
                let what = format!(
                    "of which claim? expected METRIC=VALUE, of {}",
                    names.join(", ")
                );
                return Err(bad(what));
            }
        };
        if !claimed.iter().any(|claim| claim.metric == of) {
            return Err(bad(format!("nothing is claimed of {}", of.name)));
        }
        let value = value.trim().parse::<f64>().ok().filter(|x| x.is_finite());
        Ok((of, value.ok_or_else(|| bad("expected a number".into()))?))
    };
    let truths: Truths = args.truths.iter().map(one).collect::<Outcome<_>>()?;
    for (at, (of, _)) in truths.iter().enumerate() {
        if truths[..at].iter().any(|(other, _)| other == of) {
            let what = format!("--truth: two values of {}; expected one", of.name);
            return Err(Code::Usage.error(what));
        }
    }
    Ok(truths)
}

fn parsed(text: &str) -> Outcome<Constraint> {
    text.parse()
        .map_err(|e| Code::Usage.error(format!("--claim {text}: {e}")))
}

fn claimed(text: &str, args: &Power, truths: &Truths) -> Outcome<Answer> {
    let bad = |what: &str| Code::Usage.error(format!("--claim {text}: {what}"));
    let constraint = parsed(text)?;
    let truth = truths.iter().find(|(of, _)| *of == constraint.metric);
    let truth = truth.map(|(_, value)| *value);
    let (unit, claim) = claim(&constraint).ok_or_else(|| {
        bad("expected fa_per_mchar<=N (or fa_per_kcall, fa_per_kturn), fpr<=P, recall>=P, within_N>=P or precision>=P, P between 0 and 1")
    })?;
    let size = |errors| {
        let size = claim.need(errors)?;
        Some(Need {
            errors,
            size,
            power: None,
        })
    };
    let sizes: Vec<Need> = (0..=args.errors).filter_map(size).collect();
    let row = |need: &Need| vec![show::count(need.errors), show::count(need.size)];
    let rows: Vec<Vec<String>> = sizes.iter().map(row).collect();
    let level = 100.0 * (1.0 - ALPHA);
    let mut text = format!(
        "{constraint}, one-sided {level:.0} %: the {} that it takes, by how many {} they have at most\n{}",
        unit.things,
        unit.errors,
        show::table(&[unit.errors, unit.things], &rows, 0)
    );
    let (mut need, mut about) = (None, None);
    if let Some(truth) = truth {
        let errors = in_errors(claim, &constraint, truth);
        need = claim.need_for(errors, args.power);
        about = claim.about(errors, args.power);
        text += &format!(
            "\nIf {} is truly {truth}{}",
            constraint.metric.name,
            shown_by(need.as_ref(), about, &unit)
        );
    }
    let json = json!({
        "claim": constraint.to_string(), "alpha": ALPHA, "unit": unit.things, "errors": unit.errors,
        "sizes": sizes, "truth": truth, "power": args.power, "need": need, "about": about,
    });
    let (metric, takes) = (constraint.metric, Takes::Claim(claim));
    Ok(Answer {
        text,
        json,
        metric,
        unit,
        takes,
    })
}

/// What is counted for a claim, and the claim as a limit on the frequency of errors. `None` if counts
/// cannot support such a claim.
fn claim(constraint: &Constraint) -> Option<(Unit, Claim)> {
    let Constraint {
        metric,
        at_most,
        bound,
    } = *constraint;
    let share = bound > 0.0 && bound < 1.0;
    let found = metric == &ENDED || metric == &RECALL || metric == &PRECISION || is_within(metric);
    match at_most {
        true if metric.is_wrong_rate() && bound > 0.0 => {
            let (unit, scale) = rate_of(metric)?;
            Some((unit, Claim::Rate(bound * scale)))
        }
        true if metric == &FPR && share => Some((CLEAN, Claim::Share(bound))),
        false if found && share => Some((of(metric), Claim::Share(1.0 - bound))),
        _ => None,
    }
}

/// The end of the sentence that states how much data shows a claim.
fn shown_by(need: Option<&Need>, about: Option<f64>, unit: &Unit) -> String {
    match (need, about) {
        (Some(need), _) => format!(
            ": {} {} show it with probability {:.3} (up to {} {}).",
            show::count(need.size),
            unit.things,
            need.power.unwrap_or(f64::NAN),
            need.errors,
            unit.errors
        ),
        (None, Some(about)) => format!(
            ", it takes about {} {} to show it: {APPROXIMATE}.",
            roughly(about),
            unit.things
        ),
        (None, None) => ", the claim is not true, and no amount of data shows it.".into(),
    }
}

/// A size rounded to three digits: `123 000`, or `1.2e16` from 10^15 on.
fn roughly(size: f64) -> String {
    if size < 1e15 {
        let digits = size.max(1.0).log10().floor() as i32 - 2;
        let unit = 10_f64.powi(digits.max(0));
        show::count(((size / unit).round() * unit) as u64)
    } else {
        format!("{size:.1e}")
    }
}

/// The true frequency of errors, as the claim counts it: a share, or a number per million.
fn in_errors(claim: Claim, constraint: &Constraint, truth: f64) -> f64 {
    match claim {
        Claim::Share(_) if !constraint.at_most => 1.0 - truth,
        Claim::Share(_) => truth,
        Claim::Rate(_) => truth * rate_of(constraint.metric).map_or(1.0, |(_, scale)| scale),
    }
}

fn of(metric: Metric) -> Unit {
    if metric == &PRECISION {
        Unit {
            things: "alarms",
            errors: "wrong alarms",
        }
    } else {
        Unit {
            things: "loops",
            errors: "misses",
        }
    }
}
