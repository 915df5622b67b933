//! The folder of one host run: a fresh home, a fresh work folder, and nothing that outlives them.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};

use crate::host::render::Rendered;

/// A socket path must stay under 100 bytes, and ours adds less than twenty to its folder.
const MAX_BASE: usize = 80;

/// What becomes of a sandbox after its run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    /// It is removed.
    #[default]
    No,
    /// It stays, for a look inside.
    Yes,
}

/// A sandbox that was kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Its folder.
    pub folder: PathBuf,
    /// The command that starts the host in it by hand. The model and the servers are gone by then.
    pub command: String,
}

/// Why files could not be put into a sandbox.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// The machine refused.
    #[error("cannot prepare the sandbox: {0}")]
    Io(#[from] io::Error),
    /// A template named a path outside.
    #[error("the profile writes outside the sandbox: {0}")]
    Outside(String),
}

/// Dropping it removes it.
#[derive(Debug)]
pub(super) struct Sandbox {
    path: PathBuf,
}

impl Sandbox {
    /// A path that no other sandbox has. Who is to remove it, should hopcheck be killed, must know it before it is there.
    pub(super) fn choose() -> io::Result<PathBuf> {
        let base = std::env::temp_dir();
        // The host reports real paths, so ours are real as well.
        let base = base.canonicalize().unwrap_or(base);
        let base = if base.as_os_str().len() > MAX_BASE { PathBuf::from("/tmp") } else { base };
        Ok(base.join(format!("hc{}", &super::random_word()?[..12])))
    }

    /// Makes it.
    pub(super) fn new(path: PathBuf) -> io::Result<Self> {
        let mut private = fs::DirBuilder::new();
        private.mode(0o700).create(&path).map_err(|cause| {
            io::Error::new(cause.kind(), format!("cannot make the folder {}: {cause}", path.display()))
        })?;
        let sandbox = Self { path };
        for folder in [sandbox.home(), sandbox.work(), sandbox.tmp()] {
            fs::create_dir(folder)?;
        }
        Ok(sandbox)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn home(&self) -> PathBuf {
        self.path.join("home")
    }

    pub(super) fn work(&self) -> PathBuf {
        self.path.join("work")
    }

    /// What the host writes to its temporary folder must not outlive the run either.
    pub(super) fn tmp(&self) -> PathBuf {
        self.path.join("tmp")
    }

    /// Where relays find hopcheck.
    pub(super) fn socket(&self) -> PathBuf {
        self.path.join("s")
    }

    pub(super) fn write(&self, files: &[(String, Vec<u8>)]) -> Result<(), SandboxError> {
        for (name, content) in files {
            let path = Path::new(name);
            let plain = path.components().all(|part| !matches!(part, Component::ParentDir));
            if !plain || !path.starts_with(&self.path) {
                return Err(SandboxError::Outside(name.clone()));
            }
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder)?;
            }
            fs::write(path, content)?;
        }
        Ok(())
    }

    /// Removes the sandbox or lets it stay.
    pub(super) fn close(self, keep: Keep, rendered: &Rendered) -> Option<Kept> {
        match keep {
            Keep::No => None,
            Keep::Yes => {
                let command = command(&self.work(), rendered);
                let folder = self.path.clone();
                std::mem::forget(self);
                Some(Kept { folder, command })
            }
        }
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        // Its supervisor has removed it already, where it was left to do so. Whatever cannot be removed is no reason to
        // fail a run that is over.
        if self.path.exists() {
            let _ = remove(&self.path);
        }
    }
}

/// Removes a sandbox.
pub(super) fn remove(folder: &Path) -> io::Result<()> {
    fs::remove_dir_all(folder).or_else(|_| {
        // Some tools write folders that even their owner cannot change.
        open_up(folder);
        fs::remove_dir_all(folder)
    })
}

/// Makes all folders below writable, as far as possible. Links are not followed.
fn open_up(folder: &Path) {
    let _ = fs::set_permissions(folder, fs::Permissions::from_mode(0o700));
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            open_up(&entry.path());
        }
    }
}

/// A shell command that starts the host as the stage did.
fn command(work: &Path, rendered: &Rendered) -> String {
    let variables = rendered.env.iter().map(|(name, value)| quote(&format!("{name}={value}")));
    let words = rendered.argv.iter().map(|word| quote(word));
    let words: Vec<String> = variables.chain(words).collect();
    format!("cd {} && env -i {}", quote(&work.to_string_lossy()), words.join(" "))
}

fn quote(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./:=,@%+".contains(&byte);
    if !word.is_empty() && word.bytes().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_stay_inside_and_nothing_outlives_it() {
        let path = Sandbox::choose().unwrap();
        let sandbox = Sandbox::new(path.clone()).unwrap();
        assert!(Sandbox::new(path.clone()).is_err(), "nobody else's");
        assert!(sandbox.socket().as_os_str().len() < 100);
        let inside = sandbox.home().join("a/b.json").to_string_lossy().into_owned();
        sandbox.write(&[(inside.clone(), b"{}".to_vec())]).unwrap();
        assert_eq!(fs::read(inside).unwrap(), b"{}");
        for outside in ["/tmp/x".to_owned(), format!("{}/../x", path.display()), "x".to_owned()] {
            let error = sandbox.write(&[(outside, Vec::new())]).unwrap_err();
            assert!(matches!(error, SandboxError::Outside(_)), "{error}");
        }
        assert_eq!(sandbox.close(Keep::No, &Rendered::default()), None);
        assert!(!path.exists());
    }

    #[test]
    fn a_kept_sandbox_says_how_to_start_the_host_by_hand() {
        let sandbox = Sandbox::new(Sandbox::choose().unwrap()).unwrap();
        let rendered = Rendered {
            argv: vec!["/bin/acme".to_owned(), "it's me".to_owned()],
            env: vec![("HOME".to_owned(), "/h".to_owned())],
            ..Rendered::default()
        };
        let work = sandbox.work();
        let kept = sandbox.close(Keep::Yes, &rendered).unwrap();
        assert_eq!(kept.command, format!(r"cd {} && env -i HOME=/h /bin/acme 'it'\''s me'", work.display()));
        fs::remove_dir_all(kept.folder).unwrap();
    }
}
