//! [`Context`]: the context budget of a live run.
//!
//! It reports when the prompt no longer fits the model's window, and which messages to keep.
//!
//! The caller owns the conversation, and passes the tokens of each message to [`Context::push`]. Before a request to
//! the model, [`Context::before_turn`] returns whether the prompt can be sent. After summarising old messages, the
//! caller passes the tokens of the summary to [`Context::fold`].
//!
//! `deadloop budget` runs the same code on recorded runs, so a setting has the same effect there and live.

use std::collections::VecDeque;

use crate::text::script::is_unspaced;

/// A context budget. Shares are of the window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContextBudget {
    /// The model's window, in tokens.
    pub window: u64,
    /// The share of the window, without the definitions of tools, above which the conversation is shortened.
    pub threshold: f64,
    /// The share that is kept free for the answer. A longer prompt is an overflow.
    pub reserve: f64,
    /// The tokens of the definitions of tools, which are part of every prompt.
    pub tools: u64,
    /// The maximum share of the newest messages, which are kept unchanged.
    pub keep: f64,
    /// The maximum share of a summary. 0 drops old messages without a summary.
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

/// The status of the prompt before a request to the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PromptStatus {
    /// The prompt fits and can be sent.
    Fits {
        /// The tokens of the prompt.
        tokens: u64,
    },
    /// The prompt is above the threshold. Summarise all but the newest `keep` messages, call [`Context::fold`], and
    /// then [`Context::before_turn`] again.
    Long {
        /// The tokens of the prompt.
        tokens: u64,
        /// The number of newest messages to keep.
        keep: usize,
        /// The maximum number of tokens of the summary.
        summary: u64,
    },
    /// The prompt leaves no room for an answer, although old messages were folded. The run cannot continue.
    Overflow {
        /// The tokens of the prompt.
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
    /// Whether old messages were folded since the last request.
    folded: bool,
}

impl Context {
    /// Returns an empty conversation.
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

    /// Adds a system prompt of `tokens` tokens, which is never folded.
    pub fn push_fixed(&mut self, tokens: u64) {
        self.fixed = self.fixed.saturating_add(tokens);
    }

    /// Adds a message, a call or a result of `tokens` tokens.
    pub fn push(&mut self, tokens: u64) {
        self.messages.push_back(tokens);
        self.tokens = self.tokens.saturating_add(tokens);
    }

    /// Returns the tokens of the current prompt.
    pub fn tokens(&self) -> u64 {
        let all = [self.fixed, self.summary, self.tokens];
        all.into_iter().fold(self.budget.tools, u64::saturating_add)
    }

    /// Returns whether the prompt can be sent, before a request to the model.
    pub fn before_turn(&mut self) -> PromptStatus {
        let tokens = self.tokens();
        let room = self.budget.window.saturating_sub(self.budget.tools);
        if !self.folded
            && tokens > tokens_of(room, self.budget.threshold, f64::floor)
            && let Some((keep, gone)) = self.split_old()
        {
            let summary = tokens_of(self.budget.window, self.budget.summary, f64::ceil).min(gone);
            return PromptStatus::Long {
                tokens,
                keep,
                summary,
            };
        }
        self.folded = false;
        if tokens > tokens_of(self.budget.window, 1.0 - self.budget.reserve, f64::floor) {
            PromptStatus::Overflow { tokens }
        } else {
            PromptStatus::Fits { tokens }
        }
    }

    /// Replaces the current summary, and all but the newest `keep` messages, by a summary of `summary` tokens.
    pub fn fold(&mut self, keep: usize, summary: u64) {
        while self.messages.len() > keep {
            let gone = self.messages.pop_front().unwrap_or(0);
            self.tokens -= gone;
        }
        self.summary = summary;
        self.folded = true;
    }

    /// Returns the number of newest messages to keep, and the tokens of the older ones. `None` if all messages can be
    /// kept.
    fn split_old(&self) -> Option<(usize, u64)> {
        let most = tokens_of(self.budget.window, self.budget.keep, f64::floor);
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

/// Estimates the tokens of a text: its [`token_chars`] divided by 4, rounded up.
pub fn estimate_tokens(text: &str) -> u64 {
    token_chars(text).div_ceil(4)
}

/// Counts the chars of a text, twice if Chinese, Japanese or Korean: such a char takes as many tokens as two letters.
pub fn token_chars(text: &str) -> u64 {
    text.chars().map(|c| 1 + u64::from(is_unspaced(c))).sum()
}

/// Returns a share of tokens, rounded by `round`.
fn tokens_of(tokens: u64, share: f64, round: fn(f64) -> f64) -> u64 {
    round(share * tokens as f64).clamp(0.0, 1e18) as u64
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
    fn old_messages_are_summarised_and_the_newest_kept() {
        let mut context = small();
        context.push_fixed(10);
        for tokens in [30, 20, 15, 10] {
            context.push(tokens);
        }
        let tight = PromptStatus::Long {
            tokens: 85,
            keep: 2,
            summary: 10,
        };
        assert_eq!(context.before_turn(), tight);
        assert_eq!(context.before_turn(), tight, "until it is done");
        context.fold(2, 8);
        assert_eq!(context.before_turn(), PromptStatus::Fits { tokens: 43 });
        context.push(1000);
        assert_eq!(
            context.before_turn(),
            PromptStatus::Long {
                tokens: 1043,
                keep: 0,
                summary: 10
            }
        );
        context.fold(0, 10);
        assert_eq!(context.before_turn(), PromptStatus::Fits { tokens: 20 });
    }

    #[test]
    fn a_prompt_that_cannot_be_folded_is_an_overflow() {
        let mut context = small();
        context.push_fixed(95);
        assert_eq!(context.before_turn(), PromptStatus::Overflow { tokens: 95 });
        context.push(5);
        assert_eq!(
            context.before_turn(),
            PromptStatus::Overflow { tokens: 100 },
            "the newest stays"
        );
        assert_eq!(estimate_tokens("日本語です"), 3);
        context.push(u64::MAX);
        assert!(matches!(context.before_turn(), PromptStatus::Long { .. }));
    }
}
