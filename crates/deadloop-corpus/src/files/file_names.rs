//! Opens files, and distinguishes broken links from missing files.
//!
//! Links are broken if git-annex or DVC has not fetched their content, or if a disk is not mounted. If missing splits went
//! unnoticed, a setting could be chosen on the test split. Pipes are never opened, since that may block forever.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Returns whether a path exists, even if it cannot be read or is a broken link.
pub fn is_named(path: &Path) -> bool {
    match path.symlink_metadata() {
        Ok(_) => true,
        // A path below a file does not exist either.
        Err(e) => !matches!(
            e.kind(),
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
        ),
    }
}

/// Opens a regular file for reading.
///
/// # Errors
/// Returns an error if the file cannot be opened, or if the path is a folder, a pipe, a device, or a broken link.
pub fn open_file(path: &Path) -> io::Result<File> {
    match path.metadata() {
        Ok(data) if data.is_file() => File::open(path),
        Ok(data) if data.is_dir() => Err(io::Error::other("a folder, not a file")),
        Ok(_) => Err(io::Error::other("a pipe or a device, not a file")),
        Err(e) if e.kind() == io::ErrorKind::NotFound && is_named(path) => {
            let to = std::fs::read_link(path).unwrap_or_default();
            let what = format!("a link to {}, which is not there", to.display());
            Err(io::Error::other(what))
        }
        Err(e) => Err(e),
    }
}

/// Reads a whole file.
///
/// # Errors
/// Returns the errors of [`open_file`], and an error if the file cannot be read to its end.
pub fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_file(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads a whole UTF-8 text file.
///
/// # Errors
/// Returns the errors of [`read_file`], and an error if the text is not UTF-8.
pub fn read_text(path: &Path) -> io::Result<String> {
    String::from_utf8(read_file(path)?).map_err(|_| {
        io::Error::new(
            io::ErrorKind::InvalidData,
            "not UTF-8 text; expected a file of UTF-8 text",
        )
    })
}

/// Converts the error for a missing file to `Ok(None)`.
///
/// # Errors
/// Returns every error other than that for a missing file.
pub fn if_exists<T>(read: io::Result<T>) -> io::Result<Option<T>> {
    match read {
        Ok(read) => Ok(Some(read)),
        // [`open_file`] reports a broken link as another error.
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_named_and_is_no_file_is_an_error_and_not_absent() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::write(at("file"), "x").unwrap();
        assert_eq!(read_text(&at("file")).unwrap(), "x");
        assert!(!is_named(&at("none")) && !is_named(&at("file/below")));
        assert!(if_exists(read_file(&at("none"))).unwrap().is_none());
        std::fs::create_dir(at("folder")).unwrap();
        let told = |name: &str| {
            assert!(is_named(&at(name)), "{name}");
            if_exists(read_file(&at(name))).unwrap_err().to_string()
        };
        assert_eq!(told("folder"), "a folder, not a file");
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("gone/away", at("link")).unwrap();
            assert_eq!(told("link"), "a link to gone/away, which is not there");
            std::os::unix::fs::symlink("file", at("good")).unwrap();
            assert_eq!(read_file(&at("good")).unwrap(), b"x");
            std::os::unix::fs::symlink("circle", at("circle")).unwrap();
            told("circle");
        }
        // Opening a pipe without a writer would never return.
        #[cfg(target_os = "linux")]
        {
            let made = std::process::Command::new("mkfifo")
                .arg(at("pipe"))
                .status();
            assert!(made.unwrap().success());
            assert_eq!(told("pipe"), "a pipe or a device, not a file");
        }
    }
}
