//! JSON lines: one transcript per line, plain or packed.
//!
//! gzip and zstd are recognised by the first bytes.

use std::io::{self, BufRead, BufWriter, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use tempfile::NamedTempFile;
use zstd::zstd_safe::{CParameter, compress_bound};

use super::{Effort, Format, Record, Records, Sink, Source};
use crate::files::{Counted, Lines, MAX_LINE, Raw, RecordDigest, broken, unpack};
use crate::transcript::wire::{Wire, WireFault, line, utf8};
use crate::{Entry, Place, Problem};

pub(crate) const ENTRY: Format = Format {
    name: "jsonl",
    endings: &[".jsonl", ".jsonl.zst", ".jsonl.gz"],
    magic: b"",
    read,
    create,
};

fn read(source: Source) -> Records {
    let place = source.place(0);
    let counted = Counted::new(source.file, source.progress);
    match unpack(counted) {
        Ok(bytes) => Box::new(Raws(Lines::new(bytes, place, MAX_LINE))),
        Err(e) => Box::new(std::iter::once(Err(broken(&e).at(place)))),
    }
}

/// The records of a file, one per line.
struct Raws<R>(Lines<R>);

impl<R: BufRead> Iterator for Raws<R> {
    type Item = Result<Raw, Problem>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let line = match self.0.next_line()? {
                Ok([]) => continue,
                Ok(text) => Ok(JsonLine(text.to_vec())),
                Err(fault) => Err(fault),
            };
            let place = self.0.place().clone();
            return Some(match line {
                Ok(line) => Ok(Raw::new(place, Box::new(line))),
                Err(fault) => Err(fault.at(place)),
            });
        }
    }
}

/// Returns a record for a line that is not in a file. It equals the record of the same line in a file.
pub(crate) fn raw(line: &[u8], place: Place) -> Raw {
    Raw::new(place, Box::new(JsonLine(line.trim_ascii().to_vec())))
}

/// A trimmed line of a file.
struct JsonLine(Vec<u8>);

impl Record for JsonLine {
    fn decode(&self) -> Result<Wire, WireFault> {
        let text = utf8(&self.0)?;
        serde_json::from_str(text).map_err(|e| WireFault::json(&e, text))
    }

    fn digest(&self) -> RecordDigest {
        RecordDigest::from_parts([self.0.as_slice()])
    }

    fn bytes(&self) -> usize {
        self.0.len()
    }
}

/// The zstd level of files that are kept. Files are a little smaller than at the default level, and packing is still
/// faster than most disks. The highest levels would save another third and take fifty times as long.
const KEPT: i32 = 9;
/// The zstd parameters of files whose writing is waited for. The effort is below that of the lowest ordinary level:
/// only repeated text is packed. Short matches and many places are skipped. A larger table and a window of a whole
/// piece make up for that. Compared with the lowest level, files are a seventh larger, and packing takes a sixth less
/// time.
const QUICK: [CParameter; 4] = [
    CParameter::CompressionLevel(-2),
    CParameter::MinMatch(7),
    CParameter::HashLog(14),
    CParameter::WindowLog(PIECE.ilog2()),
];

fn create(file: NamedTempFile, path: &Path, effort: Effort) -> io::Result<Box<dyn Sink>> {
    let file = BufWriter::new(file);
    let packing = path.extension().unwrap_or_default();
    let packer = if packing == "zst" {
        match effort {
            Effort::Kept => Packer::Zstd(zstd::Encoder::new(file, KEPT)?),
            Effort::Quick => Packer::Pieces(Pieces::new(file)?),
        }
    } else if packing == "gz" {
        Packer::Gzip(GzEncoder::new(file, Compression::default()))
    } else {
        Packer::Plain(file)
    };
    let line = Vec::new();
    Ok(Box::new(LineSink { packer, line }))
}

/// A file of lines that is being written.
struct LineSink {
    packer: Packer,
    /// The current line. Packers are much faster with one large piece than with many small ones.
    line: Vec<u8>,
}

/// The ways to pack lines.
enum Packer {
    Plain(BufWriter<NamedTempFile>),
    Gzip(GzEncoder<BufWriter<NamedTempFile>>),
    Zstd(zstd::Encoder<'static, BufWriter<NamedTempFile>>),
    Pieces(Pieces),
}

impl Sink for LineSink {
    fn write(&mut self, entry: &Entry) -> io::Result<()> {
        let file: &mut dyn Write = match &mut self.packer {
            Packer::Plain(file) => file,
            Packer::Gzip(file) => file,
            Packer::Zstd(file) => file,
            Packer::Pieces(pieces) => return pieces.line(entry),
        };
        self.line.clear();
        line(entry, &mut self.line)?;
        self.line.push(b'\n');
        file.write_all(&self.line)
    }

    fn finish(self: Box<Self>) -> io::Result<NamedTempFile> {
        let file = match self.packer {
            Packer::Plain(file) => file,
            Packer::Gzip(file) => file.finish()?,
            Packer::Zstd(file) => file.finish()?,
            Packer::Pieces(file) => file.finish()?,
        };
        file.into_inner().map_err(io::IntoInnerError::into_error)
    }
}

/// A zstd packer that packs each piece at once, as a frame. This is faster than packing a stream, which searches for
/// repeated text in two buffers.
struct Pieces {
    zstd: zstd::bulk::Compressor<'static>,
    /// The content of the next piece.
    piece: Vec<u8>,
    /// The last packed piece.
    packed: Vec<u8>,
    file: BufWriter<NamedTempFile>,
}

/// The minimum size of a piece, in bytes. Smaller pieces make files larger, since each is packed independently. Larger
/// pieces save little.
const PIECE: usize = 1 << 21;

impl Pieces {
    fn new(file: BufWriter<NamedTempFile>) -> io::Result<Self> {
        let mut zstd = zstd::bulk::Compressor::default();
        for parameter in QUICK {
            zstd.set_parameter(parameter)?;
        }
        Ok(Self {
            zstd,
            piece: Vec::new(),
            packed: Vec::new(),
            file,
        })
    }

    fn line(&mut self, entry: &Entry) -> io::Result<()> {
        line(entry, &mut self.piece)?;
        self.piece.push(b'\n');
        if self.piece.len() >= PIECE {
            self.pack()
        } else {
            Ok(())
        }
    }

    fn pack(&mut self) -> io::Result<()> {
        self.packed.clear();
        self.packed.reserve(compress_bound(self.piece.len()));
        self.zstd
            .compress_to_buffer(&self.piece, &mut self.packed)?;
        self.piece.clear();
        self.file.write_all(&self.packed)
    }

    /// Packs the last piece. It may be empty, so that an empty file is valid zstd too.
    fn finish(mut self) -> io::Result<BufWriter<NamedTempFile>> {
        self.pack()?;
        Ok(self.file)
    }
}
