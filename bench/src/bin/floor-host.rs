//! The least that a host can be: `floor-host SERVER` starts a server, makes four round trips, and lets it end.

use std::env;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::process::{Command, ExitCode, Stdio};

/// Round trips of a scenario with one call: a probe, a handshake, a list, a call.
const ROUND_TRIPS: usize = 4;

/// As long as what a host asks.
const REQUEST: &[u8] =
    br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"lookup_order","arguments":{"order_id":"A-1042"}}}"#;

fn main() -> ExitCode {
    match env::args_os().nth(1).map(|server| talk(Command::new(server))) {
        Some(Ok(())) => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

fn talk(mut server: Command) -> io::Result<()> {
    let mut server = server.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let (Some(mut input), Some(output)) = (server.stdin.take(), server.stdout.take()) else {
        return Err(io::ErrorKind::BrokenPipe.into());
    };
    let mut output = BufReader::new(output);
    let mut line = Vec::new();
    for _ in 0..ROUND_TRIPS {
        input.write_all(REQUEST)?;
        input.write_all(b"\n")?;
        line.clear();
        output.read_until(b'\n', &mut line)?;
        if !line.starts_with(b"{") || !line.ends_with(b"}\n") {
            return Err(io::ErrorKind::InvalidData.into());
        }
    }
    drop(input);
    if server.wait()?.success() { Ok(()) } else { Err(io::Error::other("the server failed")) }
}
