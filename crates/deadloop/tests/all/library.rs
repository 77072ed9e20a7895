//! A run as a library call leaves what the program leaves, shows how far it is, and can be stopped.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on says why"
)]

use crate::program;

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use deadloop_detect::Settings;
use deadloop_replay::Plan;
use deadloop_run::{Code, Done, Failure, Host, Progress, Replayed, Request, replay};
use program::{STARTER, code, deadloop, file, stderr};

const SETTINGS: &str = "[[guard]]\ndetector = \"periodic\"\n";

/// Hears everything, and stops a pass over a corpus when so many bytes have been read.
#[derive(Default)]
struct Test {
    cancel: AtomicBool,
    stop_at: Option<u64>,
    read: AtomicU64,
    passes: Mutex<Vec<&'static str>>,
    told: Mutex<Vec<String>>,
}

impl Host for Test {
    fn cancel(&self) -> &AtomicBool {
        &self.cancel
    }

    fn begin(&self, what: Option<&'static str>) -> Box<dyn Progress + '_> {
        self.passes.lock().expect("passes").extend(what);
        Box::new(Far(self, what == Some("replaying")))
    }

    fn tell(&self, line: &str) {
        self.told.lock().expect("lines").push(line.into());
    }

    fn writes(&self, _: &Path) {}
}

struct Far<'a>(&'a Test, bool);

impl Progress for Far<'_> {
    fn at(&self, read: u64, total: u64) {
        assert!(read <= total || total == 0, "{read} of {total}");
        self.0.read.fetch_max(read, Ordering::Relaxed);
        if self.1 && self.0.stop_at.is_some_and(|at| read >= at) {
            self.0.cancel.store(true, Ordering::Relaxed);
        }
    }
}

fn plan() -> (Plan, Settings, usize) {
    let settings = Settings::parse(SETTINGS).expect("settings");
    let mut plan = Plan::default();
    let cell = plan.add_settings(&settings);
    (plan, settings, cell)
}

/// Replays, scores, and finishes.
fn run(request: &Request<'_>) -> Result<(), Failure> {
    let (plan, settings, cell) = plan();
    let Done::Ran(done) = replay(request, &plan, &settings)? else {
        panic!("a folder that holds nothing");
    };
    let done: Replayed = *done;
    let evidence = done.evidence(&plan)?;
    done.score(&evidence, Some(cell), &[cell], (request.by, request.csv))?;
    done.finish(Ok(()), |_, _| Ok(()))
}

#[test]
fn a_run_from_a_library_leaves_the_tables_that_the_program_leaves() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let settings = file(dir.path(), "settings.toml", SETTINGS);
    let typed = dir.path().join("typed");
    let out = typed.display().to_string();
    let ran = deadloop(&[
        "replay",
        STARTER,
        "--settings",
        &settings,
        "--csv",
        "--out",
        &out,
    ]);
    assert_eq!(code(&ran), Some(0), "{}", stderr(&ran));

    let host = Test::default();
    let called = dir.path().join("called");
    let request = Request {
        csv: true,
        ..Request::of(STARTER.as_ref(), &called, &host)
    };
    run(&request).expect("a run");
    for name in [
        "scores.csv",
        "scores.parquet",
        "scores_by.csv",
        "outcomes.csv",
        "outcomes.parquet",
    ] {
        let of = |dir: &Path| std::fs::read(dir.join(name)).expect(name);
        assert!(of(&typed) == of(&called), "{name} differs");
    }
    assert_eq!(
        *host.passes.lock().expect("passes"),
        ["reading", "replaying"]
    );
    assert!(host.read.load(Ordering::Relaxed) > 0);
    let (plan, settings, _) = plan();
    let again = replay(&request, &plan, &settings).expect("the same again");
    assert!(matches!(again, Done::Already(..)), "it was there");
}

#[test]
fn a_run_that_is_stopped_goes_on_from_its_journal() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let [whole, stopped] = ["whole", "stopped"].map(|name| dir.path().join(name));
    let host = Test::default();
    run(&Request::of(STARTER.as_ref(), &whole, &host)).expect("a run");

    let host = Test {
        stop_at: Some(1),
        ..Test::default()
    };
    let error = run(&Request::of(STARTER.as_ref(), &stopped, &host)).expect_err("it was stopped");
    assert_eq!(error.code(), Code::Interrupted as u8, "{}", error.said());
    assert!(!stopped.join("manifest.json").exists());
    let host = Test::default();
    run(&Request::of(STARTER.as_ref(), &stopped, &host)).expect("the rest of it");
    let of = |dir: &Path| std::fs::read(dir.join("scores.parquet")).expect("scores");
    assert!(of(&whole) == of(&stopped));
    assert!(!stopped.join(".journal.jsonl").exists());
}

#[test]
fn what_is_wrong_is_told_to_whoever_asked() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let lines =
        "{\"id\":\"a\",\"answer\":\"fine\",\"labels\":[{\"class\":\"clean\"}]}\n{\"id\":7}\n";
    let corpus = file(dir.path(), "c.jsonl", lines);
    let out = dir.path().join("out");
    let host = Test::default();
    let strict = Request::of(corpus.as_ref(), &out, &host);
    let error = run(&strict).expect_err("a line is bad");
    assert_eq!(error.code(), Code::Usage as u8);
    assert!(error.said().contains("c.jsonl:2"), "{}", error.said());
    let lenient = Request {
        skip_bad: true,
        ..strict
    };
    run(&lenient).expect("the rest of it");
    let told = host.told.lock().expect("lines").join("\n");
    assert_eq!(told, "1 problem skipped, see rejected.jsonl in the results");
}
