//! A push of a token allocates nothing: neither the guard, nor what answers, nor the meters of the recommended guard
//! once their windows are full. A test binary of its own, for its allocator sees all of it.

#![allow(clippy::unwrap_used, reason = "a test")]

use deadloop_detect::{Decision, Guard, Settings, TextChannel};
use peak_alloc::PeakAlloc;

#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

/// Tokens of prose in which no sentence comes again.
fn tokens(count: usize) -> Vec<String> {
    let words = [
        "river", "hill", "stone", "house", "light", "grass", "wind", "road",
    ];
    let mut state = 12_345_u64;
    let mut next = move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) as usize
    };
    let token = |_| format!("{}{} ", words[next() % 8], next() % 9973);
    (0..count).map(token).collect()
}

/// Of so many pushes, in how many something was allocated. Whatever is taken from the heap, and be it given back at once,
/// raises the peak.
fn allocating(settings: &str, warm: usize, pushes: usize) -> usize {
    let settings = Settings::parse(settings).unwrap();
    let mut guard = Guard::new(settings.guard()).unwrap();
    let tokens = tokens(warm + pushes);
    let mut allocated = 0;
    for (at, token) in tokens.iter().enumerate() {
        let before = HEAP.current_usage();
        HEAP.reset_peak_usage();
        let pushed = guard.push_text(TextChannel::Answer, token);
        let now = HEAP.peak_usage();
        assert_eq!(pushed.decision, Decision::Continue, "{token}");
        allocated += usize::from(at >= warm && now > before);
    }
    allocated
}

#[test]
fn a_push_of_a_token_allocates_nothing() {
    assert_eq!(
        allocating(
            "[[guard]]\ndetector = \"periodic\"\nenabled = false\n",
            0,
            1000
        ),
        0,
        "the guard itself"
    );
    let periodic = "[[guard]]\ndetector = \"periodic\"\n";
    assert_eq!(
        allocating(periodic, 20_000, 5000),
        0,
        "with a meter that is warm"
    );
}
