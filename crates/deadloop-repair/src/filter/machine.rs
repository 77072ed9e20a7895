//! Decides whether a text is left out. Undecided text waits.

use crate::marks::{is_blank, is_same_char};
use crate::meaning::MeaningParts;
use crate::registry::{TextRepair, size};
use deadloop_detect::harness::Params;

deadloop_detect::words! {
    /// The place in a text where a phrase must be: the parameter `anchor`.
    pub(super) enum PhraseAnchor {
        Start = "start",
        Whole = "whole",
        Any = "any",
    }
}

/// The decision about the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FilterDecision {
    /// Undecided.
    Open,
    /// The text passes.
    Passes,
    /// The whole text is left out.
    Out,
}

/// The filter of one text.
pub(super) struct FilterMachine {
    phrases: Vec<Vec<char>>,
    anchor: PhraseAnchor,
    fold: bool,
    max_chars: usize,
    hold: usize,

    known: FilterDecision,
    /// The text so far, while it waits.
    text: String,
    /// The length of `text` in chars.
    chars: usize,
    /// The length of the text without the blanks around it, in chars.
    body: usize,
    /// The length of the text without the blanks before it, in chars.
    since: usize,
    /// The indices of the phrases that the text may still begin with, for `start` and `whole`.
    alive: Vec<usize>,
    /// The length, in chars, of a phrase that was found at its required place.
    found: Option<usize>,
    /// For `any`, the number of chars of each phrase that the text so far ends with.
    matched: Vec<usize>,
    /// For each phrase, its [`failure_table`](Self::failure_table).
    back: Vec<Vec<usize>>,
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
            fold: params.text("case") == "ignore",
            max_chars: size(params, "max_chars"),
            hold: size(params, "hold"),
            known: FilterDecision::Open,
            text: String::new(),
            chars: 0,
            body: 0,
            since: 0,
            alive: (0..phrases.len()).collect(),
            found: None,
            matched: vec![0; phrases.len()],
            back: Vec::new(),
            phrases,
            work: 0,
        };
        machine.back = machine
            .phrases
            .iter()
            .map(|phrase| machine.failure_table(phrase))
            .collect();
        machine
    }

    /// Returns the failure table of Knuth, Morris and Pratt: for each beginning of the phrase, the length of the
    /// longest shorter beginning that it also ends with.
    fn failure_table(&self, phrase: &[char]) -> Vec<usize> {
        let mut borders = vec![0; phrase.len() + 1];
        for end in 1..phrase.len() {
            let mut length = borders[end];
            while length > 0 && !self.is_same(phrase[length], phrase[end]) {
                length = borders[length];
            }
            borders[end + 1] = length + usize::from(self.is_same(phrase[length], phrase[end]));
        }
        borders
    }

    fn is_same(&self, a: char, b: char) -> bool {
        is_same_char(a, b, self.fold)
    }

    fn push_char(&mut self, c: char, out: &mut MeaningParts) {
        self.work += 1;
        match self.known {
            FilterDecision::Out => return,
            FilterDecision::Passes => return out.text(c.encode_utf8(&mut [0; 4])),
            FilterDecision::Open => {}
        }
        self.text.push(c);
        self.chars += 1;
        if self.since > 0 || !is_blank(c) {
            match self.anchor {
                PhraseAnchor::Any => self.take_anywhere(c),
                PhraseAnchor::Start | PhraseAnchor::Whole => self.take_at_start(c),
            }
            self.since += 1;
            if !is_blank(c) {
                self.body = self.since;
            }
        }
        self.decide(out);
    }

    /// Takes a char, for phrases at the start of the text.
    fn take_at_start(&mut self, c: char) {
        let at = self.since;
        self.work += self.alive.len() as u64;
        let (phrases, fold) = (&self.phrases, self.fold);
        self.alive.retain(|i| {
            let next = phrases[*i].get(at);
            next.is_some_and(|a| is_same_char(*a, c, fold))
        });
        for phrase in &self.alive {
            if self.phrases[*phrase].len() == at + 1 {
                self.found = Some(at + 1);
            }
        }
    }

    /// Takes a char, for phrases anywhere in the text.
    fn take_anywhere(&mut self, c: char) {
        for i in 0..self.phrases.len() {
            let mut length = self.matched[i];
            while length > 0 && !self.is_same(self.phrases[i][length], c) {
                length = self.back[i][length];
                self.work += 1;
            }
            length += usize::from(self.is_same(self.phrases[i][length], c));
            self.work += 1;
            if length == self.phrases[i].len() {
                self.found = Some(length);
                length = self.back[i][length];
            }
            self.matched[i] = length;
        }
    }

    /// Decides as soon as further text cannot change the decision.
    fn decide(&mut self, out: &mut MeaningParts) {
        let too_long = self.max_chars > 0 && self.body > self.max_chars;
        let another = match self.anchor {
            PhraseAnchor::Start => self.found.is_none() && self.alive.is_empty(),
            // The text is longer than every phrase that it begins with.
            PhraseAnchor::Whole => {
                self.alive.is_empty() && self.found.is_none_or(|n| self.body > n)
            }
            PhraseAnchor::Any => false,
        };
        let certain =
            self.anchor != PhraseAnchor::Whole && self.found.is_some() && self.max_chars == 0;
        if certain {
            self.known = FilterDecision::Out;
            self.text = String::new();
            self.chars = 0;
        } else if too_long || another || self.chars > self.hold {
            self.known = FilterDecision::Passes;
            out.text(&std::mem::take(&mut self.text));
            self.chars = 0;
        }
    }
}

impl TextRepair for FilterMachine {
    fn push(&mut self, chunk: &str, out: &mut MeaningParts) {
        chunk.chars().for_each(|c| self.push_char(c, out));
    }

    fn finish(&mut self, out: &mut MeaningParts) {
        let found = match self.anchor {
            PhraseAnchor::Whole => self.found == Some(self.body),
            PhraseAnchor::Start | PhraseAnchor::Any => self.found.is_some(),
        };
        if !found {
            out.text(&std::mem::take(&mut self.text));
            self.chars = 0;
        }
    }

    fn held(&self) -> usize {
        self.chars
    }

    fn work(&self) -> u64 {
        self.work
    }
}
