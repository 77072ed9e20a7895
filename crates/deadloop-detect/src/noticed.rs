//! The faults that each detector is meant to alarm on. An alarm on any other fault is wrong.

use crate::detectors::Detector;
use crate::repair::Fault;

impl Detector {
    /// The kinds of faults that it looks for; empty for a detector of loops.
    pub fn notices(&self) -> &'static [Fault] {
        match self.name {
            "stall" => &[Fault::Stall],
            "ending" => &[Fault::Cut, Fault::NoDone, Fault::ErrorEvent, Fault::Stall],
            "malformed" => &[
                Fault::Unclosed,
                Fault::EarlyClose,
                Fault::Nested,
                Fault::Crossed,
                Fault::Case,
                Fault::Misspelt,
                Fault::NumberMismatch,
                Fault::LeakedControl,
                Fault::BrokenJson,
            ],
            "pseudo" => &[Fault::Pseudo, Fault::Confirmation],
            "incomplete-results" => &[Fault::PartialTools],
            _ => &[],
        }
    }
}
