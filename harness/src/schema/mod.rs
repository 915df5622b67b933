//! JSON Schemas of the files that people and programs write and read.
//!
//! The TOML formats come from their tables of keys, so that an editor complains about what the decoder would
//! complain about. A schema knows shape only: names that lead nowhere, JSON in strings, patterns and the changes of
//! cases and variants are left to `hopcheck check`. Only keywords that every draft since 7 has in the same meaning are
//! used (`$defs` apart, which older validators follow as a plain pointer): editors lag behind.

mod driver;
mod parts;
mod report;
mod toml;
mod trace;

use std::fmt;

use crate::baseline::keys::BASELINE;
use crate::host::decode::keys::PROFILE;
use crate::json::Json;
use crate::scenario::keys::FILE;
use crate::server::decode::keys::SCRIPT;

/// Longest line of a schema's text.
const WIDTH: usize = 120;

/// What there are schemas of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schema {
    /// A scenario file.
    Scenario,
    /// A server script.
    Server,
    /// A host profile.
    Profile,
    /// A baseline.
    Baseline,
    /// One line of a trace.
    Trace,
    /// The JSON report.
    Report,
    /// One line of the driver protocol.
    Driver,
}

impl Schema {
    /// All.
    pub const ALL: [Self; 7] =
        [Self::Scenario, Self::Server, Self::Profile, Self::Baseline, Self::Trace, Self::Report, Self::Driver];

    /// Its word on the command line.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Scenario => "scenario",
            Self::Server => "server",
            Self::Profile => "profile",
            Self::Baseline => "baseline",
            Self::Trace => "trace",
            Self::Report => "report",
            Self::Driver => "driver",
        }
    }

    /// The schema of that word.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|schema| schema.as_str() == text)
    }

    /// The schema: a function of this version alone.
    #[must_use]
    pub fn json(self) -> Json {
        let (description, body) = match self {
            Self::Scenario => (
                "One conversation as data. `hopcheck check FILE` also sees what a schema cannot: names that lead \
                 nowhere, JSON in strings, and what the changes of a case make of the file.",
                toml::scenario(&FILE),
            ),
            Self::Server => (
                "What a scripted server offers and answers, misbehaviour included. `hopcheck check FILE` also sees \
                 what a schema cannot: tools that are not there, JSON in strings.",
                toml::file(&SCRIPT),
            ),
            Self::Profile => (
                "How to configure, launch and talk to one host, and what it claims. `hopcheck check FILE` also sees \
                 what a schema cannot: patterns, templates, and what variants make of the profile.",
                toml::file(&PROFILE),
            ),
            Self::Baseline => (
                "The known failures of one host version, strict both ways. `hopcheck check FILE` also sees what a \
                 schema cannot: requirements that are not there, and failures that are known twice.",
                toml::file(&BASELINE),
            ),
            Self::Trace => (
                "One line of a trace, which is JSON Lines: the header on the first, an event on every other.",
                trace::line(),
            ),
            Self::Report => ("What `--report json=FILE` writes.", report::report()),
            Self::Driver => (
                "One line of the driver protocol, in either direction: how a host is driven that asks no model.",
                driver::line(),
            ),
        };
        let mut schema = Json::object([
            ("$schema", "https://json-schema.org/draft/2020-12/schema"),
            ("$id", &format!("urn:hopcheck:schema:{self}")),
            ("title", &format!("hopcheck {self}")),
            ("description", description),
        ]);
        for (key, value) in body.members() {
            schema.set(&key.to_lossy(), value.clone());
        }
        schema
    }

    /// The schema as the text of a file.
    #[must_use]
    pub fn text(self) -> String {
        self.json().pretty(WIDTH) + "\n"
    }
}

impl fmt::Display for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
