//! The measuring half of a detector, and its link to the deciding half.
//!
//! | to find | look in |
//! |---|---|
//! | meters, which read a stream, and their factories | `meter` |
//! | the facts of a meter, and the rule that compares thresholds with them | `fact` |
//! | parameters of every text detector: ignored lines, the user's text, turns | `ignore`, `prompt`, `text_scope` |
//! | values that stay low for several samples | `sample_tracker` |

pub(crate) mod fact;
pub(crate) mod ignore;
pub(crate) mod meter;
pub(crate) mod prompt;
pub(crate) mod sample_tracker;
pub(crate) mod text_scope;
