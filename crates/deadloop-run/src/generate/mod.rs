//! The files that a release carries: the reference of the site and JSON Schemas.

pub mod reference;
pub mod schemas;
