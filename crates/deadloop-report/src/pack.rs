//! Compression of the data in the page: deflate, then base64.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use std::io::Write;

/// Compresses bytes to a text. The script of the page decompresses it with the browser's decoder.
pub(crate) fn pack(bytes: &[u8]) -> std::io::Result<String> {
    let mut deflate = DeflateEncoder::new(Vec::new(), Compression::new(7));
    deflate.write_all(bytes)?;
    Ok(STANDARD.encode(deflate.finish()?))
}
