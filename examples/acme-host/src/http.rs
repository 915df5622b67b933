//! As much HTTP as a model endpoint takes: one request, one response, one connection.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;

use crate::Failure;

/// Sends a JSON body and returns the body of a response that says 200.
pub(crate) fn post(url: &str, headers: &[(&str, &str)], body: &str) -> Result<String, Failure> {
    let rest = url.strip_prefix("http://").ok_or("only http:// is spoken")?;
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let mut stream = TcpStream::connect(host)?;
    write!(
        stream,
        "POST /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n{headers}\r\n{body}",
        body.len()
    )?;
    let mut reader = BufReader::new(stream);
    let mut status = String::new();
    reader.read_line(&mut status)?;
    let mut length = None;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 || line.trim_end().is_empty() {
            break;
        }
        let (name, value) = line.split_once(':').unwrap_or((&line, ""));
        if name.eq_ignore_ascii_case("content-length") {
            length = Some(value.trim().parse()?);
        }
    }
    let mut body = String::new();
    reader.take(length.unwrap_or(u64::MAX)).read_to_string(&mut body)?;
    match status.split(' ').nth(1) {
        Some("200") => Ok(body),
        _ => Err(format!("the model answers {}: {body}", status.trim_end()).into()),
    }
}
