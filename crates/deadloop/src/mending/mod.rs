//! What `deadloop repair` does: repairers over streams whose truth is known.
//!
//! | to find | look in |
//! |---|---|
//! | a grid of repairers, and the variants that it asks for | `variants`, `product` |
//! | what of a transcript is mended, and the truth about it | `streams` |
//! | a variant on a stream: verdict, and what came out | `work` |
//! | all variants on all transcripts of a corpus | `running` |
//! | counts, the choice under a limit on wrong ones | `scored` |
//! | what the page shows | `pages` |
//! | real arguments that are no JSON | `broken` |
//! | a live stream, mended as it arrives | `live` |
//! | what a repairer did, step by step | `steps` |

mod broken;
mod live;
mod pages;
mod product;
mod running;
mod scored;
mod steps;
mod streams;
mod variants;
mod work;

pub(crate) use broken::{Broken, broken_of, write_broken};
pub(crate) use live::Live;
pub(crate) use pages::{page, sentence};
pub(crate) use running::{Work, wrong};
pub(crate) use scored::{Judged, Scored, rows, scored};
pub(crate) use steps::{lines as step_lines, steps};
pub(crate) use variants::{DEFAULT_GRID, Made, STREAMS, Variant, variants};
