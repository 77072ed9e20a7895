//! [`Settings`]: a settings file in TOML, with one checked [`Setting`] per model.
//!
//! ```toml
//! deployment_loop_rate = 0.003   # share of production's outputs that loop; optional
//! ignore = ['^\s*\|']             # optional: lines that no detector of text reads, of all guards of the file
//! prompt = "skip"                # optional, for all guards of the file: as below
//!
//! [[guard]]
//! detector = "checkpoint"
//! preset   = "document"          # optional, params override
//! channel  = "reasoning"         # optional: reasoning and answer; or arguments, and of a run tools, turns
//! enabled  = true                # optional
//! response = "stop"              # optional: observe, warn, refuse or stop; else what the detector says
//! chars_per_token = 2.5          # optional: params that count chars count tokens, each of this many chars
//! [guard.params]
//! min_matches = 8
//! per    = "run"                 # of a detector of text in a run: the channel is one text; default: each turn is
//! ignore = ['^}$']               # of a detector of text: lines that it does not read either
//! prompt = "check"               # of a detector of text; skip: repetition counts only beyond what the user wrote
//!
//! [[model]]
//! match = "deepseek-r1*"         # first match wins, the whole list replaces
//! task  = "code*"                # optional: only at tasks of this name; without match: of every model
//!   [[model.guard]]
//!   detector = "checkpoint"
//!
//! [messages]
//! lang = "zh"                    # optional: of user_message and refusal, en or zh; else that of the text that repeats
//!
//! [think]                        # optional: how a text is split before a guard sees it, which is
//!                                # nothing that this crate does (see `ThinkRules` of the corpus)
//! ```

use std::ops::Range;

use globset::{Glob, GlobMatcher};
use serde::Deserialize;

use crate::guard::alarm::Lang;
use crate::guard::response::Response;
use crate::measure::text_scope::TextScope;
use crate::settings::setting::{Member, Setting, short_hash};

pub(crate) mod invalid_value;
mod located_value;
mod model_list;
pub(crate) mod param;
pub(crate) mod params;
pub(crate) mod preset;
pub(crate) mod setting;
pub(crate) mod spec;
pub(crate) mod suggestion;
mod table;
pub(crate) mod value;
mod words;
pub use located_value::{LocatedValue, read_toml};
pub use model_list::{ModelList, ModelTask, OverrideGlob};
use table::setting;
pub use table::{GuardTable, RawParams, resolve, share};

/// The guards of a settings file, for each model.
#[derive(Clone, Debug)]
pub struct Settings {
    guard: Setting,
    models: ModelList,
    /// The guard of each entry of `models`.
    own: Vec<Setting>,
    /// The share of production outputs that loop, if given. Labelled sets have a larger share.
    pub deployment_loop_rate: Option<f64>,
    /// The language of an alarm's messages. `None` for the language of the repeated text.
    pub lang: Option<Lang>,
}

/// An error in a settings file, with its position.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {what}")]
pub struct SettingsError {
    /// The line, from 1.
    pub line: usize,
    /// The column in chars, from 1.
    pub column: usize,
    /// The error and the expected value, as a lower-case clause.
    pub what: String,
}

impl SettingsError {
    /// Returns an error at a byte range of `text`. Control characters in `what` are escaped.
    pub fn at(text: &str, span: Range<usize>, what: impl Into<String>) -> Self {
        let before = text.get(..span.start).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |i| i + 1);
        Self {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            what: one_line(&what.into()),
        }
    }
}

/// Escapes control characters, including line ends.
#[doc(hidden)]
pub fn one_line(text: &str) -> String {
    let one = |c: char| {
        if c.is_control() {
            c.escape_default().collect()
        } else {
            String::from(c)
        }
    };
    text.chars().map(one).collect()
}

/// The recommended guard, for every model and both text channels, as a settings file.
pub const RECOMMENDED: &str = include_str!("../recommended.toml");

/// The recommended guard for agent runs, as a settings file. It is used together with [`RECOMMENDED`], which reads the
/// text of a run.
pub const RECOMMENDED_AGENTS: &str = include_str!("../recommended-agents.toml");

/// Parses [`RECOMMENDED`].
impl Default for Settings {
    #[allow(
        clippy::expect_used,
        reason = "a constant; every test would see it fail"
    )]
    fn default() -> Self {
        Self::parse(RECOMMENDED).expect("the recommended guard is a settings file")
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SettingsTable {
    #[serde(default)]
    guard: Vec<GuardTable>,
    #[serde(default)]
    model: Vec<ModelTable>,
    deployment_loop_rate: Option<LocatedValue<f64>>,
    ignore: Option<LocatedValue<Vec<String>>>,
    prompt: Option<LocatedValue<String>>,
    #[serde(default)]
    messages: Messages,
    #[serde(default, rename = "think")]
    _think: toml::Table,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Messages {
    lang: Option<Lang>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ModelTable {
    r#match: Option<LocatedValue<String>>,
    task: Option<LocatedValue<String>>,
    #[serde(default)]
    guard: Vec<GuardTable>,
}

impl ModelTable {
    /// Returns the globs and the guard of the table.
    fn read(&self, text: &str) -> Result<(OverrideGlob, Setting), SettingsError> {
        let spans = self
            .r#match
            .iter()
            .chain(&self.task)
            .map(LocatedValue::span);
        let guards = self.guard.iter().map(|guard| guard.detector.span());
        let span = spans.chain(guards).next().unwrap_or(0..0);
        if self.r#match.is_none() && self.task.is_none() {
            let what = "this [[model]] has no match and no task; expected a glob on the names of models, of tasks, or both";
            return Err(SettingsError::at(text, span, what));
        }
        if self.guard.is_empty() {
            let what = "no [[model.guard]]: nothing would watch this model; to switch a guard off \
                        write it with enabled = false";
            return Err(SettingsError::at(text, span, what));
        }
        let glob = OverrideGlob {
            model: glob("match", self.r#match.as_ref(), text)?,
            task: glob("task", self.task.as_ref(), text)?,
        };
        Ok((glob, setting(&self.guard, text)?))
    }
}

/// Compiles the glob of a key, if the key is present.
fn glob(
    key: &str,
    value: Option<&LocatedValue<String>>,
    text: &str,
) -> Result<Option<GlobMatcher>, SettingsError> {
    let read = |value: &LocatedValue<String>| {
        let glob = Glob::new(value.get_ref())
            .map_err(|e| SettingsError::at(text, value.span(), format!("{key} is no glob: {e}")))?;
        Ok(glob.compile_matcher())
    };
    value.map(read).transpose()
}

impl Settings {
    /// Returns settings with one guard for all models.
    pub fn from_guard(guard: Setting) -> Self {
        Self {
            guard,
            models: ModelList::default(),
            own: Vec::new(),
            deployment_loop_rate: None,
            lang: None,
        }
    }

    /// Parses a settings file, and checks names, bounds and combinations.
    pub fn parse(text: &str) -> Result<Self, SettingsError> {
        let mut wire: SettingsTable = read_toml(text)?;
        let models = wire.model.iter_mut().flat_map(|model| &mut model.guard);
        let all = models.chain(&mut wire.guard);
        share(all, wire.ignore.as_ref(), wire.prompt.as_ref(), text)?;
        if wire.guard.is_empty() && wire.model.is_empty() {
            return Err(SettingsError::at(
                text,
                0..0,
                "no [[guard]] and no [[model]]",
            ));
        }
        let guard = setting(&wire.guard, text)?;
        let models = wire.model.iter().map(|table| table.read(text));
        let models: Vec<_> = models.collect::<Result<_, _>>()?;
        let (globs, own) = models.into_iter().unzip();
        Ok(Self {
            guard,
            models: ModelList::new(globs),
            own,
            deployment_loop_rate: loop_rate(wire.deployment_loop_rate, text)?,
            lang: wire.messages.lang,
        })
    }

    /// Returns the guard of a model, or of a model at a task ([`ModelTask`]): that of the first matching `[[model]]`
    /// table, otherwise the general guard. A glob must match the whole name and its case: `deepseek-*` matches neither
    /// `DeepSeek-R1` nor `org/deepseek-r1`.
    ///
    /// ```
    /// use deadloop_detect::{Settings, ModelTask};
    ///
    /// let settings = Settings::parse(
    ///     "[[guard]]\ndetector = \"periodic\"\n\
    ///      [[model]]\ntask = \"puzzle*\"\n[[model.guard]]\ndetector = \"periodic\"\npreset = \"quiet\"",
    /// )?;
    /// let at_puzzles = settings.for_model(ModelTask { model: "m", task: "puzzles" });
    /// assert_ne!(at_puzzles, settings.for_model("m"));
    /// # Ok::<(), deadloop_detect::SettingsError>(())
    /// ```
    pub fn for_model<'a>(&self, work: impl Into<ModelTask<'a>>) -> &Setting {
        let own = self.models.first(work).and_then(|i| self.own.get(i));
        own.unwrap_or(&self.guard)
    }

    /// Returns the globs that select the [override](Self::overrides) of a model.
    pub fn models(&self) -> &ModelList {
        &self.models
    }

    /// Returns the general guard.
    pub fn guard(&self) -> &Setting {
        &self.guard
    }

    /// Returns the guards of particular models, in the order of matching.
    pub fn overrides(&self) -> impl Iterator<Item = (&OverrideGlob, &Setting)> {
        self.models.globs().iter().zip(&self.own)
    }

    /// Splits the settings by [level](Response::level), strictest first: stop and refuse, warn, observe. Levels without
    /// members are left out. A replay scores each level separately.
    pub fn levels(&self) -> Vec<(Response, Self)> {
        let levels = Response::ALL.into_iter().filter(|r| r.level() == *r);
        let parts = levels.map(|level| (level, self.filter(|m| m.response.level() == level)));
        parts.filter(|(_, part)| !part.is_off()).collect()
    }

    /// Returns the settings with only the members of every guard that `keep` accepts.
    #[must_use]
    pub fn filter(&self, keep: impl Fn(&Member) -> bool) -> Self {
        Self {
            guard: self.guard.filter(&keep),
            models: self.models.clone(),
            own: self.own.iter().map(|guard| guard.filter(&keep)).collect(),
            deployment_loop_rate: self.deployment_loop_rate,
            lang: self.lang,
        }
    }

    /// Sets the parameter `per` of all text detectors.
    #[must_use]
    pub fn read_per(self, per: TextScope) -> Self {
        self.map_guards(|guard| guard.read_per(per))
    }

    /// Adds globs on tool names to the parameter `allow` of all guards.
    #[must_use]
    pub fn allowing(self, tools: &[String]) -> Self {
        self.map_guards(|guard| guard.allowing(tools))
    }

    fn map_guards(self, change: impl Fn(Setting) -> Setting) -> Self {
        Self {
            guard: change(self.guard),
            own: self.own.into_iter().map(change).collect(),
            ..self
        }
    }

    /// Returns whether no guard has a member.
    pub fn is_off(&self) -> bool {
        let mut guards = self.overrides().map(|(_, s)| s).chain([&self.guard]);
        guards.all(|guard| guard.members.is_empty())
    }

    /// Returns a short name: the id of the general guard, or a hash if there are overrides.
    pub fn id(&self) -> String {
        if self.own.is_empty() {
            return self.guard.id();
        }
        let of = |(glob, setting): (&OverrideGlob, &Setting)| format!("{glob}={}", setting.id());
        let models: Vec<String> = self.overrides().map(of).collect();
        short_hash(&format!("{}\n{}", self.guard.id(), models.join("\n")))
    }
}

fn loop_rate(rate: Option<LocatedValue<f64>>, text: &str) -> Result<Option<f64>, SettingsError> {
    let Some(rate) = rate else {
        return Ok(None);
    };
    if *rate.get_ref() > 0.0 && *rate.get_ref() < 1.0 {
        return Ok(Some(*rate.get_ref()));
    }
    let what = format!(
        "deployment_loop_rate {} is not a share above 0 and below 1",
        rate.get_ref()
    );
    Err(SettingsError::at(text, rate.span(), what))
}
