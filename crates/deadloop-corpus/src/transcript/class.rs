//! [`Class`]: the label of a transcript as a whole.

deadloop_detect::words! {
    /// The class of a whole transcript, given by a labeller or by the offline finder.
    pub enum Class {
        /// A loop: an alarm is right.
        Loop = "loop",
        /// No relevant repetition: every alarm is wrong.
        Clean = "clean",
        /// A repetition from which the model recovers by itself.
        Transient = "transient",
        /// A damaged stream: an alarm is right if its detector reports this kind of damage, and wrong otherwise.
        Fault = "fault",
        /// Undecidable: counted, not scored.
        Unsure = "unsure",
    }
}
