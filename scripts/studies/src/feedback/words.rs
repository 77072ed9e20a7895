//! [`analyse`]: what the words of a result say about it, by the lists of seed 003.

/// How the words of a result are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reading {
    /// Whether only whole words count. Words of a script without spaces count anywhere.
    pub(crate) whole: bool,
    /// How many chars are read, from the first on; 0: all.
    pub(crate) head: usize,
}

impl Reading {
    /// All readings that are measured: substring and word, each on the whole text and on its first 200, 300 and 1,000
    /// chars.
    pub(crate) const ALL: [Self; 8] = {
        const fn of(whole: bool, head: usize) -> Reading {
            Reading { whole, head }
        }
        [
            of(false, 0),
            of(false, 200),
            of(false, 300),
            of(false, 1000),
            of(true, 0),
            of(true, 200),
            of(true, 300),
            of(true, 1000),
        ]
    };

    /// Its name: `substring`, `word, first 300`.
    pub(crate) fn name(self) -> String {
        let how = if self.whole { "word" } else { "substring" };
        match self.head {
            0 => how.to_owned(),
            head => format!("{how}, first {head}"),
        }
    }
}

/// What the words say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Flags {
    /// There is data.
    pub(crate) data: bool,
    /// Something failed.
    pub(crate) errors: bool,
    /// It is done.
    pub(crate) completion: bool,
    /// There is an analysis.
    pub(crate) analysis: bool,
}

/// Weights of data, completion and analysis that are measured: seed 003's first.
pub(crate) const WEIGHTS: [[f64; 3]; 3] = [[0.3, 0.5, 0.4], [0.0, 1.0, 0.0], [0.34, 0.33, 0.33]];

impl Flags {
    /// How complete the task looks, from 0 to 1.
    pub(crate) fn score(self, weights: [f64; 3]) -> f64 {
        let flags = [self.data, self.completion, self.analysis];
        let sum = flags.iter().zip(weights).filter(|(flag, _)| **flag);
        let sum: f64 = sum.map(|(_, weight)| weight).sum();
        ((sum * 1000.0).round() / 1000.0).min(1.0)
    }

    /// The flags of two results together.
    #[must_use]
    pub(crate) fn or(self, other: Self) -> Self {
        Self {
            data: self.data || other.data,
            errors: self.errors || other.errors,
            completion: self.completion || other.completion,
            analysis: self.analysis || other.analysis,
        }
    }
}

const DATA: [&str; 7] = [
    "data",
    "found",
    "retrieved",
    "table",
    "schema",
    "获取到",
    "表结构",
];
const ERRORS: [&str; 4] = ["error", "failed", "exception", "not found"];
const COMPLETION: [&str; 4] = ["complete", "finished", "done", "ready"];
const ANALYSIS: [&str; 4] = ["analysis", "summary", "conclusion", "insights"];

/// The flags of a result.
pub(crate) fn analyse(content: &str, reading: Reading) -> Flags {
    let end = content.char_indices().nth(reading.head).map(|(at, _)| at);
    let text = match (reading.head, end) {
        (0, _) | (_, None) => content,
        (_, Some(end)) => &content[..end],
    };
    let text = text.to_lowercase();
    let any = |words: &[&str]| words.iter().any(|word| has(&text, word, reading.whole));
    Flags {
        data: any(&DATA),
        errors: any(&ERRORS),
        completion: any(&COMPLETION),
        analysis: any(&ANALYSIS),
    }
}

fn has(text: &str, word: &str, whole: bool) -> bool {
    if !whole || !word.is_ascii() {
        return text.contains(word);
    }
    let part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    text.match_indices(word).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + word.len()..]);
        !part(before.chars().next_back()) && !part(after.chars().next())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, whole: bool, head: usize) -> Flags {
        analyse(text, Reading { whole, head })
    }

    #[test]
    fn a_word_inside_another_counts_as_a_substring_alone() {
        assert!(read("metadata", false, 0).data && !read("metadata", true, 0).data);
        assert!(read("an ERROR.", true, 0).errors);
        assert!(read("file Not Found", true, 0).errors);
        assert!(read("已获取到", true, 0).data);
        assert!(!read("errors", true, 0).errors);
    }

    #[test]
    fn only_the_head_is_read() {
        let text = "日本".repeat(100) + " done";
        assert!(read(&text, false, 0).completion && !read(&text, false, 200).completion);
        assert!(read(&text, false, 205).completion);
    }

    #[test]
    fn the_score_is_at_most_1() {
        let flags = read("data complete analysis", false, 0);
        assert_eq!(flags.score(WEIGHTS[0]), 1.0);
        assert_eq!(read("data", false, 0).score(WEIGHTS[0]), 0.3);
    }
}
