//! What detectors of text share.
//!
//! | to find | look in |
//! |---|---|
//! | chars out of bytes, and which scripts and classes they are of | `bytes`, `decode`, `script`, `class` |
//! | sentences and lines as elements; the last whole sentence | `element`, `sentence` |
//! | code fences | `fence` |
//! | what a text repeats | `repeated` |
//! | hashes, rings | `hash`, `ring` |
//! | names that are nearly known | `nearest` |
//! | strings and brackets of JSON | `json_scan` |

pub(crate) mod bytes;
pub(crate) mod class;
pub(crate) mod decode;
pub(crate) mod element;
pub(crate) mod fence;
pub(crate) mod hash;
pub(crate) mod json_scan;
pub(crate) mod nearest;
pub(crate) mod repeated;
pub(crate) mod ring;
pub(crate) mod script;
pub(crate) mod sentence;
