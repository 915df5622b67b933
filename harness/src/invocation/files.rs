//! Reading and writing the files that a user names.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use super::Failure;
use crate::diagnostic::Source;

/// Whether an argument means a file and not a name.
#[must_use]
pub fn is_path(argument: &str) -> bool {
    argument.ends_with(".toml") || argument.starts_with(['.', '/'])
}

/// Reads a text file.
///
/// # Errors
/// It cannot be read, or is not UTF-8 (usage).
pub fn read(path: &Path) -> Result<Arc<Source>, Failure> {
    let name = path.display().to_string();
    let bytes = fs::read(path).map_err(|cause| Failure::Usage(format!("cannot read {name}: {cause}")))?;
    let text = String::from_utf8(bytes).map_err(|cause| Failure::Usage(format!("cannot read {name}: {cause}")))?;
    Ok(Source::new(name, text))
}

/// Writes a file, with the folders that it needs.
///
/// # Errors
/// It cannot be written (usage).
pub fn write(path: &Path, text: &str) -> Result<(), Failure> {
    prepare(path)?;
    fs::write(path, text).map_err(|cause| refused(path, &cause))
}

/// Makes the folders that a file needs, and looks whether it can be written. Done before a long run, it saves the user
/// one in vain.
///
/// # Errors
/// A folder cannot be made, or the file not be written (usage).
pub fn prepare(path: &Path) -> Result<(), Failure> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder).map_err(|cause| refused(path, &cause))?;
    }
    let found = fs::symlink_metadata(path).ok();
    // Whoever reads a pipe would take this for the end; a folder says that it is one.
    if found.as_ref().is_some_and(|found| !found.is_file() && !path.is_dir()) {
        return Ok(());
    }
    let opened = fs::OpenOptions::new().write(true).create(true).truncate(false).open(path);
    opened.map_err(|cause| refused(path, &cause))?;
    // A file that was there keeps what it holds, and one that was not comes with its content.
    if found.is_none() {
        fs::remove_file(path).map_err(|cause| refused(path, &cause))?;
    }
    Ok(())
}

fn refused(path: &Path, cause: &std::io::Error) -> Failure {
    Failure::Usage(format!("cannot write {}: {cause}", path.display()))
}
