//! The files that are in the binary: scenarios, server scripts, profiles, the requirement catalogue.

use std::sync::{Arc, LazyLock};

use crate::diagnostic::Source;

mod tables {
    include!(concat!(env!("OUT_DIR"), "/builtin.rs"));
}

/// The catalogue lies beside the scenarios and is none.
const CATALOGUE: &str = "requirements.toml";

/// The built-in scenario files, by path.
#[must_use]
pub fn scenarios() -> &'static [Arc<Source>] {
    static SOURCES: LazyLock<Vec<Arc<Source>>> = LazyLock::new(|| {
        let scenarios = tables::SCENARIOS.iter().filter(|(path, _)| path.contains('/'));
        scenarios.map(|(path, text)| Source::new(format!("scenarios/{path}"), *text)).collect()
    });
    &SOURCES
}

/// The built-in profiles: name and file.
#[must_use]
pub fn profiles() -> &'static [(String, Arc<Source>)] {
    static SOURCES: LazyLock<Vec<(String, Arc<Source>)>> =
        LazyLock::new(|| named(tables::PROFILES, "hosts/profiles"));
    &SOURCES
}

/// The built-in server scripts: name and file.
#[must_use]
pub fn scripts() -> &'static [(String, Arc<Source>)] {
    static SOURCES: LazyLock<Vec<(String, Arc<Source>)>> = LazyLock::new(|| named(tables::SERVERS, "servers"));
    &SOURCES
}

/// The text of the requirement catalogue.
#[must_use]
pub fn requirements() -> &'static Arc<Source> {
    static SOURCE: LazyLock<Arc<Source>> = LazyLock::new(|| {
        let text = tables::SCENARIOS.iter().find(|(path, _)| *path == CATALOGUE).map_or("", |(_, text)| *text);
        Source::new(format!("scenarios/{CATALOGUE}"), text)
    });
    &SOURCE
}

fn named(table: &[(&str, &str)], folder: &str) -> Vec<(String, Arc<Source>)> {
    table
        .iter()
        .map(|(path, text)| {
            let name = path.strip_suffix(".toml").unwrap_or(path);
            (name.to_owned(), Source::new(format!("{folder}/{path}"), *text))
        })
        .collect()
}
