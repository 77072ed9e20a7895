//! Every vector, exactly: through the live guard in any chunking, through a replay, and as a cell
//! of a sweep whose other cells agree with live guards of their own.

use deadloop_detect::{Channel, Mark, Value};
use deadloop_replay::{Grid, GridMember, Plan, decide};
use deadloop_tests::replayed::{Seen, cell_of, live, replay, transcript};
use deadloop_tests::vectors::{Vector, read};

fn checkpoint() -> Vec<Vector> {
    let vectors = read("checkpoint.jsonl");
    assert_eq!(vectors.len(), 600);
    vectors
}

fn pieces(vector: &Vector) -> Vec<(Channel, String)> {
    vec![(Channel::Answer, vector.text.clone())]
}

fn matches(seen: Option<&Seen>, vector: &Vector) -> bool {
    seen.map(|s| (s.at, s.kind)) == vector.expect.as_ref().map(|e| (e.at, e.kind.as_str()))
}

#[test]
fn checkpoint_live_in_any_chunking() {
    for (i, vector) in checkpoint().iter().enumerate() {
        let setting = vector.setting("checkpoint");
        for size in [1, 2, 7, 50, 1000, usize::MAX] {
            let seen = live(&setting, &pieces(vector), size);
            assert!(
                matches(seen.as_ref(), vector),
                "vector {i} in chunks of {size}: {seen:?}"
            );
        }
        // Some vectors ask for what can never fire; such a setting is refused when it is read.
        let refused = setting.members.iter().any(|m| m.check().is_err());
        assert!(
            !refused || vector.expect.is_none(),
            "vector {i} fires, so it can fire"
        );
    }
}

#[test]
fn checkpoint_replayed() {
    for (i, vector) in checkpoint().iter().enumerate() {
        let seen = replay(&vector.setting("checkpoint"), &pieces(vector));
        assert!(matches(seen.as_ref(), vector), "vector {i}: {seen:?}");
    }
}

#[test]
fn checkpoint_as_a_cell_of_a_sweep() {
    let mut found = 0;
    for (i, vector) in checkpoint().iter().enumerate() {
        let mut plan = Plan::default();
        if plan.add_grid(&around(vector)).is_err() {
            assert!(vector.expect.is_none(), "vector {i} fires, so it can fire");
            continue;
        }
        let record = decide(&plan, &transcript(&pieces(vector)), None);
        let own = vector.setting("checkpoint");
        for cell in 0..plan.cells() {
            let setting = plan.setting(cell);
            let seen = cell_of(&plan, &record, cell);
            if setting == own {
                found += 1;
                assert!(matches(seen.as_ref(), vector), "vector {i}: {seen:?}");
            }
            if cell % 7 == i % 7 {
                assert_eq!(
                    seen,
                    live(&setting, &pieces(vector), 13),
                    "vector {i} cell {cell}"
                );
            }
        }
    }
    assert!(found > 500, "most vectors are possible settings: {found}");
}

/// A grid with the vector's setting in the middle: two to three values for each threshold.
fn around(vector: &Vector) -> Grid {
    let base = vector.setting("checkpoint").members.remove(0);
    let values = base.detector.params.iter().filter_map(|param| {
        let Mark::Threshold(threshold) = param.mark else {
            return None;
        };
        let own = base.params.int(param.name);
        let mut values: Vec<i64> = match own {
            0 => vec![0, 9],
            n => vec![n, n + 1, n * 2],
        };
        values.sort_by_key(|v| threshold.effective(*v));
        values.dedup();
        Some((param, values.into_iter().map(Value::Int).collect()))
    });
    let values = values.collect();
    Grid {
        members: vec![GridMember { base, values }],
    }
}
