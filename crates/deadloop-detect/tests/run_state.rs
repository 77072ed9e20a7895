//! Tests the memory of a guard on a run of any length: less than a megabyte for each detector, with its defaults and
//! with the longest windows.

#![allow(clippy::unwrap_used)]

use deadloop_detect::harness::{DETECTORS, Measurement};
use deadloop_detect::{Arguments, Event, Guard, Settings, TextChannel};
use peak_alloc::PeakAlloc;

#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

/// A megabyte.
const MOST: usize = 1_000_000;
/// The number of turns. Half of them leave more than the thousand open calls that a meter keeps.
const TURNS: u32 = 4000;

/// Returns the maximum number of bytes that a guard holds up to the middle and up to the end of a run. The run has
/// calls without results, long arguments, results and texts, and new ids, tools and agents.
fn held(settings: &str) -> (usize, usize) {
    let settings = Settings::parse(settings).unwrap();
    let long = "word ".repeat(400);
    let turn = |guard: &mut Guard, i: u32| {
        let (id, name) = (format!("call {i}"), format!("tool {i} {long}"));
        let arguments = format!("{{\"n\": {i}, \"text\": \"{long}\"}}");
        let call = Event::Call {
            id: Some(&id),
            name: &name,
            arguments: Arguments::Raw(&arguments),
        };
        let result = Event::Result {
            id: Some(&id),
            content: &name,
            error: Some(false),
            cut: None,
        };
        let agent = Event::Turn { agent: Some(&name) };
        // Letters, since turns that differ only in digits are equal.
        let letter = |c: char| {
            c.to_digit(10)
                .map_or(c, |digit| char::from(b'a' + digit as u8))
        };
        let said: String = name.chars().map(letter).collect();
        let text = Event::Text(TextChannel::Answer, &said);
        let events = [agent, text, Event::User(&long), call, result];
        // Two of three calls get no result.
        let events = events.iter().take(4 + usize::from(i.is_multiple_of(3)));
        events.for_each(|event| drop(guard.push(event)));
    };
    let mut guard = Guard::new(settings.guard()).unwrap();
    // A first run compiles patterns that all guards share.
    (0..10).for_each(|i| turn(&mut guard, i));
    let mut guard = guard.fresh();
    let before = HEAP.current_usage();
    let mut most = [0, 0];
    for i in 0..TURNS {
        turn(&mut guard, i);
        let now = HEAP.current_usage().saturating_sub(before);
        let half = usize::from(i >= TURNS / 2);
        most[half] = most[half].max(now);
    }
    assert!(guard.stopped().is_none(), "{settings:?} ends the run");
    (most[0], most[1])
}

#[test]
fn a_run_holds_less_than_a_megabyte_however_long_it_is() {
    for detector in DETECTORS {
        let Measurement::Run(..) = detector.measure else {
            continue;
        };
        let name = detector.name;
        let quiet = match name {
            "iterations" => "[guard.params]\nlimit = 100_000\n",
            "loom" => "[guard.params]\nmax_iterations = 1_000_000\n",
            _ => "",
        };
        let widest = match name {
            "interleaved" | "call-novelty" => "[guard.params]\nwindow = 1000\n",
            "cycle" => "[guard.params]\nmax_period = 100\n",
            "loom" => "[guard.params]\nmax_iterations = 1_000_000\nkeep_outputs = 200\n",
            "openhands" => "[guard.params]\nscan = 1000\n",
            _ => quiet,
        };
        let guard = format!("[[guard]]\ndetector = '{name}'\n");
        for params in [quiet, widest] {
            let (half, whole) = held(&format!("{guard}{params}"));
            println!("{name:12} {half:>8} {whole:>8} bytes {params:?}");
            assert!(whole < MOST, "{name}: {whole} bytes");
            assert!(
                whole <= half + half / 5 + 1000,
                "{name} grows: {half}, then {whole}"
            );
        }
        for preset in detector.presets().unwrap() {
            // Short limits would end the run.
            if name != "iterations" && name != "loom" {
                let (_, whole) = held(&format!("{guard}preset = '{}'\n", preset.name));
                assert!(whole < MOST, "{}: {whole} bytes", preset.name);
            }
        }
    }
}
