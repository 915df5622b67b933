//! The command line.

use std::path::PathBuf;

use crate::console::Mode;
use crate::error::Error;
use crate::fault::Lies;

/// How to call the host.
const USAGE: &str = "usage: --config FILE [--fault NAME] (--prompt TEXT | --control), or --version";

/// What the command line asks for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Task {
    Version,
    Run(Options),
}

/// The options of a run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) config: PathBuf,
    pub(crate) lies: Lies,
    pub(crate) mode: Mode,
    pub(crate) prompt: Option<String>,
}

/// Reads the arguments, without the program name.
pub(crate) fn parse(args: Vec<String>) -> Result<Task, Error> {
    let (mut config, mut lies, mut mode, mut prompt) = (None, Lies::default(), Mode::Headless, None);
    let mut args = args.into_iter();
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or_else(|| Error::Usage(format!("{arg} needs a value; {USAGE}")));
        match arg.as_str() {
            "--version" => return Ok(Task::Version),
            "--config" => config = Some(value()?.into()),
            "--prompt" => prompt = Some(value()?),
            "--control" => mode = Mode::Control,
            "--fault" => {
                let name = value()?;
                lies = Lies::named(&name).ok_or_else(|| Error::Usage(format!("there is no fault {name:?}")))?;
            }
            _ => return Err(Error::Usage(format!("unknown argument {arg:?}; {USAGE}"))),
        }
    }
    let config = config.ok_or_else(|| Error::Usage(format!("--config is missing; {USAGE}")))?;
    if mode == Mode::Headless && prompt.is_none() {
        return Err(Error::Usage(format!("without --control there must be a prompt; {USAGE}")));
    }
    Ok(Task::Run(Options { config, lies, mode, prompt }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_words(words: &str) -> Result<Task, Error> {
        parse(words.split_whitespace().map(str::to_owned).collect())
    }

    #[test]
    fn runs_have_a_config_and_somebody_who_prompts() {
        let run = |mode, prompt: Option<&str>| {
            Task::Run(Options {
                config: "c".into(),
                lies: Lies::default(),
                mode,
                prompt: prompt.map(str::to_owned),
            })
        };
        assert_eq!(parse_words("--config c --prompt go").unwrap(), run(Mode::Headless, Some("go")));
        assert_eq!(parse_words("--control --config c").unwrap(), run(Mode::Control, None));
        assert_eq!(parse_words("--version").unwrap(), Task::Version);
    }

    #[test]
    fn everything_else_is_an_error() {
        for words in [
            "",
            "--prompt go",
            "--config c",
            "--config",
            "--config c --prompt",
            "--config c --prompt go --fault honest",
            "--config c --prompt go more",
        ] {
            assert_eq!(parse_words(words).unwrap_err().exit_code(), 2, "{words}");
        }
    }
}
