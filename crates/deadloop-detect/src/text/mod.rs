//! Text functions that several detectors use.
//!
//! | to find | look in |
//! |---|---|
//! | decoding of bytes into chars, their scripts and classes | `bytes`, `decode`, `script`, `class` |
//! | sentences and lines as elements; the last whole sentence | `element`, `sentence` |
//! | code fences | `fence` |
//! | the unit that a text repeats | `recent_text` |
//! | hashes, rings | `hash`, `ring` |
//! | the nearest known name | `nearest` |
//! | phrases of pseudo answers | `phrases` |
//! | JSON: its strings and brackets; whether a text can still become JSON | `json_scan`, `json_prefix` |

pub(crate) mod bytes;
pub(crate) mod class;
pub(crate) mod decode;
pub(crate) mod element;
pub(crate) mod fence;
pub(crate) mod hash;
pub(crate) mod json_prefix;
pub(crate) mod json_scan;
pub(crate) mod nearest;
pub(crate) mod phrases;
pub(crate) mod recent_text;
pub(crate) mod ring;
pub(crate) mod script;
pub(crate) mod sentence;
