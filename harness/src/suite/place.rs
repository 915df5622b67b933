//! Where a suite is: its package, its target folder.

use std::env;
use std::path::{Path, PathBuf};

/// The folders of a test program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// The folder of the package whose test this is; paths of a suite are relative to it.
    pub(super) package: PathBuf,
    /// The target folder that the test program lies in.
    pub(super) target: PathBuf,
    /// The name of the test target.
    pub(super) test: String,
}

impl Place {
    /// The folders of the test program `exe`.
    ///
    /// The package is the one that cargo names at run time, so that an archive of tests finds its files where they were
    /// unpacked; a program that is started by hand looks in the current folder.
    pub(super) fn of(exe: &Path) -> Self {
        let package = env::var_os("CARGO_MANIFEST_DIR")
            .filter(|path| !path.is_empty())
            .map_or_else(|| env::current_dir().unwrap_or_default(), PathBuf::from);
        Self { package, target: target(exe), test: test(exe) }
    }

    /// A path of the suite, as short as the current folder allows: it is shown in every message.
    pub(super) fn path(&self, path: &Path) -> PathBuf {
        let whole = self.package.join(path);
        let here = env::current_dir().unwrap_or_default();
        whole.strip_prefix(here).map(Path::to_owned).unwrap_or(whole)
    }
}

/// The target folder: cargo puts a tag into it. Where it did not, the program lies in `TARGET/PROFILE/deps`.
fn target(exe: &Path) -> PathBuf {
    let tagged = exe.ancestors().skip(1).find(|folder| folder.join("CACHEDIR.TAG").is_file());
    let above_deps =
        exe.parent().filter(|folder| folder.ends_with("deps")).and_then(|deps| deps.ancestors().nth(2));
    tagged.or(above_deps).or(exe.parent()).unwrap_or(Path::new("target")).to_owned()
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
        let exe = folder.path().join("x86_64/debug/deps/conformance-0123456789abcdef");
        assert_eq!(target(&exe), folder.path().join("x86_64"));
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
