//! [`ImportOptions`], and [`ImportFields`], the columns of tables.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::source::files::FileStamp;
use deadloop_corpus::ThinkOptions;
use deadloop_corpus::option::{
    FINISH_FIELD, GROUP_FIELD, ID_FIELD, MODEL_FIELD, REASONING_FIELD, RunOption, TEXT_FIELD,
    TIME_FIELD,
};

/// Options of an import.
#[derive(Clone, Debug, Default)]
pub struct ImportOptions {
    /// Name of the format. `None` to recognize the format of each file.
    pub from: Option<String>,
    /// A TOML file that describes the format of all files. Replaces `from`.
    pub format: Option<PathBuf>,
    /// Model of recordings that do not name one.
    pub model: Option<String>,
    /// The columns of tables.
    pub fields: ImportFields,
    /// Options for splitting `<think>` sections off the answers.
    pub think: ThinkOptions,
    /// Whether ids are prefixed with the file name. Ids of a corpus are kept, since its labels refer to them.
    pub prefix_ids: bool,
    /// Stamps of files from an earlier import. A folder without changes is skipped.
    pub known: BTreeMap<PathBuf, FileStamp>,
}

/// Columns of a table, as field paths (`a.b`, `a[].b`, `a[0].b`).
///
/// Columns that are not set are guessed from common names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportFields {
    /// Column of the model's text.
    pub text: Option<String>,
    /// Column of the model's reasoning.
    pub reasoning: Option<String>,
    /// Column of the finish reason.
    pub finish: Option<String>,
    /// Column of the transcript id.
    pub id: Option<String>,
    /// Column of the group or the prompt.
    pub group: Option<String>,
    /// Column of the model name.
    pub model: Option<String>,
    /// Column of the recording time.
    pub time: Option<String>,
}

impl ImportFields {
    /// Returns the option of each column, with the path of the column if it is set.
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

    /// Returns the path of the column that the caller set for an option.
    pub(crate) fn column_of(&self, option: RunOption) -> Option<&String> {
        let mut all = self.options().into_iter();
        all.find(|(name, _)| *name == option)?.1
    }

    /// Returns the first option that is set, with its column.
    pub(super) fn first_set(&self) -> Option<(RunOption, &String)> {
        let mut all = self.options().into_iter();
        all.find_map(|(name, field)| Some((name, field?)))
    }
}
