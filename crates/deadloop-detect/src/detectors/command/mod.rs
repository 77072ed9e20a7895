//! `command`: any program as a detector, in any language.
//!
//! This module declares the parameters and checks them. `deadloop-replay` runs the program, by a protocol of JSON lines
//! on stdin and stdout. `scripts/peers/example.py` explains the protocol.
//!
//! The number of processes is not a parameter: each thread of the replay (`--jobs`) runs one. The answers of a program
//! must not depend on it, and so must not the id of a setting.

use crate::detectors::{Detector, Measurement, Program, Refusal};
use crate::settings::param::{Domain, Param};
use crate::settings::params::Params;
use crate::settings::spec::Spec;
use crate::settings::value::{Literal, Value};

/// The registry entry.
pub(super) static ENTRY: Detector = Detector {
    spec: Spec {
        name: "command",
        version: 1,
        about: "any program as a detector: replayed only; JSON lines on its stdin (hello; then start, \
            events, end of each transcript) and stdout (ready; then one verdict for each)",
        exactly: "",
        params: PARAMS,
        check,
        ..Spec::PLAIN
    },
    grid: include_str!("grid.toml"),
    ..Detector::with_measure(Measurement::Program(program))
};

/// The maximum time limit for one transcript: a day, in milliseconds.
const MAX_TIMEOUT_MS: i64 = 86_400_000;

static PARAMS: &[Param] = &[
    Param::new("command", Literal::Texts(&[]), Domain::Program)
        .doc("what is run; paths are seen from where deadloop runs; must be given"),
    Param::table("params").doc("the program's own parameters, sent with hello"),
    Param::count("timeout_ms", 10_000, 1..=MAX_TIMEOUT_MS)
        .unit("ms")
        .doc("how long it may take for one transcript; a slower one is an error"),
    Param::count("max_errors", 10, 0..=u32::MAX as i64)
        .unit("transcripts")
        .doc("on how many it may fail; one more ends the run"),
];

fn check(params: &Params) -> Result<(), Refusal> {
    let refuse = |reason: &str| Refusal::err("command", reason);
    match params.items("command").first().and_then(Value::as_text) {
        None => refuse("a program is expected, as [\"python3\", \"detector.py\"]"),
        Some("") => refuse("the program's name is empty"),
        Some(_) => Ok(()),
    }
}

fn program(params: &Params) -> Program {
    let words = params.items("command").iter().filter_map(Value::as_text);
    Program {
        command: words.map(str::to_owned).collect(),
        params: params
            .get("params")
            .cloned()
            .unwrap_or_else(|| Literal::EmptyTable.into()),
        timeout_ms: params.count("timeout_ms"),
        max_errors: params.count("max_errors"),
    }
}

#[cfg(test)]
mod tests {
    use crate::settings::Settings;

    fn read(params: &str) -> Result<Settings, String> {
        let text = format!("[[guard]]\ndetector = \"command\"\n[guard.params]\n{params}");
        Settings::parse(&text).map_err(|e| e.to_string())
    }

    #[test]
    fn a_program_is_read_and_cannot_watch_a_live_stream() {
        let settings = read("command = [\"python3\", \"x.py\"]\nparams = { lines = 3 }").unwrap();
        let guard = settings.guard();
        let program = guard.members[0].program().unwrap();
        assert_eq!(program.command, ["python3", "x.py"]);
        assert_eq!(program.params.to_string(), "{ lines = 3 }");
        assert_eq!((program.timeout_ms, program.max_errors), (10_000, 10));
        assert!(guard.members[0].recipe().is_none());
        let refused = crate::Guard::new(guard).unwrap_err();
        assert!(refused.to_string().contains("\"command\""));
        assert_eq!(crate::Guards::new(&settings).unwrap_err(), refused);
    }

    #[test]
    fn invalid_programs_are_rejected() {
        let refused = |params: &str, at: &str| {
            let said = read(params).unwrap_err();
            assert!(said.starts_with(at), "{said}");
        };
        refused("timeout_ms = 5", "2:12: command");
        refused("command = []", "4:11: command");
        refused("command = [\"\", \"x\"]", "4:11: command");
        refused("command = \"x\"", "4:11: command");
        refused("command = [\"x\"]\nparams = 3", "5:10: params");
        refused("command = [\"x\"]\ntimeout_ms = 0", "5:14: timeout_ms");
    }
}
