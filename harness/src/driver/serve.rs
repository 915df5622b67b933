//! The host's side of the protocol.

use std::io::{self, BufRead, Write};

use super::protocol::{Command, FromHost, ToHost};
use super::{Answer, Host, HostError, User};
use crate::json::Json;

/// Why a host could not be served to its end.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The streams failed.
    #[error("the driver's streams failed: {0}")]
    Io(#[from] io::Error),
    /// The other side does not speak the protocol.
    #[error("the driver was told something that it does not understand: {0}")]
    Protocol(String),
}

/// Serves a host to hopcheck, until it is told to stop or `input` ends.
///
/// With the standard streams, this is the whole `main` of a driver program:
///
/// ```no_run
/// # use hopcheck::driver::{Host, HostError, OfferedTool, Setup, Told, ToolUse, User};
/// # #[derive(Default)]
/// # struct MyHost;
/// # impl Host for MyHost {
/// #     fn start(&mut self, _: &Setup) -> Result<(), HostError> { Ok(()) }
/// #     fn tools(&mut self) -> Result<Vec<OfferedTool>, HostError> { Ok(Vec::new()) }
/// #     fn call(&mut self, _: &ToolUse, _: &mut dyn User) -> Result<Told, HostError> { Ok(Told::success("")) }
/// #     fn stop(&mut self) -> Result<(), HostError> { Ok(()) }
/// # }
/// fn main() -> Result<(), hopcheck::driver::ServeError> {
///     hopcheck::driver::serve(&mut MyHost::default(), std::io::stdin().lock(), std::io::stdout())
/// }
/// ```
///
/// Such a program is built with hopcheck, so the features of its dependencies are those of a build with hopcheck in it.
///
/// # Errors
/// Streams that fail, or a line that is none of the protocol.
pub fn serve(host: &mut dyn Host, input: impl BufRead, output: impl Write) -> Result<(), ServeError> {
    let mut link = Link { input, output, questions: 0 };
    while let Some(message) = link.hear()? {
        let ToHost::Command { id, command } = message else {
            return Err(ServeError::Protocol("an answer to no question".to_owned()));
        };
        let done = |result: Json| FromHost::Done { id, result };
        let answer = match &command {
            Command::Start(setup) => host.start(setup).map(|()| done(Json::empty())),
            Command::Tools => host.tools().map(|tools| FromHost::tools(id, &tools)),
            Command::Call(tool_use) => {
                let mut user = Asking { link: &mut link, call: id };
                host.call(tool_use, &mut user).map(|told| FromHost::told(id, &told))
            }
            Command::Stop => host.stop().map(|()| done(Json::empty())),
        };
        link.say(&answer.unwrap_or_else(|error| FromHost::broken(id, &error)))?;
        if matches!(command, Command::Stop) {
            break;
        }
    }
    Ok(())
}

struct Link<R, W> {
    input: R,
    output: W,
    /// How many questions were asked.
    questions: u32,
}

impl<R: BufRead, W: Write> Link<R, W> {
    /// The next message; `None` at the end.
    fn hear(&mut self) -> Result<Option<ToHost>, ServeError> {
        let mut line = Vec::new();
        if self.input.read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        ToHost::parse(&line).map(Some).map_err(ServeError::Protocol)
    }

    fn say(&mut self, message: &FromHost) -> io::Result<()> {
        self.output.write_all(&message.to_line())?;
        self.output.flush()
    }
}

/// The user, while a call is carried out.
struct Asking<'l, R, W> {
    link: &'l mut Link<R, W>,
    call: u32,
}

impl<R: BufRead, W: Write> User for Asking<'_, R, W> {
    fn ask(&mut self, name: &str, input: &str) -> Result<Answer, HostError> {
        self.link.questions += 1;
        let id = Json::from(format!("a{}", self.link.questions));
        let question = FromHost::Ask {
            id: id.clone(),
            call: Some(self.call),
            name: name.to_owned(),
            input: input.to_owned(),
        };
        self.link.say(&question)?;
        match self.link.hear()? {
            Some(ToHost::Answer { id: about, answer }) if about == id.to_string() => Ok(answer),
            Some(_) => Err(HostError::new("the question got no answer")),
            None => Err(HostError::new("the run was ended before the question was answered")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::{OfferedTool, Setup, Told, ToolUse};

    /// Asks about every call.
    #[derive(Default)]
    struct Asker(Vec<String>);

    impl Host for Asker {
        fn start(&mut self, setup: &Setup) -> Result<(), HostError> {
            Err(HostError::new(format!("no {}", setup.revision)))
        }

        fn tools(&mut self) -> Result<Vec<OfferedTool>, HostError> {
            Ok(vec![OfferedTool::new("t")])
        }

        fn call(&mut self, tool_use: &ToolUse, user: &mut dyn User) -> Result<Told, HostError> {
            let answer = user.ask(&tool_use.name, &tool_use.input_text())?;
            self.0.push(format!("{answer:?}"));
            Ok(Told::success("done"))
        }

        fn stop(&mut self) -> Result<(), HostError> {
            Ok(())
        }
    }

    fn talk(lines: &[&str]) -> (Result<(), ServeError>, String) {
        let mut output = Vec::new();
        let input = lines.join("\n");
        let result = serve(&mut Asker::default(), input.as_bytes(), &mut output);
        (result, String::from_utf8(output).unwrap())
    }

    #[test]
    fn each_command_is_answered_and_stop_is_the_last() {
        let (result, said) = talk(&[
            r#"{"id":1,"cmd":"start","revision":"2025-11-25","home":"/h","cwd":"/w"}"#,
            r#"{"id":2,"cmd":"tools"}"#,
            r#"{"id":3,"cmd":"call","name":"t","input":{"n":1.0}}"#,
            r#"{"cmd":"answer","id":"a1","answer":"deny"}"#,
            r#"{"id":4,"cmd":"stop"}"#,
            r#"{"id":5,"cmd":"tools"}"#,
        ]);
        assert!(result.is_ok(), "{result:?}");
        let expected = [
            r#"{"id":1,"error":{"message":"no 2025-11-25"}}"#,
            r#"{"id":2,"ok":{"tools":[{"name":"t"}]}}"#,
            r#"{"ask":{"id":"a1","kind":"tool","call":3,"name":"t","input":{"n":1.0}}}"#,
            r#"{"id":3,"ok":{"is_error":false,"content":[{"type":"text","text":"done"}]}}"#,
            r#"{"id":4,"ok":{}}"#,
        ];
        assert_eq!(said.lines().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_question_without_an_answer_is_an_error_of_the_call() {
        let (result, said) = talk(&[r#"{"id":3,"cmd":"call","name":"t"}"#]);
        assert!(result.is_ok(), "{result:?}");
        let last = said.lines().last().unwrap();
        assert_eq!(last, r#"{"id":3,"error":{"message":"the run was ended before the question was answered"}}"#);
    }

    #[test]
    fn nonsense_ends_it() {
        let (result, _) = talk(&["nonsense"]);
        assert!(result.unwrap_err().to_string().contains("a line that is no JSON"));
    }
}
