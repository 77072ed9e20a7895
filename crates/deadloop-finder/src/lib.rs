//! The offline loop finder: finds repetition in complete texts and runs.
//!
//! Unlike any detector, it reads the whole text, and so the future. It shares no code with the detectors, so that
//! their results can be checked against each other.
//!
//! | to find | look in |
//! |---|---|
//! | the loops of a text, and the class of the text | [`selection`] |
//! | the loops of an agent's run, and its harmless repetition | [`steps`] |
//! | the copies of a loop, for excerpts | [`places`] |
//! | periodic runs in a row of symbols | [`runs`] |
//! | a text with its numbers or elements as one symbol each | [`views`] |

#![deny(clippy::print_stderr, clippy::print_stdout)]

mod alignment;
mod aperiodic_loops;
mod blanks;
mod copy_starts;
mod evidence;
mod exhausted_vocabulary;
mod grids;
mod known_phrases;
mod near_copies;
pub mod places;
pub mod runs;
pub mod selection;
pub mod steps;
pub mod views;
mod windows;
