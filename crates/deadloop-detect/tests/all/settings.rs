//! Tests valid and invalid settings files, and the thresholds of alarms.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use deadloop_detect::harness::DETECTORS;
use deadloop_detect::{Alarm, Guard, Settings, TextChannel, Value};

fn refused(text: &str) -> String {
    Settings::parse(text).unwrap_err().to_string()
}

fn guard(detector: &str, params: &str) -> String {
    format!("[[guard]]\ndetector = \"{detector}\"\n[guard.params]\n{params}\n")
}

fn alarm(settings: &str, text: &str) -> Alarm {
    let settings = Settings::parse(settings).unwrap();
    let mut guard = Guard::new(settings.guard()).unwrap();
    let pushed = guard.push_text(TextChannel::Answer, text);
    pushed.into_alarm().expect("it alarms")
}

/// Returns the name, the value and the measured number of each threshold of an alarm.
fn told(alarm: &Alarm) -> Vec<(String, String, Value)> {
    let each = alarm.thresholds.iter();
    each.map(|m| (m.param.to_string(), m.value.to_string(), m.measured.clone()))
        .collect()
}

#[test]
fn a_guard_that_is_off_is_checked_like_any_other() {
    for wrong in [
        "detector = \"perodic\"",
        "detector = \"periodic\"\npreset = \"none\"",
        "detector = \"periodic\"\nparams = { min_copies = -5 }",
        "detector = \"periodic\"\nparams = { nonsense = 1 }",
    ] {
        let said = refused(&format!("[[guard]]\nenabled = false\n{wrong}\n"));
        assert!(said.starts_with("3:") || said.starts_with("4:"), "{said}");
    }
}

#[test]
fn a_model_without_a_guard_is_no_override() {
    let text = "[[guard]]\ndetector = \"periodic\"\n[[model]]\nmatch = \"a*\"\n[[guard]]\ndetector = \"periodic\"\n";
    let said = refused(text);
    assert!(said.starts_with("4:9: no [[model.guard]]"), "{said}");
    assert!(said.contains("enabled = false"), "{said}");
}

/// Checkpoints in tokens of 2.5 chars equal those in chars. Parameters in other units are unchanged.
#[test]
fn what_is_in_chars_may_be_written_in_tokens() {
    let of = |keys: &str, params: &str| {
        format!("[[guard]]\ndetector = \"checkpoint\"\n{keys}[guard.params]\n{params}\n")
    };
    let read = |keys: &str, params: &str| Settings::parse(&of(keys, params)).unwrap();
    let tokens = "checkpoints = [800, 1200, 2000]\nwindow = 80\nmin_repeats = 5\ndelimiters = \".\"\nsegment = \"between\"";
    let chars = "checkpoints = [2000, 3000, 5000]\nwindow = 200\nmin_repeats = 5\ndelimiters = \".\"\nsegment = \"between\"";
    let tokens = read("chars_per_token = 2.5\n", tokens);
    assert_eq!(tokens.guard(), read("", chars).guard());
    let nearest = read("chars_per_token = 3.3\n", "checkpoints = [1001, 1002]");
    let nearest = nearest.guard().to_toml("guard");
    assert!(nearest.contains("checkpoints = [3303, 3307]"), "{nearest}");
    let again = Settings::parse(&tokens.guard().to_toml("guard")).unwrap();
    assert_eq!(again.guard(), tokens.guard());
    let bad = |keys: &str, params: &str| refused(&of(keys, params));
    let zero = bad("chars_per_token = 0.0\n", "window = 100");
    assert_eq!(zero, "3:19: chars_per_token 0 is not from 0.1 to 100");
    let none = bad("chars_per_token = 4\n", "min_repeats = 5");
    assert!(none.contains("no parameter that stands here is in chars"));
    // Converted values are checked like others.
    assert!(bad("chars_per_token = 0.1\n", "checkpoints = [10000, 10001]").contains("checkpoints"));
    let rules = "[[guard]]\ndetector = \"periodic\"\nchars_per_token = 4\n[guard.params]\nmax_period = 100\n\
                 rules = [{ max_period = 50, min_copies = 5, min_chars = 180 }]\n";
    assert!(refused(rules).contains("rules is in chars beside it"));
}

#[test]
fn a_guard_of_a_task_is_checked_like_one_of_a_model() {
    let table = |keys: &str| {
        let guard = "[[model.guard]]\ndetector = \"periodic\"\n";
        format!("[[guard]]\ndetector = \"periodic\"\n[[model]]\n{keys}{guard}")
    };
    let none = refused(&table(""));
    assert!(none.contains("no match and no task"), "{none}");
    let bad = refused(&table("match = \"a\"\ntask = \"[\"\n"));
    assert!(bad.starts_with("5:8: task is no glob"), "{bad}");
    let unknown = refused(&table("match = \"a\"\ntasks = \"b\"\n"));
    assert!(unknown.contains("tasks"), "{unknown}");
    let settings = Settings::parse(&table("match = \"a*\"\ntask = \"b\"\n")).unwrap();
    let (glob, _) = settings.overrides().next().unwrap();
    assert_eq!(glob.to_string(), "a* at task b");
    assert_eq!((glob.model(), glob.task()), (Some("a*"), Some("b")));
    let others = ["match = \"a*\"\n", "task = \"b\"\n"];
    let [model, task] = others.map(|keys| Settings::parse(&table(keys)).unwrap().id());
    assert!(model != task && model != settings.id() && task != settings.id());
}

#[test]
fn guards_that_are_off_are_written_and_read_again() {
    let text = "[[guard]]\ndetector = \"periodic\"\n[[model]]\nmatch = \"a*\"\n\
                [[model.guard]]\ndetector = \"checkpoint\"\nenabled = false\n";
    let settings = Settings::parse(text).unwrap();
    let off = settings.for_model("abc");
    assert!(off.members.is_empty());
    let again = Settings::parse(&off.to_toml("guard")).unwrap();
    assert_eq!(again.guard(), off);
}

#[test]
fn what_is_expected_of_a_number_says_which_numbers() {
    for value in ["4.0", "\"4\"", "1"] {
        let said = refused(&guard("periodic", &format!("min_copies = {value}")));
        assert!(said.contains("expected a whole number, 2.."), "{said}");
    }
    for detector in DETECTORS {
        for param in detector.params {
            assert!(!param.domain.to_string().is_empty(), "{}", param.name);
        }
    }
}

#[test]
fn settings_that_would_stall_a_stream_are_refused() {
    let said = refused(&guard("checkpoint", "every = 1\nsegment = 10_000_000"));
    assert!(said.contains("expected at least 10000"), "{said}");
    Settings::parse(&guard("checkpoint", "every = 10_000\nsegment = 10_000_000")).unwrap();
}

#[test]
fn an_alarm_names_the_row_that_decided_and_no_threshold_that_asks_nothing() {
    let rules = "rules = [{ max_period = 3, min_copies = 9, min_chars = 9 }, \
                 { max_period = 40, min_copies = 4, min_chars = 50 }]";
    let text = "one two three four. ".repeat(20);
    let alarm = alarm(&guard("periodic", rules), &text);
    let told = told(&alarm);
    for (name, value, measured) in [("min_copies", "4", 4), ("min_chars", "50", 80)] {
        let row = (
            format!("rules[1].{name}"),
            value.to_owned(),
            Value::Int(measured),
        );
        assert!(told.contains(&row), "{told:?}");
    }
    let idle = ["min_single", "min_recycled"];
    assert!(
        !told
            .iter()
            .any(|(param, ..)| idle.contains(&param.as_str()))
    );
    let line = alarm.log_line();
    assert!(
        line.contains("rules[1].min_copies 4 (measured 4)"),
        "{line}"
    );
}

#[test]
fn an_alarm_in_a_code_fence_names_what_was_asked_there() {
    let text = "```\n".to_owned() + &"let total = total + 1;\n".repeat(60);
    for detector in ["periodic", "checkpoint"] {
        let params = match detector {
            "checkpoint" => "code = 12\ncheckpoints = [500, 900]\nwindow = 7",
            _ => "code = 12",
        };
        let alarm = alarm(&guard(detector, params), &text);
        let code = told(&alarm).into_iter().find(|(param, ..)| param == "code");
        let (_, value, measured) = code.expect(detector);
        assert_eq!(value, "12");
        let enough = matches!(measured, Value::Int(n) if n >= 12);
        assert!(enough, "{detector}: {measured}");
    }
}

/// Skipped fences leave no empty lines.
#[test]
fn a_fence_that_is_skipped_leaves_no_line_behind() {
    let item = "- the same item, word for word\n";
    let fence = |n: usize| format!("```\nstep {n} of {}\n```\n", n * 7);
    // Six lines have five matches. Empty lines in place of the fences would add some.
    let text: String = (0..6).map(|n| item.to_owned() + &fence(n)).collect();
    let settings = |text: &str| {
        let at = format!("checkpoints = [1, {}]", text.chars().count());
        guard(
            "checkpoint",
            &format!("{at}\ncode = \"skip\"\npartial_tail = \"drop\""),
        )
    };
    let six = Settings::parse(&settings(&text)).unwrap();
    let mut six = Guard::new(six.guard()).unwrap();
    let told = six.push_text(TextChannel::Answer, &text).into_alarm();
    assert_eq!(told, None);
    // Eight lines are enough, with or without fences between them.
    let enough: String = (0..8).map(|n| item.to_owned() + &fence(n)).collect();
    let alarm = alarm(&settings(&enough), &enough);
    let one = format!("{item}{}", fence(0)).chars().count();
    assert_eq!(alarm.period.count(), one as u64);
}

/// Members are split by the level at which they are scored. A written default response does not change a setting.
#[test]
fn guards_are_told_apart_by_what_their_alarms_do() {
    let of =
        |response: &str| format!("[[guard]]\ndetector = \"periodic\"\nresponse = \"{response}\"\n");
    let id = |text: &str| Settings::parse(text).unwrap().id();
    assert_eq!(id("[[guard]]\ndetector = \"periodic\""), id(&of("stop")));
    assert_ne!(id(&of("stop")), id(&of("warn")));
    let all = ["observe", "warn", "refuse", "stop"].map(of).concat();
    let settings = Settings::parse(&all).unwrap();
    let levels = settings.levels();
    let told = levels
        .iter()
        .map(|(level, part)| (level.name(), part.guard().members.len()));
    let told: Vec<(&str, usize)> = told.collect();
    assert_eq!(told, [("stop", 2), ("warn", 1), ("observe", 1)]);
    let again = Settings::parse(&settings.guard().to_toml("guard")).unwrap();
    assert_eq!(again.guard(), settings.guard());
    let wrong = refused(&of("wran"));
    assert!(wrong.contains("3:12"), "{wrong}");
    assert!(wrong.contains("did you mean \"warn\""), "{wrong}");
}

/// A refusal is repeated and ends nothing. A warning is reported once.
#[test]
fn a_guard_refuses_warns_and_stops() {
    use deadloop_detect::PushResult;
    let of = |n: u8, response: &str| {
        format!(
            "[[guard]]\ndetector = \"duplicate\"\nresponse = \"{response}\"\nparams = {{ n = {n} }}\n"
        )
    };
    let text = [of(6, "stop"), of(4, "refuse"), of(2, "warn")].concat();
    let mut guard = Guard::new(Settings::parse(&text).unwrap().guard()).unwrap();
    let call = crate::common::call("ls", "{}");
    for n in 1..=9 {
        let PushResult { decision, warnings } = guard.push(&call);
        let alarm = decision.alarm().map(|a| a.response.name());
        let also: Vec<_> = warnings.iter().map(|a| a.response.name()).collect();
        // The stopping member is first, so the refusing one is not reached. A stopped guard stays stopped.
        let wanted = match n {
            4 | 5 => Some("refuse"),
            6.. => Some("stop"),
            _ => None,
        };
        assert_eq!((alarm, decision.stops()), (wanted, n >= 6), "{n}");
        assert_eq!(also, ["warn"][..usize::from(n == 2)], "{n}");
    }
}

/// A member of arguments is not blind if an equal member reads other text. Alone, it is blind without calls.
#[test]
fn a_guard_of_arguments_beside_one_of_text_is_not_blind() {
    use deadloop_detect::{Feed, Feeds};
    let text = Feeds::NONE.with(Feed::Reasoning).with(Feed::Answer);
    let settings = Settings::parse(deadloop_detect::RECOMMENDED).unwrap();
    assert!(settings.guard().blind(text).is_empty());
    let alone = "[[guard]]\ndetector = 'periodic'\nchannel = 'arguments'\n";
    let settings = Settings::parse(alone).unwrap();
    assert_eq!(settings.guard().blind(text).len(), 1);
}
