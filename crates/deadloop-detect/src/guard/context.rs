//! The context of a live run against a budget: when its prompt no longer fits, and which of its messages stay.
//!
//! The caller owns the conversation; this counts it. Every message goes in with [`Context::push`]; before the model is asked,
//! [`Context::before_turn`] says whether the prompt can be sent. Nothing here reads a clock or asks a model: whoever
//! summarises says with [`Context::fold`] what the summary has become.
//!
//! `deadloop budget` computes the same for recorded runs, so a setting does live what it did there.

use std::collections::VecDeque;

/// A budget of context. Shares are of the window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContextBudget {
    /// Tokens that the model takes.
    pub window: u64,
    /// The share of the window (without the tools' definitions) above which the conversation is to
    /// be shortened.
    pub threshold: f64,
    /// The share that is kept free for the answer: a longer prompt is an overflow.
    pub reserve: f64,
    /// Tokens of the tools' definitions, which every prompt begins with.
    pub tools: u64,
    /// The share that the newest messages may take, which stay as they are.
    pub keep: f64,
    /// The share that a summary takes at most; 0: what is old is left out.
    pub summary: f64,
}

impl Default for ContextBudget {
    fn default() -> Self {
        Self {
            window: 128_000,
            threshold: 0.85,
            reserve: 0.1,
            tools: 0,
            keep: 0.2,
            summary: 0.05,
        }
    }
}

/// What to do before the next request to the model. Tokens are those of the prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// It fits: send it.
    Enough {
        /// Its tokens.
        tokens: u64,
    },
    /// It is above the threshold: all but the newest `keep` messages are to become a summary. Then call
    /// [`Context::fold`], and ask again.
    Tight {
        /// Its tokens.
        tokens: u64,
        /// Messages that stay, the newest.
        keep: usize,
        /// Tokens that the summary may have at most.
        summary: u64,
    },
    /// It leaves no room for an answer, and what could be folded was: the run cannot go on.
    Overflow {
        /// Its tokens.
        tokens: u64,
    },
}

/// The tokens of a conversation, message by message.
#[derive(Clone, Debug)]
pub struct Context {
    budget: ContextBudget,
    fixed: u64,
    summary: u64,
    messages: VecDeque<u64>,
    tokens: u64,
    /// Old messages were folded, and there was no request since.
    folded: bool,
}

impl Context {
    /// An empty conversation.
    pub fn new(budget: ContextBudget) -> Self {
        Self {
            budget,
            fixed: 0,
            summary: 0,
            messages: VecDeque::new(),
            tokens: 0,
            folded: false,
        }
    }

    /// A prompt of the system, which nothing folds; `tokens`: how long it is.
    pub fn push_fixed(&mut self, tokens: u64) {
        self.fixed = self.fixed.saturating_add(tokens);
    }

    /// Adds a message, a call or a result of that many tokens.
    pub fn push(&mut self, tokens: u64) {
        self.messages.push_back(tokens);
        self.tokens = self.tokens.saturating_add(tokens);
    }

    /// Returns the tokens of the prompt as it is now.
    pub fn tokens(&self) -> u64 {
        let all = [self.fixed, self.summary, self.tokens];
        all.into_iter().fold(self.budget.tools, u64::saturating_add)
    }

    /// Says what to do before the next request to the model.
    pub fn before_turn(&mut self) -> Room {
        let tokens = self.tokens();
        let room = self.budget.window.saturating_sub(self.budget.tools);
        if !self.folded
            && tokens > tokens_of(room, self.budget.threshold)
            && let Some((keep, gone)) = self.old()
        {
            let summary = ceiling(self.budget.window, self.budget.summary).min(gone);
            return Room::Tight {
                tokens,
                keep,
                summary,
            };
        }
        self.folded = false;
        if tokens > tokens_of(self.budget.window, 1.0 - self.budget.reserve) {
            Room::Overflow { tokens }
        } else {
            Room::Enough { tokens }
        }
    }

    /// Replaces the summary so far, and all but the newest `keep` messages, by a summary of that many tokens.
    pub fn fold(&mut self, keep: usize, summary: u64) {
        while self.messages.len() > keep {
            let gone = self.messages.pop_front().unwrap_or(0);
            self.tokens -= gone;
        }
        self.summary = summary;
        self.folded = true;
    }

    /// How many of the newest messages stay, and the tokens of what does not; none: all of it may stay.
    fn old(&self) -> Option<(usize, u64)> {
        let most = tokens_of(self.budget.window, self.budget.keep);
        let all = self.tokens.saturating_add(self.summary);
        if all <= most {
            return None;
        }
        let mut kept = 0_u64;
        let newest = self.messages.iter().rev();
        let stay = newest.take_while(|tokens| {
            kept = kept.saturating_add(**tokens);
            kept <= most
        });
        let keep = stay.count();
        let left: u64 = self.messages.iter().rev().take(keep).sum();
        Some((keep, all - left))
    }
}

/// Tokens of a text where nobody counts them: its chars by 4, rounded up.
pub fn estimated_tokens(text: &str) -> u64 {
    (text.chars().count() as u64).div_ceil(4)
}

/// A share of tokens, rounded down.
#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss
)]
fn tokens_of(tokens: u64, share: f64) -> u64 {
    (share * tokens as f64).floor().clamp(0.0, 1e18) as u64
}

/// A share of tokens, rounded up.
#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss
)]
fn ceiling(tokens: u64, share: f64) -> u64 {
    (share * tokens as f64).ceil().clamp(0.0, 1e18) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small() -> Context {
        Context::new(ContextBudget {
            window: 100,
            threshold: 0.8,
            keep: 0.3,
            summary: 0.1,
            ..ContextBudget::default()
        })
    }

    #[test]
    fn what_is_old_becomes_a_summary_and_the_newest_stays() {
        let mut context = small();
        context.push_fixed(10);
        for tokens in [30, 20, 15, 10] {
            context.push(tokens);
        }
        let tight = Room::Tight {
            tokens: 85,
            keep: 2,
            summary: 10,
        };
        assert_eq!(context.before_turn(), tight);
        assert_eq!(context.before_turn(), tight, "until it is done");
        context.fold(2, 8);
        assert_eq!(context.before_turn(), Room::Enough { tokens: 43 });
        context.push(1000);
        assert_eq!(
            context.before_turn(),
            Room::Tight {
                tokens: 1043,
                keep: 0,
                summary: 10
            }
        );
        context.fold(0, 10);
        assert_eq!(context.before_turn(), Room::Enough { tokens: 20 });
    }

    #[test]
    fn what_cannot_be_folded_is_an_overflow() {
        let mut context = small();
        context.push_fixed(95);
        assert_eq!(context.before_turn(), Room::Overflow { tokens: 95 });
        context.push(5);
        assert_eq!(
            context.before_turn(),
            Room::Overflow { tokens: 100 },
            "the newest stays"
        );
        assert_eq!(estimated_tokens("日本語です"), 2);
        context.push(u64::MAX);
        assert!(matches!(context.before_turn(), Room::Tight { .. }));
    }
}
