//! The parts of this crate for evaluation harnesses.
//!
//! They are meters and rules, the detectors and their parameters, and the parsing of settings.
//!
//! | to find | look in |
//! |---|---|
//! | the registry of detectors, and their entries | [`DETECTORS`], [`Detector`] |
//! | meters, which measure; rules, which decide | [`Meter`], [`TextMeter`], [`Fact`], [`Rule`] |
//! | a parameter, its bounds, its values | [`Spec`], [`Param`], [`Domain`], [`Params`] |
//! | one detector with its values, in a guard | [`Member`] |
//! | a settings file, table by table | [`GuardTable`], [`resolve`], [`read_toml`] |
//! | the nearest known name; phrases of pseudo answers | [`NearestName`], [`phrases`] |
//! | enums whose variants have names in files | `words!` |

pub use crate::detectors::{DETECTORS, Detector, Example, Measurement, Program, Refusal, grown};
pub use crate::measure::fact::{Bound, Bounds, Clock, Fact, Rule, StructuralCondition, UNIT_CHARS};
pub use crate::measure::ignore::LINE_CHARS;
pub use crate::measure::meter::{Meter, Recipe, TextMeter};
pub use crate::measure::prompt::PROMPT_CHARS;
pub use crate::measure::text_scope::TextScope;
pub use crate::settings::invalid_value::InvalidValue;
pub use crate::settings::param::{
    DECIMAL, Domain, Param, ParamRole, Threshold, ThresholdSide, ZeroMeaning,
};
pub use crate::settings::params::Params;
pub use crate::settings::preset::{Preset, PresetSource};
pub use crate::settings::setting::{Member, SettingIds, short_hash};
pub use crate::settings::spec::Spec;
pub use crate::settings::suggestion::did_you_mean;
pub use crate::settings::value::Literal;
pub use crate::settings::{
    GuardTable, LocatedValue, ModelList, OverrideGlob, RawParams, read_toml, resolve, share,
};
pub use crate::stream::{ArgumentsOf, Cursor, CutTextOf, EventOf, EventPlace, EventPlaces};
pub use crate::text::json_scan::JsonScan;
pub use crate::text::nearest::NearestName;
pub use crate::text::phrases::{PHRASE_LISTS, phrases};
pub use crate::words;
