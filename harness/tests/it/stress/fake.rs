//! What hostile hosts do.

use std::io::Write;
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};

use hopcheck::json::Json;
use rustix::process::{Pid, Signal, getpid, getppid, kill_process};

use crate::stage::fake::{Model, Server, hang, polite, tool_use};

pub(crate) fn play(part: &str, config: &Json) -> i32 {
    let (name, how) = part.split_once(':').unwrap_or((part, ""));
    match name {
        "bulk" => bulk(),
        "halves" => halves(config),
        "shut" => shut(config),
        "shrug" => shrug(config),
        "exit" => exit(config, how),
        "leaves" => leaves(config),
        "storm" => storm(config),
        "pings" => pings(config),
        "begs" => begs(config),
        "crowd" => crowd(config),
        "servers" => servers(config),
        "not-utf8" => not_utf8(config),
        "long-line" => long_line(config),
        "deep" => deep(config),
        "many-values" => many_values(config),
        "unread" => unread(config),
        "bodies" => bodies(config),
        "intruder" => intruder(config),
        "supervisor" => supervisor(config, how),
        "supervisor-at-once" => strike(how),
        "litter" => litter(config),
        "raze" => raze(config),
        "rounds" => rounds(config),
        "regicide" => regicide(config),
        "listens" => listens(config),
        other => panic!("no such part: {other}"),
    }
}

/// Tells the test of a process that is left behind.
#[expect(clippy::zombie_processes, reason = "what is left behind is the point")]
fn left(command: &mut Command) {
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    println!("left {}", child.id());
}

/// A daemon: a session of its own, and nothing of our environment.
fn daemon() -> Command {
    let mut daemon = Command::new("/usr/bin/setsid");
    daemon.args(["/bin/sleep", "600"]).env_clear().current_dir("/");
    daemon
}

/// 100 MB of lines, and 100 MB without a line feed.
fn bulk() -> i32 {
    let block = vec![b'x'; 1 << 20];
    let mut out = std::io::stdout().lock();
    let mut err = std::io::stderr().lock();
    for _ in 0..100 {
        out.write_all(&block).unwrap();
        out.write_all(b"\n").unwrap();
        err.write_all(&block).unwrap();
    }
    0
}

/// Half a line to the server, half a request to the model, half a line of output.
fn halves(config: &Json) -> i32 {
    let mut server = Server::connect(config);
    server.input.as_mut().unwrap().write_all(br#"{"jsonrpc":"2.0","id":2,"meth"#).unwrap();
    server.close();
    let mut model = Model::new(config);
    let head = format!("POST {}/v1/messages HTTP/1.1\r\ncontent-length: 100\r\n\r\n{{\"mod", model.base);
    model.stream.get_mut().write_all(head.as_bytes()).unwrap();
    print!("half a li");
    std::io::stdout().flush().unwrap();
    0
}

/// Closes everything and hangs.
fn shut(config: &Json) -> i32 {
    let server = Server::connect(config);
    Model::new(config).ask(1);
    drop((server.input, server.output));
    let nothing = std::fs::File::open("/dev/null").unwrap();
    rustix::stdio::dup2_stdin(&nothing).unwrap();
    rustix::stdio::dup2_stdout(&nothing).unwrap();
    rustix::stdio::dup2_stderr(&nothing).unwrap();
    hang()
}

/// Takes note of every signal that can be caught, and goes on.
fn shrug(config: &Json) -> i32 {
    for signal in 1..=31 {
        // Those that tell of a fault of the program itself may not be taken over.
        if !signal_hook::consts::FORBIDDEN.contains(&signal) {
            signal_hook::flag::register(signal, std::sync::Arc::default()).unwrap();
        }
    }
    let mut model = Model::new(config);
    model.ask(1);
    hang()
}

/// Ends in a phase: `PHASE` with code 3, `PHASE-killed` by a signal.
fn exit(config: &Json, phase: &str) -> i32 {
    let (phase, killed) = phase.strip_suffix("-killed").map_or((phase, false), |phase| (phase, true));
    let here = |name: &str| {
        if phase == name {
            if killed {
                kill_process(getpid(), Signal::KILL).unwrap();
            }
            std::process::exit(3);
        }
    };
    here("start");
    let mut server = Server::start(config);
    here("spawned");
    server.say(
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"fake","version":"1"}}}"#,
    );
    here("asked");
    server.hear();
    server.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    here("connected");
    server.say(r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#);
    server.hear();
    here("listed");
    let mut model = Model::new(config);
    let id = tool_use(&model.ask(100)).unwrap();
    here("offered");
    server.say(
        r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"lookup_order","arguments":{"order_id":"A-1"}}}"#,
    );
    here("calling");
    server.hear();
    here("called");
    panic!("no such phase: {phase} {id}");
}

/// A good conversation, and daemons of every kind.
fn leaves(config: &Json) -> i32 {
    let code = polite(config);
    left(&mut daemon());
    left(Command::new("/bin/sleep").arg("600"));
    code
}

/// 200 children that end at once, and some that do not, each in a session of its own.
#[expect(clippy::zombie_processes, reason = "what is left behind is the point")]
fn storm(config: &Json) -> i32 {
    let code = polite(config);
    for number in 0..200 {
        if number % 40 == 0 {
            left(&mut daemon());
        } else {
            Command::new("/bin/true").spawn().unwrap();
        }
    }
    code
}

/// 10,000 requests to a server.
fn pings(config: &Json) -> i32 {
    let mut server = Server::connect(config);
    for id in 10..10_010 {
        server.say(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#));
        server.hear();
    }
    0
}

/// 10,000 requests to the model.
fn begs(config: &Json) -> i32 {
    let mut model = Model::new(config);
    for number in 0..10_000 {
        model.ask(number);
    }
    0
}

/// 120 connections to the model that say nothing, then one that talks.
fn crowd(config: &Json) -> i32 {
    let url = config.str("url").unwrap().strip_prefix("http://").unwrap();
    let (authority, _) = url.split_once('/').unwrap();
    let idle: Vec<TcpStream> = (0..120).filter_map(|_| TcpStream::connect(authority).ok()).collect();
    drop(idle);
    polite(config)
}

/// 300 processes of a server at a time.
fn servers(config: &Json) -> i32 {
    let started: Vec<Server> = (0..300).map(|_| Server::start(config)).collect();
    i32::try_from(started.len()).unwrap() - 300
}

/// Bytes that are no text, everywhere.
fn not_utf8(config: &Json) -> i32 {
    const BYTES: &[u8] = b"\"\xff\xfe\xed\xa0\x80\xc0\x80\"";
    let mut server = Server::connect(config);
    server.input.as_mut().unwrap().write_all(&[BYTES, b"\n"].concat()).unwrap();
    std::io::stdout().write_all(&[b"\n", BYTES, b"\n"].concat()).unwrap();
    std::io::stderr().write_all(&[BYTES, b"\n"].concat()).unwrap();
    let mut model = Model::new(config);
    let (authority, base) = (&model.authority, &model.base);
    let head = format!(
        "POST {base}/v1/messages HTTP/1.1\r\nhost: {authority}\r\ncontent-length: {}\r\n\r\n",
        BYTES.len()
    );
    model.stream.get_mut().write_all(&[head.as_bytes(), BYTES].concat()).unwrap();
    server.close().unwrap_or(1)
}

/// A line of 50 MB before a good conversation.
fn long_line(config: &Json) -> i32 {
    let mut server = Server::start(config);
    let text = "x".repeat(50 << 20);
    server.say(&format!(r#"{{"jsonrpc":"2.0","method":"notifications/x","params":{{"text":"{text}"}}}}"#));
    server.close();
    drop(text);
    polite(config)
}

/// 100,000 brackets to the server and to the model.
fn deep(config: &Json) -> i32 {
    let brackets = "[".repeat(100_000);
    let mut server = Server::connect(config);
    server.say(&brackets);
    server.say(&format!("{brackets}{}", "]".repeat(100_000)));
    server.say(&format!(r#"{{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{{"x":{brackets}"#));
    let mut model = Model::new(config);
    let path = format!("{}/v1/messages", model.base);
    model.send("POST", &path, &brackets);
    server.close().unwrap_or(1)
}

/// Few bytes that are many values: each costs us far more than the two bytes that it has.
fn many_values(config: &Json) -> i32 {
    let values = format!("[{}1]", "1,".repeat(14 << 20));
    let mut server = Server::connect(config);
    let mut model = Model::new(config);
    let path = format!("{}/v1/messages", model.base);
    model.send("POST", &path, &values);
    // In pieces, none of which is large.
    let piece = format!("[{}1]", "1,".repeat(200_000));
    for _ in 0..40 {
        if server.input.as_mut().unwrap().write_all(format!("{piece}\n").as_bytes()).is_err() {
            break;
        }
    }
    server.close().unwrap_or(1)
}

/// Asks for large answers and reads none.
fn unread(config: &Json) -> i32 {
    let mut server = Server::connect(config);
    for id in 10..1010 {
        let call = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"lookup_order","arguments":{{}}}}}}"#
        );
        server.say(&call);
    }
    Model::new(config).ask(1);
    0
}

/// Many large bodies at a time, none of which comes to its end.
fn bodies(config: &Json) -> i32 {
    let block = vec![b'x'; 8 << 20];
    let mut open = Vec::new();
    for _ in 0..40 {
        let mut model = Model::new(config);
        let head = format!("POST {}/v1/messages HTTP/1.1\r\ncontent-length: 30000000\r\n\r\n", model.base);
        let stream = model.stream.get_mut();
        if stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&block)).is_err() {
            break;
        }
        open.push(model);
    }
    hang()
}

/// Talks to hopcheck's own socket, as no relay does.
fn intruder(config: &Json) -> i32 {
    let (_, entry) = &config.get("servers").unwrap().members()[0];
    let socket = entry.get("args").unwrap().items()[1].as_str().unwrap();
    let connect = || UnixStream::connect(socket);
    let silent: Vec<_> = (0..300).filter_map(|_| connect().ok()).collect();
    for words in [
        "oops\n",
        "{}\n",
        "{\"hello\":{\"server\":\"nobody\"}}\n",
        "{\"hello\":{\"server\":\"orders\"}}\n",
        "1\n2\n",
    ] {
        // It may be closed on us at any time.
        let _ = connect().and_then(|mut stream| stream.write_all(words.as_bytes()));
    }
    let endless = vec![b'['; 20 << 20];
    let _ = connect().and_then(|mut stream| stream.write_all(&endless));
    drop(silent);
    polite(config)
}

/// Sends a signal to the process that watches over us.
fn strike(signal: &str) -> i32 {
    kill_process(getppid().unwrap(), named(signal)).unwrap();
    hang()
}

fn named(signal: &str) -> Signal {
    hopcheck::wire::signal::signal_named(signal).unwrap_or(Signal::STOP)
}

/// The same in the middle of a conversation, with daemons of other sessions.
fn supervisor(config: &Json, how: &str) -> i32 {
    let (signal, exits) = how.strip_suffix("-and-exit").map_or((how, false), |signal| (signal, true));
    let mut server = Server::connect(config);
    server.say(r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#);
    server.hear();
    left(&mut daemon());
    left(&mut daemon());
    // Once the model answers, all of this has been read.
    Model::new(config).ask(1);
    let parent: Pid = getppid().unwrap();
    kill_process(parent, named(signal)).unwrap();
    if exits { 0 } else { hang() }
}

/// A sandbox that is hard to remove.
fn litter(config: &Json) -> i32 {
    let code = polite(config);
    let home = std::path::PathBuf::from(std::env::var("HOME").unwrap());
    let precious = std::env::var("HOPCHECK_PRECIOUS").unwrap_or_else(|_| "/usr".to_owned());
    std::os::unix::fs::symlink(precious, home.join("link")).unwrap();
    let mut folder = home.join("d");
    for _ in 0..200 {
        folder.push("deeper-and-deeper");
        if std::fs::create_dir_all(&folder).is_err() {
            break;
        }
    }
    for name in ["locked", "locked/inside", "locked/inside/more"] {
        std::fs::create_dir(home.join(name)).unwrap();
    }
    std::fs::write(home.join("locked/inside/file"), "x").unwrap();
    for name in ["locked/inside/more", "locked/inside", "locked"] {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o000);
        std::fs::set_permissions(home.join(name), mode).unwrap();
    }
    code
}

/// Removes the sandbox that it is in.
fn raze(config: &Json) -> i32 {
    let home = std::path::PathBuf::from(std::env::var("HOME").unwrap());
    let code = polite(config);
    std::fs::remove_dir_all(home.parent().unwrap()).unwrap();
    code
}

/// A conversation that goes on and on, with a daemon beside it.
fn rounds(config: &Json) -> i32 {
    left(&mut daemon());
    let mut server = Server::connect(config);
    let mut model = Model::new(config);
    for number in 1.. {
        server.say(&format!(r#"{{"jsonrpc":"2.0","method":"notifications/fake","params":{{"n":{number}}}}}"#));
        model.ask(number);
    }
    0
}

/// Kills hopcheck itself: the parent of our parent.
fn regicide(config: &Json) -> i32 {
    let _server = Server::connect(config);
    left(&mut daemon());
    let mut model = Model::new(config);
    // What was recorded before the first answer is in the file before the second.
    model.ask(1);
    model.ask(2);
    let parent = getppid().unwrap().as_raw_nonzero();
    let stat = std::fs::read_to_string(format!("/proc/{parent}/stat")).unwrap();
    let hopcheck = stat.rsplit_once(") S ").unwrap().1.split(' ').next().unwrap().parse().unwrap();
    kill_process(Pid::from_raw(hopcheck).unwrap(), Signal::KILL).unwrap();
    hang()
}

/// Asks for the list and for one call, and tells what it heard until the end.
fn listens(config: &Json) -> i32 {
    let mut server = Server::start(config);
    for line in [
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"fake","version":"1"}}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#,
        r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"lookup_order","arguments":{"order_id":"A-1"}}}"#,
    ] {
        // A server that is gone does not read.
        let _ = server.input.as_mut().unwrap().write_all(format!("{line}\n").as_bytes());
    }
    drop(server.input.take());
    let mut heard = Vec::new();
    std::io::Read::read_to_end(&mut server.output, &mut heard).unwrap();
    println!("heard {} {}", heard.len(), hopcheck::trace::cut::sha256_hex(&heard));
    server.child.wait().unwrap();
    0
}
