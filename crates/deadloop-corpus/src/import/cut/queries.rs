//! How the sessions that programs keep in SQLite databases are found: `queries.toml`. What a row becomes stands in
//! `formats/databases.rs`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

/// How the runs and rows of a program are found in its database.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Query {
    /// The format that the rows are of.
    pub(crate) format: String,
    /// The tables that it takes, and their columns; with `!` before it, what must not be there.
    pub(crate) tables: BTreeMap<String, Vec<String>>,
    /// The runs: a key each, and what is known of the run beside its rows.
    pub(crate) runs: String,
    /// The rows of the run whose key is `?1`, in order.
    pub(crate) rows: String,
}

#[derive(Debug, Default, Deserialize)]
struct File {
    query: Vec<Query>,
}

/// All of them; a test reads the file too.
pub(crate) static QUERIES: LazyLock<Vec<Query>> =
    LazyLock::new(|| file().unwrap_or_default().query);

fn file() -> Result<File, toml::de::Error> {
    toml::from_str(include_str!("queries.toml"))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_file_is_read() {
        assert_eq!(super::file().unwrap().query.len(), 9);
    }
}
