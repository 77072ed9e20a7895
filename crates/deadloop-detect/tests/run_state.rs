//! What a guard on a run holds in memory, however long the run is: below a megabyte for every detector at its defaults
//! and and for windows as long as they may be.

#![allow(clippy::unwrap_used)]

use deadloop_detect::harness::{DETECTORS, Measurement};
use deadloop_detect::{Arguments, Event, Guard, Settings, TextChannel};
use peak_alloc::PeakAlloc;

#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

/// A megabyte.
const MOST: usize = 1_000_000;
/// A call without a result is forgotten after a thousand others: half of this many turns leave more than that.
const TURNS: u32 = 4000;

/// The bytes that a guard holds in the middle of a run and at its end, at most: calls that never get a result, long
/// arguments and results, ids and tools and agents that never come again, long texts.
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
        // In letters: turns that differ in digits alone say the same.
        let letter = |c: char| {
            c.to_digit(10)
                .map_or(c, |digit| char::from(b'a' + digit as u8))
        };
        let said: String = name.chars().map(letter).collect();
        let text = Event::Text(TextChannel::Answer, &said);
        let events = [agent, text, Event::User(&long), call, result];
        // Two of three calls stay open.
        let events = events.iter().take(4 + usize::from(i.is_multiple_of(3)));
        events.for_each(|event| drop(guard.push(event)));
    };
    let mut guard = Guard::new(settings.guard()).unwrap();
    // Some patterns are compiled at their first use and shared by all guards.
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
            // Limits of a few turns end the run.
            if name != "iterations" && name != "loom" {
                let (_, whole) = held(&format!("{guard}preset = '{}'\n", preset.name));
                assert!(whole < MOST, "{}: {whole} bytes", preset.name);
            }
        }
    }
}
