//! [`RunOption`]: an option of a command, as messages name it.

use std::fmt::{Display, Formatter};
use std::sync::OnceLock;

/// An option that a message names: by its key, `out`, or by the caller's name for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RunOption(&'static str);

macro_rules! options {
    ($($name:ident $key:literal)*) => {
        $(
            #[doc = concat!("The option `", $key, "`.")]
            pub const $name: RunOption = RunOption($key);
        )*

        /// The keys of all options.
        pub const KEYS: &[&str] = &[$($key),*];
    };
}

options! {
    ALL "all" ALSO "also" BLESS "bless" BY "by" CHUNKS "chunks" CORPUS "corpus" CSV "csv"
    FINISH_FIELD "finish_field" FORCE "force" FROM "from" GROUP_FIELD "group_field"
    ID_FIELD "id_field" JSON "json" JUNIT "junit" LIMIT "limit" LOOP_RATE "loop_rate"
    MARGIN "margin" MARKDOWN "markdown" MERGE "merge" MODEL "model" MODEL_FIELD "model_field"
    NOISE "noise" ON_BAD "on_bad" OUT "out" PREFIX_IDS "prefix_ids"
    REASONING_FIELD "reasoning_field" RECORD "record" RESUME "resume" REVIEW "review"
    SAMPLE "sample" SET "set" SETTINGS "settings" SHARD "shard" SPLIT "split" STRICT "strict"
    TEXT_FIELD "text_field" THINK "think" TIME_FIELD "time_field" TRANSIENT "transient" UNIT "unit"
    WHERE "where"
}

/// The caller's names of options.
static NAMES: OnceLock<fn(&str) -> String> = OnceLock::new();

/// Sets the caller's names of options, from their keys: `--out` from `out`. Only the first call has an effect.
pub fn name_options(names: fn(&str) -> String) {
    NAMES.get_or_init(|| names);
}

impl Display for RunOption {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match NAMES.get() {
            Some(name) => f.write_str(&name(self.0)),
            None => write!(f, "`{}`", self.0),
        }
    }
}
