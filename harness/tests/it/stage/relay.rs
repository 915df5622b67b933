//! The relay, as a host sees it.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixListener;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};

use hopcheck::json::Json;
use hopcheck::trace::event::{Event, Kind};
use hopcheck::wire::channel::Channel;

use super::{CALL, of, one, options, plan_of, program, run, shown, try_run};

struct Relay {
    child: Child,
    channel: Channel,
    hello: Json,
}

fn start() -> Relay {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let listener = UnixListener::bind(&path).unwrap();
    let child = Command::new(program())
        .args(["__relay", path.to_str().unwrap(), "orders"])
        .env("HOPCHECK_CANARY_X", "value")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut channel = Channel::new(listener.accept().unwrap().0.into());
    let hello = channel.wait_take().unwrap().unwrap().get("hello").unwrap().clone();
    Relay { child, channel, hello }
}

impl Relay {
    fn tell(&mut self, command: &str) -> ExitStatus {
        self.channel.send(&Json::parse(command).unwrap(), &[]).unwrap();
        self.child.wait().unwrap()
    }

    fn kill(&self, signal: &str) {
        Command::new("kill").args([signal, &self.child.id().to_string()]).status().unwrap();
    }
}

#[test]
fn says_what_it_was_started_with() {
    let mut relay = start();
    assert_eq!(relay.hello.str("server"), Some("orders"));
    assert_eq!(relay.hello.get("pid").and_then(Json::as_i64), Some(i64::from(relay.child.id())));
    assert_eq!(relay.hello.get("ppid").and_then(Json::as_i64), Some(i64::from(std::process::id())));
    let hash = hopcheck::trace::cut::sha256_hex(b"value");
    assert_eq!(relay.hello.at(&["canaries", "HOPCHECK_CANARY_X"]).and_then(Json::as_str), Some(hash.as_str()));
    assert_eq!(relay.hello.get("argv").unwrap().items().len(), 4);
    relay.tell(r#"{"exit":0}"#);
}

#[test]
fn hands_over_its_streams_and_keeps_none() {
    let mut relay = start();
    let passed: Vec<_> = std::iter::from_fn(|| relay.channel.take_fd()).map(std::fs::File::from).collect();
    let [input, mut output, mut errors] = <[_; 3]>::try_from(passed).unwrap();
    relay.child.stdin.take().unwrap().write_all(b"to the server\n").unwrap();
    let mut line = String::new();
    let mut input = BufReader::new(input);
    input.read_line(&mut line).unwrap();
    assert_eq!(line, "to the server\n");
    assert_eq!(input.read(&mut [0; 8]).unwrap(), 0, "the end of input");

    output.write_all(b"to the host").unwrap();
    errors.write_all(b"aside").unwrap();
    drop((output, errors));
    // The relay still lives; were it a holder, these would wait for ever.
    let mut text = String::new();
    relay.child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    relay.child.stderr.take().unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(text, "to the hostaside");
    relay.tell(r#"{"exit":0}"#);
}

#[test]
fn exits_as_it_is_told() {
    assert_eq!(start().tell(r#"{"exit":0}"#).code(), Some(0));
    assert_eq!(start().tell(r#"{"exit":42}"#).code(), Some(42));
    assert_eq!(start().tell(r#"{"kill":"SIGKILL"}"#).signal(), Some(9));
    assert_eq!(start().tell(r#"{"kill":"SIGTERM"}"#).signal(), Some(15));
    assert_eq!(start().tell(r#"{"kill":"SIGSEGV"}"#).signal(), Some(11));
}

#[test]
fn reports_signals_and_lives_on() {
    let mut relay = start();
    for (flag, name) in [("-TERM", "SIGTERM"), ("-INT", "SIGINT"), ("-HUP", "SIGHUP"), ("-TERM", "SIGTERM")] {
        relay.kill(flag);
        assert_eq!(relay.channel.wait_take().unwrap().unwrap().str("signal"), Some(name));
    }
    assert_eq!(relay.child.try_wait().unwrap(), None);
    assert_eq!(relay.tell(r#"{"exit":3}"#).code(), Some(3));
}

#[test]
fn ends_with_hopcheck() {
    let Relay { mut child, channel, .. } = start();
    drop(channel);
    assert_eq!(child.wait().unwrap().code(), Some(1));
}

#[test]
fn a_signal_of_the_host_is_recorded_and_obeyed() {
    let events = run("signals", &options());
    let signal = one(&events, Kind::ServerSignal);
    assert_eq!(signal.data.str("signal"), Some("SIGTERM"));
    assert_eq!(one(&events, Kind::ServerExit).data.to_string(), r#"{"signal":"SIGTERM","by":"script"}"#);
    assert_eq!(one(&events, Kind::HostExit).data.to_string(), r#"{"code":15}"#, "{}", shown(&events));
}

#[test]
fn what_a_host_does_after_the_death_of_a_server_is_recorded_after_it() {
    let dying =
        "[[server.orders.on]]\nevent = \"request\"\nmethod = \"tools/call\"\ndo = [{ exit = 3 }]\n[[step]]\ncall";
    let plan = plan_of("reacts", "headless", &CALL.replace("[[step]]\ncall", dying));
    let events = try_run(&plan, &options()).unwrap().trace.events;
    let exit = one(&events, Kind::ServerExit);
    assert_eq!(exit.data.to_string(), r#"{"code":3,"by":"script"}"#);
    assert_eq!(events[exit.n as usize - 2].kind, Kind::ToServer, "{}", shown(&events));
    // A dead process gets no signals.
    assert_eq!(of(&events, Kind::ServerSignal), Vec::<&Event>::new());
    assert_eq!(one(&events, Kind::HostExit).data.to_string(), r#"{"code":3}"#);
}

#[test]
fn a_killed_server_is_killed_by_the_host() {
    let events = run("kills", &options());
    assert_eq!(one(&events, Kind::ServerExit).data.to_string(), r#"{"signal":"SIGKILL","by":"host"}"#);
    assert_eq!(one(&events, Kind::HostExit).data.to_string(), r#"{"code":0}"#, "{}", shown(&events));
}
