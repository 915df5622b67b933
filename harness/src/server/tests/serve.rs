//! The runner over streams.

use super::*;
use crate::server::serve;

/// Serves an input and gives exit code, standard output and standard error.
fn run(script: Script, input: &str) -> (i32, String, String) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let mut server = server(script, Revision::V2025_11_25);
    let code = serve(&mut server, input.as_bytes(), &mut out, &mut err).unwrap();
    (code, String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap())
}

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
const PONG: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;

#[test]
fn it_answers_line_by_line_and_exits_at_the_end() {
    assert_eq!(run(orders(), &format!("{PING}\r\n{PING}")), (0, format!("{PONG}\n{PONG}\n"), String::new()));
    assert_eq!(run(orders(), ""), (0, String::new(), String::new()));
}

#[test]
fn a_script_ends_it() {
    for (action, code, output) in [
        (Action::Exit(3), 3, ""),
        (Action::Kill("SIGKILL".to_owned()), 137, ""),
        (Action::CloseStdout, 0, ""),
        (Action::Delay(60_000), 0, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n"),
    ] {
        let on = vec![rule(On::Spawn, [Action::Stderr("up\n".to_owned())]), rule(On::Request, [action])];
        let script = Script { on, ..orders() };
        assert_eq!(run(script, &format!("{PING}\n")), (code, output.to_owned(), "up\n".to_owned()));
    }
    let script = Script { on: vec![rule(On::Eof, [Action::Ignore])], ..orders() };
    assert_eq!(run(script, "").0, 0);
}
