//! `queries.toml`: queries for the sessions that programs keep in SQLite databases.
//!
//! `formats/<name>.toml` reads the rows.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

/// Queries for the runs of a program in its database.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Query {
    /// Format of the rows.
    pub(crate) format: String,
    /// Tables of the database with their columns. A column with the prefix `!` must be absent.
    pub(crate) tables: BTreeMap<String, Vec<String>>,
    /// SQL query that lists the runs. Each row has the key of a run, and data on the run.
    pub(crate) runs: String,
    /// SQL query that lists the rows of the run with the key `?1`, in order.
    pub(crate) rows: String,
}

#[derive(Debug, Default, Deserialize)]
struct QueryFile {
    query: Vec<Query>,
}

/// Queries of all programs.
pub(crate) static QUERIES: LazyLock<Vec<Query>> =
    LazyLock::new(|| parse_queries().unwrap_or_default().query);

fn parse_queries() -> Result<QueryFile, toml::de::Error> {
    toml::from_str(include_str!("queries.toml"))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_file_is_read() {
        assert_eq!(super::parse_queries().unwrap().query.len(), 6);
    }
}
