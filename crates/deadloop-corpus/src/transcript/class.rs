//! [`Class`]: the label of a transcript as a whole.

deadloop_detect::words! {
    /// Class of a whole transcript, given by a labeller or by the offline finder.
    pub enum Class {
        /// A loop. An alarm is right.
        Loop = "loop",
        /// No relevant repetition. Every alarm is wrong.
        Clean = "clean",
        /// A repetition from which the model recovers by itself.
        Transient = "transient",
        /// A damaged stream. An alarm is right only if its detector reports this kind of damage.
        Fault = "fault",
        /// A transcript that the labeller could not classify. It is counted, but not scored.
        Unsure = "unsure",
    }
}
