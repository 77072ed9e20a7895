//! The lines of a file, whatever it is packed with, in bounded memory.

use std::io::{self, BufRead, BufReader, Read};

use flate2::read::MultiGzDecoder;

use crate::files::BOM;
use crate::files::unpacked::Unpacked;
use crate::transcript::wire::WireFault;
use crate::{Cost, Place};

const GZIP: &[u8] = b"\x1f\x8b";
const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd";
const BUFFER: usize = 1 << 16;

/// The text of a file. gzip and zstd are recognised by the bytes; a file that unpacks to more than a thousand times its size is
/// broken where it does.
pub(crate) fn unpack(file: impl Read + Send + 'static) -> io::Result<Box<dyn BufRead + Send>> {
    let mut file = BufReader::with_capacity(BUFFER, file);
    let head = file.fill_buf()?;
    let bytes: Box<dyn Read + Send> = if head.starts_with(GZIP) {
        Box::new(Unpacked::of(file, |file| Ok(MultiGzDecoder::new(file)))?)
    } else if head.starts_with(ZSTD) || is_skippable_frame(head) {
        Box::new(Unpacked::of(file, zstd::Decoder::new)?)
    } else {
        return Ok(Box::new(file));
    };
    Ok(Box::new(BufReader::with_capacity(BUFFER, bytes)))
}

/// zstd files may begin with a frame of somebody's own data.
fn is_skippable_frame(head: &[u8]) -> bool {
    matches!(head, [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..])
}

/// What is wrong with a file that cannot be read to its end.
pub(crate) fn broken(error: &io::Error) -> WireFault {
    let what = match error.kind() {
        io::ErrorKind::UnexpectedEof => "the compressed data ends too early".to_owned(),
        _ => format!("cannot be read on: {error}"),
    };
    WireFault::new(what, "a whole file; nothing after this line was read").costing(Cost::of(error))
}

/// The lines of a file.
pub(crate) struct Lines<R> {
    bytes: R,
    /// The line read last.
    place: Place,
    /// Its bytes that are still among those of the file; where it stood in several parts they are put together.
    held: usize,
    line: Vec<u8>,
    limit: usize,
    ended: bool,
}

enum Piece {
    End,
    TooLong,
    /// In one part of the file.
    Held(usize),
    Whole,
}

impl<R: BufRead> Lines<R> {
    /// Of at most `limit` bytes each. `place`: the file as a whole.
    pub(crate) fn new(bytes: R, place: Place, limit: usize) -> Self {
        Self {
            bytes,
            place,
            held: 0,
            line: Vec::new(),
            limit,
            ended: false,
        }
    }

    /// Where the line read last stands.
    pub(crate) fn place(&self) -> &Place {
        &self.place
    }

    /// The next line, blanks around it taken off; empty ones too. None at the end, which also comes
    /// after a fault that leaves nothing to go on with.
    pub(crate) fn next_line(&mut self) -> Option<Result<&[u8], WireFault>> {
        if self.ended {
            return None;
        }
        self.place.line += 1;
        self.bytes.consume(std::mem::take(&mut self.held));
        match self.read() {
            Ok(Piece::End) => {
                self.ended = true;
                None
            }
            Ok(Piece::Whole) => Some(Ok(trim(&self.line, self.place.line))),
            Ok(Piece::Held(length)) => {
                self.held = length;
                let bytes = self.bytes.fill_buf().map_err(|e| broken(&e));
                Some(bytes.map(|bytes| trim(&bytes[..length], self.place.line)))
            }
            Ok(Piece::TooLong) => {
                let expected = format!(
                    "at most {} bytes a line; what is longer: as Parquet, with long results cut (length and sha256 \
                     beside what is kept), or as several transcripts of one group",
                    self.limit
                );
                Some(Err(WireFault::new("a line that is too long", expected)))
            }
            Err(e) => {
                self.ended = true;
                Some(Err(broken(&e)))
            }
        }
    }

    /// Memory is bounded by the limit.
    fn read(&mut self) -> io::Result<Piece> {
        self.line.clear();
        loop {
            let bytes = match self.bytes.fill_buf() {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                bytes => bytes?,
            };
            if bytes.is_empty() {
                break;
            }
            let most = bytes.len().min(self.limit + 1 - self.line.len());
            let end = memchr::memchr(b'\n', &bytes[..most]);
            if let Some(end) = end.filter(|_| self.line.is_empty()) {
                return Ok(Piece::Held(end + 1));
            }
            let taken = end.map_or(most, |end| end + 1);
            self.line.extend_from_slice(&bytes[..taken]);
            self.bytes.consume(taken);
            if end.is_some() || self.line.len() > self.limit {
                break;
            }
        }
        if self.line.is_empty() {
            return Ok(Piece::End);
        }
        if self.line.last() == Some(&b'\n') || self.line.len() <= self.limit {
            return Ok(Piece::Whole);
        }
        self.line = Vec::new();
        self.bytes.skip_until(b'\n')?;
        Ok(Piece::TooLong)
    }
}

fn trim(line: &[u8], number: u64) -> &[u8] {
    let line = match line.strip_prefix(BOM) {
        Some(rest) if number == 1 => rest,
        _ => line,
    };
    line.trim_ascii()
}
