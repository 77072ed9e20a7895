//! `deadloop schema`: JSON Schemas of the files that people write, and the columns of the tables that commands leave.

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser};
use deadloop_run::schemas::{SCHEMAS, all_schemas, in_words};

use crate::args::Global;
use crate::exit::Outcome;
use crate::show;

pub(crate) const HELP: &str = "Examples:\n  deadloop schema settings > settings.schema.json\n  deadloop schema\n  deadloop schema results\n\nIn an editor that reads TOML with schemas (Taplo, Even Better TOML) write this as the first line of settings.toml:\n  #:schema ./settings.schema.json";

#[derive(Debug, Args)]
pub(crate) struct Schema {
    /// Which file [default: all, as one object with a schema for each kind]
    #[arg(value_parser = PossibleValuesParser::new(SCHEMAS.iter().map(|of| PossibleValue::new(of.name).help(of.about))))]
    kind: Option<String>,
}

pub(super) fn run(args: &Schema, global: Global) -> Outcome {
    let kind = args.kind.as_deref();
    if kind == Some("results") && !global.json {
        return show::print(&in_words());
    }
    let schema = match SCHEMAS.iter().find(|of| Some(of.name) == kind) {
        Some(of) => of.schema()?,
        None => all_schemas()?,
    };
    if global.json {
        show::print(&schema.to_string())
    } else {
        show::print(&serde_json::to_string_pretty(&schema)?)
    }
}
