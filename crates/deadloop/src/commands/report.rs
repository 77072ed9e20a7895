//! `deadloop report`: the report of a result folder again, from its files.

use crate::args::{Global, Report};
use crate::exit::{Code, Outcome};
use crate::interrupt;
use crate::replaying::render;
use deadloop_report::Options;

pub(super) fn run(args: &Report, global: Global) -> Outcome {
    if !args.dir.join("manifest.json").is_file() {
        let what = "no manifest.json; expected a folder that tune, sweep or replay finished";
        return Err(Code::Usage.error(format!("{}: {what}", args.dir.display())));
    }
    interrupt::sweeps(&args.dir);
    let options = Options {
        redact: args.redact,
    };
    render(&args.dir, options, global)
}
