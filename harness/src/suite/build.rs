//! The host as cargo builds it, apart from all else.

use std::env;
use std::fs;
use std::io::{self, BufRead as _, BufReader, Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use super::place::Place;
use crate::invocation::Failure;
use crate::json::Json;

/// The folder for the build of the host, below the target folder. One of its own, because cargo unifies the features of
/// all that it builds together: beside hopcheck the host would be another program.
const FOLDER: &str = "hopcheck-host";

/// A binary of a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Package {
    /// The package.
    pub(super) name: String,
    /// Its binary, where it has several.
    pub(super) binary: Option<String>,
    /// Further arguments of `cargo build`.
    pub(super) arguments: Vec<String>,
}

impl Package {
    /// The built binary: the one that a variable names, else the one that cargo builds, else one that was built before.
    pub(super) fn locate(&self, place: &Place) -> Result<PathBuf, Failure> {
        let variable = self.variable();
        if let Some(path) = env::var_os(&variable).filter(|path| !path.is_empty()) {
            let path = PathBuf::from(path);
            let missing = |cause| Failure::Host(format!("{variable} names {}: {cause}", path.display()));
            return path.canonicalize().map_err(missing);
        }
        let folder = place.target.join(FOLDER);
        let run = env::var("NEXTEST_RUN_ID").ok();
        let stamp = folder.join(format!(".{}.built", self.label()));
        if let Some(built) = run.as_deref().and_then(|run| built_in(&stamp, run)) {
            return Ok(built);
        }
        match self.build(&place.package, &folder) {
            Ok(built) => {
                if let Some(run) = &run {
                    note(&stamp, run, &built);
                }
                Ok(built)
            }
            Err(Build::NoCargo(cause)) => {
                let before = folder.join(self.profile()).join(self.label());
                if before.is_file() {
                    return Ok(before);
                }
                Err(Failure::Host(format!(
                    "cannot build {}: {cause}; without cargo, set {variable} to the program, or put it at {}",
                    self.name,
                    before.display()
                )))
            }
            Err(Build::Failed(message)) => Err(Failure::Host(message)),
        }
    }

    /// The folder that cargo puts it into.
    fn profile(&self) -> &'static str {
        let is_release = |argument: &String| argument == "--release" || argument == "-r";
        if self.arguments.iter().any(is_release) { "release" } else { "debug" }
    }

    /// The name of its program.
    fn label(&self) -> &str {
        self.binary.as_deref().unwrap_or(&self.name)
    }

    /// The variable that names the program and wins: `HOPCHECK_BIN_MY_HOST`.
    fn variable(&self) -> String {
        let plain = |char: char| if char.is_ascii_alphanumeric() { char.to_ascii_uppercase() } else { '_' };
        format!("HOPCHECK_BIN_{}", self.label().chars().map(plain).collect::<String>())
    }

    /// Lets cargo build it. Cargo's own lock keeps builds at the same time apart, and one without changes is quick.
    fn build(&self, package: &Path, folder: &Path) -> Result<PathBuf, Build> {
        let manifest = package.join("Cargo.toml");
        if !manifest.is_file() {
            return Err(Build::NoCargo(format!("there is no {}", manifest.display())));
        }
        let cargo = env::var_os("CARGO").filter(|path| !path.is_empty()).unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(&cargo);
        command.args(["build", "--package", &self.name, "--message-format", "json-render-diagnostics"]);
        if let Some(binary) = &self.binary {
            command.args(["--bin", binary]);
        }
        command.args(&self.arguments).arg("--manifest-path").arg(&manifest).arg("--target-dir").arg(folder);
        let failed = |cause: io::Error| Build::Failed(format!("cannot run {}: {cause}", cargo.display()));
        let mut child = match command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn() {
            Ok(child) => child,
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => {
                return Err(Build::NoCargo(format!("there is no {}", cargo.display())));
            }
            Err(cause) => return Err(failed(cause)),
        };
        // A first build takes a while, and whoever waits wants to see it.
        let told = child.stderr.take().map(|stderr| thread::spawn(move || pass_on(stderr)));
        let mut messages = String::new();
        if let Some(mut stdout) = child.stdout.take() {
            stdout.read_to_string(&mut messages).map_err(failed)?;
        }
        let status = child.wait().map_err(failed)?;
        let told = told.and_then(|thread| thread.join().ok()).unwrap_or_default();
        if !status.success() {
            return Err(Build::Failed(format!("{} does not build:\n{}", self.name, told.trim_end())));
        }
        self.choose(&binaries(&messages)).map_err(Build::Failed)
    }

    /// The only binary, else the one with the name of the package.
    fn choose(&self, binaries: &[(String, PathBuf)]) -> Result<PathBuf, String> {
        if let [(_, path)] = binaries {
            return Ok(path.clone());
        }
        if let Some((_, path)) = binaries.iter().find(|(name, _)| name == self.label()) {
            return Ok(path.clone());
        }
        let names: Vec<&str> = binaries.iter().map(|(name, _)| name.as_str()).collect();
        Err(if names.is_empty() {
            format!("the package {} has no binary", self.name)
        } else {
            format!("the package {} has the binaries {}: say which with `bin_named`", self.name, names.join(", "))
        })
    }
}

/// Why there is no program.
enum Build {
    /// Nothing here can build it.
    NoCargo(String),
    /// It was tried.
    Failed(String),
}

/// The binaries that cargo says it built: name and file.
fn binaries(messages: &str) -> Vec<(String, PathBuf)> {
    let binary = |line: &str| {
        let message = Json::parse(line).ok()?;
        let target = message.get("target")?;
        let is_binary = target.get("kind")?.items().iter().any(|kind| kind.as_str() == Some("bin"));
        let executable = message.str("executable").filter(|_| is_binary)?;
        Some((target.str("name")?.to_owned(), PathBuf::from(executable)))
    };
    messages.lines().filter_map(binary).collect()
}

/// Shows what cargo says, and keeps it.
fn pass_on(stderr: impl Read) -> String {
    let mut told = String::new();
    for line in BufReader::new(stderr).lines().map_while(Result::ok) {
        // Nobody may be there to see it.
        let _ = writeln!(io::stderr(), "{line}");
        told.push_str(&line);
        told.push('\n');
    }
    told
}

/// The program that another test of the same run has built: `cargo nextest` starts a process for each test.
fn built_in(stamp: &Path, run: &str) -> Option<PathBuf> {
    let text = fs::read_to_string(stamp).ok()?;
    let (known, path) = text.split_once('\n')?;
    Some(PathBuf::from(path)).filter(|path| known == run && path.is_file())
}

/// Tells the other tests of the run. Without the note they only ask cargo again.
fn note(stamp: &Path, run: &str, built: &Path) {
    let Some(folder) = stamp.parent() else { return };
    let Ok(mut file) = tempfile::NamedTempFile::new_in(folder) else { return };
    if write!(file, "{run}\n{}", built.display()).is_ok() {
        let _ = file.persist(stamp);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, binary: Option<&str>) -> Package {
        Package { name: name.to_owned(), binary: binary.map(str::to_owned), arguments: Vec::new() }
    }

    #[test]
    fn the_variable_is_of_the_program() {
        assert_eq!(package("my-host", None).variable(), "HOPCHECK_BIN_MY_HOST");
        assert_eq!(package("my-host", Some("agent.v2")).variable(), "HOPCHECK_BIN_AGENT_V2");
    }

    #[test]
    fn binaries_are_told_from_other_artifacts() {
        let messages = r#"
{"reason":"compiler-artifact","target":{"kind":["lib"],"name":"acme"},"executable":null}
{"reason":"compiler-artifact","target":{"kind":["bin"],"name":"acme"},"executable":"/t/acme"}
{"reason":"compiler-artifact","target":{"kind":["bin"],"name":"other"},"executable":"/t/other"}
{"reason":"compiler-artifact","target":{"kind":["custom-build"],"name":"build"},"executable":null}
no json
{"reason":"build-finished","success":true}
"#;
        let found = binaries(messages);
        assert_eq!(found, [("acme".to_owned(), "/t/acme".into()), ("other".to_owned(), "/t/other".into())]);
        assert_eq!(package("acme", None).choose(&found), Ok("/t/acme".into()));
        assert_eq!(package("x", None).choose(&found[1..]), Ok("/t/other".into()));
        assert_eq!(package("x", Some("other")).choose(&found), Ok("/t/other".into()));
        let several = package("x", None).choose(&found).unwrap_err();
        assert!(several.contains("acme, other") && several.contains("bin_named"), "{several}");
        assert!(package("x", None).choose(&[]).unwrap_err().contains("no binary"));
    }

    #[test]
    fn a_note_is_for_one_run_and_for_a_program_that_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let (stamp, program) = (folder.path().join(".x.built"), folder.path().join("x"));
        fs::write(&program, "").unwrap();
        note(&stamp, "run-1", &program);
        assert_eq!(built_in(&stamp, "run-1"), Some(program.clone()));
        assert_eq!(built_in(&stamp, "run-2"), None);
        fs::remove_file(&program).unwrap();
        assert_eq!(built_in(&stamp, "run-1"), None);
    }
}
