//! [`Kind`]: the kind of a loop.

use super::fault::Fault;

crate::words! {
    /// The kind of a loop, detected in an alarm or given in a label. `ALL` has the kinds of loops. The kinds of faults
    /// are [`Fault::ALL`].
    #[non_exhaustive]
    pub enum Kind {
        /// A short unit, repeated: "thinkthinkthink".
        ShortSequence = "short-sequence",
        /// Repeated sentences or paragraphs.
        Paragraph = "paragraph",
        /// Repeated list items under rising numbers.
        OrderedList = "ordered-list",
        /// Copies that differ in a word, a number, a name.
        NearRepeat = "near-repeat",
        /// A few ideas, repeated in other words.
        Circling = "circling",
        /// A repeated tool call.
        IdenticalCall = "identical-call" | "tool-repeat",
        /// A repeated tool call with the same result each time.
        SameCallSameResult = "same-call-same-result",
        /// A cycle of tool calls.
        Cycle = "cycle" | "tool-cycle",
        /// Repeated calls and results, with others between.
        Interleaved = "interleaved",
        /// Calls without new information, in no fixed order.
        AperiodicStagnation = "aperiodic-stagnation",
        /// An error that occurs again and again.
        ErrorRetry = "error-retry",
        /// Turns without a call, in a row.
        Monologue = "monologue",
        /// Handoffs of the work between agents and back.
        Handoff = "handoff",
        /// More turns or calls than are allowed.
        Iterations = "iterations",
        /// More tokens than the window holds.
        Budget = "budget",
        /// Anything else.
        Other = "other",
        | /// A damaged stream without a loop.
        Fault(Fault),
    }
}

impl Kind {
    /// Returns a clause about the model's activity, for the reader of the answer: `was repeating itself`.
    pub(crate) fn was_doing(self) -> &'static str {
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
