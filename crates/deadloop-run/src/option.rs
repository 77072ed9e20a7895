//! [`RunOption`]: an option of a run, as messages name it.

use std::fmt::{Display, Formatter};
use std::sync::OnceLock;

/// An option of a run that a message names: by the field, `out`, or by the caller's name for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunOption(&'static str);

/// Guards that may ship as they are.
pub const ALSO: RunOption = RunOption("also");
/// The fields of a further breakdown.
pub const BY: RunOption = RunOption("by");
/// The corpus.
pub const CORPUS: RunOption = RunOption("corpus");
/// The flag that overwrites another result.
pub const FORCE: RunOption = RunOption("force");
/// The models to select.
pub const MODEL: RunOption = RunOption("model");
/// The folder of the results.
pub const OUT: RunOption = RunOption("out");
/// The flag of an import that adds what is new to a corpus.
pub const RESUME: RunOption = RunOption("resume");
/// The only shard to run.
pub const SHARD: RunOption = RunOption("shard");
/// The handling of bad lines, by which they are left out.
pub const ON_BAD: RunOption = RunOption("on_bad");
/// The split to select.
pub const SPLIT: RunOption = RunOption("split");
/// The fields to select by.
pub const WHERE: RunOption = RunOption("where");
/// The unit of loops and healthy output.
pub const UNIT: RunOption = RunOption("unit");

/// The caller's names of options.
static NAMES: OnceLock<fn(&str) -> String> = OnceLock::new();

/// Sets the caller's names of options, from the names of their fields: `--out` from `out`. Only the first call has an
/// effect.
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
