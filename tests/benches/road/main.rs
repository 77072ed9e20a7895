//! The whole road, from the command line to the page: what the program itself costs, in CPU time.
//!
//! ```sh
//! cargo build --release --workspace --locked && cargo bench --bench road
//! ```
//!
//! | what | target |
//! |---|---|
//! | `sweep` of 100,000 cells over `real`, beside one of 2 cells | at most 4 times |
//! | `tune` without a grid on all of `real` | at most 60 CPU seconds |
//!
//! The program is that of the same release build. Its time is user and system time of the child, as Linux counts it
//! (hundredths of a second), so that a busy machine disturbs little; each figure is the least of [`ROUNDS`] runs. A
//! figure beyond its target ends with exit code 1. It takes some minutes, and is in no test.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Runs of each command.
const ROUNDS: usize = 2;

const TWO: &str = "
[[guard]]
detector = 'checkpoint'
[guard.params]
min_repeats = [4, 5]
";

/// Five thresholds of ten values each.
const MANY: &str = "
[[guard]]
detector = 'checkpoint'
[guard.params]
min_unit = { from = 2, to = 11, step = 1 }
max_unit = { from = 12, to = 21, step = 1 }
min_repeats = { from = 4, to = 13, step = 1 }
min_matches = { from = 3, to = 12, step = 1 }
min_cycles = { from = 1, to = 10, step = 1 }
";

fn main() -> Result<(), Box<dyn Error>> {
    let real = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/real");
    if !real.is_dir() {
        println!("no {}: nothing to run on", real.display());
        return Ok(());
    }
    let bench = Bench {
        program: program()?,
        real,
        folder: tempfile::tempdir()?,
    };
    let two = bench.sweep("two", TWO)?;
    println!("sweep of       2 cells: {two:.2} CPU s");
    let many = bench.sweep("many", MANY)?;
    println!("sweep of 100,000 cells: {many:.2} CPU s");
    let tune = bench.least("tune", &[])?;
    println!("tune without a grid:    {tune:.2} CPU s");
    let held = [
        told("times 2 cells", many / two.max(0.01), 4.0),
        told("CPU seconds of tune", tune, 60.0),
    ];
    match held {
        [true, true] => Ok(()),
        _ => Err("a figure is beyond its target".into()),
    }
}

fn told(what: &str, figure: f64, most: f64) -> bool {
    let held = figure <= most;
    let ends = if held { "holds" } else { "MISSED" };
    println!("{what}: {figure:.2} (target: at most {most}): {ends}");
    held
}

struct Bench {
    program: PathBuf,
    real: PathBuf,
    folder: tempfile::TempDir,
}

impl Bench {
    fn sweep(&self, name: &str, grid: &str) -> Result<f64, Box<dyn Error>> {
        let file = self.folder.path().join(format!("{name}.toml"));
        std::fs::write(&file, grid)?;
        let file = file.to_str().ok_or("a folder whose name is no text")?;
        self.least("sweep", &["--grid", file])
    }

    /// The least CPU time of some runs of a command, seconds.
    fn least(&self, command: &str, more: &[&str]) -> Result<f64, Box<dyn Error>> {
        let mut least = f64::INFINITY;
        for _ in 0..ROUNDS {
            let before = of_children()?;
            let status = Command::new(&self.program)
                .arg(command)
                .arg(&self.real)
                .args(more)
                .args(["--quiet", "--force", "--out"])
                .arg(self.folder.path().join(command))
                .stdout(Stdio::null())
                .status()?;
            if !status.success() {
                return Err(format!("deadloop {command} ended with {status}").into());
            }
            least = least.min(of_children()? - before);
        }
        Ok(least)
    }
}

/// The program beside this one.
fn program() -> Result<PathBuf, Box<dyn Error>> {
    let own = std::env::current_exe()?;
    let folder = own.parent().and_then(Path::parent).ok_or("no folder")?;
    let program = folder.join("deadloop");
    if program.is_file() {
        Ok(program)
    } else {
        let what = "build it first: cargo build --release --workspace --locked";
        Err(format!("no {}; {what}", program.display()).into())
    }
}

/// User and system time of the children that ended, seconds: fields 16 and 17 of `/proc/self/stat`, in hundredths.
fn of_children() -> Result<f64, Box<dyn Error>> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    // The name of the program stands in brackets, and may hold anything.
    let (_, after) = stat.rsplit_once(')').ok_or("no name in /proc/self/stat")?;
    let ticks: Vec<f64> = after
        .split_whitespace()
        .skip(13)
        .take(2)
        .map(str::parse)
        .collect::<Result<_, _>>()?;
    Ok(ticks.iter().sum::<f64>() / 100.0)
}
