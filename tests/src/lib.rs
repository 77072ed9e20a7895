//! The kit of the tests: vectors, cases, generated text and settings, slow twins.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a kit for tests: what is wrong fails the test"
)]

pub mod alarm_report;
pub mod cases;
pub mod generate;
pub mod replayed_alarm;
pub mod vectors;
