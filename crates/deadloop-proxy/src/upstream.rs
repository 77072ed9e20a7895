//! [`Upstream`]: the server behind the proxy.

use std::io::{self, ErrorKind};
use std::net::{TcpStream, ToSocketAddrs};
use std::str::FromStr;
use std::time::Duration;

/// The address of the server: `http://host:port`, and a prefix of all paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upstream {
    authority: String,
    port: u16,
    prefix: String,
}

/// The reason why a text is not the address of a server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{given:?} is no address of a server: {what}; expected http://HOST:PORT or http://HOST:PORT/PATH"
)]
pub struct UpstreamError {
    given: String,
    what: &'static str,
}

impl FromStr for Upstream {
    type Err = UpstreamError;

    fn from_str(text: &str) -> Result<Self, UpstreamError> {
        let wrong = |what| UpstreamError {
            given: text.into(),
            what,
        };
        if text.starts_with("https://") {
            return Err(wrong("TLS is left to what stands behind the proxy"));
        }
        let rest = text
            .strip_prefix("http://")
            .ok_or_else(|| wrong("it does not begin with http://"))?;
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let plain = |c: char| c.is_ascii_graphic() && !"@?#".contains(c);
        if authority.is_empty() || !text.chars().all(plain) {
            return Err(wrong("a host without blanks, names and queries is wanted"));
        }
        let port = authority
            .rsplit_once(':')
            .filter(|(_, port)| !port.ends_with(']'));
        let port = port.map_or(Ok(80), |(_, port)| port.parse());
        Ok(Self {
            authority: authority.into(),
            port: port.map_err(|_| wrong("the port is no number"))?,
            prefix: path.trim_end_matches('/').into(),
        })
    }
}

impl Upstream {
    /// Connects to the server within ten seconds.
    pub(crate) fn connect(&self) -> io::Result<TcpStream> {
        let host =
            self.authority
                .rsplit_once(':')
                .map_or(self.authority.as_str(), |(host, port)| {
                    if port.ends_with(']') {
                        &self.authority
                    } else {
                        host
                    }
                });
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let mut failed = io::Error::from(ErrorKind::NotFound);
        for at in (host, self.port).to_socket_addrs()? {
            match TcpStream::connect_timeout(&at, Duration::from_secs(10)) {
                Ok(stream) => return Ok(stream),
                Err(e) => failed = e,
            }
        }
        Err(failed)
    }

    /// Returns the value of the header `Host`.
    pub(crate) fn authority(&self) -> &str {
        &self.authority
    }

    /// Returns the prefix of the path of each request.
    pub(crate) fn prefix(&self) -> &str {
        &self.prefix
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_named_by_its_url() {
        let parsed: Upstream = "http://127.0.0.1:8000/v1/".parse().unwrap();
        assert_eq!(
            (parsed.authority(), parsed.port, parsed.prefix()),
            ("127.0.0.1:8000", 8000, "/v1")
        );
        let parsed: Upstream = "http://[::1]".parse().unwrap();
        assert_eq!((parsed.port, parsed.prefix()), (80, ""));
        for wrong in [
            "https://x",
            "x:80",
            "http://",
            "http://x:y",
            "http://x y",
            "http://u@x",
        ] {
            assert!(wrong.parse::<Upstream>().is_err(), "{wrong}");
        }
    }
}
