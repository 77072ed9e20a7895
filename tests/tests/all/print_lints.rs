//! No crate prints with a macro that panics where nobody reads: the lint is switched on in each of them.
#![allow(clippy::expect_used, reason = "in the helpers of tests as in tests")]

use std::path::Path;

#[test]
fn every_crate_refuses_macros_that_panic_where_nobody_reads() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
    let mut looked = 0;
    for entry in std::fs::read_dir(crates).expect("the crates") {
        let sources = entry.expect("a crate").path().join("src");
        for root in ["lib.rs", "main.rs"].map(|name| sources.join(name)) {
            let Ok(text) = std::fs::read_to_string(&root) else {
                continue;
            };
            looked += 1;
            let denied = text.split_once("#![deny(").map_or("", |(_, rest)| rest);
            for lint in ["clippy::print_stderr", "clippy::print_stdout"] {
                assert!(
                    denied.contains(lint),
                    "{}: expected #![deny({lint})]",
                    root.display()
                );
            }
        }
    }
    assert!(looked > 7, "{looked} crates: where are the others?");
}
