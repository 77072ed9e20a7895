//! Tests that skipped code does not count, and neither do its fences.

#![allow(clippy::expect_used, reason = "in the helpers of tests as in tests")]

use crate::common;

use common::{Dice, fires, member, word};
use deadloop_detect::Value;
use deadloop_detect::harness::Member;

/// Returns different blocks of code, with text between them.
fn blocks(between: impl Fn(usize) -> String) -> String {
    let mut dice = Dice(7);
    let words = ["apple", "river", "stone", "cloud", "light", "horse"];
    let mut block = |i: usize| {
        let [a, b] = [0; 2].map(|_| dice.pick(&words));
        format!("{}```python\n{a}_{i} = '{b}'\n```\n\n", between(i))
    };
    (0..40).map(&mut block).collect()
}

fn skipping(detector: &str, params: &[(&str, Value)]) -> Member {
    let skip = [("code", word("skip"))];
    member(detector, &[params, &skip].concat())
}

#[test]
fn different_blocks_are_no_loop() {
    let alone = blocks(|_| String::new());
    let prose = blocks(|i| format!("Step {i} is about another thing, number {}.\n\n", i * 7919));
    for text in [&alone, &prose] {
        for on in ["sentences", "lines"] {
            let periodic = skipping("periodic", &[("on", word(on))]);
            assert_eq!(fires(&periodic, text), None, "{on}");
            let [one, none] = [1, 0].map(Value::Int);
            let by = [("by", word(on)), ("n", one), ("max_distinct", none)];
            assert_eq!(fires(&skipping("recurrence", &by), text), None, "{on}");
        }
    }
}

/// The text around a block is one text, in which a loop is found.
#[test]
fn what_stands_between_is_read() {
    let text = blocks(|_| "The same sentence again and again, before other code.\n\n".into());
    let periodic = skipping("periodic", &[("on", word("lines"))]);
    assert!(fires(&periodic, &text).is_some());
}
