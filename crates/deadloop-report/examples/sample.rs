//! Writes the report of a made-up result folder: `sample KIND DIR`, KIND being tune, sweep, replay, unlabelled,
//! degenerate or big. The browser test looks at these pages.
#[path = "../tests/fixture/mod.rs"]
mod fixture;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [kind, dir] = arguments.as_slice() else {
        return Err("usage: sample KIND DIR".into());
    };
    let data = match kind.as_str() {
        "tune" => fixture::tune(),
        "sweep" => fixture::sweep(),
        "replay" => fixture::replay(),
        "unlabelled" => fixture::unlabelled(),
        "degenerate" => fixture::degenerate(),
        "big" => fixture::big(),
        other => return Err(format!("no sample is called {other}").into()),
    };
    deadloop_report::write(&data, std::path::Path::new(dir))?;
    Ok(())
}
