//! The cases of `tests/cases/`: texts with the answer written beside them.

#[test]
fn every_case() {
    assert!(
        deadloop_tests::cases::run_all() >= 110,
        "all files were read"
    );
}
