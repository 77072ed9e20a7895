//! [`Fault`]: the kind of damage of a stream.

crate::words! {
    /// The kind of damage of a stream. Fault detectors report it, and `deadloop synth` plants it with a severity N.
    #[non_exhaustive]
    pub enum Fault {
        /// N closing tags are missing.
        Unclosed = "unclosed",
        /// N elements have another closing tag inside, too early.
        EarlyClose = "early-close",
        /// The closing tag of an element comes after the N elements that follow it.
        Nested = "nested",
        /// The closing tag of an element is inside the element that follows it.
        Crossed = "crossed",
        /// The names of N elements have another case.
        Case = "case",
        /// The name of an element is misspelt, by N edits.
        Misspelt = "misspelt",
        /// The closing tags of N elements have another number.
        NumberMismatch = "number-mismatch",
        /// N tags inside of elements are missing, with their text.
        MissingField = "missing-field",
        /// The text outside of elements is missing: with N = 1 after the last one, with N = 2 also before the first,
        /// with N = 3 everywhere.
        Empty = "empty",
        /// N control marks are in the text.
        LeakedControl = "leaked-control",
        /// JSON is broken in N ways: cut, a missing quote or bracket, a comment, an extra comma, a raw line end, a
        /// second object.
        BrokenJson = "broken-json",
        /// The closing tag of the thinking is missing.
        ThinkOpen = "think-open",
        /// The opening tag of the thinking is missing.
        ThinkMissing = "think-missing",
        /// The opening tag of the thinking occurs N more times.
        ThinkTwice = "think-twice",
        /// The first 4 N chars of the answer come before the thinking.
        ThinkLate = "think-late",
        /// The closing tag of the thinking, before a tag of the answer, is missing.
        ToolInThink = "tool-in-think",
        /// N sentences of acknowledgement replace the answer.
        Pseudo = "pseudo",
        /// N confirmations replace the text.
        Confirmation = "confirmation",
        /// The text ends in the middle. Up to N quarters of it are missing.
        Cut = "cut",
        /// N events are lost.
        ReplayLost = "replay-lost",
        /// N times one to three events in a row are sent again.
        ReplayDoubled = "replay-doubled",
        /// N events are out of order.
        ReplayOrder = "replay-order",
        /// The text is whole, but its end is not marked. This fault and the following ones concern the stream as a
        /// whole: they change neither a text nor the order of events.
        NoDone = "no-done",
        /// The stream stops without an end.
        Stall = "stall",
        /// An error replaces the rest of the stream.
        ErrorEvent = "error-event",
        /// Some of the calls of one turn fail, or come back without a field.
        PartialTools = "partial-tools",
    }
}
