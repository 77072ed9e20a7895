//! The advice of `tune`, `compare` and `export` on the corpora that come with deadloop: verdict and sentence, as a new
//! user met them.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on says why"
)]

use crate::program;

use std::collections::BTreeMap;

use program::{Place, Ran, Row, has, stdout};
use serde_json::Value;

const STARTER: &str = "ROOT/datasets/starter";

/// What `tune` answers on a corpus with a guard in use; leaves the choice in `out`.
fn tuned(place: &Place, corpus: &str, in_use: &str, out: &str, more: &str) -> Value {
    let tune = format!("tune {corpus} --settings {in_use} --out {out} --json {more}");
    place.run(tune).json()
}

fn text<'a>(told: &'a Value, key: &str) -> &'a str {
    told[key].as_str().unwrap_or_default()
}

/// This guard ships for all models.
fn ships(told: &Value, guard: &str, in_use: &str) {
    assert_eq!(text(told, "verdict"), "ship", "{in_use}: {told}");
    let reason = text(told, "reason");
    assert!(
        reason.starts_with(&format!("Ship {guard}")),
        "{in_use}: {reason}"
    );
    assert_eq!(text(told, "is"), guard);
}

/// The last 60 chars occur four times in the last 4,000: a guard as people write it.
const HOMEMADE: &str = "[[guard]]\ndetector = \"recurrence\"\n[guard.params]\nby = \"chars\"\nn = 60\nwindow = 4000\nmin_count = 4\nmax_gap = 0\nmax_distinct = 0\n";

/// The walk of README, labelled by the finder.
fn walk() -> Place {
    let place = Place::new();
    let import = "import ROOT/docs/walk/chats.jsonl.zst --out my-logs";
    place.run(import).ends(0);
    place.run("label my-logs").ends(0);
    place
}

/// The written file, replayed, has the in-sample figures to the last digit, and every output the same ones.
fn is_true_of_its_file(place: &Place, corpus: &str, in_use: &str, more: &str) {
    let told = tuned(place, corpus, in_use, "tuned", &format!("{more} --force"));
    let split = if more.contains("--split") {
        "--split dev"
    } else {
        "--quiet"
    };
    let replay = format!(
        "replay {corpus} --settings tuned/settings.toml --csv --force {split} --out replayed"
    );
    place.run(replay).ends(0);
    let rows = place.rows("replayed/scores.csv");
    let scores = rows.iter().find(|row| row["by"] == "total").expect("a row");
    // The row of all models.
    let choice = &place.rows("tuned/choice.csv")[0];
    for measure in "saved ended recall within_1000 delay fa_per_mchar".split(' ') {
        let in_sample = &choice[&format!("in_sample_{measure}")];
        assert_eq!(*in_sample, scores[measure], "{in_use} {measure}");
    }
    let wrong =
        ["false_alarm", "premature", "stale"].map(|of| scores[of].parse::<u64>().expect("n"));
    let wrong: u64 = wrong.iter().sum();
    assert_eq!(told["in_sample"]["wrong"], wrong, "{in_use}");
    assert_eq!(choice["in_sample_wrong"], wrong.to_string());
    assert_eq!(choice["in_sample_transient"], scores["transient_stop"]);
    // The same sentence and figures everywhere.
    let manifest: Value = place.read("tuned/manifest.json").parse().expect("JSON");
    assert_eq!(manifest["advice"]["file"], told["file"]);
    let reason = text(&told, "reason");
    // Both sides of the sentence are on all labels.
    if told["verdict"] == "ship" {
        let of = |side: &str| {
            let saved = told[side]["saved"].as_f64().expect("a share");
            format!("{:.1} %", 100.0 * saved)
        };
        let text = "of the looping text instead of";
        has(
            reason,
            &format!(
                "saves {} {text} {}, wrong alarms ",
                of("file"),
                of("in_use")
            ),
        );
        for alarms in ["wrong", "transient"] {
            let [new, old] = ["file", "in_use"].map(|side| told[side][alarms].clone());
            let changes = [format!("from {old} to {new}"), format!("stay at {new}")];
            assert!(
                reason.contains(&changes[usize::from(new == old)]),
                "{reason}"
            );
        }
    }
    has(&place.read("tuned/settings.toml"), reason);
    has(&place.read("tuned/report.md").replace('\\', ""), reason);
    let by_folds = told["by_folds"] == true;
    assert_eq!(by_folds, told["file"] != told["in_sample"], "{in_use}");
}

#[test]
fn the_figures_are_those_of_the_file() {
    let place = walk();
    place.file("grid.toml", "[[guard]]\ndetector = \"periodic\"\n[guard.params]\nmin_copies = [3, 4, 6]\nmin_chars = [100, 250, 500]\n");
    for in_use in ["document", "recommended"] {
        is_true_of_its_file(&place, "my-logs", in_use, "");
    }
    is_true_of_its_file(&place, "my-logs", "gemini-cli", "--grid grid.toml");
    let starter = "--split dev --constraint fa_per_mchar<=10";
    is_true_of_its_file(&place, STARTER, "document", starter);
    let grid = format!("{starter} --grid grid.toml");
    is_true_of_its_file(&place, STARTER, "vllm", &grid);
}

#[test]
fn the_owner_of_a_weak_guard_is_told_to_take_a_ready_one() {
    let place = walk();
    place.file("homemade.toml", HOMEMADE);
    for in_use in ["document", "llama-cpp", "gemini-cli", "homemade.toml"] {
        let told = tuned(&place, "my-logs", in_use, &format!("{in_use}-out"), "");
        ships(&told, "the recommended guard", in_use);
    }
}

/// On the starter corpus the recommended guard is over the default limit, but not surely: it
/// ships, and the sentence says so. Where somebody gives that limit it ships too, with no more wrong alarms than in use, and exit code 6.
#[test]
fn of_the_ready_guards_the_best_within_the_limits_ships() {
    let place = Place::new();
    let assumed = tuned(&place, STARTER, "document", "assumed", "--split dev");
    ships(&assumed, "the recommended guard", "document");
    let words = " wrong alarms per million chars, above the default limit of 1.";
    has(text(&assumed, "reason"), words);
    let limit = "--split dev --constraint fa_per_mchar<=1";
    let given = tuned(&place, STARTER, "document", "given", limit);
    ships(&given, "the recommended guard", "document");
    let reason = text(&given, "reason");
    has(
        reason,
        " settings.toml makes 2.68 wrong alarms per million chars, above the limit of 1.",
    );
    has(
        reason,
        " To stay within the limit costs 24.0 points of saved: the preset quiet saves 50.4 %",
    );
}

/// In use ends 12 % of the loops at 10.75 wrong alarms per million chars, and a row of the grid 56 % at 10.15: nobody is told to
/// keep it under any limit around its own rate, and a laxer one never ships less.
#[test]
fn a_dominated_guard_is_not_kept() {
    let place = Place::new();
    let grid = "[[guard]]\ndetector = \"checkpoint\"\n[guard.params]\ncheckpoints = [[2000,3000,5000],[500,1000,1500,2000]]\nevery = [0,1000]\nshort_at = \"all\"\npartial_tail = \"drop\"\nsegment = [\"between\",2000]\nmin_repeats = [4,6,8,12]\nmin_matches = [3,4,6,8,12,20]\nmin_cycles = [1,3]\n";
    place.file("grid.toml", grid);
    let mut before = 0.0;
    for limit in ["9.6", "11.5", "20"] {
        let words = format!("--split dev --grid grid.toml --constraint fa_per_mchar<={limit}");
        let told = tuned(&place, STARTER, "document", limit, &words);
        assert_eq!(text(&told, "verdict"), "ship", "{limit}: {told}");
        let saved = told["file"]["saved"].as_f64().expect("a share");
        assert!(saved >= before, "{limit}: {saved} {before}");
        before = saved;
    }
}

/// Runs of agents: the recommended guard is within the default limit and better.
#[test]
fn of_guards_on_runs_too() {
    let place = Place::new();
    let tuned = |out: &str, more: &str| {
        tuned(
            &place,
            "ROOT/datasets/agents-starter",
            "openhands-sdk",
            out,
            more,
        )
    };
    let strict = tuned("strict", "--unit calls");
    ships(&strict, "the recommended guard", "openhands-sdk");
    // A stream of one response has no results of tools.
    has(
        &strict["to_do"].to_string(),
        "Let the agent load settings.toml in its own process",
    );
    assert!(
        !strict["next"].to_string().contains("deadloop watch"),
        "{strict}"
    );
    let told = tuned("rate", "--unit calls --loop-rate 1/100");
    assert_eq!(
        told["file"], strict["file"],
        "a rate of loops decides nothing"
    );
    let more = told["more"].to_string();
    has(&more, "At a loop rate of 1 in 100 runs, settings.toml ");
}

/// `--also` names a ready guard; one that is not there is an error.
#[test]
fn a_guard_that_is_named_may_ship_as_it_is() {
    let place = Place::new();
    let eager = deadloop_detect::RECOMMENDED
        .replace("min_counters = 10000", "min_counters = 4500")
        .replace("min_form = 4500", "min_form = 0");
    place.file("eager.toml", eager);
    let told = tuned(
        &place,
        STARTER,
        "document",
        "out",
        "--split dev --also eager.toml",
    );
    assert_eq!(text(&told, "verdict"), "ship", "{told}");
    assert!(text(&told, "is").contains("eager"), "{told}");
    let absent = format!("tune {STARTER} --also nothing.toml --out x");
    place.run(absent).ends(2);
}

/// Repetitions that end by themselves and are stopped stand beside the wrong alarms: terminal, Markdown, page, settings.
#[test]
fn transient_stops_stand_beside_wrong_alarms() {
    let place = Place::new();
    let tune = format!("tune {STARTER} --split dev --settings document --out out");
    place.run(tune).ends(0).shows("transient stops");
    for name in ["report.md", "report.html", "settings.toml"] {
        has(&place.read(&format!("out/{name}")), "transient stops");
    }
}

/// Letting an earlier repetition run is no gain.
#[test]
fn what_ends_loops_is_an_objective_and_stands_first() {
    let place = Place::new();
    let replay = format!("replay {STARTER} --settings recommended --out seen");
    let table = stdout(&place.run(replay));
    let head = table.lines().next().unwrap_or_default();
    let heads: Vec<&str> = head.split_whitespace().collect();
    let stands = heads
        .windows(3)
        .any(|three| three == ["earlier", "ended", "recall"]);
    assert!(stands, "{head}");
    let told = tuned(
        &place,
        STARTER,
        "recommended",
        "out",
        "--objective ended --split dev",
    );
    let (ended, objective) = (&told["in_use"]["ended"], &told["in_use"]["objective"]);
    assert!(
        ended.as_f64() >= told["in_use"]["recall"].as_f64(),
        "{told}"
    );
    assert_eq!(ended, objective);
}

/// A change that is better in everything passes its own gate.
#[test]
fn the_gate_does_not_fail_what_is_improved() {
    let run = Place::new().run(format!("compare document recommended --corpus {STARTER}"));
    run.ends(0).shows("improved: better overall");
}

/// What `tune` ships: two copies of long units, three of shorter ones.
const TUNED: &str = "[[guard]]\ndetector = \"periodic\"\n[guard.params]\nmax_period = 4500\nmin_copies = 2\nmin_chars = 250\nmin_single = 700\nrules = [{ max_period = 50, min_copies = 5, min_chars = 180 }, { max_period = 2000, min_copies = 3, min_chars = 250 }]\n";
/// The setting of a user whose export stopped at the second copy.
const ROWS: &str = "[[guard]]\ndetector = \"periodic\"\n[guard.params]\nmax_period = 4500\nmin_copies = 2\nmin_chars = 250\nrules = [{ max_period = 2000, min_chars = 250, min_copies = 3 }]\n";
/// The least that can be said.
const PLAIN: &str = "[[guard]]\ndetector = \"periodic\"\n[guard.params]\nmax_period = 512\nmin_copies = 4\nmin_chars = 64\n";

/// The alarms of each setting of a replay: transcript and place, by the setting's name.
fn alarms(place: &Place, settings: &[String]) -> BTreeMap<String, BTreeMap<String, u64>> {
    let each = settings.iter().map(|one| format!(" --settings {one}"));
    let each: String = each.collect();
    let replay = format!("replay {STARTER} --out replayed --csv --json{each}");
    let told = place.run(replay).json();
    let mut of: BTreeMap<String, BTreeMap<String, u64>> = BTreeMap::new();
    let alarm = |row: &Row| row["alarm_exact"].parse().ok();
    for (row, at) in place
        .rows("replayed/outcomes.csv")
        .iter()
        .filter_map(|row| Some((row, alarm(row)?)))
    {
        let own = of.entry(row["setting"].clone()).or_default();
        own.insert(row["transcript"].clone(), at);
    }
    let ids = told["settings"].as_array().expect("rows").iter();
    let own = ids.map(|row| of.remove(text(row, "setting")).unwrap_or_default());
    settings.iter().cloned().zip(own).collect()
}

/// Every engine, every setting: the export's twin stops nothing that the setting does not stop, and nothing earlier.
#[test]
fn no_export_asks_for_less_than_the_setting_does() {
    let place = Place::new();
    for (name, text) in [("rows", ROWS), ("tuned", TUNED), ("plain", PLAIN)] {
        place.file(&format!("{name}.toml"), text);
    }
    let settings = ["recommended", "rows.toml", "tuned.toml", "plain.toml"];
    let mut all = settings.map(str::to_owned).to_vec();
    let mut twins: Vec<(&str, String, &str)> = Vec::new();
    for setting in settings {
        for engine in ["vllm", "typescript", "litellm"] {
            let run = place.run(format!("export {setting} --to {engine} --json"));
            if (setting, engine) == ("recommended", "typescript") {
                // Blanks to fill in need more chars than the class reads.
                run.ends(2).says("asks for 4500 chars");
                continue;
            }
            let told = run.ends(0).json();
            let config = text(&told, "config").lines();
            // The class has the numbers of the twin that is replayed.
            for field in config.filter_map(|line| line.strip_prefix("  ")?.split_once(": ")) {
                let snake = |c: char| match c {
                    'A'..='Z' => format!("_{}", c.to_ascii_lowercase()),
                    _ => c.to_string(),
                };
                let name: String = field.0.chars().map(snake).collect();
                let line = format!("\n{name} = {}\n", field.1.trim_end_matches(','));
                let said = engine != "typescript" || text(&told, "twin").contains(&line);
                assert!(said, "{line} of {}", text(&told, "twin"));
            }
            let twin = format!("{engine}-{setting}.toml");
            place.file(&twin, text(&told, "twin"));
            all.push(twin.clone());
            twins.push((setting, twin, engine));
        }
    }
    let alarms = alarms(&place, &all);
    let mut stopped = 0;
    for (setting, twin, engine) in &twins {
        for (transcript, at) in &alarms[twin] {
            let first = alarms[*setting].get(transcript);
            assert!(
                first.is_some_and(|first| first <= at),
                "{engine} of {setting}: {transcript} at {at}, the setting at {first:?}"
            );
            stopped += 1;
        }
    }
    assert!(stopped > 100, "the twins stop something: {stopped}");
}

/// What an engine has no word for is refused, with the reason.
#[test]
fn an_export_that_would_stop_earlier_is_refused() {
    let place = Place::new();
    for (more, why) in [
        ("code = \"skip\"\n", "code"),
        ("unit_holds = \"letter\"\n", "unit_holds"),
    ] {
        place.file("plain.toml", format!("{PLAIN}{more}"));
        place.run("export plain.toml --to vllm").ends(2).says(why);
    }
}

/// A settings file in words, and what is refused.
#[test]
fn a_settings_file_is_explained() {
    let place = Place::new();
    place.file("tuned.toml", TUNED);
    let run = place.run("detectors tuned.toml").ends(0);
    run.shows("Guard 1, periodic: ");
    run.shows("Units of up to 2,000 chars: 3 copies, 250 chars in all (rules).");
    place.run("detectors nothing.toml").ends(2);
}
