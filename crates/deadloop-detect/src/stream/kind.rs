//! [`Kind`]: what kind of loop it is.

use super::fault::Fault;

crate::words! {
    /// What kind of loop it is: of an alarm (what the detector saw) and of a label (the truth). `ALL` has those of loops;
    /// those of faults are [`Fault::ALL`].
    #[non_exhaustive]
    pub enum Kind {
        /// A short unit over and over: "thinkthinkthink".
        ShortSequence = "short-sequence",
        /// The same sentences or paragraphs.
        Paragraph = "paragraph",
        /// The same list items under rising numbers.
        OrderedList = "ordered-list",
        /// Copies that differ in a word, a number, a name.
        NearRepeat = "near-repeat",
        /// The same few ideas again, in other words.
        Circling = "circling",
        /// One tool call over and over.
        IdenticalCall = "identical-call" | "tool-repeat",
        /// One tool call over and over, with the same result each time.
        SameCallSameResult = "same-call-same-result",
        /// A cycle of tool calls.
        Cycle = "cycle" | "tool-cycle",
        /// The same calls and results come back, with others between.
        Interleaved = "interleaved",
        /// Calls that bring nothing new, in no fixed order.
        AperiodicStagnation = "aperiodic-stagnation",
        /// An error is met again and again.
        ErrorRetry = "error-retry",
        /// Turns without a call, in a row.
        Monologue = "monologue",
        /// Agents hand the work to each other and back.
        Handoff = "handoff",
        /// More turns or calls than are allowed.
        Iterations = "iterations",
        /// More tokens than the window holds.
        Budget = "budget",
        /// Anything else.
        Other = "other",
        | /// No loop: the stream is damaged, and how.
        Fault(Fault),
    }
}

impl Kind {
    /// Says what the model was doing, as a clause for the reader of the answer: `was repeating
    /// itself`.
    pub fn was_doing(self) -> &'static str {
        match self {
            Self::ShortSequence | Self::Paragraph | Self::OrderedList => "was repeating itself",
            Self::NearRepeat => "was repeating itself with small changes",
            Self::Circling => "was going round the same few ideas",
            Self::IdenticalCall => "was making the same tool call again and again",
            Self::SameCallSameResult => {
                "was making the same tool call again and again, and got the same result each time"
            }
            Self::Cycle => "was making the same few tool calls in turn",
            Self::Interleaved => "was coming back to tool calls whose results it had",
            Self::AperiodicStagnation => "was making tool calls that brought nothing new",
            Self::ErrorRetry => "was running into the same kind of error again and again",
            Self::Monologue => "was taking turn after turn without doing anything",
            Self::Handoff => "was passing the work back and forth",
            Self::Iterations => "had used all the steps that it is allowed",
            Self::Budget => "had filled the context that it has",
            Self::Other => "was not getting anywhere",
            Self::Fault(Fault::Stall) => "fell silent",
            Self::Fault(_) => "was sending a stream that is damaged",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_read_again_and_two_older_ones_too() {
        for kind in Kind::ALL {
            assert_eq!(Kind::named(kind.name()), Some(kind));
        }
        assert_eq!(Kind::named("tool-cycle"), Some(Kind::Cycle));
        assert_eq!(Kind::named("tool-repeat"), Some(Kind::IdenticalCall));
        assert_eq!(Kind::named("loop"), None);
        for fault in Fault::ALL {
            assert_eq!(Kind::named(fault.name()), Some(Kind::Fault(fault)));
        }
    }
}
