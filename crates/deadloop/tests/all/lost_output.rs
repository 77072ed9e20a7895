//! Nobody reads what a command says: its log pipe has ended, or the disk under it is full. It ends as it does else, with its
//! own exit code, and nothing that it passes on is lost.
#![cfg(target_os = "linux")]
#![allow(clippy::expect_used, reason = "a test that cannot go on says why")]

use crate::program;

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Output, Stdio};

use program::{Place, Ran, code, ended, send, stderr, stdout, until};

/// Where something that a command says goes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Ear {
    /// To the test.
    Heard,
    /// Into a pipe whose reader has ended.
    Gone,
    /// Onto a full disk.
    Full,
}

impl Ear {
    fn stdio(self) -> Stdio {
        match self {
            Self::Heard => Stdio::piped(),
            Self::Gone => {
                let (reader, writer) = std::io::pipe().expect("a pipe");
                drop(reader);
                writer.into()
            }
            Self::Full => {
                let full = std::fs::File::options().write(true).open("/dev/full");
                full.expect("Linux has it").into()
            }
        }
    }
}

/// Runs a command with such ears at stdout and stderr.
fn run(mut command: Command, stdin: &str, (out, err): (Ear, Ear)) -> Output {
    let command = command.stdin(Stdio::piped());
    let child = command.stdout(out.stdio()).stderr(err.stdio()).spawn();
    let mut child = child.expect("it starts");
    let mut pipe = child.stdin.take().expect("a pipe");
    let stdin = stdin.to_owned();
    // Where it has ended before, it wants no more.
    let writer = std::thread::spawn(move || drop(pipe.write_all(stdin.as_bytes())));
    let output = child.wait_with_output().expect("it ends");
    writer.join().expect("it was written");
    output
}

const LOOP: &str = "Wait, let me look at the road again, and then at the other road. ";

/// The files that the commands of the table read.
fn files(place: &Place) {
    let line = |id: &str, text: &str, label: &str| {
        let answer = serde_json::Value::from(text);
        format!("{{\"id\":\"{id}\",\"answer\":{answer},\"labels\":[{label}]}}\n")
    };
    let looped = format!("So it goes. {}", LOOP.repeat(60));
    let onset = 12 + LOOP.len();
    let label = format!(
        "{{\"class\":\"loop\",\"channel\":\"answer\",\"start\":12,\"onset\":{onset},\"period\":{}}}",
        LOOP.len()
    );
    let corpus = line("loop", &looped, &label) + &line("fine", "It is.", "{\"class\":\"clean\"}");
    place.file("corpus.jsonl", corpus);
    let guard = "[[guard]]\ndetector = \"periodic\"\nchannel = \"answer\"\n";
    place.file("settings.toml", guard);
    let grid = format!("{guard}[guard.params]\nmin_copies = [3, 4]\n");
    place.file("grid.toml", grid);
    let case = "[[case]]\nname = \"it alarms\"\ntext = [\"Fine.\"]\nexpect = { alarm = true }\n";
    place.file("cases.toml", case);
    let made = "replay corpus.jsonl --settings settings.toml --csv --out result";
    place.run(made).ends(0);
}

/// Each command in a way in which it has something to say, and the code that it ends with.
const COMMANDS: [(&str, i32); 23] = [
    ("tune corpus.jsonl --grid grid.toml --out out", -1),
    ("sweep corpus.jsonl --grid grid.toml --out out", 0),
    ("replay corpus.jsonl --settings settings.toml --out out", 0),
    // Ends by itself only where it cannot begin; the one that runs is below.
    ("proxy --upstream http://127.0.0.1:1 --listen nowhere", 2),
    ("merge one other --out out", 2),
    ("export recommended --to vllm", 0),
    ("explain corpus.jsonl loop --settings settings.toml", 0),
    ("watch --settings settings.toml", 10),
    ("import corpus.jsonl --out out", 0),
    ("repair corpus.jsonl --out out", -1),
    ("report result", 0),
    ("label corpus.jsonl --out out", 0),
    ("label corpus.jsonl --review --out out", -1),
    ("check corpus.jsonl", -1),
    ("synth --keys", 0),
    ("compare result result", 0),
    ("budget corpus.jsonl --out out", -1),
    ("compare out result --bless", 0),
    ("cases --add corpus.jsonl loop", 0),
    ("cases cases.toml --settings settings.toml", 100),
    ("detectors", 0),
    ("init out", 0),
    ("show corpus.jsonl", 0),
];

/// The commands that the help lists.
fn listed() -> BTreeSet<String> {
    let help = stdout(&Place::new().run("--help"));
    let lines = help.lines().take_while(|line| *line != "Options:");
    let names = lines.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    let names = names.filter(|name| !name.is_empty() && *name != "help");
    names.map(str::to_owned).collect()
}

#[test]
fn every_command_ends_with_its_own_code_though_nobody_hears_it() {
    let name = |line: &str| line.split(' ').next().map(str::to_owned);
    let known: BTreeSet<String> = COMMANDS.iter().filter_map(|(line, _)| name(line)).collect();
    assert_eq!(known, listed(), "a row for each command");
    let place = Place::new();
    files(&place);
    for (words, expected) in COMMANDS {
        let wrong = format!("{} --no-such-option", name(words).unwrap_or_default());
        for (words, expected) in [(words, expected), (&wrong, 2)] {
            let once = |ears: (Ear, Ear)| {
                let out = place.path("out");
                let _ = std::fs::remove_dir_all(&out);
                let _ = std::fs::remove_file(&out);
                run(place.command(words), &LOOP.repeat(100), ears)
            };
            let heard = once((Ear::Heard, Ear::Heard));
            let said = stderr(&heard);
            assert!(heard.status.code().is_some(), "{words:?}: {said}");
            if expected >= 0 {
                assert_eq!(code(&heard), Some(expected), "{words:?}: {said}");
            }
            for err in [Ear::Gone, Ear::Full] {
                let unheard = once((Ear::Heard, err));
                assert_eq!(code(&unheard), code(&heard), "{words:?} {err:?}: {said}");
                assert_eq!(stdout(&unheard), stdout(&heard), "{words:?} {err:?}");
            }
            for err in [Ear::Heard, Ear::Gone] {
                let unheard = once((Ear::Gone, err));
                assert_eq!(code(&unheard), code(&heard), "{words:?}, stdout: {said}");
            }
        }
    }
}

/// An answer that is lost on a full disk is an error, which says so.
#[test]
fn an_answer_that_cannot_be_written_is_an_error() {
    let place = Place::new();
    let run = run(place.command("detectors"), "", (Ear::Full, Ear::Heard)).ends(1);
    run.says("No space left on device");
}

const WARNS: &str = "[[guard]]\ndetector = \"periodic\"\nresponse = \"warn\"\n";

#[test]
fn watch_passes_every_byte_though_nobody_hears_its_warnings() {
    let place = Place::new();
    place.file("warn.toml", WARNS);
    // Lines that cannot be read, which it also tells.
    let event =
        "data: {\"choices\":[{\"delta\":{\"content\":\"so and so on, \"}}]}\n\ndata: {x}\n\n";
    let stream = event.repeat(2000);
    for err in [Ear::Gone, Ear::Full] {
        let watch = place.command("watch --passthrough --from sse --settings warn.toml");
        let run = run(watch, &stream, (Ear::Heard, err));
        assert_eq!(code(&run), Some(0), "{err:?}");
        assert!(
            run.stdout == stream.as_bytes(),
            "{err:?}: {}",
            run.stdout.len()
        );
    }
}

/// Starts the proxy with such an ear at stderr, before a server; streams through it come whole, and it ends when told.
#[test]
fn the_proxy_passes_every_byte_though_nobody_hears_its_warnings() {
    let place = Place::new();
    place.file("warn.toml", WARNS);
    let event = format!(
        "data: {{\"model\":\"{}\",\"choices\":[{{\"delta\":{{\"content\":\"so and so on, \"}}}}]}}\n\n",
        "m".repeat(100_000)
    );
    let stream = event.repeat(300);
    let upstream = serving(stream.clone());
    for err in [Ear::Gone, Ear::Full, Ear::Heard] {
        let free = TcpListener::bind("127.0.0.1:0").expect("a port");
        let at = free.local_addr().expect("it listens").to_string();
        drop(free);
        let proxy = format!("proxy --listen {at} --upstream {upstream} --settings warn.toml");
        let mut proxy = place.command(proxy);
        let started = proxy.stderr(err.stdio()).stdout(Stdio::null()).spawn();
        let mut child = started.expect("it starts");
        until(|| TcpStream::connect(&at).is_ok());
        let mut client = TcpStream::connect(&at).expect("it listens");
        client
            .write_all(b"GET / HTTP/1.0\r\n\r\n")
            .expect("it takes it");
        let mut reader = BufReader::new(client);
        let mut line = String::new();
        while line != "\r\n" {
            line.clear();
            let read = reader.read_line(&mut line);
            assert!(read.is_ok_and(|n| n > 0), "{err:?}: a head");
        }
        let mut got = Vec::new();
        reader.read_to_end(&mut got).expect("it can be read");
        assert!(got == stream.as_bytes(), "{err:?}: {}", got.len());
        send(&child, nix::sys::signal::Signal::SIGTERM);
        assert_eq!(ended(&mut child).code(), Some(0), "{err:?}");
        if let Some(mut heard) = child.stderr.take() {
            let mut said = String::new();
            heard.read_to_string(&mut said).expect("it is text");
            let warnings = said.lines().filter(|line| line.contains("warn: "));
            let longest = warnings.map(str::len).max();
            assert!(longest.is_some_and(|n| n < 1200), "{longest:?}");
        }
    }
}

/// A server that says this to whoever comes; its address.
fn serving(stream: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let at = listener.local_addr().expect("it listens");
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let (mut client, stream) = (client.expect("a client"), stream.clone());
            std::thread::spawn(move || {
                let _ = client.read(&mut [0; 4096]);
                let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
                let _ = client.write_all((head.to_owned() + &stream).as_bytes());
            });
        }
    });
    format!("http://{at}")
}
