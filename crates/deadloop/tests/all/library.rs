//! A run as a library call leaves what the program leaves, shows how far it is, and can be stopped.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on says why"
)]

use crate::program;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use deadloop_corpus::Transcript;
use deadloop_detect::Settings;
use deadloop_replay::{Interruption, Plan, Subject, event_text};
use deadloop_run::layout::TextDocument;
use deadloop_run::merge::MergeOptions;
use deadloop_run::option::OUT;
use deadloop_run::options::OnBad;
use deadloop_run::tune::TuneOptions;
use deadloop_run::{
    Answers, Code, Failure, FolderContent, Host, Progress, ReplayOptions, ReplayRun, Request,
    RunOutcome, ShardParts, ask, merge, replay, replay_plan, tune,
};
use deadloop_score::Class;
use program::{Place, Ran, STARTER};

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

    fn notify(&self, line: &str) {
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
    let RunOutcome::Ran(done) = replay_plan(request, &plan, &settings)? else {
        panic!("a folder that holds nothing");
    };
    let done: ReplayRun = *done;
    let evidence = done.evidence(&plan)?;
    let output = &request.output;
    done.score(&evidence, &[cell], &output.by, output.folder.csv)?;
    done.finish(Ok(()), TextDocument::default(), request.host)?;
    Ok(())
}

#[test]
fn a_run_from_a_library_leaves_the_files_that_the_program_leaves() {
    let place = Place::new();
    place.file("settings.toml", SETTINGS);
    let replay_line = "replay ROOT/datasets/starter --settings settings.toml --csv --out typed";
    place.run(replay_line).ends(0);

    let host = Test::default();
    let [typed, called] = ["typed", "called"].map(|name| place.path(name));
    let mut options = ReplayOptions {
        corpus: STARTER.into(),
        settings: vec![place.path("settings.toml")],
        out: called.clone(),
        ..ReplayOptions::default()
    };
    options.output.folder.csv = true;
    let answer = replay(&options, &host).expect("a run");
    assert!(answer.to_string().contains("wrong alarms"), "{answer}");
    assert_eq!(program::result(&typed), program::result(&called));
    assert_eq!(
        *host.passes.lock().expect("passes"),
        ["reading", "replaying", "opening transcripts"]
    );
    assert!(host.read.load(Ordering::Relaxed) > 0);
    let again = replay(&options, &host).expect("the same again");
    assert!(matches!(again.content, FolderContent::Earlier(_)));
}

#[test]
fn a_choice_and_a_merge_from_a_library_leave_the_files_that_the_program_leaves() {
    let place = Place::new();
    place.file(
        "grid.toml",
        "[[guard]]\ndetector = \"periodic\"\n[guard.params]\nmin_copies = [4, 6, 8]\n",
    );
    let line = "tune ROOT/datasets/starter --grid grid.toml --split dev --out typed";
    place.run(line).ends(0);

    let host = Test::default();
    let [typed, called, merged] = ["typed", "called", "merged"].map(|name| place.path(name));
    let mut options = TuneOptions {
        corpus: STARTER.into(),
        grid: Some(place.path("grid.toml")),
        out: called.clone(),
        ..TuneOptions::default()
    };
    options.select.split = Some("dev".into());
    let answer = tune(&options, &host).expect("a choice");
    assert!(answer.to_string().contains("What a limit"), "{answer}");

    let parts = [1, 2].map(|nth| {
        options.out = place.path(&format!("part-{nth}"));
        options.output.folder.shard = Some(format!("{nth}/2").parse().expect("a shard"));
        let answer = tune(&options, &host).expect("a part");
        assert!(matches!(answer.content, FolderContent::Part(_)));
        options.out.clone()
    });
    let merging = MergeOptions {
        parts: parts.into(),
        out: merged.clone(),
        ..MergeOptions::default()
    };
    merge(&merging, &host).expect("a merge");
    assert_eq!(program::result(&called), program::result(&merged));
    for file in [
        "settings.toml",
        "choice.csv",
        "scores.parquet",
        "outcomes.parquet",
    ] {
        let [typed, called] = [&typed, &called].map(|dir| std::fs::read(dir.join(file)));
        assert!(typed.expect("typed") == called.expect("called"), "{file}");
    }
}

#[test]
fn a_run_that_is_stopped_goes_on_from_its_journal() {
    let place = Place::new();
    let [whole, stopped] = ["whole", "stopped"].map(|name| place.path(name));
    let host = Test::default();
    run(&Request::new(STARTER.as_ref(), &whole, &host)).expect("a run");

    let host = Test {
        stop_at: Some(1),
        ..Test::default()
    };
    let error = run(&Request::new(STARTER.as_ref(), &stopped, &host)).expect_err("it was stopped");
    assert_eq!(error.code(), Code::Interrupted, "{}", error.chain());
    assert!(!stopped.join("manifest.json").exists());
    let host = Test::default();
    run(&Request::new(STARTER.as_ref(), &stopped, &host)).expect("the rest of it");
    let of = |dir: &Path| std::fs::read(dir.join("scores.parquet")).expect("scores");
    assert!(of(&whole) == of(&stopped));
    assert!(!stopped.join(".journal.jsonl").exists());
}

#[test]
fn what_is_wrong_is_told_to_whoever_asked() {
    let place = Place::new();
    let lines =
        "{\"id\":\"a\",\"answer\":\"fine\",\"labels\":[{\"class\":\"clean\"}]}\n{\"id\":7}\n";
    place.file("c.jsonl", lines);
    let (corpus, out) = (place.path("c.jsonl"), place.path("out"));
    let host = Test::default();
    let strict = Request::new(&corpus, &out, &host);
    let error = run(&strict).expect_err("a line is bad");
    assert_eq!(error.code(), Code::Usage);
    assert!(error.chain().contains("c.jsonl:2"), "{}", error.chain());
    assert!(error.chain().ends_with("leave them out with `on_bad`"));
    let other = place.path("c.jsonl/out");
    let error = run(&Request::new(&corpus, &other, &host)).expect_err("below a file");
    assert_eq!(error.option(), Some(OUT), "{}", error.chain());
    assert!(error.chain().starts_with("`out` "), "{}", error.chain());
    let mut lenient = strict;
    lenient.select.on_bad = OnBad::Skip;
    run(&lenient).expect("the rest of it");
    let told = host.told.lock().expect("lines");
    assert_eq!(
        told[0],
        "1 problem skipped, see rejected.jsonl in the results"
    );
}

/// The next subject, as somebody else would write it: a judge that takes every transcript for a loop which has more than so
/// many chars.
struct Longer(Vec<usize>);

impl Subject for Longer {
    /// One a threshold.
    type Reply = Vec<bool>;

    fn fingerprint(&self) -> String {
        format!("{:?}", self.0)
    }

    fn compute(&self, transcript: &Transcript, _: &AtomicBool) -> Result<Vec<bool>, Interruption> {
        let texts = transcript.events.iter().filter_map(event_text);
        let chars: usize = texts.map(|(_, text)| text.chars().count()).sum();
        Ok(self.0.iter().map(|most| chars > *most).collect())
    }

    fn can_return(&self, said: &Vec<bool>) -> bool {
        said.len() == self.0.len()
    }
}

/// The loops that each threshold takes for one, and the others that it does.
fn judged(answers: Answers<Vec<bool>>, thresholds: &[usize]) -> Result<String, Failure> {
    let Answers { run, said } = answers;
    let mut rows = String::from("chars,right,wrong\n");
    for (at, chars) in thresholds.iter().enumerate() {
        let taken = run.surveyed.cases.iter().zip(&said);
        let taken = taken.filter(|(_, said)| said[at]);
        let loops = |case: &deadloop_score::Case| case.class() == Some(Class::Loop);
        let (right, wrong): (Vec<_>, Vec<_>) = taken.partition(|(case, _)| loops(case));
        rows += &format!("{chars},{},{}\n", right.len(), wrong.len());
    }
    std::fs::write(run.folder.path().join("scores.csv"), &rows)?;
    run.close(Ok(()), |_| Ok(()))?;
    Ok(rows)
}

#[test]
fn another_subject_is_stopped_goes_on_and_comes_in_parts_like_guards() {
    let place = Place::new();
    let corpus = place.path("corpus");
    // More than are in hand at a time, so that there is a place to stop.
    for nth in 0..5 {
        let line = |n: usize| {
            let answer = "again and ".repeat(10 + 3 * (n % 40) * (nth + 1));
            let class = if n.is_multiple_of(3) { "clean" } else { "loop" };
            let label = match class {
                "loop" => "{\"class\":\"loop\",\"channel\":\"answer\",\"start\":0,\"onset\":10}",
                _ => "{\"class\":\"clean\"}",
            };
            format!("{{\"id\":\"{nth}-{n}\",\"answer\":\"{answer}\",\"labels\":[{label}]}}\n")
        };
        let lines: String = (0..300).map(line).collect();
        place.file(&format!("corpus/transcripts/{nth}.jsonl"), lines);
    }
    let subject = Longer(vec![0, 400, 1_500, 100_000]);
    let asked = |request: &Request<'_>| match ask(request, &subject, Vec::new())? {
        RunOutcome::Ran(answers) => judged(*answers, &subject.0).map(Some),
        RunOutcome::Already(..) | RunOutcome::Part(_) => Ok(None),
    };
    let out = |name: &str| place.path(name);
    let (whole, stopped, merged) = (out("whole"), out("stopped"), out("merged"));
    let host = Test::default();
    let request = Request {
        command: "longer",
        ..Request::new(&corpus, &whole, &host)
    };
    let rows = asked(&request).expect("a run").expect("it ran");
    assert!(
        rows.starts_with("chars,right,wrong\n0,1000,500\n"),
        "{rows}"
    );
    assert!(rows.ends_with("\n100000,0,0\n"), "{rows}");
    assert_eq!(asked(&request).expect("the same again"), None);

    let stopping = Test {
        stop_at: Some(1),
        ..Test::default()
    };
    let cut = |host| Request {
        command: "longer",
        ..Request::new(&corpus, &stopped, host)
    };
    let error = asked(&cut(&stopping)).expect_err("it was stopped");
    assert_eq!(error.code(), Code::Interrupted, "{}", error.chain());
    assert!(stopped.join(".journal.jsonl").exists());
    let rest = asked(&cut(&host)).expect("the rest of it");
    assert_eq!(rest.as_deref(), Some(&*rows));
    assert!(!stopped.join(".journal.jsonl").exists());

    let part = |nth: usize| {
        let folder = out(&format!("part-{nth}"));
        let mut request = Request {
            command: "longer",
            ..Request::new(&corpus, &folder, &host)
        };
        request.output.folder.shard = Some(format!("{nth}/3").parse().expect("a shard"));
        assert_eq!(asked(&request).expect("a part"), None);
        folder
    };
    let parts: Vec<PathBuf> = (1..=3).map(part).collect();
    let mut request = Request {
        command: "longer",
        ..Request::new(&corpus, &merged, &host)
    };
    request.output.folder.parts = Some(Arc::new(ShardParts::open(&parts).expect("three parts")));
    let together = asked(&request).expect("all of them");
    assert_eq!(together.as_deref(), Some(&*rows));
    let other = Longer(vec![1]);
    let error = ask(&request, &other, Vec::new())
        .err()
        .expect("another subject");
    assert!(error.chain().contains("another plan"), "{}", error.chain());
}

/// The lines of Rust source below a folder that name a flag, without comments and tests, each with its crate.
fn flags(krate: &str, folder: &Path, found: &mut Vec<String>) {
    for path in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = path.path();
        if path.is_dir() {
            flags(krate, &path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let text = std::fs::read_to_string(&path).expect("a source");
            let code = text
                .split("\n#[cfg(test)]\nmod ")
                .next()
                .unwrap_or_default();
            let lines = code.lines().map(str::trim_start);
            let named = lines.filter(|line| !line.starts_with("//")).filter(|line| {
                let is_name =
                    |rest: &str| rest.bytes().take(2).filter(u8::is_ascii_lowercase).count() == 2;
                line.split("--").skip(1).any(is_name)
            });
            found.extend(named.map(|line| format!("{krate}: {line}")));
        }
    }
}

/// A library names an option by its key, and the program says it in its own words. The sentences of scores and reports
/// still name some flags: their number only falls. The card of a made corpus holds the command that makes it again.
#[test]
fn no_library_names_a_flag() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("crates");
    let mut found = Vec::new();
    for entry in std::fs::read_dir(crates).expect("crates").flatten() {
        let name = entry.file_name().into_string().expect("a name");
        if name != "deadloop" {
            flags(&name, &entry.path().join("src"), &mut found);
        }
    }
    let known = [
        "deadloop-score: ",
        "deadloop-report: ",
        "deadloop-synth: \"Made by `deadloop synth",
    ];
    let (known, new): (Vec<_>, Vec<_>) = found
        .iter()
        .partition(|line| known.iter().any(|known| line.starts_with(known)));
    assert!(new.is_empty(), "{new:#?}");
    assert!((1..=10).contains(&known.len()), "{known:#?}");
}

/// Every key of an option is an option of the program.
#[test]
fn each_option_that_messages_name_is_in_the_help() {
    let commands = ["tune", "import", "compare", "label", "check", "watch"];
    let help =
        commands.map(|command| program::stdout(&Place::new().run(format!("{command} --help"))));
    for key in deadloop_run::option::KEYS {
        let flag = format!("--{}", key.replace('_', "-"));
        assert!(help.concat().contains(&flag), "{flag}");
    }
}
