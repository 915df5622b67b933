//! Wrong files with the exact diagnostics that a user reads: `tests/corpus/KIND/NAME.toml` beside `NAME.err`.
//!
//! `HOPCHECK_BLESS=1` rewrites the `.err` files; review the difference like a snapshot.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{env, fs};

use hopcheck::diagnostic::{Diagnostic, Source};
use hopcheck::{baseline, host, scenario, server};

/// What the wrong scenarios may name.
struct Shelf;

const SCRIPTS: [(&str, &str); 3] = [
    (
        "orders",
        "[[tool]]\nname = \"lookup_order\"\n[[tool]]\nname = \"create_note\"\n[[tool]]\nname = \"refund_order\"\n",
    ),
    ("hostile", "[[tool]]\nname = \"flood\"\n"),
    ("sick", "[[tool]]\nname = \"cough\"\ninput_schema = '''{\"type\": }'''\n"),
];

const REQUIREMENTS: [&str; 3] = ["claim.06-published-names", "hop.wire-name", "tools.call.wire-name-unprefixed"];

impl scenario::Library for Shelf {
    fn script(&self, name: &str) -> Option<Arc<Source>> {
        let (_, text) = SCRIPTS.into_iter().find(|(known, _)| *known == name)?;
        Some(Source::new(format!("servers/{name}.toml"), text))
    }

    fn script_names(&self) -> Vec<String> {
        SCRIPTS.map(|(name, _)| name.to_owned()).to_vec()
    }

    fn is_requirement(&self, id: &str) -> bool {
        REQUIREMENTS.contains(&id)
    }

    fn requirement_ids(&self) -> Vec<String> {
        REQUIREMENTS.map(str::to_owned).to_vec()
    }
}

#[test]
fn wrong_scenarios() {
    check("scenario", |source| scenario::parse(source, "call", "t", &Shelf).err());
}

#[test]
fn wrong_server_scripts() {
    check("server", |source| server::decode::parse(source).err());
}

#[test]
fn wrong_profiles() {
    check("profile", |source| host::decode::parse(source, None, None).err());
}

#[test]
fn wrong_baselines() {
    check("baseline", |source| baseline::decode::parse(source).err());
}

fn check(kind: &str, errors: impl Fn(&Arc<Source>) -> Option<Vec<Diagnostic>>) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(kind);
    let (texts, answers) = (with_extension(&folder, "toml"), with_extension(&folder, "err"));
    assert!(!texts.is_empty(), "no files in {}", folder.display());
    let mut wrong = Vec::new();
    for name in &texts {
        let text = fs::read_to_string(folder.join(name).with_extension("toml")).unwrap();
        // Diagnostics name the file as a user in its folder would.
        let source = Source::new(format!("{name}.toml"), text);
        let found = errors(&source).unwrap_or_else(|| panic!("{kind}/{name}.toml is accepted"));
        let shown = found.iter().map(|one| one.render_plain() + "\n").collect::<Vec<_>>().join("\n");
        let path = folder.join(name).with_extension("err");
        if env::var_os("HOPCHECK_BLESS").is_some() {
            fs::write(&path, &shown).unwrap();
        } else if fs::read_to_string(&path).unwrap_or_default() != shown {
            wrong.push(format!("{kind}/{name}.err should read:\n{shown}"));
        }
    }
    let stale: Vec<_> = answers.difference(&texts).collect();
    assert!(stale.is_empty(), "answers without a file: {stale:?}");
    assert!(wrong.is_empty(), "{}\nHOPCHECK_BLESS=1 rewrites them", wrong.join("\n"));
}

/// The stems of all files with that extension, sorted.
fn with_extension(folder: &Path, extension: &str) -> BTreeSet<String> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths
        .filter(|path: &PathBuf| path.extension().is_some_and(|found| found == extension))
        .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
        .collect()
}
