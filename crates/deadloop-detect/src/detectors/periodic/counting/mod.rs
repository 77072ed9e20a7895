//! The counting matcher: conditions on symbols whose numbers or order differ from copy to copy.
//!
//! | to find | look in |
//! |---|---|
//! | numbers that count evenly from copy to copy | `counters` |
//! | numbers that return | `number_reuse` |
//! | elements that recur in no order | `element_reuse` |
//! | few different characters in no order | `few_kinds` |

pub(super) mod counters;
pub(super) mod element_reuse;
pub(super) mod few_kinds;
pub(super) mod number_reuse;
