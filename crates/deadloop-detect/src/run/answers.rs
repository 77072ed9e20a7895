//! [`AtResults`]: the meter of detectors that look at a call when its result is there. What each does with it is an
//! [`Answers`].

use std::sync::Arc;

use super::{Answer, Asked, Known, Look, Pairs, Run, Same, Saw, hash, start_of};
use crate::fact::Fact;
use crate::meter::{Meter, Recipe};
use crate::params::Params;
use crate::stream::Event;

/// What a detector remembers of calls and results, and how it judges the next.
pub(crate) trait Answers: Send + Sync {
    /// The fact of a result, if it is one.
    fn answered(&mut self, asked: Asked, answer: &Answer<'_>, seen: Seen<'_>) -> Option<Fact>;

    /// Forgets everything.
    fn forget(&mut self);
}

/// What a detector looks at a result with.
pub(crate) struct Seen<'a> {
    look: &'a Look,
    /// The run, at the result.
    pub(crate) run: &'a Run,
    known: &'a mut Known,
}

impl Seen<'_> {
    /// The call and its result, as they are compared. Without `arguments` it is the tool and its result, but for a
    /// result that says nothing: an empty answer to another question is another answer.
    pub(crate) fn pair(&mut self, asked: &Asked, arguments: bool, answer: &Answer<'_>) -> Same {
        let nothing = self.look.says_nothing(answer);
        let key = if arguments || nothing {
            asked.key
        } else {
            asked.tool
        };
        self.met(key, nothing, answer)
    }

    /// The tool and its result, as they are compared.
    pub(crate) fn tool(&mut self, asked: &Asked, answer: &Answer<'_>) -> Same {
        self.met(asked.tool, self.look.says_nothing(answer), answer)
    }

    fn met(&mut self, key: u128, nothing: bool, answer: &Answer<'_>) -> Same {
        let content = self.look.result(answer.content, answer.cut);
        let (pair, times) = self.known.met(key, &content, self.look);
        Same {
            pair,
            nothing,
            times,
        }
    }

    /// Equal of results of one tool whose texts begin with the same chars.
    pub(crate) fn start(&self, asked: &Asked, answer: &Answer<'_>, chars: usize) -> u128 {
        let result = self.look.result(answer.content, answer.cut);
        let result = self.look.still(&result);
        hash(&[&asked.tool.to_string(), start_of(&result, chars)])
    }

    /// Whether `count` equal ones are as many as count: of those that say nothing `stateless_n`.
    pub(crate) fn counts(&self, same: &Same, count: u64) -> bool {
        !same.nothing || count >= self.look.stateless_n
    }
}

/// Follows one run: calls that have no result yet wait for it.
pub(crate) struct AtResults<A> {
    run: Run,
    look: Arc<Look>,
    open: Pairs,
    known: Known,
    answers: A,
}

impl<A: Answers + 'static> AtResults<A> {
    /// Meters that are made of a fresh `answers` each.
    pub(crate) fn recipe(
        params: &Params,
        answers: impl Fn() -> A + Send + Sync + 'static,
    ) -> Recipe {
        let look = Arc::new(Look::new(params));
        Recipe::run(move || {
            Box::new(Self {
                run: Run::new(Arc::clone(&look)),
                look: Arc::clone(&look),
                open: Pairs::default(),
                known: Known::default(),
                answers: answers(),
            })
        })
    }
}

impl<A: Answers> Meter for AtResults<A> {
    fn push(&mut self, event: &Event<'_>, facts: &mut Vec<Fact>) {
        match self.run.see(event) {
            Saw::Call(call) => self.open.put(self.run.call(), Asked::of(&call)),
            Saw::Result(answer) => {
                // Of a call that was forgotten nothing is said.
                if let Some(asked) = self.open.take(answer.call) {
                    let seen = Seen {
                        look: &self.look,
                        run: &self.run,
                        known: &mut self.known,
                    };
                    facts.extend(self.answers.answered(asked, &answer, seen));
                }
            }
            Saw::Forget => {
                self.open.clear();
                self.known.clear();
                self.answers.forget();
            }
            _ => {}
        }
    }
}
