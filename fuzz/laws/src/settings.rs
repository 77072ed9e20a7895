//! Laws of settings files.
//!
//! The input is a TOML file. Accepted settings can be written, read again unchanged, and run as guards.

use deadloop_corpus::{ThinkRules, split_think};
use deadloop_detect::harness::Member;
use deadloop_detect::{Guard, ModelTask, Setting, Settings, SettingsError, TextChannel};
use serde::Deserialize;

/// The splitter's rules in a settings file.
#[derive(Deserialize)]
struct ThinkFile {
    #[serde(default)]
    think: ThinkRules,
}

/// Checks the laws of settings on one file.
pub fn settings(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    match Settings::parse(text) {
        Err(error) => is_told(&error, text),
        Ok(settings) => {
            let guards = settings.overrides().map(|(_, guard)| guard);
            let at_task = ModelTask {
                model: "m",
                task: "t",
            };
            guards
                .chain([
                    settings.guard(),
                    settings.for_model("m"),
                    settings.for_model(at_task),
                ])
                .for_each(watch);
            same_again(&settings);
        }
    }
    if let Ok(ThinkFile { think }) = toml::from_str(text) {
        let pieces = split_think(
            "<think>a</think>b<|channel|>analysis<|message|>c",
            think.options("m"),
        );
        assert!(pieces.iter().all(|(_, piece)| !piece.is_empty()));
    }
}

/// Checks that an error has a place in the text and a message of one line.
fn is_told(error: &SettingsError, text: &str) {
    let line = text.split('\n').nth(error.line.saturating_sub(1));
    let line = line.unwrap_or_else(|| panic!("{error}: there is no such line"));
    assert!(
        error.column <= line.chars().count() + 1,
        "{error}: not in {line:?}"
    );
    assert!(
        !error.what.trim().is_empty() && !error.what.contains('\n'),
        "{error:?}"
    );
}

/// Builds the guard, and runs it on a looping text.
fn watch(setting: &Setting) {
    let text = "1. the same. 思考\n\n```\nx```\n".repeat(60) + &"ab".repeat(300);
    let Ok(mut guard) = Guard::new(setting) else {
        let program = |member: &Member| member.program().is_some();
        assert!(
            setting.members.iter().any(program),
            "only programs are refused"
        );
        return;
    };
    let alarms = [
        TextChannel::Reasoning,
        TextChannel::Answer,
        TextChannel::Answer,
    ]
    .map(|channel| guard.push_text(channel, &text).decision);
    // What has stopped stays stopped, for the same reason.
    let mut stops = alarms.iter().skip_while(|decision| !decision.stops());
    let first = stops.next();
    assert!(stops.all(|decision| Some(decision) == first));
}

fn same_again(settings: &Settings) {
    let text = written(settings);
    let again = Settings::parse(&text).unwrap_or_else(|e| panic!("{e} in:\n{text}"));
    assert_eq!(written(&again), text);
    assert_eq!(again.id(), settings.id(), "{text}");
}

/// Returns settings in the form that the program writes.
fn written(settings: &Settings) -> String {
    let rate = settings.deployment_loop_rate;
    let mut text = rate.map_or_else(String::new, |rate| {
        format!("deployment_loop_rate = {rate:?}\n")
    });
    text += &settings.guard().to_toml("guard");
    for (glob, guard) in settings.overrides() {
        text += "[[model]]\n";
        for (key, glob) in [("match", glob.model()), ("task", glob.task())] {
            let line = glob.map(|glob| format!("{key} = {}\n", toml::Value::from(glob)));
            text += &line.unwrap_or_default();
        }
        text += &guard.to_toml("model.guard");
    }
    text
}
