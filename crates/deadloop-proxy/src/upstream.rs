//! [`Upstream`]: the server behind the proxy.

use std::io::{self, ErrorKind};
use std::net::{TcpStream, ToSocketAddrs};
use std::str::FromStr;
use std::time::Duration;

use crate::server_connection::TlsClient;

/// The server's address, `http://host:port` or `https://host:port`, with an optional path prefix.
#[derive(Clone, Debug)]
pub struct Upstream {
    authority: String,
    port: u16,
    prefix: String,
    /// The TLS configuration, for `https`.
    tls: Option<TlsClient>,
}

/// The reason why a text is not the address of a server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{given:?} is no address of a server: {what}; expected http://HOST:PORT or https://HOST/PATH"
)]
/// The reason why a text is not the address of a server.
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
        let schemes = [("http://", 80), ("https://", 443)];
        let mut rests = schemes
            .iter()
            .filter_map(|(scheme, port)| Some((text.strip_prefix(scheme)?, *port)));
        let (rest, default_port) = rests
            .next()
            .ok_or_else(|| wrong("it does not begin with http:// or https://"))?;
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let plain = |c: char| c.is_ascii_graphic() && !"@?#".contains(c);
        if authority.is_empty() || !text.chars().all(plain) {
            return Err(wrong("a host without blanks, names and queries is wanted"));
        }
        let port = authority
            .rsplit_once(':')
            .filter(|(_, port)| !port.ends_with(']'));
        let port = port.map_or(Ok(default_port), |(_, port)| port.parse());
        let mut upstream = Self {
            authority: authority.into(),
            port: port.map_err(|_| wrong("the port is no number"))?,
            prefix: path.trim_end_matches('/').into(),
            tls: None,
        };
        if text.starts_with("https") {
            upstream.tls = Some(TlsClient::new(upstream.host()).map_err(wrong)?);
        }
        Ok(upstream)
    }
}

impl Upstream {
    /// Returns the host without the port and without the brackets of an IPv6 address.
    fn host(&self) -> &str {
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
        host.trim_start_matches('[').trim_end_matches(']')
    }

    /// Returns the TLS configuration, if the server uses TLS.
    pub(crate) fn tls(&self) -> Option<&TlsClient> {
        self.tls.as_ref()
    }

    /// Connects to the server, with a timeout of ten seconds for each of its addresses.
    pub(crate) fn connect(&self) -> io::Result<TcpStream> {
        let mut failed = io::Error::from(ErrorKind::NotFound);
        for at in (self.host(), self.port).to_socket_addrs()? {
            match TcpStream::connect_timeout(&at, Duration::from_secs(10)) {
                Ok(stream) => return Ok(stream),
                Err(e) => failed = e,
            }
        }
        Err(failed)
    }

    /// Returns the value of the `Host` header.
    pub(crate) fn authority(&self) -> &str {
        &self.authority
    }

    /// Returns the prefix of all request paths.
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
            "https://",
            "ftp://x",
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
