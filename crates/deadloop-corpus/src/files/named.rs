//! What a folder names: whether something stands at a name, and how a file is opened that may be no file.
//!
//! A name that leads nowhere (a link of git-annex or DVC whose content was not fetched, a disk that is not
//! mounted) is not an absent one: who left the splits out would choose on the test split too. And to open
//! a pipe waits, maybe for ever, for somebody to write to it.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Whether anything has this name, also something that cannot be read.
pub fn is_named(path: &Path) -> bool {
    match path.symlink_metadata() {
        Ok(_) => true,
        // Below a file there is nothing either.
        Err(e) => !matches!(
            e.kind(),
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
        ),
    }
}

/// Opens a file to read it.
///
/// # Errors
/// It cannot be opened; or it is a folder, a pipe, a device, or a link to nothing.
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
/// As [`open_file`], or it cannot be read to its end.
pub fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_file(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads a whole file of text.
///
/// # Errors
/// As [`read_file`], or it is not UTF-8.
pub fn read_text(path: &Path) -> io::Result<String> {
    String::from_utf8(read_file(path)?).map_err(|_| {
        io::Error::new(
            io::ErrorKind::InvalidData,
            "not UTF-8 text; expected a file of UTF-8 text",
        )
    })
}

/// What reading a file gave; `None` where nothing has its name.
///
/// # Errors
/// Those of the reading, but that there is nothing.
pub fn if_named<T>(read: io::Result<T>) -> io::Result<Option<T>> {
    match read {
        Ok(read) => Ok(Some(read)),
        // A link to nothing has been told apart by [`open_file`].
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
        assert!(if_named(read_file(&at("none"))).unwrap().is_none());
        std::fs::create_dir(at("folder")).unwrap();
        let told = |name: &str| {
            assert!(is_named(&at(name)), "{name}");
            if_named(read_file(&at(name))).unwrap_err().to_string()
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
        // It would never come back.
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
