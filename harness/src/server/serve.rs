//! A scripted server for any client, over one pair of streams (`hopcheck serve`).

use std::io::{self, BufRead, Write};

use super::{Act, Server};

/// The one connection.
const CONN: u32 = 1;

/// Serves until the input ends or the script ends the process, and gives the exit code; a signal counts as 128 and its
/// number, as in a shell.
///
/// What a script delays is sent at once: these streams cannot be waited on together with a clock, and a server that is
/// tried by hand has no use for it. A script that ignores the end of its input exits with 0 here all the same, since
/// nothing can happen any more.
///
/// # Errors
/// Reading the input or writing an output failed.
pub fn serve(
    server: &mut Server,
    mut input: impl BufRead,
    output: impl Write,
    mut err: impl Write,
) -> io::Result<i32> {
    let mut output = Some(output);
    let mut acts = server.open(CONN);
    let mut line = Vec::new();
    loop {
        if let Some(code) = perform(server, acts, &mut output, &mut err)? {
            return Ok(code);
        }
        line.clear();
        if input.read_until(b'\n', &mut line)? == 0 {
            let acts = server.eof(CONN);
            let code = perform(server, acts, &mut output, &mut err)?;
            return Ok(code.unwrap_or(0));
        }
        acts = server.line(CONN, line.strip_suffix(b"\n").unwrap_or(&line));
    }
}

/// Carries out acts; a code means that the process ends.
fn perform(
    server: &mut Server,
    mut acts: Vec<Act>,
    output: &mut Option<impl Write>,
    err: &mut impl Write,
) -> io::Result<Option<i32>> {
    acts.reverse();
    while let Some(act) = acts.pop() {
        match act {
            Act::Send { mut line, .. } => {
                line.push(b'\n');
                write(output.as_mut(), &line)?;
            }
            Act::Raw(bytes) => write(output.as_mut(), &bytes)?,
            Act::Stderr(bytes) => write(Some(&mut *err), &bytes)?,
            Act::Exit(code) => return Ok(Some(code)),
            Act::Kill(name) => return Ok(Some(128 + signal_number(&name))),
            // Dropping the stream is what closes it.
            Act::CloseStdout => *output = None,
            Act::Timer { token, .. } => acts.extend(server.timer(CONN, token).into_iter().rev()),
        }
    }
    Ok(None)
}

fn write(to: Option<&mut impl Write>, bytes: &[u8]) -> io::Result<()> {
    match to {
        Some(to) => to.write_all(bytes).and_then(|()| to.flush()),
        None => Ok(()),
    }
}

/// The numbers that POSIX fixes; any other signal counts as none.
fn signal_number(name: &str) -> i32 {
    match name {
        "SIGHUP" => 1,
        "SIGINT" => 2,
        "SIGQUIT" => 3,
        "SIGABRT" => 6,
        "SIGKILL" => 9,
        "SIGPIPE" => 13,
        "SIGALRM" => 14,
        "SIGTERM" => 15,
        _ => 0,
    }
}
