//! JSON lines: one transcript per line, plain or packed.
//!
//! gzip and zstd are recognised by the first bytes.

use std::fs::File;
use std::io::{self, BufRead, BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flate2::Compression;
use flate2::write::GzEncoder;
use tempfile::NamedTempFile;
use zstd::zstd_safe::{CParameter, compress_bound};

use crate::files::{
    CountingReader, FileLines, MAX_LINE, RawRecord, ReadProgress, broken, open_file, unpack,
};
use crate::transcript::wire::line;
use crate::{Cost, Entry, Place, Problem};

/// The endings of file names. In a folder only files with such endings are read.
const FILE_ENDINGS: [&str; 3] = [".jsonl", ".jsonl.zst", ".jsonl.gz"];

/// The effort that a writer spends on packing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// For a file that is kept: a tenth smaller, at several times the cost.
    Kept,
    /// For a file whose writing the user waits for.
    Quick,
}

/// Returns whether a file name has the ending of a transcript file.
pub(crate) fn is_transcripts(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    FILE_ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// The records of a file, in order and in bounded memory. The iterator ends after an error from which reading cannot
/// continue.
pub(crate) type FileRecords = Box<dyn Iterator<Item = Result<RawRecord, Problem>> + Send>;

/// Opens a file and begins to read.
pub(crate) fn open(path: &Arc<PathBuf>, progress: ReadProgress) -> Result<FileRecords, Problem> {
    let place = Place::new(Arc::clone(path), 0);
    let unreadable = |e: io::Error| {
        let what = format!("cannot be read: {e}");
        Problem::new(place.clone(), what, "a readable file").costing(Cost::from_error(&e))
    };
    let mut file = open_file(path).map_err(unreadable)?;
    if is_parquet(&mut file).map_err(unreadable)? {
        let expected = "JSON lines; deadloop import makes a corpus of a table";
        let table = Problem::new(place.clone(), "a table in Parquet", expected);
        return Err(table.costing(Cost::Unread));
    }
    let bytes =
        unpack(CountingReader::new(file, progress)).map_err(|e| broken(&e).at(place.clone()))?;
    let lines = FileLines::new(bytes, place, MAX_LINE);
    Ok(Box::new(JsonlRecords(lines)))
}

fn is_parquet(file: &mut File) -> io::Result<bool> {
    let mut head = Vec::with_capacity(4);
    (&mut *file).take(4).read_to_end(&mut head)?;
    file.rewind()?;
    Ok(head == b"PAR1")
}

/// The records of a file, one per line.
struct JsonlRecords<R>(FileLines<R>);

impl<R: BufRead> Iterator for JsonlRecords<R> {
    type Item = Result<RawRecord, Problem>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let line = match self.0.next_line()? {
                Ok([]) => continue,
                line => line.map(<[u8]>::to_vec),
            };
            let place = self.0.place().clone();
            let record = line.map(|line| RawRecord::new(place.clone(), line));
            return Some(record.map_err(|fault| fault.at(place)));
        }
    }
}

/// The zstd level of files that are kept. Files are a little smaller than at the default level, and packing is still
/// faster than most disks. The highest levels would save another third and take fifty times as long.
const KEPT_LEVEL: i32 = 9;
/// The zstd parameters of files whose writing the user waits for.
///
/// The effort is below that of the lowest ordinary level, since short matches are skipped. A larger table and a window
/// of a whole piece make up for some of the loss. Compared with the lowest level, files are a seventh larger, and
/// packing takes a sixth less time.
const QUICK_PARAMETERS: [CParameter; 4] = [
    CParameter::CompressionLevel(-2),
    CParameter::MinMatch(7),
    CParameter::HashLog(14),
    CParameter::WindowLog(MIN_PIECE.ilog2()),
];

/// Begins a file. Its ending selects the packing.
pub(crate) fn create(file: NamedTempFile, path: &Path, effort: Effort) -> io::Result<LineSink> {
    let file = BufWriter::new(file);
    let packing = path.extension().unwrap_or_default();
    let packer = if packing == "zst" {
        match effort {
            Effort::Kept => Packer::Zstd(zstd::Encoder::new(file, KEPT_LEVEL)?),
            Effort::Quick => Packer::Pieces(FramePacker::new(file)?),
        }
    } else if packing == "gz" {
        Packer::Gzip(GzEncoder::new(file, Compression::default()))
    } else {
        Packer::Plain(file)
    };
    let line = Vec::new();
    Ok(LineSink { packer, line })
}

/// A file of lines that is being written.
pub(crate) struct LineSink {
    packer: Packer,
    /// The current line. Packers are much faster with one large piece than with many small ones.
    line: Vec<u8>,
}

/// The ways to pack lines.
enum Packer {
    Plain(BufWriter<NamedTempFile>),
    Gzip(GzEncoder<BufWriter<NamedTempFile>>),
    Zstd(zstd::Encoder<'static, BufWriter<NamedTempFile>>),
    Pieces(FramePacker),
}

impl LineSink {
    /// Writes a transcript.
    pub(crate) fn write(&mut self, entry: &Entry) -> io::Result<()> {
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

    /// Writes the rest and returns the file.
    pub(crate) fn finish(self) -> io::Result<NamedTempFile> {
        let file = match self.packer {
            Packer::Plain(file) => file,
            Packer::Gzip(file) => file.finish()?,
            Packer::Zstd(file) => file.finish()?,
            Packer::Pieces(file) => file.finish()?,
        };
        file.into_inner().map_err(io::IntoInnerError::into_error)
    }
}

/// A zstd packer that packs each piece at once, as a frame. Packing a stream is slower, since zstd then searches for
/// repeated text in two buffers.
struct FramePacker {
    zstd: zstd::bulk::Compressor<'static>,
    /// The content of the next piece.
    piece: Vec<u8>,
    /// The last packed piece.
    packed: Vec<u8>,
    file: BufWriter<NamedTempFile>,
}

/// The minimum size of a piece, in bytes. Smaller pieces make files larger, since each is packed independently. Larger
/// pieces save little.
const MIN_PIECE: usize = 1 << 21;

impl FramePacker {
    fn new(file: BufWriter<NamedTempFile>) -> io::Result<Self> {
        let mut zstd = zstd::bulk::Compressor::default();
        for parameter in QUICK_PARAMETERS {
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
        if self.piece.len() >= MIN_PIECE {
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
