//! [`Kind`]: the kind of a loop.

use super::fault::Fault;

crate::words! {
    /// The kind of a loop, in an alarm or a label. `ALL` has the kinds of loops, and [`Fault::ALL`] the kinds of
    /// faults.
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
        /// A few ideas, reworded again and again.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_names_and_two_older_ones_are_parsed() {
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
