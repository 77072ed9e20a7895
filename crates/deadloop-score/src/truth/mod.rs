//! Labels of transcripts and their files, and [`Case`], the input of scoring.
//!
//! A case has no text, so scoring cannot depend on one.

mod case_set;
mod cases;
mod copies;
mod gold;
mod json;
mod label;
mod labels_csv;
mod packed;
mod rows;
mod stretches;
#[cfg(test)]
mod test_cases;
mod timeline;

pub use case_set::CaseSet;
pub(crate) use cases::read_inline;
pub use cases::{Case, CopyKey, SharedNames, mean_clean, units};
pub(crate) use copies::kept_together;
pub(crate) use copies::{group_numbers, map_copies};
pub use gold::{Gold, KnownStream};
pub(crate) use json::SpanJson;
pub use label::{Class, REVIEW, Span, Truth};
pub(crate) use label::{PlacedLabel, WireLabel, add_problem, combine_classes};
pub use labels_csv::{LABEL_COLUMNS, LabelsFile, orphans};
pub use packed::PackedCases;
pub(crate) use packed::{
    ByteReader, StringPool, put_float, put_kind, put_list, put_maybe, put_number, put_option,
    put_place, put_seen, put_text, take_kind, take_place, take_seen,
};
pub use rows::{LabelRow, write_labels};
pub(crate) use stretches::Stretches;
#[cfg(test)]
pub(crate) use test_cases::{answer, case};
pub use timeline::Timeline;
pub(crate) use timeline::clock;
