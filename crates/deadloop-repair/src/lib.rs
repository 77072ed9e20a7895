//! Repairers: they recover the intended content of a damaged stream.
//!
//! A repairer depends only on the text that has arrived and on whether the stream has ended. [`TextRepair::push`](registry::TextRepair::push) adds
//! the parts that are now certain, and [`TextRepair::finish`](registry::TextRepair::finish) adds the rest. The result does not depend on how the
//! stream was cut into chunks. Parameters limit how much text waits. The work is linear in the text.
//!
//! [`TextRepair::push`]: registry::TextRepair::push
//! [`TextRepair::finish`]: registry::TextRepair::finish
//!
//! ```
//! use deadloop_repair::meaning::MeaningParts;
//! use deadloop_repair::registry::Repairer;
//!
//! let think = Repairer::find("think").ok_or("no such repairer")?;
//! let mut machine = think.text(&think.preset("sglang-qwen3")?).ok_or("it reads events")?;
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
//! | all repairers, and how one is made for a stream | [`registry`] |
//! | the output of repairers | [`meaning`] |
//! | a repairer, its parameters and presets | `<name>` |
//! | marks in a stream | `marks` |

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
