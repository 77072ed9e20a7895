//! [`tune`]: the choice of a setting for each model of a corpus.

use std::path::{Path, PathBuf};

use deadloop_detect::{Settings, Unit};
use deadloop_report::short_name;
use deadloop_score::choose::{Advice, Ruling};
use deadloop_score::{Constraint, Metric, metric, wrong_rate};

use super::text::{format_plan, format_result, summary};
use super::{TunePlan, TuneResult, Tuning, choose_setting};
use crate::failure::{Code, RunResult};
use crate::folder::answer::{FolderAnswer, FolderContent};
use crate::host::Host;
use crate::option::{CONSTRAINT, OBJECTIVE, UNIT};
use crate::options::{JudgingOptions, OutputOptions, SelectionOptions};
use crate::replay::request::{Request, SEALED, record};
use crate::replay::units::first_unit;
use crate::settings::{SHIPPED, SettingsReader};
use crate::sweep::{notify_csv_limit, notify_refused};

/// The default objective.
const OBJECTIVE_NAME: &str = "saved";
/// The default folder of the results.
const FOLDER_NAME: &str = "deadloop-tune";

options! {
    /// The options of a choice.
    pub struct TuneOptions {
        /// A corpus: a folder, or one .jsonl file
        #[serde(skip)]
        pub corpus: PathBuf,
        /// The grid to search. Without it the grids of all detectors are scored, and ready guards alone may ship
        #[arg(long, value_name = "FILE")]
        pub grid: Option<PathBuf>,
        /// The settings in use: a settings file, `recommended` or the name of a preset [default: the recommended guard]
        #[arg(long, value_name = "FILE")]
        pub settings: Option<PathBuf>,
        /// A guard that may ship as it is, as the recommended one may: a settings file or the name of a preset; may be repeated
        #[arg(long, value_name = "FILE")]
        pub also: Vec<PathBuf>,
        /// A limit that the settings have to keep: metric<=number or metric>=number; may be repeated
        /// [default: fa_per_mchar<=1; in calls fa_per_kcall<=0.2, in turns fa_per_kturn<=0.2]
        #[arg(long = "constraint", value_name = "EXPR")]
        pub constraints: Vec<String>,
        /// The metric in which the settings have to be best
        #[arg(long, value_name = "METRIC", default_value = OBJECTIVE_NAME)]
        pub objective: String = OBJECTIVE_NAME.to_owned(),
        /// Print what would be searched, and write nothing
        #[arg(long)]
        pub dry_run: bool,
        /// The filters that select transcripts.
        #[command(flatten)]
        pub select: SelectionOptions,
        /// The options for judging alarms.
        #[command(flatten)]
        pub judge: JudgingOptions,
        /// The options for the output.
        #[command(flatten)]
        pub output: OutputOptions,
        /// The folder of the results
        #[arg(long, value_name = "DIR", default_value = FOLDER_NAME)]
        #[serde(skip)]
        pub out: PathBuf = FOLDER_NAME.into(),
    }
}

/// Replays grids, ready guards and the settings in use over a corpus, chooses a setting, and writes it with its
/// evidence. A dry run writes nothing.
///
/// # Errors
/// Returns an error if options or settings are bad, the corpus is not whole, nothing is selected, the folder holds
/// another result, a program fails, or the host stops the run.
pub fn tune(options: &TuneOptions, host: &dyn Host) -> RunResult<FolderAnswer> {
    let tuning = options.tuning(host)?;
    let plan = TunePlan::new(&tuning)?;
    notify_refused(&plan.plan, host);
    if options.dry_run {
        let content = FolderContent::Plan(format_plan(options, &tuning, &plan));
        return Ok(FolderAnswer::new(&options.out, content, None));
    }
    let request = options.request(host, plan.text.clone(), &tuning)?;
    choose_setting(&request, &tuning, plan)?.answer(&request, |tuned| {
        notify_csv_limit(options.output.folder.csv, &tuned.scored, host);
        let ended = check_outcome(&tuned.choices.advice, !tuning.constraints.is_empty());
        let text = format_result(&tuned, options);
        let summary = summary(&tuned, options);
        let TuneResult { mut done, .. } = tuned;
        done.run.sum_up(summary);
        done.finish(ended, text, host)
    })
}

/// Returns an error if the choice could not be made, or a limit that the user gave is not met.
fn check_outcome(advice: &Advice, given: bool) -> RunResult {
    match advice.verdict {
        Ruling::Collect => Err(Code::TooLittle.error(&advice.reason)),
        Ruling::Ship | Ruling::Keep if given && advice.over_limit => {
            Err(Code::Infeasible.error(&advice.reason))
        }
        Ruling::Ship | Ruling::Keep => Ok(()),
    }
}

impl TuneOptions {
    /// Reads the settings, the grid and the limits.
    fn tuning(&self, host: &dyn Host) -> RunResult<Tuning> {
        let unit = self.unit()?;
        let reader = SettingsReader::of_folder(&self.output.folder, host);
        let per = self.judge.per;
        let (path, set) = (self.settings.as_deref(), &self.judge.set);
        let (settings, text) = reader.settings_in(path, set, unit, per)?;
        let constraint = |text: &String| {
            text.parse::<Constraint>()
                .map_err(|e| Code::Usage.error(format!("{CONSTRAINT} {text}: {e}")))
        };
        let constraints: Vec<Constraint> = self
            .constraints
            .iter()
            .map(constraint)
            .collect::<RunResult<_>>()?;
        let other = |c: &&Constraint| c.metric.is_wrong_rate() && c.metric != wrong_rate(unit);
        if let Some(other) = constraints.iter().find(other) {
            let what = format!(
                "{other}: things are counted in {unit} here; limit {}, or say {UNIT}",
                wrong_rate(unit).name
            );
            return Err(Code::Usage.error(what));
        }
        Ok(Tuning {
            unit,
            in_use_is: name_in_use(path, &settings),
            settings,
            text,
            grid: self
                .grid
                .as_ref()
                .map(|path| reader.grid(path))
                .transpose()?,
            also: self.also_guards(unit, reader)?,
            constraints,
            objective: self.objective()?,
            per,
        })
    }

    /// Returns the unit of choice: that of the options, of the parts, or of the corpus.
    fn unit(&self) -> RunResult<Unit> {
        let parts = self.output.folder.parts.as_ref();
        let known = self.judge.unit.or_else(|| parts?.unit());
        known.map_or_else(|| first_unit(&self.corpus), Ok)
    }

    fn objective(&self) -> RunResult<Metric> {
        metric(&self.objective)
            .map_err(|e| Code::Usage.error(format!("{OBJECTIVE} {}: {e}", self.objective)))
    }

    /// Returns the guards of `also`, each with its name in sentences.
    fn also_guards(
        &self,
        unit: Unit,
        reader: SettingsReader<'_>,
    ) -> RunResult<Vec<(String, Settings)>> {
        let per = self.judge.per;
        let read = |path: &PathBuf| {
            let (settings, _) = reader.settings_in(Some(path), &[], unit, per)?;
            Ok((shorten_path(path), settings))
        };
        self.also.iter().map(read).collect()
    }

    /// Returns the request of the replay, with the inputs that an existing result must match.
    fn request<'a>(
        &'a self,
        host: &'a dyn Host,
        grid: String,
        tuning: &Tuning,
    ) -> RunResult<Request<'a>> {
        let mut inputs = vec![
            tuning.settings.id(),
            format!(
                "{:?} {} {}",
                self.constraints,
                self.objective,
                self.settings.is_some()
            ),
        ];
        inputs.extend(tuning.also.iter().map(|(_, settings)| settings.id()));
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
            unit: Some(tuning.unit),
            asked: record("tune", self)?,
            judging: self.judge.clone(),
            output: self.output.clone(),
            select: self.select.clone(),
            ..Request::new(&self.corpus, &self.out, host)
        })
    }
}

/// Returns the file name of a path, so that sentences are the same on every machine.
fn shorten_path(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

/// Names the settings in use in sentences.
fn name_in_use(path: Option<&Path>, settings: &Settings) -> String {
    let is_shipped = |path: &&Path| SHIPPED.iter().any(|name| path.as_os_str() == *name);
    let Some(path) = path.filter(|path| !is_shipped(path)) else {
        return "the recommended guard".to_owned();
    };
    let file = shorten_path(path);
    if !file.ends_with(".toml") && !path.exists() {
        return format!("the preset {file}");
    }
    // A preset or a detector with its defaults has a name of one word.
    let mut members = settings.guard().members.iter();
    let program = members.find_map(|member| member.program()?.command.pop());
    let guard = program.unwrap_or_else(|| short_name(settings.guard(), &[]));
    if guard.contains(' ') {
        file
    } else {
        format!("{guard} of {file}")
    }
}
