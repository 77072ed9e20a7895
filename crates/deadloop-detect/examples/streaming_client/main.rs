//! A streaming client that a guard protects from dead loops, on scripted streams.
//!
//! ```sh
//! cargo run --release -p deadloop-detect --example streaming_client
//! ```
//!
//! | to find | look in |
//! |---|---|
//! | the code to copy into a product | `client` |
//! | settings with a per-model guard and a guard switched off | `script` |
//! | the test of the same code | `tests/integration.rs` |

mod client;
mod script;

use client::{Client, ClientLog};
use deadloop_detect::{Guards, Settings};
use script::{SETTINGS, ScriptedProvider, healthy, looping};

/// Reports on the terminal.
struct Terminal;

impl ClientLog for Terminal {
    fn error(&mut self, line: &str) {
        eprintln!("  ERROR {line}");
    }

    fn show(&mut self, sentence: &str) {
        println!("  {sentence}");
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let client = Client {
        guards: Guards::new(&Settings::parse(SETTINGS)?)?,
        retries: 2,
    };
    let answer = "Start in the north and go round the lake.";
    let stuck = || looping("Wait, let me check the roads again. ", 9000);
    play(
        &client,
        "one loop, then a healthy attempt",
        "any-model",
        [stuck(), healthy(answer)],
    );
    play(
        &client,
        "a model that is looked at sooner",
        "hasty-3b",
        [stuck(), healthy(answer)],
    );
    play(
        &client,
        "every attempt loops",
        "any-model",
        [stuck(), stuck(), stuck()],
    );
    play(
        &client,
        "the guard is switched off",
        "trusted-70b",
        [stuck()],
    );
    Ok(())
}

fn play<const N: usize>(
    client: &Client,
    title: &str,
    model: &str,
    scripts: [Vec<client::Event>; N],
) {
    println!("{title} ({model}):");
    let mut provider = ScriptedProvider::new(scripts);
    let end = match client.request(&mut provider, &mut Terminal, model, "Plan my trip.") {
        Ok(answer) => format!("answer: {answer:?}"),
        Err(gave_up) => format!("gave up after {} attempts", gave_up.attempts),
    };
    for (i, played) in provider.played().iter().enumerate() {
        let how = played.aborted.unwrap_or("to its end");
        println!("  request {}: {} chunks, {how}", i + 1, played.chunks);
    }
    println!("  {end}");
}
