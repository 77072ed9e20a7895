//! Repairers, which recover the intended content of damaged streams.
//!
//! The output depends only on the text so far and on whether the stream has ended. [`TextRepair::push`] emits the parts
//! that have become certain, and [`TextRepair::finish`] emits the rest. The output does not depend on the boundaries of
//! chunks. Parameters limit the amount of text that waits. The time is linear in the length of the text.
//!
//! [`TextRepair::push`]: registry::TextRepair::push
//! [`TextRepair::finish`]: registry::TextRepair::finish
//!
//! ```
//! use deadloop_repair::meaning::MeaningParts;
//! use deadloop_repair::registry::Repairer;
//!
//! let think = Repairer::find("think").ok_or("no such repairer")?;
//! let mut machine = think.text_repairer(&think.preset("sglang-qwen3")?).ok_or("it reads events")?;
//! let mut pieces = MeaningParts::default();
//! for chunk in ["<thi", "nk>Two and two.</th", "ink>Four."] {
//!     machine.push(chunk, &mut pieces);
//! }
//! machine.finish(&mut pieces);
//! let meaning = pieces.meaning();
//! assert_eq!((meaning.reasoning.as_str(), meaning.text.as_str()), ("Two and two.", "Four."));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | to find | look in |
//! |---|---|
//! | all repairers, and their construction for a stream | [`registry`] |
//! | the output of repairers | [`meaning`] |
//! | one repairer, its parameters and presets | `<name>` |
//! | search for fixed texts in a stream | `marks` |

#![deny(clippy::print_stderr, clippy::print_stdout)]

mod filter;
pub mod json;
mod marks;
pub mod meaning;
mod names;
pub mod registry;
mod replay;
mod tags;
mod think;
