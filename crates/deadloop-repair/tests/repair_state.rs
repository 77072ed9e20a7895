//! Tests that the memory of a repairer is bounded for streams of any length.
#![allow(clippy::unwrap_used)]

#[path = "all/repairing/mod.rs"]
mod repairing;

use deadloop_detect::Value;
use deadloop_repair::meaning::{Delivery, MeaningParts};
use deadloop_repair::registry::{REPAIRERS, RepairerFactory};
use peak_alloc::PeakAlloc;
use repairing::settings;

#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

/// The length of a stream and the maximum number of waiting chars.
const CHARS: usize = 200_000;
const HOLD: usize = 4_000;

/// The maximum memory per waiting char, in bytes. A tag of three chars is held as written and with its meaning.
const BYTES: usize = 128;

#[test]
fn memory_is_bounded_by_what_waits() {
    let texts = [
        "<create_note>",
        "<confirm1></confirm2>",
        "<think>",
        " ",
        "{\"a\": [",
        "\"",
        "word ",
        "<b>",
    ];
    for repairer in REPAIRERS
        .iter()
        .filter(|r| matches!(r.make, RepairerFactory::Text(_)))
    {
        for mut params in settings(repairer, 3, 4) {
            for name in ["hold", "max_open"] {
                params.set(name, Value::Int(HOLD as i64));
            }
            for unit in texts {
                let chunk: String = unit.chars().cycle().take(1_000).collect();
                // What is made once for all streams is made now.
                repairer.mend(&params, &chunk).unwrap();
                let before = HEAP.current_usage();
                let mut machine = repairer.text_repairer(&params).unwrap();
                HEAP.reset_peak_usage();
                for _ in 0..CHARS / 1_000 {
                    let mut pieces = MeaningParts::default();
                    machine.push(&chunk, &mut pieces);
                }
                let most = HEAP.peak_usage().saturating_sub(before);
                assert!(
                    most <= BYTES * (HOLD + 1_000),
                    "{} {unit:?}: {most} bytes {params:?}",
                    repairer.name
                );
            }
        }
    }
}

#[test]
fn a_replay_remembers_its_window() {
    let repairer = REPAIRERS.iter().find(|r| r.name == "replay").unwrap();
    for by in ["id", "hash", "position"] {
        let mut params = repairer.defaults();
        params.set("by", Value::Text(by.into()));
        params.set("window", Value::Int(100));
        let mut machine = repairer.event_repairer(&params).unwrap();
        for i in 0..20_000_u64 {
            // Every other place is missing.
            let event = Delivery {
                id: Some(i.to_string()),
                position: Some(2 * i + 1),
                text: i.to_string(),
                done: false,
            };
            machine.push(event, &mut Vec::new());
            assert!(machine.held_len() <= 101, "{by}: {}", machine.held_len());
        }
    }
}
