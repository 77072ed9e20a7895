//! `narration`: an agent repeats its text turn after turn. It alarms when the next turn begins.
//!
//! For each turn in its window, a meter keeps a hash, or the hashes of the trigrams in the first [`HEAD`] chars.

use super::entry::detector;
use super::{Measurement, Refusal};
use crate::calls::n;
use crate::calls::{
    ALLOW, CallKey, CallRepetition, Filter, MeterEvent, RESET, RunState, hash, number, window,
};
use crate::measure::fact::Fact;
use crate::measure::meter::{Meter, Recipe};
use crate::settings::param::{Param, ParamRole};
use crate::settings::params::Params;
use crate::stream::{Channel, Event, EventPlace, Kind, TextChannel, Turns};

use turn_text::{HEAD, TurnSignature, TurnText};

mod turn_text;

detector! {
    ENTRY = "narration", version 1,
    "the same is said turn after turn: whatever the calls do",
    params: &[N, WINDOW, MIN_CHARS, LIKE, MIN_SHARE, WITH_CALLS, WITHOUT_CALLS, REASONING, ALLOW, RESET],
    check: check,
    measure: Measurement::Run(Channel::Turns, recipe),
    gone: &["normalise"],
}

const N: Param = n(
    3,
    "turns",
    "turns among the last ones that say the same as the newest, itself included",
);
const WINDOW: Param = window(12, "turns", "how many of the last ones are looked at");

const MIN_CHARS: Param = Param::count("min_chars", 40, 1..=HEAD as i64)
    .at_most()
    .unit("chars")
    .doc("the shortest text of a turn that counts, as it is compared");

const LIKE: Param = Param::word("like", "exact", &["exact", "trigrams"])
    .doc("what makes two texts the same: they are equal; they have min_share of their word trigrams in common");

const MIN_SHARE: Param = Param::number("min_share", 0.55, 0.01..=1.0)
    .at_most()
    .unit("of both texts' trigrams")
    .doc("smallest share of trigrams in both, with like = \"trigrams\"");

const WITH_CALLS: Param = Param::flag("with_calls", false)
    .doc("true: the calls of the turns have to be equal too, whatever their results are");

const WITHOUT_CALLS: Param = Param::flag("without_calls", false)
    .doc("true: turns with calls are like no other turn; a poll may say the same each time");

const REASONING: Param =
    Param::flag("reasoning", true).doc("false: the answer alone counts as what a turn says");

/// Rejects an `n` above the length of the window, which can never fire.
fn check(params: &Params) -> Result<(), Refusal> {
    let (n, window) = (params.int(N.name), params.int(WINDOW.name));
    if n > window {
        let reason =
            format!("{n} do not fit the last {window} turns (window): this setting can never fire");
        return Refusal::err(N.name, reason);
    }
    Ok(())
}

fn recipe(params: &Params) -> Recipe {
    let filter = Filter::new(params);
    let window = usize::try_from(params.count(WINDOW.name)).unwrap_or(usize::MAX);
    let share = least_share(params);
    let least = params.count(N.name);
    let trigrams = params.text(LIKE.name) == "trigrams";
    let without_calls = params.flag(WITHOUT_CALLS.name);
    let with_calls = without_calls || params.flag(WITH_CALLS.name);
    let reasoning = params.flag(REASONING.name);
    Recipe::run(move || {
        Box::new(NarrationMeter {
            run: RunState::new(&filter),
            least,
            share,
            window,
            trigrams,
            with_calls,
            without_calls,
            reasoning,
            turn: None,
            last: Vec::new(),
        })
    })
}

/// Returns the minimum share of a setting, in millionths.
fn least_share(params: &Params) -> i64 {
    let ParamRole::Threshold(threshold) = MIN_SHARE.mark else {
        return 0;
    };
    params
        .get(MIN_SHARE.name)
        .map_or(0, |share| threshold.number(share))
}

/// A meter of one run.
struct NarrationMeter {
    run: RunState,
    /// The minimum number of turns and the minimum share of the loosest setting.
    least: u64,
    share: i64,
    window: usize,
    trigrams: bool,
    with_calls: bool,
    without_calls: bool,
    reasoning: bool,
    /// The turn in progress. `None` between turns.
    turn: Option<CurrentTurn>,
    /// The turns of the window, the oldest first.
    last: Vec<PastTurn>,
}

#[derive(Default)]
struct CurrentTurn {
    said: TurnText,
    /// The hash of all calls. 0 without calls.
    calls: u128,
}

/// A turn that has ended.
struct PastTurn {
    spoken: TurnSignature,
    calls: u128,
    /// The number of the turn, from 0.
    place: Turns,
}

impl Meter for NarrationMeter {
    fn push(&mut self, event: &Event<'_>, place: EventPlace, facts: &mut Vec<Fact>) {
        match self.run.see(event, place) {
            MeterEvent::Text(TextChannel::Reasoning, _) if !self.reasoning => {}
            MeterEvent::Text(_, text) => self.turn.iter_mut().for_each(|turn| turn.said.push(text)),
            MeterEvent::Call(call) if self.with_calls => {
                let key = CallKey::Call.digest(&call).to_string();
                if let Some(turn) = &mut self.turn {
                    turn.calls = hash(&[&turn.calls.to_string(), &key]);
                }
            }
            MeterEvent::Turn => {
                if let Some(turn) = self.turn.replace(CurrentTurn::default()) {
                    self.end_turn(&turn, facts);
                }
            }
            MeterEvent::Forget => (self.turn, self.last) = (None, Vec::new()),
            MeterEvent::Call(_)
            | MeterEvent::Result(_)
            | MeterEvent::User
            | MeterEvent::Nothing => {}
        }
    }
}

impl NarrationMeter {
    fn end_turn(&mut self, turn: &CurrentTurn, facts: &mut Vec<Fact>) {
        let spoken = TurnSignature::new(&turn.said, self.trigrams);
        if self.last.len() == self.window {
            self.last.remove(0);
        }
        let chars = number(spoken.chars);
        let place = self.run.ended().saturating_sub(Turns(1));
        let calls = turn.calls;
        self.last.push(PastTurn {
            spoken,
            calls,
            place,
        });
        let alike = self.shares_in_common();
        for (at, (share, _)) in alike.iter().enumerate() {
            let count = at as u64 + 1;
            // Among equal shares, the last one has the highest count.
            let is_last = alike.get(at + 1).is_none_or(|next| next.0 < *share);
            if !is_last || count < self.least || *share < self.share {
                continue;
            }
            let mut places: Vec<Turns> = alike[..=at].iter().map(|(_, place)| *place).collect();
            places.sort_unstable();
            let seen = CallRepetition {
                onset: places.get(1).copied().unwrap_or(place).into(),
                period: Turns(0).into(),
                copies: count,
                unit: turn.said.head(),
            };
            let bounds = [
                (N.name, number(count)),
                (MIN_CHARS.name, chars),
                (MIN_SHARE.name, *share),
            ];
            facts.push(self.run.fact((Kind::Monologue, "said"), bounds, seen));
        }
    }

    /// Returns the share in common with the newest turn, and the number, of each earlier turn. The most similar turn
    /// comes first.
    fn shares_in_common(&self) -> Vec<(i64, Turns)> {
        let Some(newest) = self.last.last() else {
            return Vec::new();
        };
        if self.without_calls && newest.calls != 0 {
            return Vec::new();
        }
        let turns = self.last.iter().filter(|turn| turn.calls == newest.calls);
        let share = |turn: &PastTurn| (newest.spoken.share(&turn.spoken), turn.place);
        let mut alike: Vec<_> = turns.map(share).filter(|(share, _)| *share > 0).collect();
        alike.sort_unstable_by(|a, b| b.cmp(a));
        alike
    }
}
