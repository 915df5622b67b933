//! Reading and writing the files that a user names.

use std::fs;
use std::io;
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

/// Makes the folders that a file needs. Done before a long run, it saves the user one in vain.
///
/// # Errors
/// They cannot be made, or the path is a folder (usage).
pub fn prepare(path: &Path) -> Result<(), Failure> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder).map_err(|cause| refused(path, &cause))?;
    }
    if path.is_dir() { Err(refused(path, &io::ErrorKind::IsADirectory.into())) } else { Ok(()) }
}

fn refused(path: &Path, cause: &io::Error) -> Failure {
    Failure::Usage(format!("cannot write {}: {cause}", path.display()))
}
