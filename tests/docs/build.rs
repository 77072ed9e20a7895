//! Makes examples that are compiled and run of the blocks of the language `rust` in README.md and `docs/*.md`.
//!
//! A page shows only what its reader needs. What else an example needs stands in a comment of the page, which is not
//! shown, right before the block:
//!
//! ```text
//! <!-- rust
//! let text = "[[guard]]\ndetector = \"periodic\"";
//! …
//! assert!(guard.stopped().is_some());
//! -->
//! ```
//!
//! The block stands where the line `…` is, or after the whole comment. All of it is in a function that may fail with any
//! error, so it may use `?`.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a page that cannot be read fails the build of the tests"
)]

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

const COMMENT: &str = "<!-- rust";
const BLOCK: &str = "```rust";
const HERE: &str = "…";

fn main() {
    // Asked for as it runs: a cache may hold the build script of a clone that stood elsewhere.
    let here = env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it");
    let root = Path::new(&here).join("../..");
    let docs = root.join("docs");
    println!("cargo::rerun-if-changed={}", docs.display());
    let names = fs::read_dir(docs).expect("the folder of the docs");
    let mut pages: Vec<PathBuf> = names.map(|entry| entry.expect("a file").path()).collect();
    pages.retain(|page| page.extension().is_some_and(|kind| kind == "md"));
    pages.push(root.join("README.md"));
    pages.sort();
    let mut all = String::new();
    for page in pages {
        println!("cargo::rerun-if-changed={}", page.display());
        let text = fs::read_to_string(&page).expect("a page is UTF-8");
        let name = page.file_stem().expect("a page has a name");
        let name = name.to_string_lossy().to_lowercase().replace('-', "_");
        for (number, example) in examples(&text, &page).iter().enumerate() {
            let item = format!("#[doc = {example:?}]\npub fn {name}_{}() {{}}", number + 1);
            writeln!(all, "{item}").expect("a string takes all");
        }
    }
    let out = env::var_os("OUT_DIR").expect("cargo says where to write");
    fs::write(Path::new(&out).join("docs.rs"), all).expect("it can be written there");
}

/// The examples of a page, each as a doc comment.
fn examples(text: &str, page: &Path) -> Vec<String> {
    let (mut found, mut lines) = (Vec::new(), text.lines());
    let mut around = String::new();
    while let Some(line) = lines.next() {
        match line {
            COMMENT => around = until("-->", &mut lines, page),
            BLOCK => {
                let block = until("```", &mut lines, page);
                found.push(example(&std::mem::take(&mut around), &block));
            }
            _ if line.starts_with(BLOCK) => panic!("{}: expected {BLOCK} alone", page.display()),
            _ if !around.is_empty() => panic!("{}: no {BLOCK} after {COMMENT}", page.display()),
            _ => {}
        }
    }
    found
}

/// The lines before the one that is `end`.
fn until<'a>(end: &str, lines: &mut impl Iterator<Item = &'a str>, page: &Path) -> String {
    let mut text = String::new();
    loop {
        match lines.next() {
            Some(line) if line == end => return text,
            Some(line) => text += &format!("{line}\n"),
            None => panic!("{}: expected a line {end}", page.display()),
        }
    }
}

fn example(around: &str, block: &str) -> String {
    let (before, after) = around
        .split_once(&format!("{HERE}\n"))
        .unwrap_or((around, ""));
    format!(
        "```\nfn main() -> Result<(), Box<dyn std::error::Error>> {{\n{before}{block}{after}Ok(())\n}}\n```"
    )
}
