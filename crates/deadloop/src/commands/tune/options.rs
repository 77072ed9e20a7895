//! The options of `tune`.

use std::path::{Path, PathBuf};

use clap::Args;
use deadloop_detect::{Settings, Unit};
use deadloop_run::tune::TuneOptions;
use deadloop_run::{Request, SEALED, record};
use deadloop_score::{Constraint, Metric, metric, wrong_rate};
use serde::{Deserialize, Serialize};

use crate::exit::{Code, Outcome};
use crate::host::Terminal;
use deadloop_report::short_name;
use deadloop_run::options::{JudgingOptions, OutputOptions, SelectionOptions};
use deadloop_run::settings::{SHIPPED, SettingsReader};

#[derive(Debug, Args, Serialize, Deserialize)]
pub(crate) struct TuneArgs {
    /// A corpus: a folder, or one .jsonl file
    #[serde(skip)]
    pub(crate) corpus: PathBuf,
    /// The grid to search. Without it the grids of all detectors are scored, and ready guards alone may ship
    #[arg(long, value_name = "FILE")]
    pub(crate) grid: Option<PathBuf>,
    /// The settings in use: a settings file, `recommended` or the name of a preset [default: the recommended guard]
    #[arg(long, value_name = "FILE")]
    pub(crate) settings: Option<PathBuf>,
    /// A guard that may ship as it is, as the recommended one may: a settings file or the name of a preset; may be repeated
    #[arg(long, value_name = "FILE")]
    #[serde(default)]
    pub(crate) also: Vec<PathBuf>,
    /// A limit that the settings have to keep: metric<=number or metric>=number; may be repeated
    /// [default: fa_per_mchar<=1; in calls fa_per_kcall<=0.2, in turns fa_per_kturn<=0.2]
    #[arg(long = "constraint", value_name = "EXPR")]
    pub(crate) constraints: Vec<String>,
    /// The metric in which the settings have to be best
    #[arg(long, value_name = "METRIC", default_value = "saved")]
    pub(crate) objective: String,
    /// Print what would be searched, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) select: SelectionOptions,
    #[command(flatten)]
    pub(crate) judge: JudgingOptions,
    #[command(flatten)]
    pub(crate) output: OutputOptions,
    /// The folder of the results
    #[arg(long, value_name = "DIR", default_value = "deadloop-tune")]
    #[serde(skip)]
    pub(crate) out: PathBuf,
}

impl TuneArgs {
    /// Returns the options of `tune` for a unit.
    pub(super) fn tune_options(&self, unit: Unit, host: &Terminal) -> Outcome<TuneOptions> {
        let reader = SettingsReader::of_folder(&self.output.folder, host);
        let per = self.judge.per;
        let (path, set) = (self.settings.as_deref(), &self.judge.set);
        let (settings, text) = reader.settings_in(path, set, unit, per)?;
        let constraint = |text: &String| {
            text.parse::<Constraint>()
                .map_err(|e| Code::Usage.error(format!("--constraint {text}: {e}")))
        };
        let constraints: Vec<Constraint> = self
            .constraints
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
        Ok(TuneOptions {
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

    fn objective(&self) -> Outcome<Metric> {
        metric(&self.objective)
            .map_err(|e| Code::Usage.error(format!("--objective {}: {e}", self.objective)))
    }

    /// Returns the guards of `--also`, each with its name in sentences.
    fn also_guards(
        &self,
        unit: Unit,
        reader: SettingsReader<'_>,
    ) -> Outcome<Vec<(String, Settings)>> {
        let per = self.judge.per;
        let read = |path: &PathBuf| {
            let (settings, _) = reader.settings_in(Some(path), &[], unit, per)?;
            // A path is shortened to its file name, so that sentences are the same on every machine.
            let name = path.file_name().unwrap_or(path.as_os_str());
            Ok((name.to_string_lossy().into_owned(), settings))
        };
        self.also.iter().map(read).collect()
    }

    /// Returns the request of the replay, with the inputs that an existing result must match.
    pub(super) fn request<'a>(
        &'a self,
        host: &'a Terminal,
        grid: String,
        tuning: &TuneOptions,
    ) -> Outcome<Request<'a>> {
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

/// Names the settings in use in sentences. A path is shortened to its file name, so that sentences are the same on every
/// machine.
fn name_in_use(path: Option<&Path>, settings: &Settings) -> String {
    let is_shipped = |path: &&Path| SHIPPED.iter().any(|name| path.as_os_str() == *name);
    let Some(path) = path.filter(|path| !is_shipped(path)) else {
        return "the recommended guard".to_owned();
    };
    let file = path.file_name().unwrap_or(path.as_os_str());
    let file = file.to_string_lossy();
    if !file.ends_with(".toml") && !path.exists() {
        return format!("the preset {file}");
    }
    // A preset or a detector with its defaults has a name of one word.
    let mut members = settings.guard().members.iter();
    let program = members.find_map(|member| member.program()?.command.pop());
    let guard = program.unwrap_or_else(|| short_name(settings.guard(), &[]));
    if guard.contains(' ') {
        file.into_owned()
    } else {
        format!("{guard} of {file}")
    }
}
