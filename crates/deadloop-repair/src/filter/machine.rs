//! [`FilterMachine`]: decides whether a text is removed.
//!
//! The text waits until the decision.

use crate::marks::{equal_chars, is_whitespace};
use crate::meaning::MeaningParts;
use crate::registry::{TextRepair, get_usize};
use deadloop_detect::harness::Params;

deadloop_detect::words! {
    /// The required position of a phrase in the text, from the parameter `anchor`.
    pub(super) enum PhraseAnchor {
        Start = "start",
        Whole = "whole",
        Any = "any",
    }
}

/// The decision about a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FilterDecision {
    /// No decision yet.
    Undecided,
    /// The text passes unchanged.
    Keep,
    /// The whole text is removed.
    Remove,
}

/// The filter of one text.
pub(super) struct FilterMachine {
    phrases: Vec<Vec<char>>,
    anchor: PhraseAnchor,
    ignore_case: bool,
    max_chars: usize,
    max_waiting_chars: usize,

    decision: FilterDecision,
    /// The text so far, until the decision about it.
    text: String,
    /// The length of `text` in chars.
    chars: usize,
    /// The length of the text without surrounding whitespace, in chars.
    trimmed_chars: usize,
    /// The length of the text without leading whitespace, in chars.
    left_trimmed_chars: usize,
    /// For the anchors `start` and `whole`, the indices of the phrases that the text may still begin with.
    candidates: Vec<usize>,
    /// The length of a phrase found at its required position, in chars.
    found: Option<usize>,
    /// For the anchor `any`, the number of chars of each phrase that the text so far ends with.
    matched: Vec<usize>,
    /// The [`failure_table`](Self::failure_table) of each phrase.
    failure_tables: Vec<Vec<usize>>,
    work: u64,
}

impl FilterMachine {
    pub(super) fn new(params: &Params) -> Self {
        let phrases: Vec<Vec<char>> = super::phrases(params)
            .iter()
            .map(|phrase| phrase.chars().collect())
            .collect();
        let mut machine = Self {
            anchor: PhraseAnchor::named(params.text("anchor")).unwrap_or(PhraseAnchor::Start),
            ignore_case: params.text("case") == "ignore",
            max_chars: get_usize(params, "max_chars"),
            max_waiting_chars: get_usize(params, "hold"),
            decision: FilterDecision::Undecided,
            text: String::new(),
            chars: 0,
            trimmed_chars: 0,
            left_trimmed_chars: 0,
            candidates: (0..phrases.len()).collect(),
            found: None,
            matched: vec![0; phrases.len()],
            failure_tables: Vec::new(),
            phrases,
            work: 0,
        };
        machine.failure_tables = machine
            .phrases
            .iter()
            .map(|phrase| machine.failure_table(phrase))
            .collect();
        machine
    }

    /// Returns the failure table of Knuth, Morris and Pratt: for each prefix of the phrase, the length of its longest
    /// proper prefix that is also its suffix.
    fn failure_table(&self, phrase: &[char]) -> Vec<usize> {
        let mut borders = vec![0; phrase.len() + 1];
        for end in 1..phrase.len() {
            let mut length = borders[end];
            while length > 0 && !self.chars_match(phrase[length], phrase[end]) {
                length = borders[length];
            }
            borders[end + 1] = length + usize::from(self.chars_match(phrase[length], phrase[end]));
        }
        borders
    }

    fn chars_match(&self, a: char, b: char) -> bool {
        equal_chars(a, b, self.ignore_case)
    }

    /// Adds a char to the matches of phrases at the start of the text.
    fn match_at_start(&mut self, c: char) {
        let at = self.left_trimmed_chars;
        self.work += self.candidates.len() as u64;
        let (phrases, fold) = (&self.phrases, self.ignore_case);
        self.candidates.retain(|i| {
            let next = phrases[*i].get(at);
            next.is_some_and(|a| equal_chars(*a, c, fold))
        });
        for phrase in &self.candidates {
            if self.phrases[*phrase].len() == at + 1 {
                self.found = Some(at + 1);
            }
        }
    }

    /// Adds a char to the matches of phrases anywhere in the text.
    fn match_anywhere(&mut self, c: char) {
        for i in 0..self.phrases.len() {
            let mut length = self.matched[i];
            while length > 0 && !self.chars_match(self.phrases[i][length], c) {
                length = self.failure_tables[i][length];
                self.work += 1;
            }
            length += usize::from(self.chars_match(self.phrases[i][length], c));
            self.work += 1;
            if length == self.phrases[i].len() {
                self.found = Some(length);
                length = self.failure_tables[i][length];
            }
            self.matched[i] = length;
        }
    }

    /// Decides as soon as further text cannot change the decision.
    fn decide(&mut self, out: &mut MeaningParts) {
        let too_long = self.max_chars > 0 && self.trimmed_chars > self.max_chars;
        let another = match self.anchor {
            PhraseAnchor::Start => self.found.is_none() && self.candidates.is_empty(),
            // The text is longer than every phrase that it begins with.
            PhraseAnchor::Whole => {
                self.candidates.is_empty() && self.found.is_none_or(|n| self.trimmed_chars > n)
            }
            PhraseAnchor::Any => false,
        };
        let certain =
            self.anchor != PhraseAnchor::Whole && self.found.is_some() && self.max_chars == 0;
        if certain {
            self.decision = FilterDecision::Remove;
            self.text = String::new();
            self.chars = 0;
        } else if too_long || another || self.chars > self.max_waiting_chars {
            self.decision = FilterDecision::Keep;
            out.push_text(&std::mem::take(&mut self.text));
            self.chars = 0;
        }
    }
}

impl TextRepair for FilterMachine {
    fn push_char(&mut self, c: char, out: &mut MeaningParts) {
        self.work += 1;
        match self.decision {
            FilterDecision::Remove => return,
            FilterDecision::Keep => return out.push_text(c.encode_utf8(&mut [0; 4])),
            FilterDecision::Undecided => {}
        }
        self.text.push(c);
        self.chars += 1;
        if self.left_trimmed_chars > 0 || !is_whitespace(c) {
            match self.anchor {
                PhraseAnchor::Any => self.match_anywhere(c),
                PhraseAnchor::Start | PhraseAnchor::Whole => self.match_at_start(c),
            }
            self.left_trimmed_chars += 1;
            if !is_whitespace(c) {
                self.trimmed_chars = self.left_trimmed_chars;
            }
        }
        self.decide(out);
    }

    fn finish(&mut self, out: &mut MeaningParts) {
        let found = match self.anchor {
            PhraseAnchor::Whole => self.found == Some(self.trimmed_chars),
            PhraseAnchor::Start | PhraseAnchor::Any => self.found.is_some(),
        };
        if !found {
            out.push_text(&std::mem::take(&mut self.text));
            self.chars = 0;
        }
    }

    fn held_len(&self) -> usize {
        self.chars
    }

    fn work(&self) -> u64 {
        self.work
    }
}
