//! The measuring half of a detector, and what joins it to the deciding half.
//!
//! | to find | look in |
//! |---|---|
//! | what reads a stream, and what such a reader is made from | `meter` |
//! | what a meter saw, and the rule that accepts it | `fact` |
//! | parameters of every detector of text: lines that are not read, what the user wrote, turns | `ignore`, `prompt`, `per` |
//! | values that stay low for several samples | `hold` |

pub(crate) mod fact;
pub(crate) mod hold;
pub(crate) mod ignore;
pub(crate) mod meter;
pub(crate) mod per;
pub(crate) mod prompt;
