//! Shared helpers: members, alarms for any chunks, and texts.

#![allow(clippy::unwrap_used, reason = "in the helpers of tests as in tests")]
#![allow(dead_code, reason = "no test uses all of them")]

use deadloop_detect::harness::{Detector, EventPlace, Fact, Member, Params};
use deadloop_detect::{
    Alarm, Arguments, Channel, Event, Guard, Response, Setting, TextChannel, Value,
};

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;

/// 40 lines of healthy thinking without repeated phrases.
pub(crate) const PROSE: &str = include_str!("prose.txt");

/// Returns the defaults of a detector, except for these parameters.
pub(crate) fn member(detector: &str, params: &[(&str, Value)]) -> Member {
    stopping(detector, params_of(detector, params))
}

pub(crate) fn params_of(detector: &str, params: &[(&str, Value)]) -> Params {
    let detector = Detector::find(detector).unwrap();
    let mut all = Params::defaults(detector.params);
    for (name, value) in params {
        assert!(detector.param(name).is_some(), "{name}");
        all.set(name, value.clone());
    }
    all
}

fn stopping(detector: &str, params: Params) -> Member {
    Member {
        response: Response::Stop,
        ..Member::new(Detector::find(detector).unwrap(), params)
    }
}

/// Returns a member with these valid parameters.
pub(crate) fn allowed(detector: &str, params: &Params) -> Member {
    let member = stopping(detector, params.clone());
    assert_eq!(member.check(), Ok(()));
    member
}

pub(crate) const TURN: Event<'static> = Event::Turn { agent: None };

pub(crate) fn call<'e>(name: &'e str, arguments: &'e str) -> Event<'e> {
    Event::Call {
        id: None,
        name,
        arguments: Arguments::Raw(arguments),
    }
}

/// The result of the last call.
pub(crate) fn result(content: &str, error: Option<bool>) -> Event<'_> {
    Event::Result {
        id: None,
        content,
        error,
        cut: None,
    }
}

pub(crate) fn preset(detector: &str, name: &str) -> Member {
    let entry = Detector::find(detector).unwrap();
    let all = entry.presets().unwrap();
    let preset = all.into_iter().find(|p| p.name == name).unwrap();
    let mut params = Params::defaults(entry.params);
    for (name, value) in preset.params {
        params.set(&name, value);
    }
    allowed(detector, &params)
}

pub(crate) fn alarm(member: &Member, text: &str, chunk: usize) -> Option<Alarm> {
    let setting = Setting {
        members: vec![member.clone()],
    };
    let mut guard = Guard::new(&setting).expect("it reads text");
    let chars: Vec<char> = text.chars().collect();
    let mut chunks = chars.chunks(chunk.clamp(1, chars.len().max(1)));
    chunks.find_map(|c| {
        guard
            .push_text(TextChannel::Answer, &c.iter().collect::<String>())
            .into_alarm()
    })
}

pub(crate) fn fires(member: &Member, text: &str) -> Option<u64> {
    alarm(member, text, usize::MAX).map(|a| a.exact.count())
}

/// Returns the number of random cases: `all` in release builds, as in CI, and a quarter in debug builds, to stay below
/// half a minute.
pub(crate) const fn drawn(all: u32) -> u32 {
    if cfg!(debug_assertions) { all / 4 } else { all }
}

/// Returns the number of 300 random pairs of a setting and a text for which `alarms` returns true. A comparison is
/// useless without alarms.
pub(crate) fn how_often<S: Strategy, T: Strategy<Value = String>>(
    (setting, text): (S, T),
    alarms: impl Fn(&S::Value, &str) -> bool,
) -> usize {
    let mut runner = TestRunner::deterministic();
    let mut drawn = || {
        let setting = setting.new_tree(&mut runner).unwrap().current();
        let text = text.new_tree(&mut runner).unwrap().current();
        alarms(&setting, &text)
    };
    (0..300).filter(|_| drawn()).count()
}

/// Defines two tests of a detector and its slow reference: a comparison on random settings, texts and pieces, and a
/// check that these texts alarm often enough.
macro_rules! twins {
    ($params:expr, $text:expr, $fast:ident, $slow:ident) => {
        proptest::proptest! {
            #![proptest_config(proptest::test_runner::Config { cases: crate::common::drawn(1500), ..Default::default() })]

            #[test]
            fn it_is_what_it_says(params in $params, text in $text, size in 1..40_usize) {
                let slow = $slow(&params, &text);
                proptest::prop_assert_eq!($fast(&params, &text, 1), slow);
                proptest::prop_assert_eq!($fast(&params, &text, size), slow);
                proptest::prop_assert_eq!($fast(&params, &text, usize::MAX >> 1), slow);
            }
        }

        #[test]
        fn generated_texts_often_alarm() {
            let count = crate::common::how_often(($params, $text), |params, text| {
                $slow(params, text).is_some()
            });
            assert!((60..290).contains(&count), "{count} of 300");
        }
    };
}
pub(crate) use twins;

/// Returns all facts of a meter on a text.
pub(crate) fn facts(member: &Member, text: &str) -> Vec<Fact> {
    let mut facts = Vec::new();
    let recipe = member.recipe().expect("it reads text");
    let event = Event::Text(TextChannel::Answer, text);
    let mut meter = recipe.meter(Channel::Answer);
    meter.push(&event, EventPlace::default(), &mut facts);
    facts
}

pub(crate) fn word(text: &str) -> Value {
    Value::Text(text.into())
}

/// Returns pseudorandom numbers.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % n
    }

    pub(crate) fn pick<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[usize::try_from(self.below(of.len() as u64)).unwrap()]
    }
}
