//! Embeds scenarios, server scripts and profiles, so that the installed binary is self-contained.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Folders of the package (links into the workspace), and the table that each becomes.
const TABLES: [(&str, &str); 3] = [("scenarios", "SCENARIOS"), ("servers", "SERVERS"), ("profiles", "PROFILES")];

fn main() -> io::Result<()> {
    link_at_fixed_addresses();
    let package = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").ok_or(io::ErrorKind::NotFound)?);
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?);
    let mut code = String::new();
    for (folder, table) in TABLES {
        // A link that cargo watches would not show changes behind it.
        let root = fs::canonicalize(package.join(folder))?;
        let mut files = Vec::new();
        // Only scenarios have areas; beside the server scripts lies a crate.
        collect(&root, usize::from(folder == "scenarios"), &mut files)?;
        files.sort();
        let _ =
            writeln!(code, "/// Path below `{folder}/` and text.\npub(super) const {table}: &[(&str, &str)] = &[");
        for file in &files {
            let name = file.strip_prefix(&root).unwrap_or(file).to_string_lossy().replace('\\', "/");
            let _ = writeln!(code, "    ({name:?}, include_str!({:?})),", file.display().to_string());
        }
        let _ = writeln!(code, "];");
    }
    fs::write(out.join("builtin.rs"), code)
}

/// Each run starts this program three times, and half of what that took was moving its 25,000 pointers to where it was
/// loaded. A program that is linked for fixed addresses has none to move.
fn link_at_fixed_addresses() {
    let is = |name: &str, value: &str| env::var(format!("CARGO_CFG_TARGET_{name}")).is_ok_and(|set| set == value);
    let is_static =
        env::var("CARGO_CFG_TARGET_FEATURE").is_ok_and(|set| set.split(',').any(|one| one == "crt-static"));
    if is("OS", "linux") && is("ENV", "gnu") && !is_static {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}

fn collect(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) -> io::Result<()> {
    watch(folder);
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() && depth > 0 {
            collect(&path, depth - 1, files)?;
        } else if path.extension().is_some_and(|end| end == "toml") && path.is_file() {
            watch(&path);
            files.push(path);
        }
    }
    Ok(())
}

/// Printing is how a build script talks to cargo.
fn watch(path: &Path) {
    println!("cargo::rerun-if-changed={}", path.display());
}
