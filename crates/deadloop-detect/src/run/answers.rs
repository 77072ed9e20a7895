//! [`AtResults`]: the meter of detectors that look at a call when its result is there. What each does with it is an
//! [`Answers`].

use std::sync::Arc;

use super::{Answer, Asked, Look, Pairs, Run, Saw};
use crate::fact::Fact;
use crate::meter::{Meter, Recipe};
use crate::params::Params;
use crate::stream::Event;

/// What a detector remembers of calls and results, and how it judges the next.
pub(crate) trait Answers: Send + Sync {
    /// The fact of a result, if it is one. `run` is at the result.
    fn answered(&mut self, asked: Asked, answer: &Answer<'_>, seen: (&Look, &Run)) -> Option<Fact>;

    /// Forgets everything.
    fn forget(&mut self);
}

/// Follows one run: calls that have no result yet wait for it.
pub(crate) struct AtResults<A> {
    run: Run,
    look: Arc<Look>,
    open: Pairs,
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
                    let seen = (&*self.look, &self.run);
                    facts.extend(self.answers.answered(asked, &answer, seen));
                }
            }
            Saw::Forget => {
                self.open.clear();
                self.answers.forget();
            }
            _ => {}
        }
    }
}
