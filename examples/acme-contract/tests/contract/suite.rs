//! The example's test program, and copies of its package that something is changed in.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use std::{env, fs, str};

use tempfile::TempDir;

/// The folder of the example.
pub(crate) fn package() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../acme-conformance").canonicalize().unwrap()
}

/// What a test program said, and how it ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }
}

impl Ended {
    #[track_caller]
    pub(crate) fn says(&self, code: i32, words: &[&str]) -> &Self {
        assert_eq!(self.code, Some(code), "{self:#?}");
        for word in words {
            let said = self.stdout.contains(word) || self.stderr.contains(word);
            assert!(said, "`{word}` is missing:\n{}\n{}", self.stdout, self.stderr);
        }
        self
    }
}

/// The test program as cargo starts it for a package in `folder`, with nothing that a test runner around us has set.
pub(crate) fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_acme-suite"));
    command.args(arguments).current_dir(folder).env("CARGO_MANIFEST_DIR", folder);
    for (name, _) in env::vars_os() {
        let name = name.to_string_lossy().into_owned();
        if name.starts_with("NEXTEST") || name.starts_with("HOPCHECK") {
            command.env_remove(name);
        }
    }
    command
}

pub(crate) fn run(command: &mut Command) -> Ended {
    command.output().unwrap().into()
}

/// The host as the suite builds it.
pub(crate) fn host() -> &'static Path {
    static HOST: OnceLock<PathBuf> = OnceLock::new();
    HOST.get_or_init(|| {
        run(&mut command(&package(), &["call/lookup@2025-11-25+stdio", "--exact"])).says(0, &["1 passed"]);
        // The program is in the target folder: beside it is `hopcheck-host`.
        let target = Path::new(env!("CARGO_BIN_EXE_acme-suite")).ancestors().nth(2).unwrap();
        let host = target.join("hopcheck-host/debug/acme-host");
        assert!(host.is_file(), "{}", host.display());
        host
    })
}

/// A copy of the example's files.
pub(crate) struct Copy(TempDir);

impl Copy {
    pub(crate) fn new() -> Self {
        let copy = Self(tempfile::tempdir().unwrap());
        copy_below(&package().join("conformance"), &copy.0.path().join("conformance"));
        copy
    }

    /// Changes a file below `conformance/`.
    pub(crate) fn edit(&self, file: &str, change: impl FnOnce(String) -> String) {
        let path = self.0.path().join("conformance").join(file);
        let before = fs::read_to_string(&path).unwrap();
        let after = change(before.clone());
        assert_ne!(before, after, "{file} did not change");
        fs::write(path, after).unwrap();
    }

    /// Runs the tests of the copy on the host that is built already.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ended {
        let traces = self.0.path().join("traces");
        run(command(self.0.path(), arguments).env("HOPCHECK_BIN_ACME_HOST", host()).env("HOPCHECK_TRACES", traces))
    }
}

fn copy_below(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy_below(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}
