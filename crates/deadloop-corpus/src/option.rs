//! [`RunOption`]: the name of a command option in messages.

use std::fmt::{Display, Formatter};
use std::sync::OnceLock;

/// A command option that a message names, displayed as its key or as the caller spells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RunOption(&'static str);

macro_rules! options {
    ($($name:ident $key:literal)*) => {
        $(
            #[doc = concat!("The option `", $key, "`.")]
            pub const $name: RunOption = RunOption($key);
        )*

        /// Keys of all options.
        pub const KEYS: &[&str] = &[$($key),*];
    };
}

options! {
    ALL "all" ALSO "also" BLESS "bless" BY "by" CHUNKS "chunks"
    CONSTRAINT "constraint" CORPUS "corpus" CSV "csv"
    FINISH_FIELD "finish_field" FORCE "force" FROM "from" GRID "grid" GROUP_FIELD "group_field"
    ID_FIELD "id_field" JSON "json" JUNIT "junit" LIMIT "limit" LOOP_RATE "loop_rate"
    MARGIN "margin" MARKDOWN "markdown" MERGE "merge" MODEL "model" MODEL_FIELD "model_field"
    NOISE "noise" OBJECTIVE "objective" ON_BAD "on_bad" OUT "out" PREFIX_IDS "prefix_ids"
    REASONING_FIELD "reasoning_field" RECORD "record" RESUME "resume" REVIEW "review"
    SAMPLE "sample" SET "set" SETTINGS "settings" SHARD "shard" SPLIT "split" STRICT "strict"
    TEXT_FIELD "text_field" THINK "think" TIME_FIELD "time_field" TRANSIENT "transient" UNIT "unit"
    WHERE "where"
}

/// Function of the caller that spells an option from its key.
static OPTION_FORMATTER: OnceLock<fn(&str) -> String> = OnceLock::new();

/// Sets how messages spell an option, from its key (such as `--out` from `out`). Only the first call has an effect.
pub fn set_option_formatter(format_name: fn(&str) -> String) {
    OPTION_FORMATTER.get_or_init(|| format_name);
}

impl Display for RunOption {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match OPTION_FORMATTER.get() {
            Some(name) => f.write_str(&name(self.0)),
            None => write!(f, "`{}`", self.0),
        }
    }
}
