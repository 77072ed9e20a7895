//! Builds `datasets/starter`: real recordings with their labels looked at, loops planted into clean
//! text, and hard negatives of every class that `datasets/POLICY.md` names. The same inputs and seed
//! give the same bytes.
//!
//! ```text
//! cargo run --release -p deadloop-corpus --example build_starter -- ../shared/data/local-lm datasets/starter
//! ```
//!
//! Hand-written texts, and corrected labels, lie in `datasets/sources/`.

use std::error::Error;
use std::path::PathBuf;

use deadloop_corpus::plant::Rng;

mod handmade;
mod hard;
mod item;
mod local;
mod output;
mod planted;
mod sources;

/// Changed together with the name of the corpus, never alone.
const SEED: u64 = 20_260_101;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args_os().skip(1).map(PathBuf::from);
    let (Some(recordings), Some(out)) = (args.next(), args.next()) else {
        return Err("usage: build_starter RECORDINGS OUT".into());
    };
    let mut rng = Rng::new(SEED);
    let loops = sources::loops()?;
    let mut local = local::read(&recordings, &mut rng)?;
    let planted = planted::build(&local, &loops, &mut rng);
    local::doubt(&mut local)?;
    let mut handmade = handmade::hard_negatives(&mut rng);
    handmade.extend(handmade::loops(&loops, &mut rng));
    let parts = [
        ("local-lm", local),
        ("planted", planted),
        ("handmade", handmade),
    ];
    output::write(&out, &parts)
}
