//! The options of `tune`, and what follows from them before anything is replayed.

use std::path::PathBuf;

use clap::Args;
use deadloop_detect::{Settings, Unit};
use deadloop_score::{
    Assurance, ChooseOptions, Constraint, JudgeOptions, Metric, metric, wrong_rate,
};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::args::{Judge, Output, Select};
use crate::exit::{Code, Failure, Outcome};
use crate::host::Terminal;
use crate::replaying::request;
use crate::settings;
use crate::words::{LEVELS, word};
use deadloop_run::Request;
use deadloop_run::SEALED;

#[derive(Debug, Args, Serialize, Deserialize)]
pub(crate) struct Tune {
    /// A corpus: a folder, or one .jsonl or .parquet file
    #[serde(skip)]
    pub(crate) corpus: PathBuf,
    /// The grid to search [default: a grid of every text detector]
    #[arg(long, value_name = "FILE")]
    pub(crate) grid: Option<PathBuf>,
    /// What is in use now and may be replaced: a settings file, `recommended` or the name of a preset
    /// [default: the recommended guard]
    #[arg(long, value_name = "FILE")]
    pub(crate) settings: Option<PathBuf>,
    /// A guard that may be taken as it is, as the recommended one and the presets: a settings file or the name of a preset;
    /// may be repeated
    #[arg(long, value_name = "FILE")]
    #[serde(default)]
    pub(crate) also: Vec<PathBuf>,
    /// A limit that a setting has to keep: metric<=number or metric>=number; may be repeated
    /// [default: fa_per_mchar<=1; in calls fa_per_kcall<=0.2, in turns fa_per_kturn<=0.2]
    #[arg(long = "constraint", value_name = "EXPR")]
    pub(crate) constraints: Vec<String>,
    /// The metric in which the setting has to be best
    #[arg(long, value_name = "METRIC", default_value = "saved")]
    pub(crate) objective: String,
    /// False alarms that are allowed, as 1/Mchar: --constraint fa_per_mchar<=1. On a corpus without
    /// loops: which settings its clean text supports, and how much is missing
    #[arg(long, value_name = "N/Mchar", conflicts_with = "constraints", value_parser = budget, allow_negative_numbers = true)]
    pub(crate) budget: Option<f64>,
    /// How many folds the cross-validation has
    #[arg(long, value_name = "K", default_value_t = 5, value_parser = clap::value_parser!(u64).range(2..=100))]
    pub(crate) folds: u64,
    /// How sure a candidate has to be within the limits [default: the least that holds on the folds left out]
    #[arg(long, value_name = "LEVEL", value_parser = word::<Assurance>(LEVELS))]
    pub(crate) assurance: Option<Assurance>,
    /// How many points a better setting has to gain: hundredths of a share, else hundredths of the value in use
    #[arg(long, value_name = "POINTS", default_value_t = 1.0, value_parser = points)]
    pub(crate) worthwhile: f64,
    /// Also list every preset in the table on the terminal
    #[arg(long)]
    pub(crate) presets: bool,
    /// Print what would be searched, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Also look for tools that repeat in healthy runs, and propose in settings.toml to let them pass (allow). Reads
    /// the corpus three times more; for guards on runs of agents
    #[arg(long, conflicts_with = "shard")]
    #[serde(skip)]
    pub(crate) learn_allow: bool,
    /// Fail (exit code 5) if some model has too few labels for a setting of its own
    #[arg(long)]
    pub(crate) require_own: bool,
    #[command(flatten)]
    pub(crate) select: Select,
    #[command(flatten)]
    pub(crate) judge: Judge,
    #[command(flatten)]
    pub(crate) output: Output,
    /// Where the results go
    #[arg(long, value_name = "DIR", default_value = "deadloop-tune")]
    #[serde(skip)]
    pub(crate) out: PathBuf,
}

/// `1/Mchar`, `0.5/Mchar`, or the number alone.
fn budget(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix("/Mchar").unwrap_or(text).trim();
    let budget = number
        .parse::<f64>()
        .ok()
        .filter(|n| *n > 0.0 && n.is_finite());
    budget.ok_or_else(|| "expected a number above 0, as 1/Mchar".into())
}

fn points(text: &str) -> Result<f64, String> {
    let points = text
        .parse::<f64>()
        .ok()
        .filter(|n| *n >= 0.0 && n.is_finite());
    points.ok_or_else(|| "expected a number from 0 on".into())
}

/// No limit on wrong alarms was given, and the unit has no default.
fn no_limit(unit: Unit) -> Failure {
    let rate = wrong_rate(unit).name;
    Code::Usage.error(format!(
        "--unit {unit}: no limit on wrong alarms is usual there; give one, as --constraint '{rate}<=0.5' or --constraint 'fpr<=0.01'"
    ))
}

impl Tune {
    /// How the choice is made, but for what errors cost, which the corpus decides.
    pub(super) fn options(&self, unit: Unit) -> Outcome<ChooseOptions> {
        let constraint = |text: &String| {
            text.parse::<Constraint>()
                .map_err(|e| Code::Usage.error(format!("--constraint {text}: {e}")))
        };
        let constraints: Vec<Constraint> = self
            .constraints()
            .iter()
            .map(constraint)
            .collect::<Outcome<_>>()?;
        let other = |c: &&Constraint| c.metric.is_wrong_rate() && c.metric != wrong_rate(unit);
        if let Some(other) = constraints.iter().find(other) {
            let what = format!(
                "{other}: things are counted in {unit} here; limit {}, or say --unit",
                wrong_rate(unit).name
            );
            return Err(Code::Usage.error(what));
        }
        Ok(ChooseOptions {
            given: !constraints.is_empty(),
            constraints: if constraints.is_empty() {
                vec![ChooseOptions::default_limit(unit).ok_or_else(|| no_limit(unit))?]
            } else {
                constraints
            },
            in_use_is: match self.settings {
                Some(_) => "the setting in use",
                None => "the recommended guard",
            },
            objective: self.objective()?,
            folds: usize::try_from(self.folds).unwrap_or(usize::MAX),
            seed: self.select.seed,
            judge: JudgeOptions {
                unit,
                ..self.judge.options()
            },
            assurance: self.assurance,
            worthwhile: self.worthwhile,
            ..ChooseOptions::default()
        })
    }

    /// The limits that were given, as text.
    fn constraints(&self) -> Vec<String> {
        match self.budget {
            Some(budget) => vec![format!("fa_per_mchar<={budget}")],
            None => self.constraints.clone(),
        }
    }

    fn objective(&self) -> Outcome<Metric> {
        let wrong =
            |what: String| Code::Usage.error(format!("--objective {}: {what}", self.objective));
        let objective = metric(&self.objective).map_err(|e| wrong(format!("{e}")))?;
        if objective.can_be_objective() {
            Ok(objective)
        } else {
            Err(wrong(
                "it cannot be compared from transcript to transcript".into(),
            ))
        }
    }

    /// The guards of `--also`, each with what sentences call it.
    pub(super) fn also(&self, unit: Unit) -> Outcome<Vec<(String, Settings)>> {
        let per = self.judge.per;
        let read = |path: &PathBuf| {
            let read = settings::settings_in(Some(path), &[], unit)?;
            let (settings, _) = settings::read_per(read, per)?;
            // Of a path the name alone: sentences are the same on every machine.
            let name = path.file_name().unwrap_or(path.as_os_str());
            Ok((name.to_string_lossy().into_owned(), settings))
        };
        self.also.iter().map(read).collect()
    }

    /// What is replayed, and what a folder that is there has to be of.
    pub(super) fn request<'a>(
        &'a self,
        host: &'a Terminal,
        grid: String,
        (current, also, unit): (&Settings, &[(String, Settings)], Unit),
    ) -> Outcome<Request<'a>> {
        let mut inputs = vec![
            current.id(),
            format!(
                "{:?} {:?} {} {} {:?} {} {} {}",
                self.constraints,
                self.budget,
                self.objective,
                self.folds,
                self.assurance,
                self.worthwhile,
                self.require_own,
                self.settings.is_some()
            ),
        ];
        inputs.extend(also.iter().map(|(_, settings)| settings.id()));
        inputs.extend(self.learn_allow.then(|| "learn-allow".to_owned()));
        let options = (&self.select, &self.judge, &self.output);
        Ok(Request {
            command: "tune",
            read: self
                .settings
                .iter()
                .filter(|path| path.exists())
                .chain(self.also.iter().filter(|path| path.exists()))
                .chain(&self.grid)
                .map(PathBuf::as_path)
                .collect(),
            inputs,
            grid: Some(grid),
            sealed: Some(SEALED),
            unit: Some(unit),
            asked: json!({"tune": self}),
            ..request((&self.corpus, &self.out), options, host)?
        })
    }
}
