//! `cargo test` for the author of a host.

mod build;
mod choice;
mod outline;
mod place;
mod program;
mod session;
mod transcripts;

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use libtest_mimic::Arguments;

use crate::driver::{self, Library};
use crate::invocation::{Failure, files, hosts, known, route, self_exe};
use crate::plan::{Select, SelectRevisions};
use crate::revision::Revision;
use build::Package;
use choice::{Builtin, Choice, Extent};
use place::Place;
use program::Program;
use session::{Rules, Session, Strictness};
use transcripts::Transcripts;

/// A suite of conformance tests for one host, run by `cargo test`.
///
/// Every plan is a test of its own, named `AREA/NAME[CASE]@REVISION+TRANSPORT`: a scenario in one of its cases, in one
/// revision of the specification, over one transport. The suite has the scenarios of hopcheck and those of your own.
///
/// The test target has `harness = false`, and [`main`](Self::main) is all of its main function:
///
/// ```toml
/// # Cargo.toml of a package of its own, `my-host-conformance`
/// [[test]]
/// name = "conformance"
/// harness = false
///
/// [dev-dependencies]
/// hopcheck = "0.1"
/// ```
///
/// ```no_run
/// // tests/conformance.rs
/// use std::process::ExitCode;
///
/// fn main() -> ExitCode {
///     hopcheck::Suite::new()
///         .host_file("conformance/my-host.toml")
///         .bin_of("my-host")
///         .scenarios("conformance/scenarios")
///         .baseline("conformance/known.toml")
///         .exclude("process/stopped", "the host has no signal handlers yet, see issue 7")
///         .main()
/// }
/// ```
///
/// Paths are relative to the package that the test belongs to.
///
/// # A package of its own
///
/// Cargo unifies the features of everything that it builds together. A dependency of hopcheck may turn on a feature of
/// `serde_json` that your host does not have, and the host that is tested would not be the host that you ship. So the tests
/// live in a package of their own, whose only dependency is hopcheck, and [`bin_of`](Self::bin_of) builds the host by a call
/// of cargo for it alone, in a target folder of its own.
///
/// # The libtest protocol
///
/// Filters, `--exact`, `--skip`, `--ignored`, `--include-ignored`, `--list`, `--test-threads` and the exit codes 0 and 101 are
/// those of other Rust tests, so `cargo nextest` works, with its partitions and its archives. Listing starts no host and
/// builds none.
///
/// *Ignored* are the tests of scenarios that do not apply to the host (it has no such permission rule, say) and of those that
/// the suite [excludes](Self::exclude). `--ignored` runs the excluded ones, and tells of the others why they do not apply. A
/// plan that applies only to some versions of the host, by a `[[when]]` block of its profile, is a test like others; where
/// the present version does not have it, it is ignored when it runs. `cargo nextest` shows such a test as passed, for it
/// knows no other word.
///
/// # Failures
///
/// A failure shows the line of the scenario, the events that it rests on, and where the whole trace is kept: below the target
/// folder in `hopcheck-traces/`, or in the folder that the variable `HOPCHECK_TRACES` names. A MUST, a promise of hopcheck and
/// a claim of the host fail; a SHOULD is told after the tests, and fails with [`strict`](Self::strict). A host that cannot be
/// built or started fails every test that needs it.
#[derive(Clone, Debug)]
#[must_use = "a suite does nothing before `main`"]
pub struct Suite {
    host_file: Option<PathBuf>,
    variant: Option<String>,
    program: Program,
    binary: Option<String>,
    build_arguments: Vec<String>,
    choice: Choice,
    baseline: Option<PathBuf>,
    snapshots: Option<PathBuf>,
    revisions: Revisions,
    strictness: Strictness,
}

/// Which revisions a suite has.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Revisions {
    /// The newest of each era that the host has, unless a scenario says otherwise.
    Default,
    /// All that the host has.
    All,
    /// One, as it was written.
    One(String),
}

impl Default for Suite {
    fn default() -> Self {
        Self::new()
    }
}

impl Suite {
    /// A suite with the scenarios of hopcheck, for a host that is still to be named.
    pub fn new() -> Self {
        Self {
            host_file: None,
            variant: None,
            program: Program::default(),
            binary: None,
            build_arguments: Vec::new(),
            choice: Choice::default(),
            baseline: None,
            snapshots: None,
            revisions: Revisions::Default,
            strictness: Strictness::Lenient,
        }
    }

    /// The profile of the host: how it is configured, started and talked to, and what it claims.
    pub fn host_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.host_file = Some(path.into());
        self
    }

    /// A variant of the profile.
    pub fn variant(mut self, name: impl Into<String>) -> Self {
        self.variant = Some(name.into());
        self
    }

    /// The host is the binary of this package of the workspace: its only one, or the one with the name of the package.
    ///
    /// When the first test runs, `cargo build --package PACKAGE` builds it in `hopcheck-host/`, below the target folder of
    /// the test program, with its default features and nothing of what the tests need. Cargo's own lock keeps test programs
    /// that run at the same time apart, and under `cargo nextest`, where each test is a process, one build serves them all.
    ///
    /// The variable `HOPCHECK_BIN_NAME` names a program that wins, with the name of the binary in upper case: for `my-host`
    /// it is `HOPCHECK_BIN_MY_HOST`. Where there is no cargo, as on a machine that runs an archive of `cargo nextest`, the
    /// program that was built before is used, so put it into the archive:
    ///
    /// ```toml
    /// # .config/nextest.toml
    /// [profile.default]
    /// archive.include = [{ path = "hopcheck-host/debug/my-host", relative-to = "target" }]
    /// ```
    pub fn bin_of(mut self, package: impl Into<String>) -> Self {
        self.program = Program::Package(Package { name: package.into(), binary: None, arguments: Vec::new() });
        self
    }

    /// Which binary of the package of [`bin_of`](Self::bin_of), where it has several and none has its name.
    pub fn bin_named(mut self, binary: impl Into<String>) -> Self {
        self.binary = Some(binary.into());
        self
    }

    /// Further arguments of the `cargo build` of [`bin_of`](Self::bin_of), such as `--release`, or `--features` and `mcp`.
    pub fn build_args<A: Into<String>>(mut self, arguments: impl IntoIterator<Item = A>) -> Self {
        self.build_arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// The host is this program. Without it and without [`bin_of`](Self::bin_of) the `bin` of the profile says where it is.
    pub fn bin(mut self, path: impl Into<PathBuf>) -> Self {
        self.program = Program::File(path.into());
        self
    }

    /// The host is a library: it is run inside this program, by what implements [`driver::Host`] for it.
    ///
    /// `version` is that of the library, and `make` makes a new host for each run, on a thread of the run. The profile says
    /// that it is one, with `kind = "in-process"` in its only `[[drive]]` and without `bin` and `[model]`:
    ///
    /// ```toml
    /// name = "my-agent"
    ///
    /// [names]
    /// flat = "{{ server }}_{{ tool }}"     # how a model sees the names
    ///
    /// [[drive]]
    /// kind = "in-process"
    /// features = ["permissions.allow"]     # what the scenarios may ask for
    ///
    /// [claims]
    /// dialect = "none"                     # no permission rules of its own
    /// [[claims.wire]]
    /// transport = "stdio"
    /// revisions = ["2025-11-25"]
    /// ```
    ///
    /// A library is less than a program: it has no process of its own, no model API, and is built with the features that
    /// hopcheck turns on. Every report says so. Where a program can be built around the library,
    /// [`bin_of`](Self::bin_of) shows more.
    ///
    /// ```no_run
    /// # use hopcheck::driver::{Host, HostError, OfferedTool, Setup, Told, ToolUse, User};
    /// # #[derive(Default)]
    /// # struct MyAgent;
    /// # impl Host for MyAgent {
    /// #     fn start(&mut self, _: &Setup) -> Result<(), HostError> { Ok(()) }
    /// #     fn tools(&mut self) -> Result<Vec<OfferedTool>, HostError> { Ok(Vec::new()) }
    /// #     fn call(&mut self, _: &ToolUse, _: &dyn User) -> Result<Told, HostError> { Ok(Told::success("")) }
    /// #     fn stop(&mut self) -> Result<(), HostError> { Ok(()) }
    /// # }
    /// fn main() -> std::process::ExitCode {
    ///     hopcheck::Suite::new()
    ///         .host_file("conformance/my-agent.toml")
    ///         .host(env!("CARGO_PKG_VERSION"), MyAgent::default)
    ///         .main()
    /// }
    /// ```
    pub fn host<H: driver::Host + 'static>(
        mut self,
        version: impl Into<String>,
        make: impl Fn() -> H + Send + Sync + 'static,
    ) -> Self {
        self.program = Program::Library(Library::new(version, make));
        self
    }

    /// Adds the scenario files below this folder. As everywhere the folder of a file is its area: `FOLDER/AREA/NAME.toml`.
    /// Server scripts lie in `FOLDER/servers/` or `FOLDER/AREA/servers/`, and scenarios may use those of hopcheck.
    pub fn scenarios(mut self, folder: impl Into<PathBuf>) -> Self {
        self.choice.folders.push(folder.into());
        self
    }

    /// Leaves out the scenarios of hopcheck.
    pub fn without_builtin(mut self) -> Self {
        self.choice.builtin = Builtin::Without;
        self
    }

    /// Has only these: areas, scenarios, or cases of scenarios. May be called again for more.
    pub fn only<W: Into<String>>(mut self, words: impl IntoIterator<Item = W>) -> Self {
        self.choice.only.extend(words.into_iter().map(Into::into));
        self
    }

    /// Does not run an area, a scenario or a case. Its tests are ignored, with the reason, and `--ignored` runs them.
    ///
    /// For what fails and is to be mended, a [baseline](Self::baseline) says more: it notices when it no longer fails.
    pub fn exclude(mut self, word: impl Into<String>, reason: impl Into<String>) -> Self {
        self.choice.excluded.push((word.into(), reason.into()));
        self
    }

    /// The known failures of the host. They do not fail a test, and one that no longer happens does, until it is taken out of
    /// the file. `hopcheck baseline update` writes it.
    pub fn baseline(mut self, path: impl Into<PathBuf>) -> Self {
        self.baseline = Some(path.into());
        self
    }

    /// Holds the transcript of each run against the accepted one in this folder, `FOLDER/HOST/AREA/NAME[CASE].snap`. One that
    /// differs fails, as does one that nobody has accepted yet.
    ///
    /// `HOPCHECK_ACCEPT=1 cargo test` accepts what it gives, and takes away the files of scenarios that are gone. It has to be
    /// one process, so not `cargo nextest`. `hopcheck run --snapshots FOLDER` reads and writes the same files.
    pub fn snapshots(mut self, folder: impl Into<PathBuf>) -> Self {
        self.snapshots = Some(folder.into());
        self
    }

    /// Only one revision of the specification, such as `2025-11-25`. Without it, the newest with a handshake and the newest
    /// without that the host has, unless a scenario says otherwise.
    pub fn revision(mut self, revision: impl Into<String>) -> Self {
        self.revisions = Revisions::One(revision.into());
        self
    }

    /// All revisions that the host has.
    pub fn all_revisions(mut self) -> Self {
        self.revisions = Revisions::All;
        self
    }

    /// A SHOULD that does not hold fails.
    pub fn strict(mut self) -> Self {
        self.strictness = Strictness::Strict;
        self
    }

    /// The main function of the test target: exits with 0, or with 101 where a test failed or the suite is wrong.
    ///
    /// Call it before anything else happens in the process. hopcheck starts this very program again as relay between host and
    /// servers and as supervisor of the host, and then it must do nothing but that.
    #[must_use = "this is the exit code of the test program"]
    pub fn main(self) -> ExitCode {
        if let Some(code) = route::route() {
            return code;
        }
        let arguments = Arguments::from_args();
        match self.session(&Extent::of(&arguments)) {
            Ok(session) => session.run(&arguments),
            Err(failure) => {
                complain(&failure);
                ExitCode::from(101)
            }
        }
    }

    /// Everything that is known before the host is started.
    fn session(self, extent: &Extent) -> Result<Session, Failure> {
        let place = Place::of(&self_exe()?);
        let Some(host_file) = &self.host_file else {
            return Err(Failure::Usage("a suite without a host: name its profile with `host_file`".to_owned()));
        };
        let source = files::read(&place.path(host_file))?;
        let profile = hosts::with_variant(&source, self.variant.as_deref())?;
        let program = self.program.built(self.binary, self.build_arguments)?;
        program.fits(&profile)?;
        let select = Select { revisions: self.revisions.select()?, ..Select::default() };
        let all = self.choice.all(&place, extent)?;
        let chosen = self.choice.choose(&all, extent)?;
        let baseline = self.baseline.as_ref().map(|path| known::read(&place.path(path))).transpose()?;
        if let Some(baseline) = &baseline {
            if baseline.host.value != profile.selector() {
                return Err(Failure::Files(vec![baseline.wrong_host(&[&profile.selector()])]));
            }
            let ids: Vec<String> = all.iter().map(|scenario| scenario.id.to_string()).collect();
            let strangers = baseline.unknown_scenarios(&ids);
            if *extent == Extent::Whole && !strangers.is_empty() {
                return Err(Failure::Files(strangers));
            }
        }
        let transcripts = self.snapshots.as_ref().map(|folder| Transcripts::new(place.path(folder)));
        let rules = Rules { baseline, strictness: self.strictness, transcripts };
        let tests = outline::outline(&source, self.variant.as_deref(), &chosen, &select)?;
        Session::new(place, profile, program, tests, select, rules)
    }
}

impl Revisions {
    fn select(&self) -> Result<SelectRevisions, Failure> {
        match self {
            Self::Default => Ok(SelectRevisions::Default),
            Self::All => Ok(SelectRevisions::All),
            Self::One(text) => Revision::parse(text).map(SelectRevisions::One).ok_or_else(|| {
                let known = Revision::ALL.map(Revision::as_str).join(", ");
                Failure::Usage(format!("no revision `{text}`: there are {known}"))
            }),
        }
    }
}

/// Tells why there are no tests.
fn complain(failure: &Failure) {
    let mut stderr = anstream::stderr().lock();
    // There is nowhere left to complain to.
    for error in failure.diagnostics() {
        let _ = writeln!(stderr, "{}\n", error.render_styled());
    }
    let _ = writeln!(stderr, "error: {failure}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::{Host, HostError, OfferedTool, Setup, Told, ToolUse, User};

    struct Nothing;

    impl Host for Nothing {
        fn start(&mut self, _: &Setup) -> Result<(), HostError> {
            Ok(())
        }

        fn tools(&mut self) -> Result<Vec<OfferedTool>, HostError> {
            Ok(Vec::new())
        }

        fn call(&mut self, _: &ToolUse, _: &dyn User) -> Result<Told, HostError> {
            Ok(Told::failure("nothing"))
        }

        fn stop(&mut self) -> Result<(), HostError> {
            Ok(())
        }
    }

    const CLAIMS: &str = "[claims]\n[[claims.wire]]\ntransport = \"stdio\"\nrevisions = [\"2025-11-25\"]\n";
    const LIBRARY: &str = "name = \"acme\"\n[[drive]]\nkind = \"in-process\"\n";
    const PROGRAM: &str = "name = \"acme\"\nbin = { names = [\"acme\"] }\n[model]\napi = \"anthropic-messages\"\n\
                           [[drive]]\nkind = \"headless\"\nargv = [\"{{ bin }}\"]\n";

    /// What is said of a suite with that profile.
    fn said(profile: &str, suite: impl FnOnce(Suite) -> Suite) -> Result<Session, String> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("acme.toml");
        std::fs::write(&file, format!("{profile}{CLAIMS}")).unwrap();
        let suite = suite(Suite::new().host_file(&file).only(["call/lookup"]));
        let said = suite.session(&Extent::Whole).map_err(|failure| failure.to_string());
        said.map_err(|said| said.replace(&file.display().to_string(), "acme.toml"))
    }

    #[test]
    fn a_library_and_its_profile_go_together() {
        assert!(said(LIBRARY, |suite| suite.host("1.0.0", || Nothing)).is_ok());
        assert!(said(PROGRAM, |suite| suite).is_ok());
        let none = said(LIBRARY, |suite| suite).err().unwrap();
        assert_eq!(none, "acme.toml describes a library, and the suite has none: hand it over with `Suite::host`");
        let other = said(PROGRAM, |suite| suite.host("1.0.0", || Nothing)).err().unwrap();
        assert!(other.starts_with("acme.toml describes a program, and the suite has a library: give"), "{other}");
    }

    #[test]
    fn what_is_said_of_a_build_needs_one() {
        let said = |suite: fn(Suite) -> Suite| said(PROGRAM, suite).err();
        let other = "`bin_named` and `build_args` go with `bin_of`, which is not there";
        assert_eq!(said(|suite| suite.bin_named("agent")).as_deref(), Some(other));
        assert_eq!(said(|suite| suite.bin("agent").build_args(["--release"])).as_deref(), Some(other));
        assert_eq!(said(|suite| suite.bin_of("acme").bin_named("agent").build_args(["--release"])), None);
    }

    #[test]
    fn a_library_needs_a_profile() {
        let failure = Suite::new().host("1.0.0", || Nothing).session(&Extent::Whole).err().unwrap();
        assert_eq!(failure.to_string(), "a suite without a host: name its profile with `host_file`");
    }
}
