//! What `deadloop proxy` says of guards that it cannot feed, and of calls that it refuses.
#![cfg(unix)]
#![allow(clippy::expect_used, reason = "a test that cannot go on says why")]

use crate::program;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

use program::{Place, Ran, ended, send, until};

const BLIND: &str = "[[guard]]\ndetector = \"duplicate\"\nresponse = \"refuse\"\n[[guard]]\ndetector = \"error-run\"\n[[model]]\nmatch = \"big-*\"\n[[model.guard]]\ndetector = \"error-run\"\n";
const NAMED: &str = "a response can never feed some guards: error-run: no results; error-run: no results (for big-*)";

#[test]
fn strict_refuses_guards_that_no_response_can_feed() {
    let place = Place::new();
    place.file("blind.toml", BLIND);
    let proxy = "proxy --listen nowhere --upstream http://127.0.0.1:1 --strict";
    let strict = place.run(format!("{proxy} --settings blind.toml")).ends(2);
    strict.says(&format!(
        "--strict: {NAMED}; expected a guard in the program that runs the tools"
    ));
    // What it can feed it takes: the address is what is wrong.
    place.run(proxy).ends(2).says("--listen nowhere");
}

/// The blind guards are told once, at the start, and each refusal when it comes.
#[test]
fn blind_guards_and_refusals_are_told() {
    let place = Place::new();
    place.file("blind.toml", BLIND);
    let line = format!("--upstream {} --settings blind.toml", calling());
    let (proxy, client) = begun(place.command(format!("proxy {line}")), GET);
    let (got, said) = (rest(client), stopped(proxy));
    assert!(got.contains("\"c1\"") && !got.contains("\"c3\""), "{got}");
    assert!(got.contains("\"finish_reason\":\"length\""), "{got}");
    assert_eq!(said.matches(NAMED).count(), 1, "{said}");
    let refused = "m: refuse: the response was ended before the call: ";
    assert_eq!(said.matches(refused).count(), 1, "{said}");
}

const GET: &str = "GET / HTTP/1.0\r\n\r\n";

/// Starts a proxy and sends a request through it.
fn begun(mut proxy: Command, request: &str) -> (Child, TcpStream) {
    let free = TcpListener::bind("127.0.0.1:0").expect("a port");
    let at = free.local_addr().expect("it listens").to_string();
    drop(free);
    proxy.args(["--listen", &at]).stderr(Stdio::piped());
    let child = proxy.stdout(Stdio::null()).spawn().expect("it starts");
    until(|| TcpStream::connect(&at).is_ok());
    let mut client = TcpStream::connect(&at).expect("it listens");
    client.write_all(request.as_bytes()).expect("it takes it");
    (child, client)
}

/// The rest of what is read.
fn rest(mut from: impl Read) -> String {
    let mut all = Vec::new();
    from.read_to_end(&mut all).expect("it ends");
    String::from_utf8(all).expect("it is text")
}

/// Stops a proxy; what it said.
fn stopped(mut proxy: Child) -> String {
    send(&proxy, nix::sys::signal::Signal::SIGTERM);
    assert_eq!(ended(&mut proxy).code(), Some(0));
    rest(proxy.stderr.take().expect("it is piped"))
}

/// Reads until these words come.
fn reads(from: &mut impl Read, words: &str) -> String {
    let (mut all, mut byte) = (Vec::new(), [0]);
    while !all.ends_with(words.as_bytes()) {
        let n = from.read(&mut byte).expect("it goes on");
        assert!(n > 0, "{words}: {}", String::from_utf8_lossy(&all));
        all.extend(byte);
    }
    String::from_utf8(all).expect("it is text")
}

/// `openssl s_server`, which sends its stdin to the client that connects and prints what the client sends.
struct TlsServer {
    child: Child,
    port: u16,
}

impl Drop for TlsServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The program openssl with the words of a line.
fn openssl(place: &Place, line: &str) -> Command {
    let mut openssl = Command::new("openssl");
    openssl.args(line.split(' ')).current_dir(place.dir());
    openssl
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    openssl
}

impl TlsServer {
    /// Starts a server with the certificate own.pem.
    fn start(place: &Place) -> Self {
        Self::with(place, "")
    }

    /// Starts a server that answers with the file `answer`, then ends TLS and the connection.
    fn answering(place: &Place, answer: &str) -> Self {
        place.file("answer", answer);
        Self::with(place, " -HTTP")
    }

    fn with(place: &Place, options: &str) -> Self {
        let free = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = free.local_addr().expect("it listens").port();
        drop(free);
        let line = format!(
            "s_server -accept 127.0.0.1:{port} -cert own.pem -key own.key -naccept 1{options}"
        );
        let mut child = openssl(place, &line).spawn().expect("it starts");
        reads(child.stdout.as_mut().expect("it is piped"), "ACCEPT\n");
        Self { child, port }
    }

    /// Sends to the client. A line `Q` alone ends the connection.
    fn sends(&mut self, words: &str) {
        let stdin = self.child.stdin.as_mut().expect("it is piped");
        stdin.write_all(words.as_bytes()).expect("it goes on");
    }
}

/// Folders with certificates, own.pem and other.pem, each for localhost alone and its own issuer. `None`: openssl is not
/// installed, which CI does not take.
fn certificates() -> Option<Place> {
    let place = Place::new();
    for name in ["own", "other"] {
        let line = format!(
            "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN={name} -addext subjectAltName=DNS:localhost -addext basicConstraints=critical,CA:FALSE -keyout {name}.key -out {name}.pem"
        );
        let Ok(made) = openssl(&place, &line).output() else {
            assert!(std::env::var_os("CI").is_none(), "CI has openssl");
            return None;
        };
        assert!(made.status.success(), "{made:?}");
    }
    Some(place)
}

/// A proxy before a server with TLS, which trusts a certificate.
fn trusting(place: &Place, certificate: &str, upstream: &str) -> Command {
    let mut proxy = place.command(format!("proxy --upstream {upstream}"));
    proxy
        .env("SSL_CERT_FILE", place.path(certificate))
        .env_remove("SSL_CERT_DIR");
    proxy
}

/// The head of an answer that ends with its connection.
const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n";

#[test]
fn a_server_with_tls_is_reached_and_a_missing_end_is_noticed() {
    let Some(place) = certificates() else {
        return;
    };
    let begin = |request: &str| {
        let server = TlsServer::start(&place);
        let upstream = format!("https://localhost:{}", server.port);
        let (proxy, client) = begun(trusting(&place, "own.pem", &upstream), request);
        (server, proxy, client)
    };
    // Both bodies are longer than any buffer of TLS.
    let sent = "y".repeat(199_994) + "ended.";
    let request = format!(
        "POST / HTTP/1.1\r\nHost: me\r\nConnection: close\r\nContent-Length: 200000\r\n\r\n{sent}"
    );
    let (mut server, proxy, client) = begin(&request);
    reads(server.child.stdout.as_mut().expect("it is piped"), "ended.");
    server.sends(&format!(
        "{HEAD}Content-Length: 300000\r\n\r\n{}",
        "x".repeat(300_000)
    ));
    let got = rest(client);
    assert!(got.ends_with(&format!("\r\n\r\n{}", "x".repeat(300_000))));
    assert_eq!(stopped(proxy).lines().count(), 1);

    let whole = "GET /answer HTTP/1.1\r\nHost: me\r\nConnection: close\r\n\r\n";
    let (mut server, proxy, mut client) = begin(whole);
    server.sends(&format!("{HEAD}\r\nxxxx"));
    reads(&mut client, "xxxx\r\n");
    server.child.kill().expect("it was running");
    assert_eq!(rest(client), "");
    stopped(proxy);

    let server = TlsServer::answering(&place, &format!("{HEAD}\r\nxxxx"));
    let upstream = format!("https://localhost:{}", server.port);
    let (proxy, client) = begun(trusting(&place, "own.pem", &upstream), whole);
    assert!(rest(client).ends_with("xxxx\r\n0\r\n\r\n"));
    stopped(proxy);

    let request = "GET / HTTP/1.1\r\nHost: me\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n";
    let (mut server, proxy, mut client) = begin(request);
    server.sends(
        "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\nxxxx",
    );
    reads(&mut client, "xxxx");
    client.write_all(b"yyyy").expect("it goes on");
    reads(server.child.stdout.as_mut().expect("it is piped"), "yyyy");
    server.sends("Q\n");
    assert_eq!(rest(client), "");
    stopped(proxy);
}

#[test]
fn a_server_whose_tls_is_wrong_is_named_with_the_remedy() {
    let Some(place) = certificates() else {
        return;
    };
    let server = || TlsServer::start(&place);
    let (stranger, other_name, plain) = (server(), server(), server());
    let wrong = [
        (
            "other.pem",
            format!("https://localhost:{}", stranger.port),
            "SSL_CERT_FILE may name a file with the issuer",
        ),
        (
            "own.pem",
            format!("https://127.0.0.1:{}", other_name.port),
            "not valid for name \"127.0.0.1\"",
        ),
        (
            "own.pem",
            calling().replace("http", "https"),
            "it speaks no TLS at this port",
        ),
    ];
    for (certificate, upstream, words) in wrong {
        let (proxy, client) = begun(trusting(&place, certificate, &upstream), GET);
        let got = rest(client);
        assert!(got.starts_with("HTTP/1.1 502 Bad Gateway\r\n"), "{got}");
        program::has(&got, words);
        program::has(&stopped(proxy), "deadloop: the server cannot be reached: ");
    }
    let upstream = format!("http://localhost:{}", plain.port);
    let (proxy, client) = begun(trusting(&place, "own.pem", &upstream), GET);
    program::has(&rest(client), "the server did not answer");
    stopped(proxy);
    let none = trusting(&place, "none.pem", "https://localhost:1").output();
    let none = none.expect("it starts").ends(2);
    none.says("there are no root certificates; SSL_CERT_FILE may name a file of them");
}

/// A server whose every response is nine equal calls; its address.
fn calling() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let at = listener.local_addr().expect("it listens");
    let call = r#"data: {"model":"m","choices":[{"delta":{"tool_calls":[{"index":N,"id":"cN","function":{"name":"ls","arguments":"{}"}}]}}]}"#;
    let calls = (0..9).map(|n| call.replace('N', &n.to_string()) + "\n\n");
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
    let answer = head.to_owned() + &calls.collect::<String>();
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let mut client = client.expect("a client");
            let _ = client.read(&mut [0; 4096]);
            let _ = client.write_all(answer.as_bytes());
        }
    });
    format!("http://{at}")
}
