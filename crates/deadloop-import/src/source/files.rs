//! The selected files, the ids of their transcripts, and detection of changes.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use deadloop_corpus::files::raw_records::ReadProgress;
use deadloop_corpus::{Corpus, CorpusError, Place, open_file};

/// Length and modification time of a file, for change detection. A database includes its log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileStamp {
    /// Length in bytes.
    pub bytes: u64,
    /// Time of the last change, in nanoseconds since 1970.
    pub modified: u64,
}

impl FileStamp {
    /// Reads the current stamp of a file. Returns `None` if the file cannot be read.
    pub(crate) fn read(path: &Path) -> Option<Self> {
        let nanos = |data: &std::fs::Metadata| {
            let since = data.modified().ok()?.duration_since(std::time::UNIX_EPOCH);
            since.ok().map(|since| since.as_nanos() as u64)
        };
        let data = path.metadata().ok()?;
        let log = companion_metadata(path, "-wal");
        let log_changed = log.as_ref().and_then(nanos);
        Some(Self {
            bytes: data.len() + log.map_or(0, |log| log.len()),
            modified: nanos(&data)?.max(log_changed.unwrap_or(0)),
        })
    }
}

/// Returns the metadata of a companion file with this suffix, such as the log of an open database.
pub(crate) fn companion_metadata(path: &Path, suffix: &str) -> Option<std::fs::Metadata> {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name).metadata().ok()
}

/// The queue of the files to read.
pub(crate) struct SourceFiles {
    files: VecDeque<PathBuf>,
    /// Number of times that each file was read.
    read_counts: HashMap<PathBuf, u64>,
    stems: HashMap<PathBuf, String>,
    /// Common folder of all files.
    root: PathBuf,
    /// Counter of bytes read from disk.
    pub(crate) progress: ReadProgress,
    /// Size of all files on disk, in bytes.
    pub(crate) total_bytes: u64,
    /// Corpora among the folders, with their paths.
    pub(crate) corpora: Vec<(PathBuf, Arc<Corpus>)>,
    /// Files that the caller named, as opposed to files found in folders.
    named: HashSet<PathBuf>,
}

/// A file to read.
pub(crate) struct SourceFile {
    pub(crate) path: Arc<PathBuf>,
    /// Counter of bytes read from disk.
    pub(crate) progress: ReadProgress,
    /// Corpus that contains the file.
    pub(crate) corpus: Option<Arc<Corpus>>,
    /// Whether the caller named the file, which may then be a pipe.
    is_named: bool,
    /// Number of times that the file was read before.
    earlier_reads: u64,
    stem: String,
    folder_stem: String,
}

impl SourceFile {
    /// Returns a key of the folder: the number of times that it was read before, and its path.
    pub(crate) fn folder_key(&self) -> (u64, PathBuf) {
        let folder = self.path.parent().unwrap_or(Path::new(""));
        (self.earlier_reads, folder.to_path_buf())
    }

    /// Returns the [`Place`] of a line.
    pub(crate) fn place(&self, line: u64) -> Place {
        Place::new(Arc::clone(&self.path), line)
    }

    /// Returns whether the file has to be a recording, because the caller named it or a corpus contains it.
    pub(crate) fn is_required(&self) -> bool {
        self.is_named || self.corpus.is_some()
    }

    /// Opens the file. In a folder only regular files are opened, since reading from a pipe may never end.
    pub(crate) fn open(&self) -> io::Result<File> {
        if self.is_named {
            File::open(self.path.as_path())
        } else {
            open_file(&self.path)
        }
    }

    /// Returns whether the file name is that of a CSV file.
    pub(crate) fn is_csv(&self) -> bool {
        let name = self.path.file_name().unwrap_or_default();
        let name = name.to_string_lossy().to_lowercase();
        let mut packed = [".gz", ".zst"].iter();
        let unpacked = packed.find_map(|end| name.strip_suffix(end));
        unpacked.unwrap_or(&name).ends_with(".csv")
    }

    /// Returns the prefix of transcript ids: the name of the file, or of its folder if the folder is one recording.
    pub(crate) fn stem(&self, whole_folder: bool) -> String {
        if whole_folder && !self.folder_stem.is_empty() {
            self.folder_stem.clone()
        } else {
            self.stem.clone()
        }
    }
}

impl SourceFiles {
    /// Finds the files in `paths`: named files, all files in folders except hidden ones, and the transcripts of
    /// corpora.
    pub(crate) fn find(paths: &[PathBuf]) -> Result<Self, String> {
        let (mut files, mut corpora) = (Vec::new(), Vec::new());
        let mut named = HashSet::new();
        for path in paths {
            let data = path.metadata();
            let data = data.map_err(|e| CorpusError::unreadable(path, e).to_string())?;
            if data.is_dir() {
                collect_files(path, &mut files, &mut corpora)?;
            } else {
                named.insert(path.clone());
                files.push(path.clone());
            }
        }
        let root = common_folder(&files);
        let size = |file: &PathBuf| file.metadata().map_or(0, |data| data.len());
        Ok(Self {
            stems: name_files(&files, &root),
            root,
            progress: ReadProgress::default(),
            total_bytes: files.iter().map(size).sum(),
            read_counts: HashMap::new(),
            files: files.into(),
            corpora,
            named,
        })
    }

    /// Returns the files of folders in which no file has changed. Folders are compared as a whole, since a recording
    /// may be a folder.
    pub(crate) fn find_unchanged(&self, stamps: &BTreeMap<PathBuf, FileStamp>) -> HashSet<PathBuf> {
        let is_same = |file: &PathBuf| {
            let before = stamps.get(&absolute_path(file));
            before.is_some() && before == FileStamp::read(file).as_ref()
        };
        let changed = self.files.iter().filter(|file| !is_same(file));
        let changed: HashSet<Option<&Path>> = changed.map(|file| file.parent()).collect();
        let same = self.files.iter();
        let same = same.filter(|file| !changed.contains(&file.parent()));
        same.cloned().collect()
    }

    /// Returns the next file to read.
    pub(crate) fn next(&mut self) -> Option<SourceFile> {
        let path = self.files.pop_front()?;
        let read_counts = self.read_counts.entry(path.clone()).or_default();
        let earlier_reads = *read_counts;
        *read_counts += 1;
        let folder = path.parent().unwrap_or(Path::new(""));
        let folder = if folder == self.root {
            folder.file_name().map(Path::new).unwrap_or(folder)
        } else {
            folder.strip_prefix(&self.root).unwrap_or(folder)
        };
        let mut corpora = self.corpora.iter();
        let corpus = corpora.find(|(folder, _)| path.starts_with(folder));
        Some(SourceFile {
            corpus: corpus.map(|(_, corpus)| Arc::clone(corpus)),
            is_named: self.named.contains(&path),
            earlier_reads,
            stem: self.stems.get(&path).cloned().unwrap_or_default(),
            folder_stem: slash_path(folder),
            path: Arc::new(path),
            progress: self.progress.clone(),
        })
    }
}

/// Collects the files of a folder and its subfolders, in natural order.
fn collect_files(
    folder: &Path,
    files: &mut Vec<PathBuf>,
    corpora: &mut Vec<(PathBuf, Arc<Corpus>)>,
) -> Result<(), String> {
    if let Some(corpus) = open_corpus(folder)? {
        files.extend_from_slice(corpus.files());
        corpora.push((folder.to_path_buf(), Arc::new(corpus)));
        return Ok(());
    }
    let listed = std::fs::read_dir(folder).and_then(|entries| {
        let paths = entries.map(|entry| Ok(entry?.path()));
        paths.collect::<io::Result<Vec<PathBuf>>>()
    });
    let mut paths = listed.map_err(|e| CorpusError::unreadable(folder, e).to_string())?;
    paths.retain(|path| !is_hidden(path));
    paths.sort_by_cached_key(|path| natural_sort_key(&slash_path(path)));
    for path in paths {
        // A link to a folder may form a cycle.
        let is_folder = path.symlink_metadata().is_ok_and(|data| data.is_dir());
        match is_folder {
            true => collect_files(&path, files, corpora)?,
            false if path.is_dir() => {}
            false => files.push(path),
        }
    }
    Ok(())
}

/// Opens a folder as a corpus. `None` if the folder is not a corpus.
fn open_corpus(folder: &Path) -> Result<Option<Corpus>, String> {
    match Corpus::open(folder) {
        Ok(corpus) => Ok(Some(corpus)),
        Err(CorpusError::NoTranscripts { .. }) => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}

/// Returns the absolute path, or the path itself if it cannot be resolved.
pub(crate) fn absolute_path(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_path_buf())
}

fn is_hidden(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().starts_with('.')
}

/// Returns a path as text, with `/` as the separator.
fn slash_path(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "/")
}

/// Returns a natural sort key, by which 10 comes after 9. The whole name breaks ties.
fn natural_sort_key(name: &str) -> (Vec<(String, Option<u64>)>, String) {
    let mut parts = Vec::new();
    let mut rest = name;
    while !rest.is_empty() {
        let text = rest
            .find(|c: char| c.is_ascii_digit())
            .unwrap_or(rest.len());
        let (word, after) = rest.split_at(text);
        let digits = after
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(after.len());
        let (number, after) = after.split_at(digits);
        let number = (!number.is_empty()).then(|| number.parse().unwrap_or(u64::MAX));
        parts.push((word.to_owned(), number));
        rest = after;
    }
    (parts, name.to_owned())
}

/// Returns the common folder of all files.
fn common_folder(files: &[PathBuf]) -> PathBuf {
    let folders = files
        .iter()
        .map(|file| file.parent().unwrap_or(Path::new("")));
    let shared = folders.reduce(|root, folder| {
        let mut shared = root.ancestors().filter(|up| folder.starts_with(up));
        shared.next().unwrap_or(Path::new(""))
    });
    shared.unwrap_or(Path::new("")).to_path_buf()
}

/// Maps each file to its path below `root`, without the extension if the result is still unique.
fn name_files(files: &[PathBuf], root: &Path) -> HashMap<PathBuf, String> {
    let below = |file: &PathBuf| slash_path(file.strip_prefix(root).unwrap_or(file));
    let short = |file: &PathBuf| {
        let packed = matches!(file.extension(), Some(end) if end == "gz" || end == "zst");
        let name = file.with_extension("");
        below(&if packed {
            name.with_extension("")
        } else {
            name
        })
    };
    let mut times: HashMap<String, u64> = HashMap::new();
    let mut unique = files.to_vec();
    unique.sort();
    unique.dedup();
    for file in &unique {
        *times.entry(short(file)).or_default() += 1;
    }
    let stem = |file: PathBuf| {
        let name = Some(short(&file)).filter(|name| times.get(name) == Some(&1));
        let name = name.unwrap_or_else(|| below(&file));
        (file, name)
    };
    unique.into_iter().map(stem).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_called_by_what_tells_them_apart() {
        let called = |paths: &[&str]| -> Vec<String> {
            let files: Vec<PathBuf> = paths.iter().map(PathBuf::from).collect();
            let stems = name_files(&files, &common_folder(&files));
            files.iter().map(|file| stems[file].clone()).collect()
        };
        assert_eq!(called(&["a/b/chat.jsonl.gz"]), ["chat"]);
        assert_eq!(
            called(&["r/a/chat.sse", "r/b/chat.sse"]),
            ["a/chat", "b/chat"]
        );
        assert_eq!(
            called(&["a/x.json", "a/x.sse", "a/y"]),
            ["x.json", "x.sse", "y"]
        );
        assert_eq!(called(&["a/x.json", "a/x.json"]), ["x", "x"]);
    }

    #[test]
    fn ten_comes_after_nine() {
        let mut names = ["10.json", "9.json", "a1b", "a", "09.json"];
        names.sort_by_cached_key(|name| natural_sort_key(name));
        assert_eq!(names, ["09.json", "9.json", "10.json", "a", "a1b"]);
    }
}
