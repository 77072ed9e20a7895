//! Every vector, exactly: through the live guard in any chunking, through a replay, and as a cell
//! of a sweep whose other cells agree with live guards of their own.

use deadloop_detect::harness::ParamRole;
use deadloop_detect::{Channel, Guard, TextChannel, Value};
use deadloop_replay::{Grid, GridMember, Plan, decide};
use deadloop_tests::replayed_alarm::{ReplayedAlarm, cell_of, live, replay, transcript};
use deadloop_tests::vectors::{Vector, read};

/// The detectors that have vectors, and how many.
const FILES: [(&str, usize); 2] = [("checkpoint", 600), ("periodic", 500)];

fn all() -> impl Iterator<Item = (&'static str, usize, Vector)> {
    FILES.into_iter().flat_map(|(detector, count)| {
        let vectors = read(&format!("{detector}.jsonl"));
        assert_eq!(vectors.len(), count);
        let numbered = vectors.into_iter().enumerate();
        numbered.map(move |(i, vector)| (detector, i, vector))
    })
}

fn pieces(vector: &Vector) -> Vec<(Channel, String)> {
    vec![(Channel::Answer, vector.text.clone())]
}

fn matches(seen: Option<&ReplayedAlarm>, vector: &Vector) -> bool {
    match (seen, &vector.expect) {
        (Some(s), Some(e)) => s.at == e.at && e.kind.as_ref().is_none_or(|kind| s.kind == kind),
        (seen, expect) => seen.is_none() && expect.is_none(),
    }
}

#[test]
fn live_in_any_chunking() {
    for (detector, i, vector) in all() {
        let setting = vector.setting(detector);
        for size in [1, 2, 7, 50, 1000, usize::MAX] {
            let seen = live(&setting, &pieces(&vector), size);
            assert!(
                matches(seen.as_ref(), &vector),
                "{detector} {i} in chunks of {size}: {seen:?}"
            );
        }
        // Some vectors ask for what can never fire; such a setting is refused when it is read.
        let refused = setting.members.iter().any(|m| m.check().is_err());
        assert!(
            !refused || vector.expect.is_none(),
            "{detector} {i} fires, so it can fire"
        );
    }
}

#[test]
fn what_an_alarm_tells() {
    let mut told = 0;
    for (detector, i, vector) in all() {
        let Some(expect) = &vector.expect else {
            continue;
        };
        for size in [1, 5, usize::MAX] {
            let chars: Vec<char> = vector.text.chars().collect();
            let mut guard = Guard::new(&vector.setting(detector)).expect("it reads text");
            let chunks = chars.chunks(size.min(chars.len()));
            let alarm = chunks
                .map(String::from_iter)
                .find_map(|chunk| guard.push_text(TextChannel::Answer, &chunk).into_alarm())
                .expect("it fires");
            let (onset, period) = (alarm.onset.count(), alarm.period.count());
            assert!(
                expect.onset.is_none_or(|o| o == onset)
                    && expect.period.is_none_or(|p| p == period),
                "{detector} {i} in chunks of {size}: {alarm:?}"
            );
            told += usize::from(expect.onset.is_some() && expect.period.is_some());
        }
    }
    assert!(told > 700, "{told}");
}

#[test]
fn replayed() {
    for (detector, i, vector) in all() {
        let seen = replay(&vector.setting(detector), &pieces(&vector));
        assert!(matches(seen.as_ref(), &vector), "{detector} {i}: {seen:?}");
    }
}

#[test]
fn as_a_cell_of_a_sweep() {
    let mut found = 0;
    for (detector, i, vector) in all() {
        let mut plan = Plan::default();
        if plan.add_grid(&around(detector, &vector)).is_err() {
            assert!(vector.expect.is_none(), "{detector} {i} fires, so it can");
            continue;
        }
        let record = decide(&plan, &transcript(&pieces(&vector)), None);
        let own = vector.setting(detector);
        for cell in 0..plan.cells() {
            let setting = plan.setting(cell);
            let seen = cell_of(&plan, &record, cell);
            if setting == own {
                found += 1;
                assert!(matches(seen.as_ref(), &vector), "{detector} {i}: {seen:?}");
            }
            if cell % 7 == i % 7 {
                assert_eq!(
                    seen,
                    live(&setting, &pieces(&vector), 13),
                    "{detector} {i} cell {cell}"
                );
            }
        }
    }
    assert!(found > 1000, "most vectors are possible settings: {found}");
}

/// Units of more than one class, by which of their thresholds are on: pictures and numbers without a name, blanks to fill
/// in, rows of one letter, one char, an escape.
const UNITS: &str = "🟩/🟩🟥\n/1 2\n/____\n____ ____\n____________\n/[ ] \n/Name: ____\n/1. | | |\n/\
                     AAAAAAAAAAAAAAAAAAAAAA\n/A/\\u0020/=-\n/\"\": \"\",\n";

#[test]
fn as_a_cell_whatever_the_unit_holds() {
    for symbols in [
        "on = 'chars'",
        "fold = 'counters'",
        "fold = 'counters'\non = 'sentences'",
        "fold = 'markers'\non = 'lines'",
    ] {
        let grid = format!(
            "[[guard]]\ndetector = 'periodic'\nchannel = 'answer'\n[guard.params]\n{symbols}\n\
             min_copies = [2, 3]\nmin_chars = [60, 300]\nmin_single = [0, 40, 200]\n\
             min_bare = [0, 50, 250]\nmin_form = [0, 70, 280]\n"
        );
        let mut plan = Plan::default();
        let grid = Grid::parse(&grid).expect("a grid");
        plan.add_grid(&grid).expect("settings");
        for unit in UNITS.split('/') {
            let pieces = [(Channel::Answer, unit.repeat(320))];
            let record = decide(&plan, &transcript(&pieces), None);
            for cell in 0..plan.cells() {
                let live = live(&plan.setting(cell), &pieces, usize::MAX);
                assert_eq!(cell_of(&plan, &record, cell), live, "{unit:?} {cell}");
            }
        }
    }
}

/// A grid with the vector's setting in the middle: two to three values for each threshold.
fn around(detector: &str, vector: &Vector) -> Grid {
    let base = vector.setting(detector).members.remove(0);
    let values = base.detector.params.iter().filter_map(|param| {
        let ParamRole::Threshold(threshold) = param.mark else {
            return None;
        };
        let own = base.params.int(param.name);
        let mut values: Vec<i64> = match own {
            0 => vec![0, 9],
            n => vec![n, n + 1, n * 2],
        };
        values.sort_by_key(|v| threshold.number(&Value::Int(*v)));
        values.dedup();
        Some((param, values.into_iter().map(Value::Int).collect()))
    });
    let values = values.collect();
    Grid {
        members: vec![GridMember { base, values }],
    }
}
