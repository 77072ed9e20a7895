//! [`Class`]: what a transcript is, seen as a whole.

deadloop_detect::words! {
    /// What a transcript is, seen as a whole: by whoever labels it, and by the offline finder.
    pub enum Class {
        /// It loops: an alarm is right.
        Loop = "loop",
        /// It never repeats itself in a way that matters: every alarm is false.
        Clean = "clean",
        /// It repeats, then recovers by itself.
        Transient = "transient",
        /// The stream is damaged: an alarm is right of a detector that names the kind of damage, and false of
        /// every other.
        Fault = "fault",
        /// Nobody can say: counted, not scored.
        Unsure = "unsure",
    }
}
