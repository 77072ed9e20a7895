//! [`ServerConnection`]: a connection to the server, plain or with TLS.
//!
//! A read that times out loses nothing, with TLS too: bytes are received outside the lock and decrypted under it.

use std::io::{self, BufRead, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustls::crypto::ring::default_provider;
use rustls::pki_types::ServerName;
use rustls::{CertificateError, ClientConfig, ClientConnection, Error, RootCertStore};

/// The time limit for each step of the handshake.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);

/// The configuration of TLS with one server.
#[derive(Clone, Debug)]
pub(crate) struct TlsClient {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
}

impl TlsClient {
    /// Returns the configuration for a host. It trusts the root certificates of the system, or those named by the
    /// variables `SSL_CERT_FILE` and `SSL_CERT_DIR`.
    pub(crate) fn new(host: &str) -> Result<Self, &'static str> {
        let name = ServerName::try_from(host.to_owned());
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        if roots.is_empty() {
            return Err("there are no root certificates; SSL_CERT_FILE may name a file of them");
        }
        let config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|_| "TLS is not available")?;
        let mut config = config.with_root_certificates(roots).with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self {
            config: Arc::new(config),
            name: name.map_err(|_| "no certificate is for such a host")?,
        })
    }

    /// Performs the handshake. An error names the remedy.
    fn handshake(&self, mut socket: &TcpStream) -> io::Result<TlsSession> {
        socket.set_read_timeout(Some(HANDSHAKE_TIMEOUT))?;
        socket.set_write_timeout(Some(HANDSHAKE_TIMEOUT))?;
        let connection = ClientConnection::new(Arc::clone(&self.config), self.name.clone());
        let mut connection = connection.map_err(io::Error::other)?;
        connection.complete_io(&mut socket)?;
        Ok(TlsSession {
            connection: Mutex::new(connection),
            sending: Mutex::new(()),
        })
    }
}

/// A connection to the server, plain or with TLS.
pub(crate) struct ServerConnection {
    socket: TcpStream,
    tls: Option<TlsSession>,
}

impl ServerConnection {
    /// Wraps a new connection, and performs the handshake if the server uses TLS.
    ///
    /// # Errors
    ///
    /// Returns the reason why the handshake failed.
    pub(crate) fn new(socket: TcpStream, tls: Option<&TlsClient>) -> Result<Self, String> {
        let tls = tls.map(|tls| tls.handshake(&socket)).transpose();
        Ok(Self {
            tls: tls.map_err(|e| describe_failure(&e))?,
            socket,
        })
    }

    /// Returns the socket, for setting its options.
    pub(crate) fn socket(&self) -> &TcpStream {
        &self.socket
    }

    /// Returns the number of readable bytes, at most 1 without TLS. Waits for them like a read.
    pub(crate) fn peek(&self) -> io::Result<usize> {
        match &self.tls {
            None => self.socket.peek(&mut [0]),
            Some(tls) => tls.receive(&self.socket),
        }
    }

    /// Shuts the connection down. If only this side is done sending, TLS notifies the server.
    pub(crate) fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        if let (Some(tls), Shutdown::Write) = (&self.tls, how) {
            tls.send(&self.socket, |to| to.send_close_notify())?;
        }
        self.socket.shutdown(how)
    }
}

impl Read for &ServerConnection {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let Some(tls) = &self.tls else {
            return (&self.socket).read(into);
        };
        tls.receive(&self.socket)?;
        lock(&tls.connection).reader().read(into)
    }
}

impl Write for &ServerConnection {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &self.tls {
            None => (&self.socket).write(bytes),
            Some(tls) => tls.send(&self.socket, |to| to.writer().write(bytes))?,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The TLS session of a connection.
struct TlsSession {
    connection: Mutex<ClientConnection>,
    /// Lock held until encrypted bytes are sent, to keep their order. The other thread of a tunnel can still read.
    sending: Mutex<()>,
}

/// The number of bytes received at once. rustls can buffer as many besides the longest incomplete record.
const RECEIVE_BYTES: usize = 1536;

impl TlsSession {
    /// Receives until decrypted bytes can be read, and returns their number, 0 at the end.
    ///
    /// # Errors
    ///
    /// Returns an error of the socket, or `UnexpectedEof` if the connection ends without the end of TLS.
    fn receive(&self, mut socket: &TcpStream) -> io::Result<usize> {
        let invalid = |e| io::Error::new(ErrorKind::InvalidData, e);
        let mut piece = [0; RECEIVE_BYTES];
        loop {
            let ready = lock(&self.connection).reader().fill_buf().map(<[u8]>::len);
            if !matches!(&ready, Err(e) if e.kind() == ErrorKind::WouldBlock) {
                return ready;
            }
            let n = socket.read(&mut piece)?;
            let mut connection = lock(&self.connection);
            if connection.read_tls(&mut &piece[..n])? < n {
                return Err(ErrorKind::InvalidData.into());
            }
            connection.process_new_packets().map_err(invalid)?;
        }
    }

    /// Runs `encrypt` on the session and sends the encrypted bytes.
    fn send<T>(
        &self,
        mut socket: &TcpStream,
        encrypt: impl FnOnce(&mut ClientConnection) -> T,
    ) -> io::Result<T> {
        let _in_order = lock(&self.sending);
        let mut connection = lock(&self.connection);
        let done = encrypt(&mut connection);
        let mut bytes = Vec::new();
        while connection.wants_write() {
            connection.write_tls(&mut bytes)?;
        }
        drop(connection);
        socket.write_all(&bytes)?;
        Ok(done)
    }
}

/// Locks a mutex. If a thread panicked, the connection is only broken as by its end.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the reason for a failed handshake, and the remedy if there is one.
fn describe_failure(error: &io::Error) -> String {
    let tls = error.get_ref().and_then(|e| e.downcast_ref::<Error>());
    let what = match tls {
        Some(Error::InvalidCertificate(CertificateError::UnknownIssuer)) => {
            "the issuer of its certificate is not known here; SSL_CERT_FILE may name a file with the issuer's certificate"
        }
        Some(Error::InvalidMessage(_)) => {
            "it speaks no TLS at this port; expected an address of http:// or another port"
        }
        _ => return error.to_string(),
    };
    what.to_owned()
}
