//! The columns of tables, by common names or by tool.
//!
//! A tool writes one answer per record.
//!
//! | row | written by, and where it is described |
//! |---|---|
//! | `promptfoo` | promptfoo 0.118, `promptfoo eval -o x.json`: `EvaluateResult` of its `types/index.ts` |
//! | `bfcl` | the Berkeley Function-Calling Leaderboard 4, `result/*/BFCL_*_result.json` |
//! | `mt-bench` | FastChat's MT-bench, `model_answer/*.jsonl`: its `gen_model_answer.py` |
//! | `openai-evals` | OpenAI Evals 3, `oaieval` with `--record_path`: its `record.py` |
//! | `llm` | Simon Willison's `llm logs --json`, 0.27 |
//! | `whisper` | Whisper and compatible programs: `text` with `segments`, as `--output_format json` writes |
//! | `langchain` | LangChain's `LLMResult`, dumped: `generations` |
//! | `kobold` | KoboldAI's and KoboldCpp's `/api/v1/generate`: `results` |

use super::table::TableReader;
use crate::reader::entries;
use crate::sessions::log::has_marks;
use crate::source::head::{FormatCertainty, SourceHead};
use deadloop_stream::fields::Object;

entries! { TableReader;
    PROMPTFOO_ENTRY = PROMPTFOO, "promptfoo", "results of promptfoo (-o x.json)";
    BFCL_ENTRY = BFCL, "bfcl", "results of the Berkeley Function-Calling Leaderboard";
    MT_BENCH_ENTRY = MT_BENCH, "mt-bench", "answers of MT-bench: choices of turns";
    OPENAI_EVALS_ENTRY = OPENAI_EVALS, "openai-evals", "records of OpenAI Evals: what was sampled";
    LLM_ENTRY = LLM, "llm", "`llm logs --json`";
    WHISPER_ENTRY = WHISPER, "whisper", "transcriptions of Whisper: text and segments";
    LANGCHAIN_ENTRY = LANGCHAIN, "langchain", "LLMResult of LangChain: generations";
    KOBOLD_ENTRY = KOBOLD, "kobold", "KoboldAI's generate: results";
}

/// The columns of a format.
pub(crate) struct Columns {
    /// Groups of marks. A record with all marks of a group is of the format.
    pub(super) marks: &'static [&'static str],
    /// The lists of a document that hold its records.
    pub(super) records: &'static [&'static str],
    /// The paths of each part in a record. The first that exists counts.
    pub(super) text: &'static [&'static str],
    pub(super) reasoning: &'static [&'static str],
    pub(super) finish: &'static [&'static str],
    pub(super) id: &'static [&'static str],
    pub(super) group: &'static [&'static str],
    pub(super) model: &'static [&'static str],
    pub(super) time: &'static [&'static str],
    pub(super) tokens: &'static [&'static str],
    /// The paths of the model, if the document names it and not the record.
    pub(super) of_all: &'static [&'static str],
}

/// Columns without any known name.
const NONE: Columns = Columns {
    marks: &[],
    records: &[],
    text: &[],
    reasoning: &[],
    finish: &[],
    id: &[],
    group: &[],
    model: &[],
    time: &[],
    tokens: &[],
    of_all: &[],
};

/// The common names of columns, best first. Capitals, spaces and hyphens make no difference.
pub(super) static NAMES: Columns = Columns {
    text: &[
        "completion",
        "response",
        "output",
        "generation",
        "answer",
        "text",
        "response_text",
        "output_text",
        "generated_text",
        "model_output",
        "model_response",
        "prediction",
    ],
    reasoning: &[
        "reasoning",
        "reasoning_content",
        "reasoning_text",
        "thinking",
        "thinking_text",
        "thought",
        "thoughts",
        "chain_of_thought",
        "cot",
    ],
    finish: &[
        "finish_reason",
        "finish",
        "stop_reason",
        "finishreason",
        "stopreason",
        "done_reason",
        "stop_type",
        "finish_type",
        "stopped_by",
    ],
    id: &["id", "uuid", "conversation_id", "uid", "request_id"],
    group: &["prompt", "instruction", "question", "input"],
    model: &["model", "model_name", "model_id", "engine", "generator"],
    time: &["created_at", "timestamp", "time", "datetime", "date"],
    ..NONE
};

impl Columns {
    fn knows(&self, head: &SourceHead) -> FormatCertainty {
        let of = |object: &Object| self.marks.iter().any(|marks| has_marks(object, marks));
        FormatCertainty::Certain.when(head.any(of))
    }
}

static PROMPTFOO: Columns = Columns {
    marks: &[
        "results.results[0].response",
        "results.results[0].provider",
        "promptIdx response provider",
    ],
    records: &["results.results[]"],
    text: &["response.output"],
    reasoning: &["response.reasoning"],
    finish: &["response.finishReason"],
    id: &["id"],
    group: &["prompt.raw"],
    model: &["provider.id", "provider"],
    tokens: &["response.tokenUsage.completion"],
    ..NONE
};

static BFCL: Columns = Columns {
    marks: &["id result output_token_count latency"],
    text: &["result"],
    reasoning: &["reasoning_content"],
    id: &["id"],
    tokens: &["output_token_count"],
    ..NONE
};

static MT_BENCH: Columns = Columns {
    marks: &["question_id choices[0].turns"],
    records: &["choices[]"],
    text: &["turns[]"],
    of_all: &["model_id"],
    ..NONE
};

static OPENAI_EVALS: Columns = Columns {
    marks: &["run_id event_id sample_id", "spec.completion_fns"],
    text: &["data.sampled[]"],
    time: &["created_at"],
    ..NONE
};

static LLM: Columns = Columns {
    marks: &["response conversation_id datetime_utc model"],
    text: &["response"],
    finish: &[
        "response_json.finish_reason",
        "response_json.choices[0].finish_reason",
        "response_json.stop_reason",
    ],
    id: &["id"],
    group: &["prompt"],
    model: &["resolved_model", "model"],
    time: &["datetime_utc"],
    tokens: &["output_tokens"],
    ..NONE
};

static WHISPER: Columns = Columns {
    marks: &["text segments[0].start"],
    text: &["text"],
    ..NONE
};

static LANGCHAIN: Columns = Columns {
    marks: &["generations[0][0]"],
    records: &["generations[][]"],
    text: &["text"],
    reasoning: &["message.kwargs.additional_kwargs.reasoning_content"],
    finish: &[
        "generation_info.finish_reason",
        "message.kwargs.response_metadata.finish_reason",
        "message.kwargs.response_metadata.stop_reason",
    ],
    model: &["message.kwargs.response_metadata.model_name"],
    of_all: &["llm_output.model_name", "llm_output.model"],
    tokens: &["message.kwargs.usage_metadata.output_tokens"],
    ..NONE
};

static KOBOLD: Columns = Columns {
    marks: &["results[0].text"],
    records: &["results[]"],
    text: &["text"],
    finish: &["finish_reason"],
    tokens: &["completion_tokens"],
    of_all: &["model"],
    ..NONE
};
