//! [`Per`]: where a detector of text begins anew in a run of an agent.

crate::words! {
    /// What a detector of text takes for one text in a run of an agent: `per` in a settings file. Positions count over
    /// the run either way. A stream without turns is one text.
    #[derive(Default)]
    pub enum Per {
        /// The text of a turn: its thresholds count from the turn's beginning.
        #[default]
        Turn = "turn",
        /// The channel of the whole run.
        Run = "run",
    }
}
