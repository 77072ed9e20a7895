//! Tests the code of the example `agent_loop`: a remark, a refused call, a stop, and a reset by a user message.

#![allow(clippy::unwrap_used, reason = "in the helpers of tests as in tests")]

#[path = "../examples/agent_loop/agent.rs"]
mod agent;
#[path = "../examples/agent_loop/script.rs"]
mod script;

use agent::{Agent, Reply, RunEnd};
use deadloop_detect::{ContextBudget, Guards, Settings, estimate_tokens};
use script::{SETTINGS, ScriptedModel, Tools, call, message};

fn run(tasks: Vec<Vec<Reply>>) -> (RunEnd, ScriptedModel) {
    within(ContextBudget::default(), tasks)
}

fn within(budget: ContextBudget, tasks: Vec<Vec<Reply>>) -> (RunEnd, ScriptedModel) {
    let agent = Agent {
        guards: Guards::new(&Settings::parse(SETTINGS).unwrap()).unwrap(),
        budget,
    };
    let messages: Vec<String> = (0..tasks.len()).map(|i| format!("task {i}")).collect();
    let mut model = ScriptedModel::new(tasks);
    let end = agent.run("any-model", &mut model, &mut Tools, &messages);
    (end, model)
}

fn search(times: usize) -> Vec<Reply> {
    (0..times)
        .map(|_| call("search", r#"{"q":"the key"}"#))
        .collect()
}

/// Returns the first word of each line of the log.
fn told(end: &RunEnd) -> Vec<&str> {
    let first = end.log.iter().map(|line| line.split(':').next().unwrap());
    first.collect()
}

#[test]
fn a_stuck_model_is_warned_then_refused_then_stopped() {
    let (end, model) = run(vec![search(9)]);
    let levels = ["warned", "refused", "refused", "refused", "stopped"];
    assert_eq!(told(&end), levels);
    assert!(end.stopped);
    assert_eq!(end.ran, 3, "what is refused does not run");
    assert!(
        end.message.contains("the same tool call again and again"),
        "{}",
        end.message
    );
    let last = model.inputs().last().unwrap();
    let count = |begins: &str| last.iter().filter(|line| line.starts_with(begins)).count();
    assert_eq!(
        (count("system: "), count("result: This call was refused")),
        (1, 3)
    );
    let seventh = "identical-call in tools, calls 1..7 (known at 7)";
    assert!(end.log.last().unwrap().contains(seventh), "{:?}", end.log);
}

#[test]
fn a_model_that_heeds_the_warning_is_let_be() {
    let replies = [search(3), vec![message("It is lost.")]].concat();
    let (end, _) = run(vec![replies]);
    assert_eq!(told(&end), ["warned"]);
    assert_eq!(
        (end.message.as_str(), end.stopped, end.ran),
        ("It is lost.", false, 3)
    );
}

/// A user message between two rows of three calls resets the count.
#[test]
fn a_users_message_makes_it_begin_anew() {
    let asked = [search(3), vec![message("Where shall I look?")]].concat();
    let found = [search(3), vec![message("In the drawer.")]].concat();
    let (end, _) = run(vec![asked, found]);
    assert_eq!(told(&end), ["warned"], "each guard warns once a run");
    assert_eq!((end.stopped, end.ran), (false, 6));
}

#[test]
fn a_limit_ends_a_run_in_which_nothing_repeats() {
    let (end, model) = run(vec![different(50)]);
    assert_eq!(told(&end), ["warned", "stopped"]);
    assert_eq!((end.stopped, end.ran), (true, 30));
    assert!(end.message.contains("all the steps"), "{}", end.message);
    let remark = "system: Few steps are left. Come to an end.".to_owned();
    let warned = model.inputs().iter().position(|m| m.contains(&remark));
    assert_eq!(warned, Some(24), "before the 25th turn");
}

fn different(times: usize) -> Vec<Reply> {
    let one = |i| call("search", &format!("{{\"q\":{i}}}"));
    (0..times).map(one).collect()
}

/// With a budget, a warning and a limit in one run, no prompt exceeds the window.
#[test]
fn a_small_window_is_summarised_and_never_overflows() {
    let budget = ContextBudget {
        window: 120,
        threshold: 0.8,
        keep: 0.3,
        summary: 0.1,
        ..ContextBudget::default()
    };
    let (end, model) = within(budget, vec![different(50)]);
    let levels = told(&end);
    let count = |level: &str| levels.iter().filter(|told| **told == level).count();
    assert_eq!((count("warned"), count("stopped"), end.ran), (1, 1, 30));
    assert!(count("summarised") > 3, "{levels:?}");
    for seen in model.inputs() {
        let tokens: u64 = seen.iter().map(|line| estimate_tokens(line)).sum();
        assert!(tokens <= 96, "{tokens}: {seen:?}");
        let summaries = seen.iter().filter(|line| line.starts_with("summary: "));
        assert!(
            summaries.count() <= 1,
            "a summary is summarised with the rest"
        );
    }
}

#[test]
fn a_window_that_holds_nothing_ends_the_run() {
    let budget = ContextBudget {
        window: 100,
        tools: 95,
        ..ContextBudget::default()
    };
    let (end, model) = within(budget, vec![different(5)]);
    assert!(end.stopped && model.inputs().is_empty());
    assert!(end.message.contains("too long"), "{}", end.message);
}
