//! The host's side of the protocol.

use std::cell::RefCell;
use std::io::{self, BufRead, Write};

use super::protocol::{Command, FromHost, Then, ToHost};
use super::{Answer, Host, HostError, Question, ToolUse, User};
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
/// #     fn call(&mut self, _: &ToolUse, _: &dyn User) -> Result<Told, HostError> { Ok(Told::success("")) }
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
    let mut uses: Vec<(u32, ToolUse)> = Vec::new();
    while let Some(message) = link.hear()? {
        let ToHost::Command { id, command } = message else {
            return Err(ServeError::Protocol("an answer to no question".to_owned()));
        };
        let done = |result: Json| vec![FromHost::Done { id, result }];
        let stops = command == Command::Stop;
        let answers = match command {
            Command::Start(setup) => host.start(&setup).map(|()| done(Json::empty())),
            Command::Tools => host.tools().map(|tools| vec![FromHost::tools(id, &tools)]),
            Command::Call { tool_use, then } => {
                uses.push((id, tool_use));
                if then == Then::More {
                    continue;
                }
                turn(host, std::mem::take(&mut uses), &mut link)
            }
            Command::Stop => host.stop().map(|()| done(Json::empty())),
        };
        for answer in answers.unwrap_or_else(|error| vec![FromHost::broken(id, &error)]) {
            link.say(&answer)?;
        }
        if stops {
            break;
        }
    }
    Ok(())
}

/// Carries out the uses of one turn.
fn turn<R: BufRead, W: Write>(
    host: &mut dyn Host,
    uses: Vec<(u32, ToolUse)>,
    link: &mut Link<R, W>,
) -> Result<Vec<FromHost>, HostError> {
    let (ids, uses): (Vec<u32>, Vec<ToolUse>) = uses.into_iter().unzip();
    let told = host.turn(&uses, &Asking(RefCell::new(link)))?;
    if told.len() != uses.len() {
        return Err(HostError::new(format!("`turn` gave {} results for {} tool uses", told.len(), uses.len())));
    }
    Ok(ids.into_iter().zip(&told).map(|(id, told)| FromHost::told(id, told)).collect())
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

/// The user, while a turn is carried out. One question is asked after the other.
struct Asking<'l, R, W>(RefCell<&'l mut Link<R, W>>);

impl<R: BufRead, W: Write> User for Asking<'_, R, W> {
    fn ask(&self, question: &Question) -> Result<Answer, HostError> {
        let mut link = self.0.borrow_mut();
        link.questions += 1;
        let id = Json::from(format!("a{}", link.questions));
        let Question { call, name, input } = question.clone();
        link.say(&FromHost::Ask { id: id.clone(), call, name, input })?;
        match link.hear()? {
            Some(ToHost::Answer { id: about, answer }) if about == id.to_string() => Ok(answer),
            Some(_) => Err(HostError::new("the question got no answer")),
            None => Err(HostError::new("the run was ended before the question was answered")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::{OfferedTool, Setup, Told};

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

        fn call(&mut self, tool_use: &ToolUse, user: &dyn User) -> Result<Told, HostError> {
            let answer = user.ask(&Question::about(tool_use))?;
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

    /// Tells one result, however many uses the turn has.
    struct Miser;

    impl Host for Miser {
        fn start(&mut self, _: &Setup) -> Result<(), HostError> {
            Ok(())
        }

        fn tools(&mut self) -> Result<Vec<OfferedTool>, HostError> {
            Ok(Vec::new())
        }

        fn call(&mut self, _: &ToolUse, _: &dyn User) -> Result<Told, HostError> {
            Ok(Told::failure("never called"))
        }

        fn turn(&mut self, uses: &[ToolUse], _: &dyn User) -> Result<Vec<Told>, HostError> {
            Ok(vec![Told::success(uses.iter().map(|tool_use| tool_use.name.as_str()).collect::<String>())])
        }

        fn stop(&mut self) -> Result<(), HostError> {
            Ok(())
        }
    }

    #[test]
    fn a_turn_is_handed_over_whole_and_gives_a_result_for_each_use() {
        let one = r#"{"id":3,"cmd":"call","name":"a"}"#;
        let two = [r#"{"id":4,"cmd":"call","name":"b","more":true}"#, r#"{"id":5,"cmd":"call","name":"c"}"#];
        let mut output = Vec::new();
        let input = [one, two[0], two[1]].join("\n");
        serve(&mut Miser, input.as_bytes(), &mut output).unwrap();
        let expected = [
            r#"{"id":3,"ok":{"is_error":false,"content":[{"type":"text","text":"a"}]}}"#,
            r#"{"id":5,"error":{"message":"`turn` gave 1 results for 2 tool uses"}}"#,
        ];
        assert_eq!(String::from_utf8(output).unwrap().lines().collect::<Vec<_>>(), expected);
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
