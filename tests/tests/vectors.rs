//! Every vector, exactly: through the live guard in any chunking.

use deadloop_detect::{Channel, Guard};
use deadloop_tests::vectors::{Expect, Vector, read};

/// What the live guard says when the text comes in pieces of `size` chars.
fn live(vector: &Vector, size: usize) -> Option<Expect> {
    let mut guard = Guard::new(&vector.setting("checkpoint"));
    let chars: Vec<char> = vector.text.chars().collect();
    let alarm = chars.chunks(size.max(1)).find_map(|piece| {
        guard.push(Channel::Answer, &piece.iter().collect::<String>())
    })?;
    Some(Expect { at: alarm.exact.0, kind: alarm.kind.name().into() })
}

#[test]
fn checkpoint_live_in_any_chunking() {
    let vectors = read("checkpoint.jsonl");
    assert_eq!(vectors.len(), 600);
    for (i, vector) in vectors.iter().enumerate() {
        for size in [1, 2, 7, 50, 1000, usize::MAX] {
            assert_eq!(live(vector, size), vector.expect, "vector {i} in pieces of {size}");
        }
        // Some vectors ask for what can never fire; such a setting is refused when it is read.
        let refused = vector.setting("checkpoint").members.iter().any(|m| m.check().is_err());
        assert!(!refused || vector.expect.is_none(), "vector {i} fires, so it can fire");
    }
}
