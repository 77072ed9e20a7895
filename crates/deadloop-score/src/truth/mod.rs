//! Labels of transcripts and their files, and [`Case`], the input of scoring.
//!
//! A case has no text, so no code behind it reads one.

mod cases;
mod copies;
mod gold;
mod json;
mod label;
mod labels_csv;
#[cfg(test)]
mod made;
mod many;
mod packed;
mod rows;
mod stretches;
mod timeline;

pub(crate) use cases::inside;
pub use cases::{Case, CopyKey, Names, mean_clean, units};
pub use copies::firsts;
pub(crate) use copies::kept_together;
pub(crate) use copies::{copies, group_numbers};
pub use gold::{Gold, KnownStream};
pub(crate) use json::SpanJson;
pub use label::{Class, REVIEW, Span, Truth};
pub(crate) use label::{Label, Placed, Wire, class_of, push};
pub use labels_csv::{LABEL_COLUMNS, LabelsFile, orphans};
#[cfg(test)]
pub(crate) use made::{answer, case};
pub use many::Cases;
pub use packed::PackedCases;
pub(crate) use packed::{
    Bytes, Pile, put_float, put_kind, put_list, put_maybe, put_number, put_option, put_place,
    put_seen, put_text, take_kind, take_place, take_seen,
};
pub use rows::{LabelRow, write_labels};
pub(crate) use stretches::Stretches;
pub use timeline::Timeline;
pub(crate) use timeline::clock;
