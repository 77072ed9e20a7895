//! A small agent that a guard protects from dead loops, with a scripted model.
//!
//! ```sh
//! cargo run --release -p deadloop-detect --example agent_loop
//! ```
//!
//! | to find | look in |
//! |---|---|
//! | the code to copy into a product | `agent` |
//! | settings that warn, refuse and stop, and a model that gets stuck | `script` |
//! | the test of the same code | `tests/agent.rs` |

mod agent;
mod script;

use agent::Agent;
use deadloop_detect::{ContextBudget, Guards, Settings};
use script::{SETTINGS, ScriptedModel, call, message};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let agent = Agent {
        guards: Guards::new(&Settings::parse(SETTINGS)?)?,
        budget: ContextBudget::default(),
    };
    let search = || call("search", r#"{"q":"the key"}"#);
    let stuck = || (0..9).map(|_| search()).collect::<Vec<_>>();
    play(&agent, "a model that gets stuck", vec![stuck()]);
    let heeds = vec![vec![search(), search(), search(), message("It is lost.")]];
    play(&agent, "a model that heeds the warning", heeds);
    let told = vec![
        vec![search(), search(), search(), message("Where shall I look?")],
        vec![search(), search(), message("It is in the drawer.")],
    ];
    play(&agent, "a user who says more", told);
    let small = Agent {
        budget: ContextBudget {
            window: 200,
            ..ContextBudget::default()
        },
        ..agent
    };
    let many = (0..40).map(|n| call("search", &format!(r#"{{"q":"box {n}"}}"#)));
    play(&small, "a small window, and a limit", vec![many.collect()]);
    Ok(())
}

fn play(agent: &Agent, title: &str, tasks: Vec<Vec<agent::Reply>>) {
    println!("{title}:");
    let messages: Vec<String> = (0..tasks.len())
        .map(|i| format!("message {}", i + 1))
        .collect();
    let mut model = ScriptedModel::new(tasks);
    let end = agent.run("any-model", &mut model, &mut script::Tools, &messages);
    for line in &end.log {
        println!("  {line}");
    }
    println!("  {}", end.message);
}
