//! Charts, tables, Markdown and one self-contained page from the files of a result folder.
mod charts; mod data; mod draw; mod grid; mod numbers; mod series;
pub use charts::*; pub use data::*; pub use numbers::Interval;
