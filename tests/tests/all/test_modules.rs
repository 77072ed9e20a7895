//! Each file of a crate's `tests/all` is a module of its `main.rs`: one that is not would compile nowhere.
#![allow(clippy::expect_used, reason = "a test that cannot go on says why")]

use std::path::{Path, PathBuf};

#[test]
fn every_file_of_tests_is_a_module() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let crates = std::fs::read_dir(root.join("crates")).expect("the crates");
    let crates = crates.map(|entry| entry.expect("a crate").path());
    let mut looked = 0;
    for tests in crates
        .chain([root.join("tests")])
        .map(|one| one.join("tests/all"))
    {
        let Ok(main) = std::fs::read_to_string(tests.join("main.rs")) else {
            continue;
        };
        let files = std::fs::read_dir(&tests).expect("a folder");
        let files = files.map(|entry| entry.expect("a file").path());
        let sources: Vec<PathBuf> = files
            .filter(|file| file.extension().is_some_and(|e| e == "rs"))
            .collect();
        for file in sources {
            let name = file
                .file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            let known = name == "main" || main.lines().any(|line| line == format!("mod {name};"));
            assert!(
                known,
                "{}: expected `mod {name};` in main.rs",
                file.display()
            );
            looked += 1;
        }
    }
    assert!(looked > 50, "{looked} files: where are the others?");
}
