//! What a harness needs and a product does not: how a guard is made of meters and rules, what a detector and its parameters
//! are, how settings are read value by value, and places in a stream.
//!
//! | to find | look in |
//! |---|---|
//! | the registry of detectors, and what an entry says | [`DETECTORS`], [`Detector`] |
//! | what a meter reads and tells; what decides | [`Meter`], [`TextMeter`], [`Fact`], [`Rule`] |
//! | a parameter, its bounds, its values | [`Spec`], [`Param`], [`Domain`], [`Params`] |
//! | one detector with its values, in a guard | [`Member`] |
//! | a settings file, table by table | [`GuardTable`], [`resolve`], [`read_toml`] |
//! | enums whose variants are words of files | `words!` |

pub use crate::detectors::{DETECTORS, Detector, Example, Measuring, Program, Refusal};
pub use crate::fact::{Asked, Bound, Clock, Fact, Rule, UNIT_CHARS};
pub use crate::ignore::LINE_CHARS;
pub use crate::meant::meant;
pub use crate::meter::{Meter, Recipe, TextMeter};
pub use crate::param::{DECIMAL, Domain, Mark, Param, Threshold, ThresholdSide, Zero};
pub use crate::params::Params;
pub use crate::per::Per;
pub use crate::preset::{Preset, Source};
pub use crate::prompt::PROMPT_CHARS;
pub use crate::setting::{Member, SettingIds, short_hash};
pub use crate::settings::{
    GuardTable, ModelList, Named, OverrideGlob, Placed, read_toml, resolve, share,
};
pub use crate::spec::Spec;
pub use crate::stream::{ArgumentsOf, Cursor, CutOf, EventOf, EventPlace, EventPlaces};
pub use crate::unfit::Unfit;
pub use crate::value::Literal;
pub use crate::words;
