//! [`SynthCounts`]: counts of a synthetic corpus, by item of its spec.

use deadloop_synth::transcript::SynthTranscript;

/// The counts of a synthetic corpus, by item of its spec.
#[derive(Default)]
pub struct SynthCounts {
    items: Vec<(String, [u64; 6])>,
}

/// The names of the counts of an item, in order.
pub const COUNTED: [&str; 6] = [
    "transcripts",
    "loops",
    "transient",
    "clean",
    "chars",
    "faults",
];

impl SynthCounts {
    pub(super) fn add(&mut self, item: &str, made: &SynthTranscript) {
        if self.items.last().is_none_or(|(name, _)| name != item) {
            self.items.push((item.to_owned(), [0; 6]));
        }
        let Some((_, counts)) = self.items.last_mut() else {
            return;
        };
        let classes: Vec<String> = made.label_rows().map(|[_, class, ..]| class).collect();
        let has = |class: &str| classes.iter().any(|has| has == class);
        let transcript = &made.entry.transcript;
        let chars = transcript.reasoning().chars().count() + transcript.answer().chars().count();
        counts[0] += 1;
        counts[1] += u64::from(has("loop"));
        counts[2] += u64::from(has("transient") && !has("loop"));
        counts[3] += u64::from(has("clean"));
        counts[4] += chars as u64;
        counts[5] += u64::from(has("fault"));
    }

    /// Returns each item of the spec with its counts, in the order of [`COUNTED`].
    pub fn items(&self) -> &[(String, [u64; 6])] {
        &self.items
    }
}
