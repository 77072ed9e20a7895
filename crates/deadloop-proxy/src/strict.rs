//! Rules for refusing the heads of requests.
//!
//! A head is refused if readers before and behind the proxy could understand different requests. The head is not
//! forwarded, and the connection is closed.

/// Returns whether bytes have a line end other than CR LF. A CR at the end may be the first half of one. `at_start` is
/// true if no bytes precede these.
pub(crate) fn has_bare_end(bytes: &[u8], at_start: bool) -> bool {
    let pairs = bytes.windows(2).any(|pair| match pair {
        [b'\r', next] => *next != b'\n',
        [before, b'\n'] => *before != b'\r',
        _ => false,
    });
    pairs || (at_start && bytes.first() == Some(&b'\n'))
}

/// Returns whether bytes may occur in a header's value, which excludes control chars other than tabs.
pub(crate) fn is_header_text(bytes: &[u8]) -> bool {
    let control = |byte: &u8| (*byte < b' ' && *byte != b'\t') || *byte == 0x7f;
    !bytes.iter().any(control)
}

/// Checks that a head has a first line of three words, and only valid headers.
///
/// # Errors
///
/// Returns a description of the problem.
pub(crate) fn check_lines(head: &[u8]) -> Result<(), &'static str> {
    if has_bare_end(head, true) {
        return Err("a line that does not end with CR LF");
    }
    let mut lines = head.split(|byte| *byte == b'\n');
    let start = lines.next().unwrap_or_default();
    let start = start.strip_suffix(b"\r").unwrap_or(start);
    let words: Vec<&[u8]> = start.split(|byte| *byte == b' ').collect();
    let versions: [&[u8]; 2] = [b"HTTP/1.1", b"HTTP/1.0"];
    match words.as_slice() {
        [method, target, version]
            if !method.is_empty() && !target.is_empty() && versions.contains(version) => {}
        _ => return Err("a first line that is not METHOD PATH HTTP/1.1"),
    }
    for line in lines {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if !line.is_empty() {
            check_header(line)?;
        }
    }
    Ok(())
}

/// The headers that determine how a request is read.
const DECISIVE_HEADERS: [&[u8]; 3] = [b"content-length", b"transfer-encoding", b"host"];

/// Checks a header line, given without its line end.
///
/// # Errors
///
/// Returns a description of the problem.
pub(crate) fn check_header(line: &[u8]) -> Result<(), &'static str> {
    if line.starts_with(b" ") || line.starts_with(b"\t") {
        return Err("a header that goes on in a second line");
    }
    let colon = line.iter().position(|byte| *byte == b':');
    let (name, value) = line.split_at(colon.ok_or("a header without a colon")?);
    if name.is_empty() || !name.iter().all(is_name_byte) {
        return Err("a name of a header with blanks or other chars that no name has");
    }
    // Programs that store headers in variables cannot distinguish the two.
    let dashed: Vec<u8> = name.iter().map(underscore_to_dash).collect();
    if name.contains(&b'_') && DECISIVE_HEADERS.contains(&dashed.as_slice()) {
        return Err("a name of a header that some take for another");
    }
    if is_header_text(value) {
        Ok(())
    } else {
        Err("a control char in a header")
    }
}

fn is_name_byte(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte)
}

fn underscore_to_dash(byte: &u8) -> u8 {
    match byte {
        b'_' => b'-',
        byte => byte.to_ascii_lowercase(),
    }
}

/// Checks the target of a request: a path without `..`.
///
/// # Errors
///
/// Returns a description of the problem.
pub(crate) fn check_target(method: &str, target: &str) -> Result<(), &'static str> {
    if method == "CONNECT" || !target.starts_with('/') {
        return Err("a target that is not a path");
    }
    if !target.bytes().all(|byte| byte.is_ascii_graphic()) || target.contains(['#', '\\']) {
        return Err("a char that no path has");
    }
    let path = target.split('?').next().unwrap_or_default();
    let path = path.to_ascii_lowercase().replace("%2e", ".");
    let path = path.replace("%2f", "/").replace("%5c", "/");
    if path.contains("%00") {
        return Err("a char that no path has");
    }
    // Some servers treat the text after a semicolon as parameters of the part.
    let dots = |part: &str| matches!(part.split(';').next(), Some("." | ".."));
    if path.split('/').any(dots) {
        Err("a path with /./ or /../")
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_ends_are_pairs() {
        for good in ["", "a\r\nb", "a\r\n\r\n", "a\r"] {
            assert!(!has_bare_end(good.as_bytes(), true), "{good:?}");
        }
        for bad in ["\n", "a\nb", "a\rb", "\r\r\n", "a\r\n\n", "\r\n\n"] {
            assert!(has_bare_end(bad.as_bytes(), true), "{bad:?}");
        }
    }

    #[test]
    fn a_path_stays_where_it_begins() {
        for good in [
            "/",
            "/v1/x?a=/../b",
            "/..a/.b/c..",
            "/a//b",
            "/%2e%2ea",
            "/a;b",
        ] {
            assert_eq!(check_target("GET", good), Ok(()), "{good}");
        }
        for bad in [
            "",
            "*",
            "a",
            "http://a/",
            "/..",
            "/../a",
            "/a/..",
            "/a/./b",
            "/%2E%2e/a",
            "/a/.%2e",
            "/a%2f..%2fb",
            "/a%5C..",
            "/a\\..\\b",
            "/..;x/a",
            "/a#b",
            "/a\u{e9}",
            "/a\tb",
            "/%00",
        ] {
            assert!(check_target("GET", bad).is_err(), "{bad}");
        }
        assert!(check_target("CONNECT", "/").is_err());
    }

    #[test]
    fn headers_are_one_line_and_their_names_are_one_word() {
        for good in ["a: b", "A-b_c:", "x:\ty", "x: \u{e9}"] {
            assert_eq!(check_header(good.as_bytes()), Ok(()), "{good}");
        }
        for bad in [
            " a: b",
            "\ta: b",
            "a : b",
            "a\t: b",
            ": b",
            "a",
            "a b: c",
            "a\u{e9}: b",
            "a: b\0",
            "Content_Length: 5",
            "transfer_Encoding: chunked",
            "a: b\u{b}",
            "a: \u{7f}",
        ] {
            assert!(check_header(bad.as_bytes()).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_first_line_has_three_words() {
        let head = |start: &str| check_lines(format!("{start}\r\nHost: a\r\n\r\n").as_bytes());
        assert_eq!(head("GET / HTTP/1.1"), Ok(()));
        assert_eq!(head("GET / HTTP/1.0"), Ok(()));
        for bad in [
            "",
            "GET /",
            "GET  / HTTP/1.1",
            "GET / HTTP/1.1 ",
            " GET / HTTP/1.1",
            "GET / HTTP/2.0",
            "GET / HTTP/1.10",
            "GET /\tHTTP/1.1",
            "GET / a HTTP/1.1",
            "GET / http/1.1",
        ] {
            assert!(head(bad).is_err(), "{bad:?}");
        }
    }
}
