//! `queries.toml`: queries for the sessions that programs keep in SQLite databases.
//!
//! `formats/<name>.toml` reads the rows.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

/// The queries for a program's runs and rows in its database.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Query {
    /// The format of the rows.
    pub(crate) format: String,
    /// The tables of the program's database, and their columns. A column with `!` before its name must be absent.
    pub(crate) tables: BTreeMap<String, Vec<String>>,
    /// The query for the runs. Each result has the key of a run, and facts about the run beside its rows.
    pub(crate) runs: String,
    /// The query for the rows of the run whose key is `?1`, in order.
    pub(crate) rows: String,
}

#[derive(Debug, Default, Deserialize)]
struct QueryFile {
    query: Vec<Query>,
}

/// The queries of all programs.
pub(crate) static QUERIES: LazyLock<Vec<Query>> =
    LazyLock::new(|| file().unwrap_or_default().query);

fn file() -> Result<QueryFile, toml::de::Error> {
    toml::from_str(include_str!("queries.toml"))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_file_is_read() {
        assert_eq!(super::file().unwrap().query.len(), 6);
    }
}
