//! What the caller of an import asks for: [`ImportOptions`], and [`ImportFields`], the columns of tables.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::files::FileStamp;
use crate::ThinkOptions;

/// What the caller asks for.
#[derive(Clone, Debug, Default)]
pub struct ImportOptions {
    /// The format's name; `None`: the content of each file decides.
    pub from: Option<String>,
    /// The model of recordings that do not name theirs.
    pub model: Option<String>,
    /// The columns of tables.
    pub fields: ImportFields,
    /// How answers that may hold `<think>` are split.
    pub think: ThinkOptions,
    /// The name of its file goes before each id, but in a corpus, whose labels go by the ids.
    pub prefix_ids: bool,
    /// Files that were read before: where all of a folder are as they were they are passed over.
    pub known: BTreeMap<PathBuf, FileStamp>,
}

/// Which columns of a table hold what: paths of fields (`a.b`, `a[].b`, `a[0].b`); what is not named is
/// guessed from the names that people use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportFields {
    /// What the model said.
    pub text: Option<String>,
    /// What it thought.
    pub reasoning: Option<String>,
    /// Why it stopped.
    pub finish: Option<String>,
    /// The id of the transcript.
    pub id: Option<String>,
    /// What belongs together, or the prompt.
    pub group: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// When it was recorded.
    pub time: Option<String>,
}

impl ImportFields {
    /// Every option, and the column that it names.
    pub(crate) fn options(&self) -> [(&'static str, Option<&String>); 7] {
        [
            ("--text-field", self.text.as_ref()),
            ("--reasoning-field", self.reasoning.as_ref()),
            ("--finish-field", self.finish.as_ref()),
            ("--id-field", self.id.as_ref()),
            ("--group-field", self.group.as_ref()),
            ("--model-field", self.model.as_ref()),
            ("--time-field", self.time.as_ref()),
        ]
    }

    /// The column that an option names.
    pub(crate) fn named(&self, option: &str) -> Option<&String> {
        let mut all = self.options().into_iter();
        all.find(|(name, _)| *name == option)?.1
    }

    /// The first option that names a column.
    pub(super) fn first(&self) -> Option<(&'static str, &String)> {
        let mut all = self.options().into_iter();
        all.find_map(|(name, field)| Some((name, field?)))
    }
}
