//! Laws of the requests that the proxy sends on.
//!
//! Every reader understands such a request in the same way. The proxy refuses a request that two readers could
//! understand differently.

use std::sync::LazyLock;

use deadloop_proxy::Upstream;
use deadloop_proxy::offline::forward_requests;

static SERVER: LazyLock<Upstream> =
    LazyLock::new(|| "http://server/base".parse().expect("an address"));

/// Checks the requests that the proxy sends on for any bytes of a client.
pub fn http(bytes: &[u8]) {
    let mut rest = bytes;
    for one in forward_requests(bytes, &SERVER) {
        for reader in LenientReader::ALL {
            let (before, after) = (reader.read(rest), reader.read(&one.bytes));
            if !one.whole {
                assert_eq!(after, None, "a cut request is whole for {reader:?}");
                continue;
            }
            let before = before.expect("what goes on is a request for every reader");
            let ends = before.taken == one.taken;
            assert!(ends, "its end is elsewhere for {reader:?}");
            let after = after.expect("what went on is a request for every reader");
            assert_eq!(after.taken, one.bytes.len(), "more went on for {reader:?}");
            assert_eq!(after.target, format!("/base{}", before.target));
            assert_eq!((after.method, after.body), (before.method, before.body));
            assert!(!leads_up(&after.target), "{}", after.target);
        }
        rest = &rest[one.taken..];
    }
}

/// A lenient reader of requests, like those of some servers. It resolves contradictions by its own rules.
#[derive(Clone, Copy, Debug)]
struct LenientReader {
    /// Whether the last of several lengths counts, and chunks before a length. Otherwise the first length counts, and a
    /// length before chunks.
    last: bool,
    /// Whether `_` in a name equals `-`, and any coding that contains `chunked` is chunked.
    loose: bool,
}

/// A request as a reader understands it.
#[derive(Debug, PartialEq, Eq)]
struct ReadRequest {
    method: String,
    target: String,
    body: Vec<u8>,
    /// The number of bytes of the request.
    taken: usize,
}

impl LenientReader {
    const ALL: [Self; 4] = [
        Self::new(false, false),
        Self::new(false, true),
        Self::new(true, false),
        Self::new(true, true),
    ];

    const fn new(last: bool, loose: bool) -> Self {
        Self { last, loose }
    }

    /// Reads the first request. `None` if it is incomplete or not a request.
    fn read(self, bytes: &[u8]) -> Option<ReadRequest> {
        let mut at = 0;
        let mut lines: Vec<String> = Vec::new();
        loop {
            let line = line(bytes, &mut at)?;
            let folded = line.starts_with([' ', '\t']);
            match lines.last_mut() {
                None if line.is_empty() => {}
                Some(_) if line.is_empty() => break,
                // A line that begins with a blank goes on with the header before it.
                Some(header) if folded => *header += &line,
                _ => lines.push(line),
            }
        }
        let (start, headers) = lines.split_first()?;
        let mut words = start.split_whitespace();
        let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
        let body = self.body(headers, bytes, &mut at)?;
        Some(ReadRequest {
            method,
            target,
            body,
            taken: at,
        })
    }

    fn body(self, headers: &[String], bytes: &[u8], at: &mut usize) -> Option<Vec<u8>> {
        let named = |name: &str| -> Vec<String> {
            let headers = headers.iter().filter_map(|header| header.split_once(':'));
            let named = headers.filter(|(known, _)| self.name(known) == name);
            let values = named.map(|(_, value)| value.trim().to_lowercase());
            values.collect()
        };
        let (lengths, codings) = (named("content-length"), named("transfer-encoding"));
        let chunked = if self.loose {
            codings.iter().any(|coding| coding.contains("chunked"))
        } else {
            codings.last().is_some_and(|coding| coding == "chunked")
        };
        let [first, last] = [lengths.first(), lengths.last()];
        let length = if self.last { last } else { first };
        match length {
            Some(length) if !(self.last && chunked) => {
                let digits: String = length.chars().take_while(char::is_ascii_digit).collect();
                let end = at.checked_add(digits.parse().unwrap_or(0))?;
                let body = bytes.get(*at..end)?.to_vec();
                *at = end;
                Some(body)
            }
            _ if chunked => chunks(bytes, at),
            _ => Some(Vec::new()),
        }
    }

    fn name(self, name: &str) -> String {
        let name = name.trim().to_lowercase();
        if self.loose {
            name.replace('_', "-")
        } else {
            name
        }
    }
}

/// Returns the next line without its end, which may be a line feed alone.
fn line(bytes: &[u8], at: &mut usize) -> Option<String> {
    let rest = bytes.get(*at..)?;
    let end = rest.iter().position(|byte| *byte == b'\n')?;
    *at += end + 1;
    let line = rest[..end].strip_suffix(b"\r").unwrap_or(&rest[..end]);
    // A char a byte: nothing is lost.
    Some(line.iter().map(|byte| char::from(*byte)).collect())
}

/// Reads a chunked body. A size is its leading digits, and the rest of a line after a chunk is ignored.
fn chunks(bytes: &[u8], at: &mut usize) -> Option<Vec<u8>> {
    let mut all = Vec::new();
    loop {
        let size = line(bytes, at)?;
        let digits = size.trim().chars().take_while(char::is_ascii_hexdigit);
        let digits: String = digits.collect();
        let size = usize::from_str_radix(&digits, 16).ok()?;
        if size == 0 {
            while !line(bytes, at)?.is_empty() {}
            return Some(all);
        }
        let end = at.checked_add(size)?;
        all.extend_from_slice(bytes.get(*at..end)?);
        *at = end;
        line(bytes, at)?;
    }
}

/// Returns whether a path contains `..` once its escapes are decoded.
fn leads_up(target: &str) -> bool {
    let path = target.split(['?', '#']).next().unwrap_or_default();
    let path = path.to_lowercase().replace("%2e", ".");
    let path = path.replace("%2f", "/").replace("%5c", "/");
    path.split(['/', '\\']).any(|part| part == "..")
}
