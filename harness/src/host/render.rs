//! A profile and a site, made into files, arguments and environment.

use super::profile::{Drive, Profile};
use super::template::Values;
use crate::json::Json;
use crate::scenario::native::Native;

/// What is known only when a run begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// Program and leading arguments of the host.
    pub bin: Vec<String>,
    /// The fresh home folder.
    pub home: String,
    /// The fresh work folder.
    pub work: String,
    /// Where the scripted model listens, with the run's token and without a slash at the end.
    pub model_url: String,
    /// The key that the host sends to it.
    pub model_key: String,
    /// A minimal `PATH`.
    pub path: String,
    /// The first user message.
    pub prompt: String,
    /// The servers: key, command and arguments of the relay.
    pub servers: Vec<SiteServer>,
}

/// A server as the host has to start it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteServer {
    /// Its name in the configuration.
    pub key: String,
    /// The program.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables for it alone.
    pub env: Vec<(String, String)>,
    /// Whether the host is told to wait for it.
    pub required: bool,
}

/// What starts a host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rendered {
    /// Absolute path and content of each file.
    pub files: Vec<(String, Vec<u8>)>,
    /// Program and arguments.
    pub argv: Vec<String>,
    /// The whole environment.
    pub env: Vec<(String, String)>,
}

/// A profile that cannot be rendered.
#[derive(Debug, thiserror::Error)]
#[error("cannot render {what} of profile {profile}: {cause}")]
pub struct RenderError {
    profile: String,
    what: String,
    cause: minijinja::Error,
}

/// Renders the files, arguments and environment of one host run.
///
/// # Errors
/// A template that names something undefined or does not parse.
pub fn render(
    profile: &Profile,
    drive: &Drive,
    site: &Site,
    rules: &Json,
    limits: crate::scenario::ast::Limits,
    native: Option<&Native>,
) -> Result<Rendered, RenderError> {
    let mut values = values(profile, site, rules, limits);
    let own = native.map(|native| own_words(native, &values)).transpose().map_err(|cause| RenderError {
        profile: profile.name.clone(),
        what: "the words of the host".to_owned(),
        cause,
    })?;
    let own = own.unwrap_or_default();
    if let Some(servers) = own.servers {
        values.set("servers", servers);
    }
    let values = Values::new(&values);
    let fill = |what: &str, name: &str, text: &str| {
        values.render(name, text).map_err(|cause| RenderError {
            profile: profile.name.clone(),
            what: what.to_owned(),
            cause,
        })
    };
    let mut rendered = Rendered::default();
    for file in &profile.files {
        let path = fill("a file path", "path", &file.path)?;
        let content = fill(&path, &path, &file.template.value)?;
        rendered.files.push((path, content.into_bytes()));
    }
    for argument in &drive.argv {
        // The program may be several words: a subcommand of hopcheck plays the built-in hosts.
        if argument == "{{ bin }}" {
            rendered.argv.extend(site.bin.iter().cloned());
        } else {
            rendered.argv.push(fill("argv", "argv", argument)?);
        }
    }
    for (name, value) in &drive.env {
        rendered.env.push((name.clone(), fill(name, "env", value)?));
    }
    rendered.env.extend(own.env);
    Ok(rendered)
}

/// A scenario's words for this host, filled in.
#[derive(Default)]
struct OwnWords {
    /// The servers, those with a verbatim entry with a member `entry`.
    servers: Option<Json>,
    env: Vec<(String, String)>,
}

/// The templates of a scenario see what those of a profile see, and each server by its key.
fn own_words(native: &Native, values: &Json) -> Result<OwnWords, minijinja::Error> {
    let servers = values.get("servers").map(Json::items).unwrap_or_default();
    let mut known = values.clone();
    for server in servers {
        if let (Some(key), None) = (server.str("key"), values.get(server.str("key").unwrap_or_default())) {
            known.set(key, server.clone());
        }
    }
    let mut written = servers.to_vec();
    for server in &mut written {
        let entry = native.entries.iter().find(|(key, _)| server.str("key") == Some(key));
        if let Some((_, template)) = entry {
            known.set("server", server.clone());
            // Entries are JSON or TOML, and strings are escaped alike for both.
            server.set("entry", Values::new(&known).render("entry.json", template)?);
        }
    }
    let known = Values::new(&known);
    let env = native.env.iter().map(|(name, text)| Ok((name.clone(), known.render("env", text)?)));
    Ok(OwnWords { servers: Some(Json::Array(written)), env: env.collect::<Result<_, minijinja::Error>>()? })
}

fn values(profile: &Profile, site: &Site, rules: &Json, limits: crate::scenario::ast::Limits) -> Json {
    let servers = site.servers.iter().map(|server| {
        Json::object([
            ("key", Json::from(&server.key)),
            ("command", Json::from(&server.command)),
            ("args", Json::array(server.args.iter())),
            ("env", Json::object(server.env.iter().map(|(k, v)| (k, v)))),
            ("required", Json::from(server.required)),
        ])
    });
    Json::object([
        ("bin", Json::from(site.bin.join(" "))),
        ("home", Json::from(&site.home)),
        ("cwd", Json::from(&site.work)),
        ("prompt", Json::from(&site.prompt)),
        ("path", Json::from(&site.path)),
        (
            "model",
            Json::object([
                ("api", Json::from(profile.model.api.as_str())),
                ("surface", Json::from(profile.model.surface.as_str())),
                ("base_url", Json::from(&site.model_url)),
                ("key", Json::from(&site.model_key)),
            ]),
        ),
        ("servers", Json::array(servers)),
        ("rules", rules.clone()),
        ("limits", Json::object([("start", Json::from(limits.start)), ("call", Json::from(limits.call))])),
    ])
}
