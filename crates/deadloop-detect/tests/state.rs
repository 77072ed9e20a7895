//! Tests the memory of a live stream of any length.
//!
//! It is less than a megabyte for each detector with its defaults, for the recommended guard, and for each preset
//! without `megabytes`. `--nocapture` prints the figures.
//!
//! ```sh
//! cargo test --release -p deadloop-detect --test state -- --nocapture
//! ```
#![allow(clippy::unwrap_used)]

use deadloop_detect::harness::{DETECTORS, EventPlace, Preset};
use deadloop_detect::{Event, Settings, TextChannel};
use peak_alloc::PeakAlloc;

#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

/// A megabyte.
const MOST: usize = 1_000_000;
/// The number of chars of a text. The first half must need as much memory as the whole text.
const CHARS: usize = 240_000;

/// Texts that fill the windows of meters: new words, ideographs, random text of few and of many chars, one repeated
/// char, and counting lines.
fn texts() -> Vec<String> {
    let mut state = 1_u64;
    let mut next = |n: u32| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u32 % n
    };
    let mut noise = |first: char, n: u32, word: u32| -> String {
        let mut char_of = |i: usize| match word > 0 && i as u32 % word == word - 1 {
            true if i as u32 % (9 * word) == word - 1 => '.',
            true => ' ',
            false => char::from_u32(u32::from(first) + next(n)).unwrap(),
        };
        (0..CHARS).map(&mut char_of).collect()
    };
    let lines = (0..CHARS / 20).map(|i| format!("{i}. the same once more\n"));
    vec![
        noise('a', 26, 6),
        // Words of one char.
        noise('가', 11_000, 2),
        noise('一', 6000, 0),
        noise('一', 300, 30),
        noise('a', 2, 0),
        noise('😀', 60, 7),
        "a".repeat(CHARS),
        lines.collect(),
    ]
}

/// The channel of the texts.
const LANE: TextChannel = TextChannel::Answer;

/// Returns the maximum number of bytes that the meters of a guard hold during the first half of a text, and during the
/// whole text. The user has sent the same text.
fn most(settings: &str, text: &str) -> [usize; 2] {
    let settings = Settings::parse(settings).unwrap();
    let members = settings.guard().members.iter();
    let members = members.filter(|member| member.watches(LANE.into()));
    let recipes: Vec<_> = members.filter_map(|member| member.recipe()).collect();
    let mut facts = Vec::new();
    // A first run compiles patterns that all streams share.
    let start = &text[..text.floor_char_boundary(20_000)];
    recipes.iter().for_each(|recipe| {
        recipe
            .meter(LANE.into())
            .push(&Event::Text(LANE, start), EventPlace::default(), &mut facts)
    });
    drop(facts);
    let before = HEAP.current_usage();
    let mut meters: Vec<_> = recipes
        .iter()
        .map(|recipe| recipe.meter(LANE.into()))
        .collect();
    let said = Event::User(text);
    meters
        .iter_mut()
        .for_each(|m| m.push(&said, EventPlace::default(), &mut Vec::new()));
    let mut rest = text;
    let mut most = [0; 2];
    while !rest.is_empty() {
        let (chunk, after) = rest.split_at(rest.floor_char_boundary(1000));
        let mut facts = Vec::new();
        let event = Event::Text(LANE, chunk);
        meters
            .iter_mut()
            .for_each(|m| m.push(&event, EventPlace::default(), &mut facts));
        drop(facts);
        let now = HEAP.current_usage() - before;
        let half = usize::from(rest.len() <= text.len() / 2);
        most[half] = most[half].max(now);
        rest = after;
    }
    most
}

/// Returns the maxima over all texts, for the first halves and for the whole texts.
fn bytes(settings: &str, texts: &[String]) -> (usize, usize) {
    let each = texts.iter().map(|text| most(settings, text));
    let [half, rest] = each.fold([0; 2], |a, b| [a[0].max(b[0]), a[1].max(b[1])]);
    (half.max(rest), half)
}

#[test]
fn a_stream_holds_less_than_a_megabyte_however_long_it_is() {
    let mut texts = texts();
    if cfg!(debug_assertions) {
        // A debug build reads half of the texts, to stay below half a minute.
        texts.truncate(6);
        texts.drain(2..4);
    }
    let recommended = bytes(deadloop_detect::RECOMMENDED, &texts);
    println!("{:12} {:16} {:>9} bytes", "", "recommended", recommended.0);
    // Seven detectors.
    let most = MOST + MOST / 4;
    let mut rows = vec![("the recommended guard", recommended, most)];
    let ignoring = format!("ignore = ['^-']\n{}", deadloop_detect::RECOMMENDED);
    rows.push(("it with a white list", bytes(&ignoring, &texts), most));
    skipping(&texts);
    for detector in DETECTORS.iter().filter(|d| d.name != "command") {
        let presets = detector.presets().unwrap();
        let settings = format!("[[guard]]\ndetector = '{}'\n", detector.name);
        let held = bytes(&settings, &texts);
        println!("{:12} {:16} {:>9} bytes", detector.name, "defaults", held.0);
        rows.push((detector.name, held, MOST));
        for Preset {
            name, megabytes, ..
        } in presets
        {
            let settings = format!("{settings}preset = '{name}'\n");
            let (held, _) = bytes(&settings, &texts);
            println!("{:12} {name:16} {held:>9} bytes", detector.name);
            let most = megabytes as usize * MOST;
            assert!(held < most, "{name}: {held} bytes");
            assert!(megabytes == 1 || held > most / 2, "{name}: {held} bytes");
        }
    }
    for (name, (all, half), most) in rows {
        assert!(all <= half + half / 5, "{name} grows: {half}, then {all}");
        assert!(all < most, "{name}: {all} bytes");
    }
}

/// Tests the recommended guard with a long user message, whose text may be repeated.
fn skipping(texts: &[String]) {
    let settings = format!("prompt = 'skip'\n{}", deadloop_detect::RECOMMENDED);
    let (all, half) = bytes(&settings, texts);
    println!("{:12} {:16} {all:>9} bytes", "", "and a prompt");
    assert!(all <= half + half / 5, "it grows: {half}, then {all}");
    assert!(all < 3 * MOST, "{all} bytes");
}
