//! Numbers and texts as the page holds them: deflate, then base64.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use std::io::Write;

/// Packs bytes. The script unpacks them with what the browser brings.
pub(crate) fn packed(bytes: &[u8]) -> std::io::Result<String> {
    let mut deflate = DeflateEncoder::new(Vec::new(), Compression::new(7));
    deflate.write_all(bytes)?;
    Ok(STANDARD.encode(deflate.finish()?))
}
