//! The laws of detectors that read whole runs: live, replay and a cell of a sweep agree, on generated runs and on the
//! vectors of `tests/vectors/agents.jsonl`.

#![allow(clippy::expect_used, reason = "in the helpers of tests as in tests")]

use deadloop_corpus::{Body, RecordedEvent, Transcript};
use deadloop_detect::{Channel, Guard, Setting};
use deadloop_replay::{Plan, Record, decide};
use deadloop_tests::alarm_report::AlarmReport;
use deadloop_tests::generate;
use proptest::prelude::*;

fn transcript(bodies: &[Body]) -> Transcript {
    Transcript {
        id: "t".into(),
        model: "m".into(),
        events: bodies.iter().cloned().map(RecordedEvent::new).collect(),
        ..Transcript::default()
    }
}

/// Through the live guard.
fn live(setting: &Setting, run: &Transcript) -> Option<AlarmReport> {
    let mut guard = Guard::new(setting).expect("no program");
    let mut events = run.stream();
    events.find_map(|(_, event)| guard.push(&event).alarm().map(AlarmReport::from))
}

fn cell_of(plan: &Plan, record: &Record, cell: usize) -> Option<AlarmReport> {
    let cell = plan.cell(cell);
    record.blocks[cell.block]
        .stop(&cell.at)
        .map(AlarmReport::from)
}

fn replayed(setting: &Setting, run: &Transcript) -> Option<AlarmReport> {
    let mut plan = Plan::default();
    let cell = plan.add_setting(setting);
    cell_of(&plan, &decide(&plan, run, None), cell)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn live_and_replay_agree(setting in generate::run_setting(), run in generate::run()) {
        let run = transcript(&run);
        prop_assert_eq!(replayed(&setting, &run), live(&setting, &run));
    }

    #[test]
    fn a_cell_of_a_sweep_is_its_live_guard(grid in generate::run_grid(), run in generate::run()) {
        let mut plan = Plan::default();
        prop_assume!(plan.add_grid(&grid).is_ok());
        let run = transcript(&run);
        let record = decide(&plan, &run, None);
        for cell in (0..plan.cells()).step_by(plan.cells() / 40 + 1) {
            let setting = plan.setting(cell);
            prop_assert_eq!(cell_of(&plan, &record, cell), live(&setting, &run), "{}", setting.to_toml("guard"));
        }
    }

    /// What comes after an alarm changes nothing.
    #[test]
    fn what_comes_later_changes_nothing(
        setting in generate::run_setting(),
        run in generate::run(),
        more in generate::run(),
    ) {
        // A turn that comes later says that turns are recorded: none is put in any more.
        let begun = || run.iter().any(|body| matches!(body, Body::Turn));
        prop_assume!(begun() || !more.iter().any(|body| matches!(body, Body::Turn)));
        // Detectors of faults may speak at the end, and the end moves.
        let ends = |member: &deadloop_detect::harness::Member| !member.detector.faults.is_empty();
        prop_assume!(!setting.members.iter().any(ends));
        if let Some(told) = replayed(&setting, &transcript(&run)) {
            let longer = [run, more].concat();
            prop_assert_eq!(replayed(&setting, &transcript(&longer)), Some(told));
        }
    }
}

/// A text that loops and a call that does: the earlier moment wins, whatever the numbers of chars and calls are.
#[test]
fn alarms_of_text_and_calls_are_ordered_by_their_moments() {
    let settings = "[[guard]]\ndetector = 'duplicate'\n\
                    [[guard]]\ndetector = 'periodic'\n[guard.params]\nmin_chars = 40\nmin_single = 40\n";
    let settings = deadloop_detect::Settings::parse(settings).expect("settings");
    let call = Body::ToolCall {
        id: None,
        name: "ls".into(),
        arguments: serde_json::Value::Null,
    };
    let text = Body::Answer("again ".repeat(30));
    let first = |bodies: &[Body]| {
        let run = transcript(bodies);
        let told = replayed(settings.guard(), &run).expect("an alarm");
        assert_eq!(live(settings.guard(), &run).as_ref(), Some(&told));
        told.channel
    };
    let calls = vec![call; 3];
    let calls_first = [calls.clone(), vec![text.clone()]].concat();
    assert_eq!(first(&calls_first), Channel::Tools);
    let text_first = [calls[..2].to_vec(), vec![text], calls[2..].to_vec()].concat();
    assert_eq!(first(&text_first), Channel::Answer);
}
