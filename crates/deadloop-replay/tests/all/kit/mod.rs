//! Helpers for the tests of programs: small Python programs, a corpus, a run.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use deadloop_replay::corpus::Corpus;
use deadloop_replay::{
    Grid, Journal, Plan, PlanGuards, Programs, Record, RunError, RunOutput, Watcher,
};
use serde_json::{Value, json};

/// The prelude of each program: `say`, and `told` for the messages on stdin.
const PRELUDE: &str = r#"
import json, os, sys, time
def say(message, end="\n"):
    sys.stdout.write(json.dumps(message) + end)
    sys.stdout.flush()
def told():
    for raw in sys.stdin.buffer:
        yield json.loads(raw)
def verdict(transcript, alarm=None):
    say({"type": "verdict", "transcript": transcript, "alarm": alarm})
def ready():
    say({"type": "ready", "name": "test", "version": "1"})
"#;

/// A program that runs `AT_END` at the end of each transcript. `transcript` is the id, and `events` are the events
/// received.
const SERVE: &str = r#"
for message in told():
    if message["type"] == "hello":
        params = message["params"]
        ready()
    elif message["type"] == "start":
        transcript, events = message["transcript"], []
    elif message["type"] == "end":
        AT_END
    else:
        events.append(message)
"#;

/// A folder with programs and a corpus.
pub(crate) struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self {
            dir: tempfile::tempdir().unwrap(),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Writes a program with this source.
    pub(crate) fn program(&self, name: &str, body: &str) -> PathBuf {
        let path = self.path().join(name);
        std::fs::write(&path, format!("{PRELUDE}{body}")).unwrap();
        path
    }

    /// Writes a program that runs this code at the end of each transcript.
    pub(crate) fn server(&self, name: &str, at_end: &str) -> PathBuf {
        let indented = at_end.trim().replace('\n', "\n        ");
        self.program(name, &SERVE.replace("AT_END", &indented))
    }

    /// Writes transcripts, each an id and its recorded events.
    pub(crate) fn corpus(&self, transcripts: &[(String, Vec<Value>)]) -> Corpus {
        let line = |(id, events): &(String, Vec<Value>)| {
            json!({"id": id, "model": "m", "events": events}).to_string() + "\n"
        };
        let path = self.path().join("corpus.jsonl");
        std::fs::write(&path, transcripts.iter().map(line).collect::<String>()).unwrap();
        Corpus::open(&path).unwrap()
    }

    /// Writes a corpus of short answers, for programs that ignore them.
    pub(crate) fn ids(&self, ids: &[&str]) -> Corpus {
        let events = [
            json!({"type": "turn"}),
            json!({"type": "answer", "text": "x"}),
        ];
        let all = ids.iter().map(|id| ((*id).to_owned(), events.to_vec()));
        self.corpus(&all.collect::<Vec<_>>())
    }
}

/// Returns whether Python is missing, and says so. Fails in CI, where Python is installed.
pub(crate) fn no_python() -> bool {
    let found = Command::new("python3").arg("--version").output();
    let missing = !found.is_ok_and(|out| out.status.success());
    if missing {
        assert!(std::env::var_os("CI").is_none(), "CI has python3");
        eprintln!("skipped: the test's programs need python3");
    }
    missing
}

/// Returns a guard with this program as its only detector.
pub(crate) fn guard(program: &Path, params: &str) -> String {
    let path = toml::Value::from(program.display().to_string());
    format!(
        "[[guard]]\ndetector = \"command\"\n[guard.params]\ncommand = [\"python3\", {path}]\n{params}\n"
    )
}

/// Returns the plan of a grid.
pub(crate) fn plan(text: &str) -> Plan {
    let mut plan = Plan::default();
    plan.add_grid(&Grid::parse(text).unwrap()).unwrap();
    plan
}

/// The options of a run over a corpus.
pub(crate) struct How<'a> {
    pub(crate) threads: usize,
    pub(crate) chunks: u64,
    pub(crate) journal: Option<&'a Path>,
    pub(crate) cancel: &'a AtomicBool,
}

pub(crate) static NEVER: AtomicBool = AtomicBool::new(false);

impl Default for How<'_> {
    fn default() -> Self {
        Self::on(2)
    }
}

impl How<'_> {
    pub(crate) fn on(threads: usize) -> Self {
        Self {
            threads,
            chunks: 0,
            journal: None,
            cancel: &NEVER,
        }
    }
}

/// Generator of small pseudo-random numbers.
pub(crate) struct Draw(pub(crate) u64);

impl Draw {
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    pub(crate) fn pick<T: Clone>(&mut self, items: &[T]) -> T {
        items[self.below(items.len() as u64) as usize].clone()
    }
}

/// Replays a corpus through a plan.
pub(crate) fn run(corpus: &Corpus, plan: &Plan, how: &How<'_>) -> Result<Vec<Record>, RunError> {
    let ids = corpus.entries().map(|e| e.unwrap().transcript.id.into());
    let ids: HashSet<Arc<str>> = ids.collect();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(how.threads);
    pool.build().unwrap().install(|| {
        let programs = Programs::start(plan, how.cancel).unwrap();
        let job = deadloop_replay::Job {
            corpus,
            ids: &ids,
            subject: &PlanGuards {
                plan,
                programs: &programs,
                chunks: std::num::NonZeroU64::new(how.chunks),
            },
        };
        let watch = Watcher {
            cancel: how.cancel,
            progress: &|_, _| {},
        };
        let open = |path| Journal::open(path, "inputs", false).unwrap();
        let journal = how.journal.map(open);
        deadloop_replay::run(&job, journal, &watch).map(|RunOutput { records, .. }| records)
    })
}

/// Returns the error of a record's first block.
pub(crate) fn error(record: &Record) -> &str {
    record.blocks[0].error.as_deref().unwrap_or("")
}
