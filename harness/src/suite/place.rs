//! Where a suite is: its package, its target folder.

use std::env;
use std::path::{Path, PathBuf};

/// The folder of traces, below the target folder.
const TRACES: &str = "hopcheck-traces";

/// The folders of a test program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// The folder of the package whose test this is; paths of a suite are relative to it.
    pub(super) package: PathBuf,
    /// The target folder that the test program lies in.
    pub(super) target: PathBuf,
    /// The folder for the traces of runs that fail.
    pub(super) traces: PathBuf,
}

impl Place {
    /// The folders of the test program `exe`.
    ///
    /// The package is the one that cargo names at run time, so that an archive of tests finds its files where they were
    /// unpacked; a program that is started by hand looks in the current folder.
    pub(super) fn of(exe: &Path) -> Self {
        let package = named("CARGO_MANIFEST_DIR").unwrap_or_else(|| env::current_dir().unwrap_or_default());
        let target = target(exe);
        let traces = named("HOPCHECK_TRACES").unwrap_or_else(|| target.join(TRACES).join(test(exe)));
        Self { package, target, traces }
    }

    /// A path of the suite, as short as the current folder allows: it is shown in every message.
    pub(super) fn path(&self, path: &Path) -> PathBuf {
        let whole = self.package.join(path);
        let here = env::current_dir().unwrap_or_default();
        whole.strip_prefix(here).map(Path::to_owned).unwrap_or(whole)
    }
}

/// The folder that a variable names.
fn named(variable: &str) -> Option<PathBuf> {
    env::var_os(variable).filter(|path| !path.is_empty()).map(PathBuf::from)
}

/// The target folder: cargo puts a tag into it. Where it did not, a test lies in `TARGET/PROFILE/deps`, and another program
/// beside `deps`.
fn target(exe: &Path) -> PathBuf {
    let tagged = exe.ancestors().skip(1).find(|folder| folder.join("CACHEDIR.TAG").is_file());
    let deps = exe.ancestors().take(3).map(|folder| folder.join("deps")).find(|folder| folder.is_dir());
    let untagged = deps.as_deref().and_then(|deps| deps.ancestors().nth(2));
    tagged.or(untagged).or(exe.parent()).unwrap_or(Path::new("target")).to_owned()
}

/// The name of the test target: cargo appends a hash to it.
fn test(exe: &Path) -> String {
    let stem = exe.file_stem().unwrap_or_default().to_string_lossy();
    match stem.rsplit_once('-') {
        Some((name, hash)) if hash.len() == 16 && hash.chars().all(|char| char.is_ascii_hexdigit()) => {
            name.to_owned()
        }
        _ => stem.into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_target_folder_has_a_tag_or_is_above_deps() {
        let folder = tempfile::tempdir().unwrap();
        let debug = folder.path().join("x86_64/debug");
        std::fs::create_dir_all(debug.join("deps")).unwrap();
        let exe = debug.join("deps/conformance-0123456789abcdef");
        assert_eq!(target(&exe), folder.path().join("x86_64"));
        assert_eq!(target(&debug.join("conformance")), folder.path().join("x86_64"));
        std::fs::write(folder.path().join("CACHEDIR.TAG"), "").unwrap();
        assert_eq!(target(&exe), folder.path());
        assert_eq!(target(Path::new("/opt/conformance")), Path::new("/opt"));
    }

    #[test]
    fn a_hash_is_no_part_of_the_name() {
        assert_eq!(test(Path::new("deps/my-host-0123456789abcdef")), "my-host");
        assert_eq!(test(Path::new("deps/my-host")), "my-host");
    }
}
