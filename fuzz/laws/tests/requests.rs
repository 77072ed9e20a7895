//! The seeds of `http` damaged in some hundred thousand ways: a small fuzzer that every test run has. What it draws depends on
//! its constant seed alone.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::path::Path;

/// What damage puts in: what heads and chunks are made of, and what they must not be.
fn pieces() -> Vec<&'static str> {
    let marks = [
        "\r\n", "\n", "\r", "\r\n\r\n", "\n\n", " ", "\t", ":", "\0", ",", ";", "0", "5",
        "00000005", "+5", "0x5",
    ];
    let lines = [
        "Content-Length: 5\r\n",
        "Content-Length: 3\r\n",
        "content-length:0\r\n",
        "Transfer-Encoding: chunked\r\n",
        "Transfer-Encoding: identity\r\n",
        "Transfer-Encoding : chunked\r\n",
        "Content_Length: 4\r\n",
        "Connection: Content-Length\r\n",
        "Host: b\r\n",
        " folded\r\n",
    ];
    let paths = ["/../", "%2e%2e/", "HTTP/1.0"];
    let request = "GET /admin HTTP/1.1\r\nHost: a\r\n\r\n";
    [&marks[..], &lines, &paths, &[request]].concat()
}

/// A generator of numbers (xorshift).
struct Draw(u64);

impl Draw {
    /// A number below `n`, which is not 0.
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % n as u64).unwrap()
    }

    /// The bytes with some of them changed, cut out, doubled or put in.
    fn damage(&mut self, bytes: &mut Vec<u8>, pieces: &[&str]) {
        for _ in 0..=self.below(4) {
            let at = self.below(bytes.len() + 1);
            let end = (at + self.below(12)).min(bytes.len());
            match self.below(5) {
                0 => drop(bytes.drain(at..end)),
                1 => {
                    let again = bytes[at..end].to_vec();
                    bytes.splice(at..at, again);
                }
                2 if at < bytes.len() => bytes[at] ^= 1 << self.below(8),
                _ => {
                    let piece = pieces[self.below(pieces.len())];
                    bytes.splice(at..at, piece.bytes());
                }
            }
        }
    }
}

#[test]
fn damaged_requests_are_one_request_for_all_or_refused() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../seeds/http");
    let paths = std::fs::read_dir(folder).unwrap();
    let mut paths: Vec<_> = paths.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let seeds = paths.iter().map(|path| std::fs::read(path).unwrap());
    let (seeds, pieces): (Vec<Vec<u8>>, _) = (seeds.collect(), pieces());
    let mut draw = Draw(0x9e37_79b9_7f4a_7c15);
    for _ in 0..300_000 {
        let mut bytes = seeds[draw.below(seeds.len())].clone();
        if draw.below(4) == 0 {
            bytes.extend_from_slice(&seeds[draw.below(seeds.len())]);
        }
        draw.damage(&mut bytes, &pieces);
        let said = std::panic::catch_unwind(|| deadloop_laws::http(&bytes));
        assert!(said.is_ok(), "{:?}", String::from_utf8_lossy(&bytes));
    }
}
