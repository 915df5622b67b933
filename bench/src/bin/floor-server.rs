//! The least that a server can be: a line of JSON for each line of JSON, until there are no more.

use std::io::{self, BufRead as _, Write as _};

/// As long as what a small server answers.
const ANSWER: &[u8] =
    br#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"{\"order_id\":\"A-1042\",\"status\":\"paid\"}"}],"isError":false}}"#;

fn main() -> io::Result<()> {
    let mut input = io::stdin().lock();
    let mut output = io::stdout().lock();
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line)? > 0 {
        output.write_all(ANSWER)?;
        output.write_all(b"\n")?;
        output.flush()?;
        line.clear();
    }
    Ok(())
}
