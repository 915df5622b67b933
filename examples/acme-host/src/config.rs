//! The configuration file.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::Failure;

/// What the host is told.
pub(crate) struct Config {
    pub(crate) model_url: String,
    pub(crate) model_key: String,
    pub(crate) servers: Vec<Entry>,
    /// Patterns `SERVER/TOOL`, `SERVER/*` and `*/*`.
    pub(crate) allow: Vec<String>,
    pub(crate) deny: Vec<String>,
}

/// A server.
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) command: String,
    pub(crate) args: Vec<String>,
    pub(crate) env: Vec<(String, String)>,
}

impl Config {
    /// Reads the file.
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let json: Value = serde_json::from_str(&fs::read_to_string(path)?)?;
        let servers = json["servers"].as_array().ok_or("the configuration has no list `servers`")?;
        Ok(Self {
            model_url: text(&json["model"]["url"])?,
            model_key: text(&json["model"]["key"])?,
            servers: servers.iter().map(Entry::read).collect::<Result<_, _>>()?,
            allow: texts(&json["allow"])?,
            deny: texts(&json["deny"])?,
        })
    }
}

impl Entry {
    fn read(json: &Value) -> Result<Self, Failure> {
        let env = json["env"].as_object().into_iter().flatten();
        Ok(Self {
            key: text(&json["key"])?,
            command: text(&json["command"])?,
            args: texts(&json["args"])?,
            env: env.map(|(name, value)| Ok((name.clone(), text(value)?))).collect::<Result<_, Failure>>()?,
        })
    }
}

fn text(json: &Value) -> Result<String, Failure> {
    Ok(json.as_str().ok_or_else(|| format!("the configuration has {json} where a text should be"))?.to_owned())
}

fn texts(json: &Value) -> Result<Vec<String>, Failure> {
    json.as_array().into_iter().flatten().map(text).collect()
}
