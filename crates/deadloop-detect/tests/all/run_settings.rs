//! Tests settings of run detectors that can never fire, growing limits, and warnings.

#![allow(clippy::unwrap_used, reason = "in the helpers of tests as in tests")]

use crate::common::{TURN, call, result};

use deadloop_detect::{Alarm, Guard, Kind, Settings};

fn read(detector: &str, params: &str) -> Result<Settings, String> {
    let toml = format!("[[guard]]\ndetector = \"{detector}\"\n[guard.params]\n{params}\n");
    Settings::parse(&toml).map_err(|e| e.to_string())
}

/// Returns the parameters of the dead checks.
fn dead(detector: &str, params: &str) -> Vec<&'static str> {
    let settings = read(detector, params).unwrap();
    let dead = settings.guard().members[0].dead_checks();
    assert!(dead.iter().all(|d| d.reason.contains("never ")));
    dead.into_iter().map(|d| d.param).collect()
}

#[test]
fn what_can_never_fire_or_fires_always_is_refused_with_the_reason() {
    let (all, grows) = ("allow = ['re*', '*']", "hard = 20\ngrow = 1.5");
    for (detector, params, why) in [
        ("interleaved", "n = 11", "do not fit the last 10 calls"),
        ("call-novelty", "max_distinct = 10", "fires always"),
        ("cycle", "min_period = 6", "above max_period 5"),
        ("duplicate", "n = 1", "expected a whole number, 2..1000"),
        ("stagnation", all, "leaves out every tool"),
        ("iterations", "hard = 90", "never grows to 90"),
        ("iterations", grows, "above the hard limit 20"),
        ("openhands", "scan = 3\nmonologue = 4", "none of the four"),
    ] {
        let said = read(detector, params).unwrap_err();
        assert!(said.contains(why), "{detector}: {said}");
        let placed = ["2:", "4:", "5:"].iter().any(|line| said.starts_with(line));
        assert!(placed, "{said}");
    }
    // A window of distinct items is allowed, and so is a limit that only asks the user.
    assert!(read("call-novelty", "max_distinct = 9").is_ok());
    assert!(read("iterations", "grow = 1.5").is_ok());
}

/// The window of 10 of seed 003, with its three other conditions.
#[test]
fn dead_checks_beside_living_ones_are_marked() {
    for (param, value) in [
        ("loop_detection_window", 10),
        ("duplicate_threshold", 21),
        ("error_threshold", 1),
    ] {
        assert_eq!(dead("loom", &format!("{param} = {value}")), [param]);
    }
    assert!(dead("loom", "").is_empty());
    let long = "action_observation = 11\naction_error = 10\nalternating = 11";
    let wanted = ["action_observation", "action_error", "alternating"];
    assert_eq!(dead("openhands", long), wanted);
    assert!(dead("openhands", "action_observation = 10").is_empty());
    assert_eq!(dead("iterations", "grow = 1.5"), ["grow"], "it only asks");
    assert!(dead("iterations", "grow = 1.5\nhard = 90").is_empty());
}

/// Returns the first alarm on a run of turns with one new call each.
fn turns(detector: &str, params: &str, turns: usize) -> Option<Alarm> {
    let settings = read(detector, params).unwrap();
    let mut guard = Guard::new(settings.guard()).unwrap();
    (0..turns).find_map(|i| {
        let arguments = i.to_string();
        let call = call(["read", "write"][i % 2], &arguments);
        let begun = guard.push(&TURN).into_alarm();
        begun.or_else(|| guard.push(&call).into_alarm())
    })
}

fn ended(detector: &str, params: &str) -> Option<u64> {
    let alarm = turns(detector, params, 2000)?;
    assert_eq!(alarm.kind, Kind::Iterations);
    Some(alarm.turns.0)
}

#[test]
fn a_limit_that_grows_ends_where_it_is_hard_or_the_user_says_no() {
    assert_eq!(ended("iterations", "limit = 20"), Some(20));
    let grows = |more: &str| ended("iterations", &format!("limit = 20\ngrow = 1.5\n{more}"));
    assert_eq!(grows("hard = 100"), Some(100));
    assert_eq!(grows(""), None, "it only asks");
    // 20, 30, 45, 68 (67.5 rounded to even), 102.
    assert_eq!(grows("cancel_after = 1"), Some(30));
    assert_eq!(grows("cancel_after = 3"), Some(68));
    assert_eq!(grows("cancel_after = 3\nhard = 50"), Some(50));
    // 20, 30, 40.
    let by = |more: &str| ended("iterations", &format!("limit = 20\ngrow_by = 10\n{more}"));
    assert_eq!(by("cancel_after = 2"), Some(40));
    // A limit of 1 with a factor that rounds to 1 grows by one.
    let one = ended("iterations", "limit = 1\ngrow = 1.1\ncancel_after = 5");
    assert_eq!(one, Some(6));
}

#[test]
fn warnings_come_before_the_stop() {
    let warns = "limit = 50\ntells = 'warning'\n";
    assert_eq!(ended("iterations", warns), Some(40));
    let early = ended("iterations", &format!("{warns}warn_at = 0.61"));
    assert_eq!(early, Some(31));
    let calls = turns("iterations", &format!("{warns}unit = 'calls'"), 90);
    // There are 40 calls before call 41.
    assert_eq!(calls.unwrap().calls.0, 41);
    assert_eq!(ended("loom", "tells = 'warning'"), Some(40));
    // Two calls of one tool warn, and three stop.
    let settings = read("loom", "tells = 'warning'").unwrap();
    let mut guard = Guard::new(settings.guard()).unwrap();
    let call = call("search", "");
    let mut events = [TURN, call, TURN, call, TURN, call, TURN].into_iter();
    let told = events.find_map(|event| guard.push(&event).into_alarm());
    let told = told.unwrap();
    assert_eq!((told.kind, told.turns.0), (Kind::IdenticalCall, 2));
}

/// Compares a growing limit with its definition.
#[test]
fn a_limit_that_grows_is_that_of_its_definition() {
    let slow = |limit: u64, grow: f64, by: u64, yes: u64, hard: u64| {
        let (mut now, mut asked) = (limit, 0);
        (0..1900).find(|turn| {
            if *turn < now {
                return false;
            }
            if asked == yes || (hard > 0 && *turn >= hard) {
                return true;
            }
            asked += 1;
            let grown = (now as f64 * grow).round_ties_even() as u64 + by;
            now = grown.max(now + 1);
            if hard > 0 {
                now = now.min(hard);
            }
            false
        })
    };
    for limit in [1, 2, 3, 5, 8, 13, 20] {
        for (grow, by) in [(1.5, 0), (2.0, 0), (1.25, 3), (1.0, 10), (1.125, 0)] {
            for yes in [1, 2, 4] {
                for hard in [0, 20, 47] {
                    let grows = format!("grow = {grow:?}\ngrow_by = {by}\ncancel_after = {yes}");
                    let params = format!("limit = {limit}\nhard = {hard}\n{grows}");
                    let wanted = slow(limit, grow, by, yes, hard);
                    assert_eq!(ended("iterations", &params), wanted, "{params}");
                }
            }
        }
    }
}

/// Returns the check of the alarm of `loom`, and its turn, on a run with one call per turn, given the results and
/// errors.
fn loom(params: &str, steps: &[(&str, &str, bool)]) -> Option<(Kind, u64)> {
    let settings = read("loom", params).unwrap();
    let mut guard = Guard::new(settings.guard()).unwrap();
    let run = steps.iter().flat_map(|(name, content, error)| {
        let result = result(content, Some(*error));
        [TURN, call(name, content), result]
    });
    let mut run = run.chain([TURN]);
    let told = run.find_map(|event| guard.push(&event).into_alarm());
    told.map(|alarm| (alarm.kind, alarm.turns.0))
}

/// The four conditions of seed 003 with its defaults, and its custom monitor, whose window can never be met.
#[test]
fn the_conditions_of_seed_003_alarm_where_it_says() {
    let numbers: Vec<String> = (0..60).map(|n| n.to_string()).collect();
    let tools = ["read", "write"];
    let healthy = |n: usize| (tools[n % 2], numbers[n].as_str(), false);
    let steps: Vec<_> = (0..60).map(healthy).collect();
    assert_eq!(loom("", &steps[..49]), None);
    assert_eq!(loom("", &steps), Some((Kind::Iterations, 50)));

    let search = |n: usize| ("search", numbers[n].as_str(), false);
    let searches: Vec<_> = (0..6).map(search).collect();
    assert_eq!(loom("", &searches[..2]), None);
    assert_eq!(loom("", &searches), Some((Kind::IdenticalCall, 3)));

    let again = |window: usize| [&steps[..window], &steps[..window]].concat();
    assert_eq!(loom("", &again(5)[..9]), None);
    assert_eq!(loom("", &again(5)), Some((Kind::Cycle, 10)));

    let failed = ("read", "no", true);
    // Exactly half is no alarm.
    assert_eq!(loom("", &[steps[0], failed]), None);
    let mostly = [steps[0], failed, ("write", "no", true)];
    assert_eq!(loom("", &mostly), Some((Kind::ErrorRetry, 3)));

    let custom = "max_iterations = 100\nduplicate_threshold = 5\nloop_detection_window = 10\nerror_threshold = 0.3";
    assert_eq!(dead("loom", custom), ["loop_detection_window"]);
    assert_eq!(loom(custom, &again(10)), None, "ten outputs are kept");
    assert_eq!(loom(custom, &searches[..4]), None);
    assert_eq!(loom(custom, &searches), Some((Kind::IdenticalCall, 5)));
    let half = loom(custom, &[steps[0], failed]);
    assert_eq!(half, Some((Kind::ErrorRetry, 2)));
}

/// Settings files of 0.1 may name removed parameters.
#[test]
fn a_parameter_that_changed_nothing_is_read_once_more() {
    for detector in ["duplicate", "cycle", "iterations", "narration"] {
        let id = |params: &str| read(detector, params).unwrap().id();
        assert_eq!(id("normalise = [\"times\"]"), id(""));
    }
    assert!(read("ending", "normalise = []").is_err());
}
