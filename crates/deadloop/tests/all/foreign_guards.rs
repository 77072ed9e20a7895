//! Guards that other people run, and the one that stands between a client and a server: `export` and `proxy` from outside.

#![allow(clippy::expect_used, reason = "a test that cannot go on says why")]

use crate::program;

use program::{Place, Ran, has, stdout};
use serde_json::Value;

#[test]
fn an_export_is_what_the_engine_reads() {
    let run = Place::new().run("export vllm --to vllm --json").ends(0);
    let said = run.json();
    let config: Value = said["config"]
        .as_str()
        .map(str::parse)
        .expect("a text")
        .expect("JSON");
    assert_eq!(config["repetition_detection"]["max_pattern_size"], 128);
}

#[test]
fn a_setting_that_an_engine_has_no_word_for_is_refused() {
    let place = Place::new();
    place.file("novelty.toml", "[[guard]]\ndetector = \"novelty\"\n");
    let run = place.run("export novelty.toml --to litellm").ends(2);
    run.says("novelty.toml: litellm can only be told of exact copies");
    assert_eq!(stdout(&run), "");
    place.run("export recommended --to nobody").ends(2);
    let own = "[[guard]]\ndetector = \"periodic\"\n[[model]]\nmatch = \"a*\"\n[[model.guard]]\ndetector = \"periodic\"\n[model.guard.params]\nmin_copies = 9\n";
    place.file("own.toml", own);
    let run = place.run("export own.toml --to vllm");
    run.says("what matches a* has a guard of its own: export it with --for NAME");
    let run = place.run("export own.toml --to vllm --for abc");
    run.shows("\"min_count\": 9");
    place.file("task.toml", own.replace("match", "task"));
    let run = place.run("export task.toml --to vllm");
    run.says(
        "what matches * at task a* has a guard of its own: by its task, which no engine knows",
    );
}

/// The real program between a server that loops and a client; SIGTERM while a stream is under way.
#[cfg(unix)]
#[test]
fn the_proxy_ends_a_loop_and_is_stopped_without_a_stream_being_cut() {
    use std::io::{BufRead, BufReader, Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::process::Stdio;

    let server = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let upstream = format!("http://{}", server.local_addr().expect("an address"));
    std::thread::spawn(move || {
        for mut stream in server.incoming().flatten() {
            std::thread::spawn(move || {
                let mut path = String::new();
                BufReader::new(&stream)
                    .read_line(&mut path)
                    .expect("a request");
                let loops = path.contains("loop");
                let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
                let mut written = stream.write_all(head.as_bytes());
                for n in 0_u64..if loops { 100_000 } else { 100 } {
                    let text = if loops {
                        "and again ".into()
                    } else {
                        format!("w{} ", n.wrapping_mul(2_654_435_761) % 1_000_003)
                    };
                    let event = format!(
                        "data: {{\"choices\":[{{\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n"
                    );
                    written = written.and_then(|()| stream.write_all(event.as_bytes()));
                    if !loops {
                        std::thread::sleep(std::time::Duration::from_millis(10));
                    }
                }
            });
        }
    });
    let line = format!("proxy --listen 127.0.0.1:0 --upstream {upstream}");
    let place = Place::new();
    let mut child = place
        .command(line)
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut said = BufReader::new(child.stderr.take().expect("its stderr"));
    let mut line = String::new();
    said.read_line(&mut line).expect("it says where");
    let at = line
        .trim()
        .strip_prefix("listening at http://")
        .expect("an address")
        .to_owned();
    let get = |path: &str| {
        let mut stream = TcpStream::connect(&at).expect("it listens");
        write!(stream, "GET /{path} HTTP/1.0\r\n\r\n").expect("it reads");
        stream
    };
    let mut got = String::new();
    get("loop").read_to_string(&mut got).expect("text");
    assert!(
        got.ends_with("\"finish_reason\":\"length\"}]}\n\ndata: [DONE]\n\n"),
        "{got}"
    );
    line.clear();
    said.read_line(&mut line).expect("it tells of the alarm");
    has(&line, "dead loop: short-sequence in answer");
    let mut slow = get("slow");
    // Of the head alone.
    slow.read_exact(&mut [0; 20]).expect("it has begun");
    program::send(&child, nix::sys::signal::Signal::SIGTERM);
    let mut rest = String::new();
    slow.read_to_string(&mut rest).expect("text");
    assert_eq!(rest.matches("data: ").count(), 100, "{rest}");
    assert_eq!(program::ended(&mut child).code(), Some(0));
}
