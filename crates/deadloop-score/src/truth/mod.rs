//! The labels of transcripts, their files, and [`Case`], the input of scoring.
//!
//! A case has no text, so scores cannot depend on the text of a transcript.

mod case_set;
mod cases;
mod copies;
mod gold;
mod json;
mod label;
mod labels_csv;
mod packed;
mod rows;
mod segments;
#[cfg(test)]
mod test_cases;
mod timeline;

pub use case_set::CaseSet;
pub(crate) use cases::read_inline_labels;
pub use cases::{Case, CopyKey, SharedNames, mean_clean, units};
pub(crate) use copies::shared_copy_keys;
pub(crate) use copies::{group_numbers, map_copies};
pub use gold::{Gold, KnownStream};
pub(crate) use json::SpanJson;
pub use label::{Class, REVIEW, Span, Truth};
pub(crate) use label::{LocatedLabel, WireLabel, add_problem, combine_classes};
pub use labels_csv::{LABEL_COLUMNS, LabelsFile, orphans};
pub use packed::PackedCases;
pub(crate) use packed::{
    ByteReader, StringPool, put_index_of, put_kind, put_lengths, put_list, put_number, put_option,
    put_optional_float, put_optional_number, put_text, read_by_index, read_kind, read_lengths,
};
pub use rows::{LabelRow, write_labels};
pub(crate) use segments::ChannelSegments;
#[cfg(test)]
pub(crate) use test_cases::{answer, case};
pub use timeline::Timeline;
pub(crate) use timeline::position_time;
