//! `deadloop schema`: JSON Schemas of the files that people write, and the columns of the tables that commands leave.

use clap::{Args, ValueEnum};
use serde_json::{Map, Value as Json};

mod cases;
mod dataset;
mod grids;
mod kinds;
mod params;
mod results;
mod settings;
mod transcript;

use kinds::Kind;
pub(crate) use results::kind as column_type;

use crate::args::Global;
use crate::exit::Outcome;
use crate::show;

pub(crate) const HELP: &str = "Examples:\n  deadloop schema settings > settings.schema.json\n  deadloop schema\n  deadloop schema results\n\nIn an editor that reads TOML with schemas (Taplo, Even Better TOML) write this as the first line of settings.toml:\n  #:schema ./settings.schema.json";

#[derive(Debug, Args)]
pub(crate) struct Schema {
    /// Which file [default: all, as one object with a schema for each kind]
    #[arg(value_enum)]
    kind: Option<Kind>,
}

pub(super) fn run(args: &Schema, global: Global) -> Outcome {
    if args.kind == Some(Kind::Results) && !global.json {
        return show::print(&results::in_words());
    }
    let schema = match args.kind {
        Some(kind) => kind.schema()?,
        None => all()?,
    };
    if global.json {
        show::print(&schema.to_string())
    } else {
        show::print(&serde_json::to_string_pretty(&schema)?)
    }
}

fn all() -> Outcome<Json> {
    let one = |kind: &Kind| {
        let name = kind.to_possible_value().map(|v| v.get_name().to_owned());
        Ok((name.unwrap_or_default(), kind.schema()?))
    };
    let all: Map<String, Json> = Kind::value_variants()
        .iter()
        .map(one)
        .collect::<Outcome<_>>()?;
    Ok(Json::Object(all))
}
