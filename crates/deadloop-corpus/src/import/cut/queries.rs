//! [`Query`]: tables and queries of programs with sessions in SQLite.
//!
//! The meaning of a row is in `formats/databases.rs`.

/// The queries for the runs and rows of a program.
#[derive(Debug)]
pub(crate) struct Query {
    /// The format of the rows.
    pub(crate) format: &'static str,
    /// The required tables and columns. A name with `!` must be absent.
    pub(crate) tables: &'static [(&'static str, &'static [&'static str])],
    /// The query for the runs: the key of each, and data on the run besides its rows.
    pub(crate) runs: &'static str,
    /// The query for the rows of the run with the key `?1`, in order.
    ///
    /// A column `x{}` is JSON, `x[]` a list of JSON texts.
    pub(crate) rows: &'static str,
}

/// All queries. A database is of the first program whose tables it has; all queries of this program are run.
pub(crate) static QUERIES: [Query; 9] = [
    Query {
        format: "opencode",
        tables: &[
            ("session", &["id", "title", "version", "directory", "time_created"]),
            ("message", &["id", "session_id", "data", "time_created"]),
            ("part", &["id", "message_id", "data"]),
        ],
        runs: "SELECT k.id AS session, s.title, s.version, s.directory
            FROM (SELECT id FROM session UNION SELECT session_id FROM message) k
            LEFT JOIN session s ON s.id = k.id ORDER BY s.time_created, k.id",
        rows: "SELECT m.data AS \"info{}\",
                (SELECT json_group_array(p.data ORDER BY p.id) FROM part p WHERE p.message_id = m.id) AS \"parts[]\"
            FROM message m WHERE m.session_id = ?1 ORDER BY m.time_created, m.id",
    },
    Query {
        format: "crush",
        tables: &[
            ("sessions", &["id", "title", "created_at", "parent_session_id"]),
            ("messages", &["session_id", "role", "parts", "model", "created_at"]),
        ],
        runs: "SELECT k.id AS session, s.title
            FROM (SELECT id FROM sessions UNION SELECT session_id FROM messages) k
            LEFT JOIN sessions s ON s.id = k.id ORDER BY s.created_at, k.id",
        rows: "SELECT role, parts AS \"parts{}\", model, created_at
            FROM messages WHERE session_id = ?1 ORDER BY created_at, rowid",
    },
    Query {
        format: "goose",
        tables: &[
            ("sessions", &["id", "working_dir", "created_at", "model_config_json"]),
            ("messages", &["id", "session_id", "role", "content_json", "created_timestamp", "tokens"]),
        ],
        runs: "SELECT k.id AS session, s.model_config_json AS \"model_config{}\"
            FROM (SELECT id FROM sessions UNION SELECT session_id FROM messages) k
            LEFT JOIN sessions s ON s.id = k.id ORDER BY s.created_at, k.id",
        rows: GOOSE_ROWS,
    },
    // Versions before schema 6 have no model.
    Query {
        format: "goose",
        tables: &[
            ("sessions", &["id", "working_dir", "created_at", "!model_config_json"]),
            ("messages", &["id", "session_id", "role", "content_json", "created_timestamp", "tokens"]),
        ],
        runs: "SELECT k.id AS session
            FROM (SELECT id FROM sessions UNION SELECT session_id FROM messages) k
            LEFT JOIN sessions s ON s.id = k.id ORDER BY s.created_at, k.id",
        rows: GOOSE_ROWS,
    },
    // The list of a conversation's bubbles has their order. Old lists contain the bubbles themselves. A value may be
    // stored as bytes, which SQLite would take for its own form of JSON.
    Query {
        format: "cursor",
        tables: &[("cursorDiskKV", &["key", "value"])],
        runs: "SELECT substr(key, 14) AS session FROM cursorDiskKV
            WHERE key >= 'composerData:' AND key < 'composerData;' ORDER BY key",
        rows: "WITH c AS (SELECT CAST(value AS TEXT) AS value FROM cursorDiskKV WHERE key = 'composerData:' || ?1),
            h AS (SELECT l.key AS n, l.value ->> 'bubbleId' AS id
                FROM c, json_each(c.value, '$.fullConversationHeadersOnly') l)
            SELECT b.value AS \"bubble{}\", CASE WHEN h.n = 0 THEN (SELECT value ->> '$.modelConfig.modelName' FROM c) END AS model,
                CASE WHEN b.value IS NULL THEN 'a message that is gone' END AS kind, 0 AS place, h.n
            FROM h LEFT JOIN cursorDiskKV b ON b.key = 'bubbleId:' || ?1 || ':' || h.id
            UNION ALL
            SELECT l.value, NULL, NULL, 1, l.key FROM c, json_each(c.value, '$.conversation') l
            UNION ALL
            SELECT NULL, NULL, 'a message of another branch', 2, 0 FROM cursorDiskKV b
            WHERE b.key >= 'bubbleId:' || ?1 || ':' AND b.key < 'bubbleId:' || ?1 || ';'
                AND substr(b.key, length('bubbleId:' || ?1 || ':') + 1) NOT IN (SELECT id FROM h WHERE id IS NOT NULL)
            ORDER BY place, n",
    },
    // A message is stored once, however many turns have it. It belongs to the first one.
    Query {
        format: "llm-db",
        tables: &[
            ("threads", &["id"]),
            ("turns", &["id", "thread_id", "tip_message_hash", "model", "input_tokens", "output_tokens", "datetime_utc", "response_json"]),
            ("messages", &["hash", "parent_hash", "role"]),
            ("parts", &["message_hash", "position", "type", "text", "payload"]),
            ("fragments", &["id", "content"]),
        ],
        runs: "SELECT k.id AS session
            FROM (SELECT id FROM threads UNION SELECT thread_id FROM turns WHERE thread_id IS NOT NULL) k
            ORDER BY (SELECT min(datetime_utc) FROM turns WHERE thread_id = k.id), k.id",
        rows: "WITH RECURSIVE
            t AS (SELECT row_number() OVER (ORDER BY datetime_utc, id) AS n, * FROM turns WHERE thread_id = ?1),
            chain(n, hash, up) AS (
                SELECT n, tip_message_hash, 0 FROM t WHERE tip_message_hash IS NOT NULL
                UNION ALL
                SELECT c.n, m.parent_hash, c.up + 1 FROM chain c JOIN messages m ON m.hash = c.hash
                WHERE m.parent_hash IS NOT NULL AND c.up < 100000),
            once AS (SELECT hash, min(n) AS n, up FROM chain GROUP BY hash)
            SELECT m.role, t.model, t.datetime_utc,
                (SELECT json_group_array(json_object('type', p.type, 'payload', p.payload, 'text', coalesce(p.text,
                    (SELECT group_concat(coalesce(r.value ->> 'literal',
                        (SELECT content FROM fragments WHERE id = r.value ->> 'fragment')), '' ORDER BY r.key)
                     FROM json_each(p.payload, '$.text_ref') r))) ORDER BY p.position)
                 FROM parts p WHERE p.message_hash = m.hash) AS \"parts{}\",
                CASE WHEN up = 0 THEN json_object('input_tokens', t.input_tokens, 'output_tokens', t.output_tokens) END AS \"usage{}\",
                CASE WHEN up = 0 THEN t.response_json END AS raw
            FROM once JOIN t USING (n) JOIN messages m USING (hash) ORDER BY n, up DESC",
    },
    Query {
        format: "llm-db",
        tables: &[
            ("responses", &["id", "model", "prompt", "system", "response", "response_json", "conversation_id", "datetime_utc", "input_tokens", "output_tokens"]),
            ("tool_calls", &["id", "response_id", "name", "arguments", "tool_call_id"]),
            ("tool_results", &["id", "response_id", "output", "tool_call_id"]),
        ],
        runs: LLM_RUNS,
        rows: "SELECT r.*, r.response_json AS raw,
                json_object('input_tokens', r.input_tokens, 'output_tokens', r.output_tokens) AS \"usage{}\",
                (SELECT json_group_array(json_object('id', tool_call_id, 'name', name, 'arguments', arguments) ORDER BY id)
                 FROM tool_calls WHERE response_id = r.id) AS \"calls{}\",
                (SELECT json_group_array(json_object('tool_call_id', tool_call_id, 'content', output) ORDER BY id)
                 FROM tool_results WHERE response_id = r.id) AS \"results{}\"
            FROM responses r WHERE coalesce(conversation_id, id) = ?1 ORDER BY datetime_utc, id",
    },
    Query {
        format: "llm-db",
        tables: &[
            ("responses", &["id", "model", "prompt", "system", "response", "response_json", "conversation_id", "datetime_utc"]),
            ("!tool_calls", &[]),
        ],
        runs: LLM_RUNS,
        rows: "SELECT *, response_json AS raw
            FROM responses WHERE coalesce(conversation_id, id) = ?1 ORDER BY datetime_utc, id",
    },
    Query {
        format: "open-webui",
        tables: &[("chat", &["id", "user_id", "title", "chat", "created_at"])],
        runs: "SELECT id FROM chat ORDER BY created_at, id",
        rows: "SELECT id, chat AS \"chat{}\" FROM chat WHERE id = ?1",
    },
];

const GOOSE_ROWS: &str =
    "SELECT role, content_json AS \"content{}\", created_timestamp AS created, tokens
    FROM messages WHERE session_id = ?1 ORDER BY created_timestamp, id";

const LLM_RUNS: &str = "SELECT coalesce(conversation_id, id) AS session FROM responses
    GROUP BY 1 ORDER BY min(datetime_utc), 1";
