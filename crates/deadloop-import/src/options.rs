//! [`ImportOptions`], and [`ImportFields`], the columns of tables.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::source::files::FileStamp;
use deadloop_corpus::ThinkOptions;
use deadloop_corpus::option::{
    FINISH_FIELD, GROUP_FIELD, ID_FIELD, MODEL_FIELD, REASONING_FIELD, RunOption, TEXT_FIELD,
    TIME_FIELD,
};

/// The options of an import.
#[derive(Clone, Debug, Default)]
pub struct ImportOptions {
    /// The format's name. `None` to recognize the format of each file.
    pub from: Option<String>,
    /// A TOML file with the rows of the format of all files, instead of `from`.
    pub format: Option<PathBuf>,
    /// The model of recordings without one.
    pub model: Option<String>,
    /// The columns of tables.
    pub fields: ImportFields,
    /// The options for splitting answers that may hold `<think>`.
    pub think: ThinkOptions,
    /// Whether the file name is a prefix of each id. Ids of a corpus get no prefix, since its labels refer to them.
    pub prefix_ids: bool,
    /// Files that were read before. A folder without changes is passed over.
    pub known: BTreeMap<PathBuf, FileStamp>,
}

/// The columns of a table, as paths of fields (`a.b`, `a[].b`, `a[0].b`).
///
/// Columns that are not set are guessed from common names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportFields {
    /// The text of the model.
    pub text: Option<String>,
    /// The thinking of the model.
    pub reasoning: Option<String>,
    /// The finish reason.
    pub finish: Option<String>,
    /// The id of the transcript.
    pub id: Option<String>,
    /// The group, or the prompt.
    pub group: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// The time of recording.
    pub time: Option<String>,
}

impl ImportFields {
    /// Returns every option with its column.
    pub(crate) fn options(&self) -> [(RunOption, Option<&String>); 7] {
        [
            (TEXT_FIELD, self.text.as_ref()),
            (REASONING_FIELD, self.reasoning.as_ref()),
            (FINISH_FIELD, self.finish.as_ref()),
            (ID_FIELD, self.id.as_ref()),
            (GROUP_FIELD, self.group.as_ref()),
            (MODEL_FIELD, self.model.as_ref()),
            (TIME_FIELD, self.time.as_ref()),
        ]
    }

    /// Returns the column of an option.
    pub(crate) fn column_of(&self, option: RunOption) -> Option<&String> {
        let mut all = self.options().into_iter();
        all.find(|(name, _)| *name == option)?.1
    }

    /// Returns the first option with a column.
    pub(super) fn first(&self) -> Option<(RunOption, &String)> {
        let mut all = self.options().into_iter();
        all.find_map(|(name, field)| Some((name, field?)))
    }
}
