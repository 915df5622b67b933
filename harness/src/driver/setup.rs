//! What a host is given when it starts.

use std::path::PathBuf;
use std::time::Duration;

use super::HostError;
use crate::json::Json;
use crate::revision::Revision;
use crate::scenario::ast::ToolPattern;

/// What a host is given when it starts.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Setup {
    /// The revision that the servers speak. A host that negotiates has no need to look at it.
    pub revision: Revision,
    /// The servers, in the order of the scenario.
    pub servers: Vec<ServerSetup>,
    /// The permission rules, in the words of the dialect that the profile names. [`Setup::permissions`] reads those of
    /// the dialect `plain`.
    pub rules: Json,
    /// How long the start of a server may take at most, where the scenario says so and the profile has `limits.start`.
    pub start_limit: Option<Duration>,
    /// How long a call may take at most, where the scenario says so and the profile has `limits.call`.
    pub call_limit: Option<Duration>,
    /// A fresh folder, for whatever the host would keep below the user's home. It goes away after the run.
    pub home: PathBuf,
    /// A fresh folder, in the place of the folder that the user works in.
    pub work: PathBuf,
}

/// A server, as the host has to start it: the command is a program that speaks MCP over its standard streams.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerSetup {
    /// Its name in the host's configuration.
    pub name: String,
    /// The program.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables for this server and no other.
    pub env: Vec<(String, String)>,
    /// Whether the host is to wait for it, where the profile has `required`.
    pub required: bool,
}

/// Rules of the dialect `plain`. Of several that match a tool, deny wins over ask, and ask over allow; a tool that no rule
/// names is left to the host's own default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Permissions {
    /// Called without a question.
    pub allow: Vec<ToolPattern>,
    /// Called after a question.
    pub ask: Vec<ToolPattern>,
    /// Never called.
    pub deny: Vec<ToolPattern>,
}

impl Setup {
    /// The servers in the `mcpServers` form that many hosts read: `{"mcpServers": {NAME: {"command", "args", "env"}}}`.
    #[must_use]
    pub fn mcp_servers(&self) -> String {
        let servers = Json::object(self.servers.iter().map(|server| (server.name.as_str(), server.entry())));
        Json::object([("mcpServers", servers)]).to_string()
    }

    /// The rules by tool, where they are those of the dialect `plain`.
    ///
    /// # Errors
    /// Rules of another dialect.
    pub fn permissions(&self) -> Result<Permissions, HostError> {
        let list = |key: &str| match self.rules.get(key) {
            Some(Json::Array(rules)) => rules.iter().map(pattern).collect(),
            Some(other) => Err(HostError::new(format!("`{key}` of the rules is no list: {other}"))),
            None => Ok(Vec::new()),
        };
        Ok(Permissions { allow: list("allow")?, ask: list("ask")?, deny: list("deny")? })
    }

    /// The members of a `start` command.
    pub(crate) fn to_json(&self) -> Json {
        let server = |server: &ServerSetup| {
            let mut entry = server.entry();
            entry.set("required", server.required);
            (server.name.clone(), entry)
        };
        let ms = |limit: Option<Duration>| limit.map(|limit| u64::try_from(limit.as_millis()).unwrap_or(u64::MAX));
        let path = |path: &PathBuf| path.to_string_lossy().into_owned();
        Json::object([
            ("revision", Json::from(self.revision.as_str())),
            ("servers", Json::object(self.servers.iter().map(server))),
            ("permissions", self.rules.clone()),
            ("limits", Json::object([("start", ms(self.start_limit)), ("call", ms(self.call_limit))])),
            ("home", path(&self.home).into()),
            ("cwd", path(&self.work).into()),
        ])
    }

    /// Reads what [`Setup::to_json`] wrote; the reason why not, as a fragment.
    pub(crate) fn from_json(command: &Json) -> Result<Self, String> {
        let text = |key: &str| command.str(key).ok_or(format!("`{key}` is missing"));
        let revision = text("revision")?;
        let limit = |key: &str| {
            let ms = command.at(&["limits", key]).and_then(Json::as_i64)?;
            Some(Duration::from_millis(u64::try_from(ms).ok()?))
        };
        let servers = command.get("servers").map(Json::members).unwrap_or_default();
        Ok(Self {
            revision: Revision::parse(revision).ok_or(format!("no revision `{revision}`"))?,
            servers: servers
                .iter()
                .map(|(name, entry)| ServerSetup::from_json(&name.to_lossy(), entry))
                .collect::<Result<_, _>>()?,
            rules: command.get("permissions").cloned().unwrap_or_else(Json::empty),
            start_limit: limit("start"),
            call_limit: limit("call"),
            home: text("home")?.into(),
            work: text("cwd")?.into(),
        })
    }
}

impl ServerSetup {
    fn entry(&self) -> Json {
        Json::object([
            ("command", Json::from(&self.command)),
            ("args", Json::array(&self.args)),
            ("env", Json::object(self.env.iter().map(|(name, value)| (name, value)))),
        ])
    }

    fn from_json(name: &str, entry: &Json) -> Result<Self, String> {
        let text = |value: &Json| value.as_str().map(str::to_owned).ok_or(format!("{value} is no string"));
        let env = entry.get("env").map(Json::members).unwrap_or_default();
        Ok(Self {
            name: name.to_owned(),
            command: entry.str("command").ok_or(format!("the server `{name}` has no `command`"))?.to_owned(),
            args: entry
                .get("args")
                .map(Json::items)
                .unwrap_or_default()
                .iter()
                .map(text)
                .collect::<Result<_, _>>()?,
            env: env
                .iter()
                .map(|(name, value)| Ok((name.to_lossy().into_owned(), text(value)?)))
                .collect::<Result<_, String>>()?,
            required: entry.get("required").and_then(Json::as_bool).unwrap_or(false),
        })
    }
}

/// `SERVER/TOOL` with `*` for any, or a table, where the server's name has a slash in it.
fn pattern(rule: &Json) -> Result<ToolPattern, HostError> {
    let named = |name: &str| Some(name.to_owned()).filter(|name| name != "*");
    let (server, tool) = match rule.as_str() {
        Some(text) => text.split_once('/').map(|(server, tool)| (named(server), named(tool))),
        None => Some((rule.str("server").map(str::to_owned), rule.str("tool").map(str::to_owned))),
    }
    .ok_or_else(|| HostError::new(format!("{rule} is no rule of the dialect `plain`")))?;
    Ok(ToolPattern { server, tool })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setup() -> Setup {
        Setup {
            revision: Revision::V2025_11_25,
            servers: vec![ServerSetup {
                name: "orders".to_owned(),
                command: "/bin/relay".to_owned(),
                args: vec!["a".to_owned(), "ü \"".to_owned()],
                env: vec![("TOKEN".to_owned(), "x=y".to_owned())],
                required: true,
            }],
            rules: Json::parse(r#"{"allow":["orders/*"],"ask":[],"deny":["*/*",{"server":"a/b","tool":"c"}]}"#)
                .unwrap(),
            start_limit: None,
            call_limit: Some(Duration::from_millis(1500)),
            home: "/h".into(),
            work: "/w".into(),
        }
    }

    #[test]
    fn a_setup_travels_whole() {
        let setup = setup();
        let line = setup.to_json().to_string();
        assert_eq!(Setup::from_json(&Json::parse(line).unwrap()).unwrap(), setup);
    }

    #[test]
    fn what_is_missing_is_named() {
        let mut command = setup().to_json();
        command.set("revision", "2025-11-26");
        assert_eq!(Setup::from_json(&command).unwrap_err(), "no revision `2025-11-26`");
        command.set("revision", "2025-11-25");
        command.set("servers", Json::object([("orders", Json::empty())]));
        assert_eq!(Setup::from_json(&command).unwrap_err(), "the server `orders` has no `command`");
    }

    #[test]
    fn rules_are_read_by_tool() {
        let permissions = setup().permissions().unwrap();
        let shown = |rules: &[ToolPattern]| rules.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(shown(&permissions.allow), ["orders/*"]);
        assert_eq!(shown(&permissions.deny), ["*/*", "a/b/c"]);
        assert_eq!(permissions.deny[0], ToolPattern { server: None, tool: None });
        let other = Setup { rules: Json::parse(r#"{"allow":["mcp__orders"]}"#).unwrap(), ..setup() };
        let error = other.permissions().unwrap_err();
        assert_eq!(error.to_string(), "\"mcp__orders\" is no rule of the dialect `plain`");
    }

    #[test]
    fn the_servers_can_be_had_as_a_configuration() {
        let config = Json::parse(setup().mcp_servers()).unwrap();
        let entry = config.at(&["mcpServers", "orders"]).unwrap();
        assert_eq!(entry.to_string(), r#"{"command":"/bin/relay","args":["a","ü \""],"env":{"TOKEN":"x=y"}}"#);
    }
}
