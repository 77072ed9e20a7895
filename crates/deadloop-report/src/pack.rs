//! Packing of the page's data: deflate, then base64.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use std::io::Write;

/// Packs bytes. The script of the page unpacks them with the browser's own decoder.
pub(crate) fn pack(bytes: &[u8]) -> std::io::Result<String> {
    let mut deflate = DeflateEncoder::new(Vec::new(), Compression::new(7));
    deflate.write_all(bytes)?;
    Ok(STANDARD.encode(deflate.finish()?))
}
