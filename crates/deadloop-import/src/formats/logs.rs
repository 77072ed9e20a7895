//! Messages as SDKs and graphs dump them, one row each.
//!
//! The fields of a row are in [`Log`].
//!
//! | row | written by, and where it is described |
//! |---|---|
//! | `messages` | messages alone, one per line or as a list, as the SDKs dump them |
//! | `langgraph` | the state of a LangGraph 1.0 graph, as `dumpd` and the platform's API write it |

use serde_json::Value;

use crate::head::Certainty;
use crate::log::{About, Is, LINES, Log, NOTHING, Reading, Rule};
use crate::reader::{Out, entries};
use crate::spans;
use deadloop_stream::take::Object;

entries! { Reading;
    MESSAGES_ENTRY = MESSAGES, "messages", "messages alone (role, content), a line each or a list";
    LANGGRAPH_ENTRY = LANGGRAPH, "langgraph", "states of LangGraph: `messages` of LangChain's types";
}

static MESSAGES: Log = Log {
    marks: &["role=user|assistant|system|developer|tool content !type !created !timestamp"],
    sure: Certainty::Likely,
    about: About {
        model: &["model"],
        reason: &["finish_reason", "stop_reason"],
        ..NOTHING
    },
    rules: &[Rule::of("role", Is::Message(""))],
    ..LINES
};

static LANGGRAPH: Log = Log {
    marks: &[
        "messages[0].type=human|ai|system messages[0].content",
        "messages[1].type=human|ai|system messages[1].content",
    ],
    records: &["messages[]"],
    whole: true,
    shape: Some(langgraph),
    about: About {
        id: &["thread_id"],
        model: &["about.model_name", "about.model"],
        reason: &[
            "about.finish_reason",
            "about.stop_reason",
            "about.done_reason",
        ],
        ..NOTHING
    },
    rules: &[Rule::of("role", Is::Message(""))],
    ..LINES
};

/// Converts messages of LangChain to OpenAI's fields.
fn langgraph(object: &mut Object, _: &mut Out) {
    let Some(Value::Array(messages)) = object.get_mut("messages") else {
        return;
    };
    for message in messages {
        let about = message.get("response_metadata").cloned();
        if let Some(mut said) = spans::message(message.take()) {
            said.extend(about.map(|about| ("about".to_owned(), about)));
            *message = Value::Object(said);
        }
    }
}
