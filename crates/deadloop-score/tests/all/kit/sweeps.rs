//! Generated sweeps: cases and boxes.

use deadloop_score::Case;
use deadloop_score::replay::detect::{Channel, Kind};
use deadloop_score::replay::{BlockDecision, Region, Stop};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::kit::{case, stop};

const LENGTHS: (u64, u64) = (60, 240);

fn labels() -> impl Strategy<Value = Value> {
    let span = |class: &'static str| {
        (any::<bool>(), 1_u64..50, 0_u64..9, 0_u64..60, any::<bool>()).prop_map(
            move |(answer, onset, lead, len, open)| {
                let channel = if answer { "answer" } else { "reasoning" };
                let length = if answer { LENGTHS.1 } else { LENGTHS.0 };
                let onset = onset.min(length - 1);
                let end = if open {
                    None
                } else {
                    Some((onset + len).min(length))
                };
                json!({"class": class, "kind": "paragraph", "channel": channel, "onset": onset,
                       "earliest": onset.saturating_sub(lead), "end": end})
            },
        )
    };
    prop_oneof![
        2 => Just(json!([{"class": "clean"}])),
        1 => Just(json!([])),
        1 => Just(json!([{"class": "unsure"}])),
        1 => prop::collection::vec(span("transient"), 1..3).prop_map(Value::from),
        4 => (prop::collection::vec(span("loop"), 1..3), prop::collection::vec(span("transient"), 0..2))
            .prop_map(|(loops, others)| Value::from([loops, others].concat())),
    ]
}

fn stops() -> impl Strategy<Value = Stop> {
    (any::<bool>(), 0_u64..240, any::<bool>()).prop_map(|(answer, at, right)| {
        let channel = if answer {
            Channel::Answer
        } else {
            Channel::Reasoning
        };
        stop(
            channel,
            at,
            if right { Kind::Paragraph } else { Kind::Other },
            LENGTHS,
        )
    })
}

/// Disjoint boxes: a staircase of shells around a corner, as one-sided thresholds leave them.
fn decided(shape: Vec<usize>) -> impl Strategy<Value = BlockDecision> {
    let cut = shape.iter().map(|n| 0..=*n as u16).collect::<Vec<_>>();
    (prop::collection::vec(stops(), 2), cut, 0_u8..10).prop_map(move |(stops, cut, failed)| {
        if failed == 0 {
            return BlockDecision {
                error: Some("it died".into()),
                ..BlockDecision::default()
            };
        }
        let full: Vec<u16> = shape.iter().map(|n| *n as u16).collect();
        let mut regions = vec![Region {
            lo: vec![0; shape.len()],
            hi: cut.clone(),
            stop: 0,
        }];
        if let Some(first) = cut.first() {
            let mut lo = vec![0; shape.len()];
            lo[0] = *first;
            regions.push(Region {
                lo,
                hi: full.clone(),
                stop: 1,
            });
        }
        let real = |r: &Region| r.lo.iter().zip(&r.hi).all(|(lo, hi)| lo < hi);
        regions.retain(real);
        BlockDecision {
            stops,
            regions,
            error: None,
            details: Vec::new(),
        }
    })
}

/// A block's shape, cases, and what the block says of each.
pub(crate) fn sweeps() -> impl Strategy<Value = (Vec<usize>, Vec<Case>, Vec<BlockDecision>)> {
    let one = |shape: Vec<usize>| (labels(), decided(shape), 0_usize..3, 0_usize..5);
    prop::collection::vec(1_usize..5, 0..4).prop_flat_map(move |shape| {
        (
            Just(shape.clone()),
            prop::collection::vec(one(shape), 0..14),
        )
            .prop_map(|(shape, all)| {
                let (mut cases, mut said) = (Vec::new(), Vec::new());
                for (i, (labels, decided, model, group)) in all.into_iter().enumerate() {
                    let (id, model, group) =
                        (format!("t{i}"), format!("m{model}"), format!("g{group}"));
                    cases.push(case(&id, &model, &group, LENGTHS, labels));
                    said.push(decided);
                }
                (shape, cases, said)
            })
    })
}
