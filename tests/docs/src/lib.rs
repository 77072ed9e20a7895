//! The Rust of README.md and `docs/*.md` as doc tests. `build.rs` makes them, and says what a page may leave out.

#[cfg(doctest)]
include!(concat!(env!("OUT_DIR"), "/docs.rs"));
