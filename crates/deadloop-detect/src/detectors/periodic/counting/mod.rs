//! The counting matcher: conditions on symbols whose numbers or order differ from copy to copy.
//!
//! | to find | look in |
//! |---|---|
//! | numbers that count evenly from copy to copy | `counters` |
//! | numbers that return | `returning` |
//! | elements that recur in no order | `recycled` |

pub(super) mod counters;
pub(super) mod recycled;
pub(super) mod returning;
