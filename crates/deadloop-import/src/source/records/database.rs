//! A SQLite database with sessions: a record for each row of a run.
//!
//! The database is opened read-only, no file is written next to it, and all reads see the same state. The keys of all
//! runs, the rows of one run, and eight megabytes of pages are in memory. SQLite sorts larger data in temporary files.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Error, ErrorCode, OpenFlags, Row};
use serde_json::Value;

use super::queries::{QUERIES, Query};
use super::{
    MAX_DOCUMENT_BYTES, MAX_VALUES, RecordContent, RecordResult, SQLITE_MAGIC, SourceRecord,
    SourceRecords,
};
use crate::source::files::{FileStamp, companion_metadata};
use deadloop_corpus::Place;
use deadloop_stream::fields::Object;
use deadloop_stream::wire::{self, WireFault, WireResult};

/// The size of SQLite's page cache, in kilobytes.
const CACHE_KILOBYTES: i64 = 8192;
/// The maximum wait for a lock of a writer.
const MAX_LOCK_WAIT: Duration = Duration::from_secs(3);
/// The maximum number of tables that an error message names.
const MAX_NAMED_TABLES: usize = 12;

/// Returns the records of a database of a known format.
pub(super) fn read_records(place: Place) -> SourceRecords {
    match DatabaseRecords::open(&place.file) {
        Ok(rows) => Box::new(rows),
        Err(fault) => Box::new(std::iter::once(Err(fault.at(place)))),
    }
}

/// Returns the format of a database, recognized by its tables.
pub(crate) fn recognize_database(path: &Path) -> WireResult<&'static str> {
    let (connection, _) = open_read_only(path)?;
    let tables = DatabaseTables::list(&connection).map_err(|e| database_fault(&e))?;
    match tables.find_queries().next() {
        Some(query) => Ok(&query.format),
        None => Err(WireFault::new(
            format!("a SQLite database {}", tables.describe()),
            format!("a database of {}", list_formats()),
        )),
    }
}

/// Lists the formats of readable databases, for messages.
fn list_formats() -> String {
    let mut names: Vec<&str> = QUERIES.iter().map(|query| query.format.as_str()).collect();
    names.dedup();
    names.join(", ")
}

/// Opens a database without writing. Also returns a stamp of the file, for detecting writes during the import.
///
/// The stamp is `None` if a lock or a log ensures that all reads see the same state.
fn open_read_only(path: &Path) -> WireResult<(Connection, Option<FileStamp>)> {
    let header = read_header(path)?;
    let log = companion_metadata(path, "-wal");
    let index = companion_metadata(path, "-shm").is_some();
    // Programs with a log (WAL) mark it in bytes 18 and 19.
    let logged = header[18] == 2 || header[19] == 2;
    let (how, stamp) = match log {
        _ if !logged => ("", None),
        Some(_) if index => ("&readonly_shm=1", None),
        Some(log) if log.len() > 0 => {
            return Err(WireFault::new(
                "a database whose log (-wal) stands beside it without the log's index (-shm): what is in the log cannot be read without writing",
                "both files beside it, or the database after its program has opened and closed it once more",
            ));
        }
        // No program has the database open: SQLite would create both files to read it.
        _ => ("&immutable=1", FileStamp::read(path)),
    };
    if stamp.is_some() || !logged {
        check_length(path, &header)?;
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let uri = format!("file:{}?mode=ro{how}", escape_path(path)?);
    let connection = Connection::open_with_flags(uri, flags).map_err(|e| database_fault(&e))?;
    restrict_connection(&connection).map_err(|e| database_fault(&e))?;
    Ok((connection, stamp))
}

/// Reads the header, the first hundred bytes.
fn read_header(path: &Path) -> WireResult<[u8; 100]> {
    use std::io::Read;
    let mut header = [0; 100];
    let read = std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut header));
    match read {
        Ok(()) if header.starts_with(SQLITE_MAGIC) => Ok(header),
        Ok(()) => Err(WireFault::new(
            "a SQLite database that is packed",
            "the database as it was before it was packed",
        )),
        Err(e) => Err(WireFault::new(
            format!("the database cannot be read: {e}"),
            "a whole SQLite database",
        )),
    }
}

/// Checks that a database without a log has the length in its header.
fn check_length(path: &Path, header: &[u8; 100]) -> WireResult {
    let number = |at: usize| u32::from_be_bytes([0, 1, 2, 3].map(|i| header[at + i]));
    let page = match u64::from(u16::from_be_bytes([header[16], header[17]])) {
        1 => 1 << 16,
        page => page,
    };
    // Old programs did not count pages, so the count may be of another version of the file.
    let counted = number(24) == number(92);
    let reason = u64::from(number(28)) * page;
    let there = path.metadata().map_or(0, |meta| meta.len());
    if counted && there < reason {
        Err(WireFault::new(
            format!("the file ends inside the database: {there} bytes of {reason}"),
            "a whole SQLite database",
        ))
    } else {
        Ok(())
    }
}

/// Escapes a path for a `file:` URI.
fn escape_path(path: &Path) -> WireResult<String> {
    let fault = || WireFault::new("a database whose path is not UTF-8", "a path that is UTF-8");
    let text = path.to_str().ok_or_else(fault)?;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/\\:".contains(&byte);
    let escaped = text.bytes().map(|byte| match byte {
        plain if is_plain(plain) => char::from(plain).to_string(),
        other => format!("%{other:02X}"),
    });
    Ok(escaped.collect())
}

/// Restricts a connection to an untrusted database. Its code does not run, and its memory is bounded.
fn restrict_connection(connection: &Connection) -> Result<(), Error> {
    connection.busy_timeout(MAX_LOCK_WAIT)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, MAX_DOCUMENT_BYTES as i32)?;
    connection.pragma_update(None, "cache_size", -CACHE_KILOBYTES)?;
    // The transaction lets all reads see the same state.
    connection.execute_batch("BEGIN")
}

/// Converts an SQLite error to a fault.
fn database_fault(error: &Error) -> WireFault {
    let code = error.sqlite_error_code();
    let expected = match code {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            "a moment in which its program does not write; close it, and try again"
        }
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen) => {
            "a database whose last change is finished: open its program once, and close it"
        }
        _ => "a whole SQLite database",
    };
    // SQLite's message may have several lines.
    let reason = match error {
        Error::SqlInputError { msg, .. } => msg.clone(),
        other => other.to_string(),
    };
    let reason = reason.replace(['\n', '\r'], " ");
    WireFault::new(format!("the database cannot be read: {reason}"), expected)
}

/// Tables of a database, each with its columns.
struct DatabaseTables(Vec<(String, Vec<String>)>);

impl DatabaseTables {
    /// Lists the ordinary tables. Views and virtual tables are excluded, since they could run arbitrary code.
    fn list(connection: &Connection) -> Result<Self, Error> {
        let mut names = connection.prepare(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY name",
        )?;
        let names = names.query_map((), |row| row.get::<_, String>(0))?;
        let mut tables = Vec::new();
        for name in names {
            let name = name?;
            let mut columns = connection.prepare("SELECT name FROM pragma_table_info(?1)")?;
            let columns = columns.query_map([&name], |row| row.get(0))?;
            let columns = columns.collect::<Result<_, _>>()?;
            tables.push((name, columns));
        }
        Ok(Self(tables))
    }

    /// Returns whether a table has all of these columns. A column with the prefix `!` must be absent.
    fn has_columns(&self, table: &str, columns: &[String]) -> bool {
        let Some((_, known)) = self.0.iter().find(|(known, _)| known == table) else {
            return false;
        };
        columns.iter().all(|column| match column.strip_prefix('!') {
            Some(absent) => !known.iter().any(|name| name == absent),
            None => known.iter().any(|name| name == column),
        })
    }

    /// Returns the queries of the first program whose tables exist.
    fn find_queries(&self) -> impl Iterator<Item = &'static Query> {
        let all = |query: &&Query| {
            let mut tables = query.tables.iter();
            tables.all(|(table, columns)| self.has_columns(table, columns))
        };
        let there: Vec<&'static Query> = QUERIES.iter().filter(all).collect();
        let format = there.first().map(|query| &query.format);
        there
            .into_iter()
            .filter(move |query| Some(&query.format) == format)
    }

    /// Describes the tables, for messages.
    fn describe(&self) -> String {
        let names: Vec<&str> = self.0.iter().map(|(name, _)| name.as_str()).collect();
        match names.split_at_checked(MAX_NAMED_TABLES) {
            _ if names.is_empty() => "without tables".to_owned(),
            Some((first, more @ [_, ..])) => {
                let first = first.join(", ");
                format!("with the tables {first} and {} more", more.len())
            }
            _ => format!("with the tables {}", names.join(", ")),
        }
    }
}

/// A run whose rows have not been read yet.
struct DatabaseRun {
    query: &'static Query,
    key: String,
    /// Data on the run besides its rows.
    meta: Object,
}

struct DatabaseRecords {
    connection: Connection,
    file: Arc<PathBuf>,
    stamp: Option<FileStamp>,
    /// Queries that have not run yet.
    queries: VecDeque<&'static Query>,
    runs: VecDeque<DatabaseRun>,
    ready: VecDeque<RecordResult>,
    ended: bool,
}

impl DatabaseRecords {
    fn open(path: &Arc<PathBuf>) -> WireResult<Self> {
        let (connection, stamp) = open_read_only(path)?;
        let tables = DatabaseTables::list(&connection).map_err(|e| database_fault(&e))?;
        let queries: VecDeque<&'static Query> = tables.find_queries().collect();
        for (table, _) in queries.iter().flat_map(|query| &query.tables) {
            check_pages(&connection, table)?;
        }
        Ok(Self {
            connection,
            file: Arc::clone(path),
            stamp,
            queries,
            runs: VecDeque::new(),
            ready: VecDeque::new(),
            ended: false,
        })
    }

    /// Queues the runs that a query finds.
    fn find_runs(&mut self, query: &'static Query) -> Result<(), Error> {
        let mut runs = self.connection.prepare(&query.runs)?;
        let names: Vec<String> = runs.column_names().map(str::to_owned).collect();
        let mut rows = runs.query(())?;
        while let Some(row) = rows.next()? {
            // A run that cannot be read is reported with its rows.
            let meta = row_object(row, &names).unwrap_or_default();
            let key = match row.get_ref(0)? {
                ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned(),
                ValueRef::Integer(number) => number.to_string(),
                _ => String::new(),
            };
            self.runs.push_back(DatabaseRun { query, key, meta });
        }
        Ok(())
    }

    /// Reads the rows of a run.
    fn read_rows(&mut self, run: &DatabaseRun) -> Result<(), Error> {
        let file = Arc::new(self.file.join(run.display_name()));
        let mut rows = self.connection.prepare(&run.query.rows)?;
        let names: Vec<String> = rows.column_names().map(str::to_owned).collect();
        let mut rows = rows.query([&run.key])?;
        let (mut line, mut bytes) = (0, 0);
        while let Some(row) = rows.next()? {
            line += 1;
            let place = Place::new(Arc::clone(&file), line);
            let sizes = (0..names.len()).map(|at| row.get_ref(at).map_or(0, cell_size));
            bytes += sizes.sum::<usize>();
            if bytes > MAX_DOCUMENT_BYTES {
                self.ready.clear();
                let expected = format!("at most {MAX_DOCUMENT_BYTES} bytes");
                let fault = WireFault::new("a session that is too long", expected);
                self.ready.push_back(Err(fault.at(place)));
                return Ok(());
            }
            let record = row_object(row, &names).map(|mut object| {
                for (name, value) in &run.meta {
                    object.entry(name).or_insert_with(|| value.clone());
                }
                object
            });
            self.ready.push_back(json_record(record, place));
        }
        if line == 0 {
            let mut meta = run.meta.clone();
            meta.insert("kind".to_owned(), "a session without messages".into());
            let place = Place::new(file, 0);
            self.ready.push_back(json_record(Ok(meta), place));
        }
        Ok(())
    }

    /// Reports an SQLite error. Reading stops if the database is damaged.
    fn report_error(&mut self, error: &Error, place: Place) {
        let code = error.sqlite_error_code();
        let damaged = [
            ErrorCode::DatabaseCorrupt,
            ErrorCode::NotADatabase,
            ErrorCode::SystemIoFailure,
            ErrorCode::DatabaseBusy,
        ];
        let mut fault = database_fault(error);
        if code.is_some_and(|code| damaged.contains(&code)) {
            let left = self.runs.len();
            self.runs.clear();
            self.queries.clear();
            if left > 0 {
                fault = fault.inside(&format!("{left} further sessions are not read"));
            }
        }
        self.ready.push_back(Err(fault.at(place)));
    }

    /// Ends the reading, and reports a write during the import.
    fn finish(&mut self) {
        self.ended = true;
        let changed = self.stamp.is_some() && FileStamp::read(&self.file) != self.stamp;
        if changed {
            let fault = WireFault::new(
                "the database was written while it was read",
                "a database that stays as it is; close its program, and import it again",
            );
            let place = Place::new(Arc::clone(&self.file), 0);
            self.ready.push_back(Err(fault.at(place)));
        }
    }

    fn read_next(&mut self) {
        let place = Place::new(Arc::clone(&self.file), 0);
        if let Some(run) = self.runs.pop_front() {
            if let Err(e) = self.read_rows(&run) {
                let file = Arc::new(self.file.join(run.display_name()));
                self.report_error(&e, Place::new(file, 0));
            }
        } else if let Some(query) = self.queries.pop_front() {
            if let Err(e) = self.find_runs(query) {
                self.report_error(&e, place);
            }
        } else {
            self.finish();
        }
    }
}

impl DatabaseRun {
    /// Returns the key of the run if it is a valid file name, otherwise a placeholder.
    fn display_name(&self) -> &str {
        let plain = |c: char| c.is_alphanumeric() || "-_.:".contains(c);
        let is_name = !self.key.starts_with('.') && self.key.chars().all(plain);
        if is_name { &self.key } else { "session" }
    }
}

impl Iterator for DatabaseRecords {
    type Item = RecordResult;

    fn next(&mut self) -> Option<Self::Item> {
        while self.ready.is_empty() && !self.ended {
            self.read_next();
        }
        self.ready.pop_front()
    }
}

/// Checks that the pages of a table are intact. Otherwise rows could be missing silently.
fn check_pages(connection: &Connection, table: &str) -> WireResult {
    let check = format!("PRAGMA quick_check('{table}')");
    let mut check = connection.prepare(&check).map_err(|e| database_fault(&e))?;
    let mut rows = check.query(()).map_err(|e| database_fault(&e))?;
    // A violated rule of the program's own schema is no damage.
    let rules = "ok|NULL value in|CHECK constraint|non-|TEXT value|NUMERIC value";
    while let Some(row) = rows.next().map_err(|e| database_fault(&e))? {
        let reason: String = row.get(0).map_err(|e| database_fault(&e))?;
        if !rules.split('|').any(|rule| reason.starts_with(rule)) {
            let reason = reason.replace(['\n', '\r'], " ");
            let what = format!("the database is damaged: {table}: {reason}");
            return Err(WireFault::new(what, "a whole SQLite database"));
        }
    }
    Ok(())
}

fn json_record(object: WireResult<Object>, place: Place) -> RecordResult {
    match object {
        Ok(object) => Ok(SourceRecord::new(place, RecordContent::Json(object.into()))),
        Err(fault) => Err(fault.at(place)),
    }
}

fn cell_size(value: ValueRef<'_>) -> usize {
    match value {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.len(),
        _ => 8,
    }
}

/// Converts a row to an object. A column `x{}` is parsed as JSON, a column `x[]` as a list of JSON strings.
fn row_object(row: &Row<'_>, names: &[String]) -> WireResult<Object> {
    let mut object = Object::new();
    for (at, name) in names.iter().enumerate() {
        let cell = row.get_ref(at).map_err(|e| database_fault(&e))?;
        let (short, list) = match (name.strip_suffix("{}"), name.strip_suffix("[]")) {
            (Some(short), _) => (short, false),
            (_, Some(short)) => (short, true),
            _ => {
                object.insert(name.clone(), cell_value(name, cell)?);
                continue;
            }
        };
        let mut inside = parse_json(short, cell_value(short, cell)?)?;
        if list && let Value::Array(items) = &mut inside {
            for item in items {
                *item = parse_json(short, item.take())?;
            }
        }
        object.insert(short.to_owned(), inside);
    }
    Ok(object)
}

/// Parses a string as JSON. Other values are returned unchanged.
fn parse_json(name: &str, text: Value) -> WireResult<Value> {
    match text {
        Value::String(text) => wire::parse(&text, MAX_VALUES)
            .map_err(|e| WireFault::json(&e, &text).inside(&format!("`{name}`"))),
        other => Ok(other),
    }
}

fn cell_value(name: &str, cell: ValueRef<'_>) -> WireResult<Value> {
    Ok(match cell {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => number.into(),
        ValueRef::Real(number) => number.into(),
        // Some programs store texts as bytes.
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => text.into(),
            Err(_) => {
                let what = format!("`{name}` is not UTF-8");
                return Err(WireFault::new(what, "UTF-8 text"));
            }
        },
    })
}
