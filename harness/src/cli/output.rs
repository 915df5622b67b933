//! Writing to people. Colour is stripped where nobody wants it (`NO_COLOR`, pipes).

use std::io::{self, IsTerminal as _, Write as _};

use crate::invocation::Failure;

/// Writes to standard output. A reader that went away, such as `head`, is no error.
pub(super) fn out(text: &str) -> Result<(), Failure> {
    written(anstream::stdout().lock().write_all(text.as_bytes()))
}

/// Writes to standard error.
pub(super) fn err(text: &str) {
    // There is nowhere left to complain to.
    let _ = anstream::stderr().lock().write_all(text.as_bytes());
}

fn written(result: io::Result<()>) -> Result<(), Failure> {
    match result {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::harness("cannot write to standard output", error))
        }
        _ => Ok(()),
    }
}

/// Writes an error the way the compiler does.
pub(super) fn complain(message: &str) {
    let style = anstyle::Style::new().bold().fg_color(Some(anstyle::Color::Ansi(anstyle::AnsiColor::Red)));
    err(&format!("{style}error{style:#}: {message}\n"));
}

/// A line that is overwritten, for a person who waits. Nothing where nobody watches.
pub(super) struct Progress {
    watched: bool,
}

impl Progress {
    pub(super) fn new() -> Self {
        Self { watched: io::stderr().is_terminal() && std::env::var_os("CI").is_none() }
    }

    /// Whether a person watches.
    pub(super) const fn watched(&self) -> bool {
        self.watched
    }

    pub(super) fn show(&self, text: &str) {
        if self.watched {
            // Not through the stream that strips escapes: clearing the line is no matter of colour.
            let _ = write!(io::stderr().lock(), "\r\x1b[2K{text}");
        }
    }

    pub(super) fn clear(&self) {
        self.show("");
    }
}
