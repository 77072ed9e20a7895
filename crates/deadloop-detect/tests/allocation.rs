//! Tests that a push of a token to the recommended guard allocates nothing once the windows are full.
//!
//! It is a separate test binary, since its allocator counts all allocations.

#![allow(clippy::unwrap_used, reason = "a test")]

use deadloop_detect::{Decision, Guard, Settings, TextChannel};
use peak_alloc::PeakAlloc;

#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

/// Returns tokens of prose without repeated sentences.
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

/// Returns the number of pushes that allocated. Any allocation raises the peak, even if it is freed at once.
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
