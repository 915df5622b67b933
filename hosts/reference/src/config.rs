//! The config file of the host, in its own plain dialect.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::value::RawValue;

use crate::error::Error;
use crate::gate::{Decision, Pattern, Rules};
use crate::json::{self, Members};
use crate::reach::Reach;

/// Everything that the config file says.
#[derive(Debug)]
pub(crate) struct Config {
    pub(crate) model: ModelConfig,
    /// In the order of the file, which is the order of the offer.
    pub(crate) servers: Vec<ServerConfig>,
    pub(crate) rules: Rules,
    pub(crate) limits: Limits,
    pub(crate) schema_gate: SchemaGate,
    pub(crate) protocol: Protocol,
    pub(crate) reach: Reach,
}

/// Where the model is, and what it speaks.
#[derive(Debug)]
pub(crate) struct ModelConfig {
    pub(crate) api: ApiKind,
    pub(crate) base_url: String,
    pub(crate) key: String,
}

/// The model APIs that the host speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ApiKind {
    AnthropicMessages,
    OpenAiResponses,
}

/// How to start one stdio server.
#[derive(Debug, Clone)]
pub(crate) struct ServerConfig {
    pub(crate) name: String,
    pub(crate) command: String,
    pub(crate) args: Vec<String>,
    pub(crate) env: Vec<(String, String)>,
    pub(crate) cwd: Option<PathBuf>,
}

/// How long the host waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limits {
    /// From the spawn of a server to the end of its first list, and for each later list.
    pub(crate) start: Duration,
    /// For one call.
    pub(crate) call: Duration,
}

/// Whether arguments must match the registered schema before anything else happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SchemaGate {
    Closed,
    Open,
}

/// Which eras of the protocol the host speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Protocol {
    /// Probe for a modern server, fall back to the handshake.
    Auto,
    Legacy,
    Modern,
}

/// Reads and checks the config file at `path`.
pub(crate) fn load(path: &Path) -> Result<Config, Error> {
    let text = std::fs::read_to_string(path).map_err(|source| Error::Read { path: path.to_owned(), source })?;
    parse(&text).map_err(|Wrong(reason)| Error::Config { path: path.to_owned(), reason })
}

/// What is wrong with a config file.
#[derive(Debug, PartialEq, Eq)]
struct Wrong(String);

fn parse(text: &str) -> Result<Config, Wrong> {
    let root = Members::parse(text).map_err(|error| Wrong(error.to_string()))?;
    let mut config = Config {
        model: ModelConfig { api: ApiKind::AnthropicMessages, base_url: String::new(), key: String::new() },
        servers: Vec::new(),
        rules: Rules::default(),
        limits: Limits { start: Duration::from_secs(10), call: Duration::from_secs(60) },
        schema_gate: SchemaGate::Closed,
        protocol: Protocol::Auto,
        reach: Reach::Direct,
    };
    let mut model = None;
    for (key, value) in &root.0 {
        match key.as_str() {
            "model" => model = Some(parse_model(value)?),
            "servers" => {
                for (name, entry) in object(key, value)?.0 {
                    if config.servers.iter().any(|server| server.name == name) {
                        return Err(Wrong(format!("servers: {name:?} appears twice")));
                    }
                    config.servers.push(parse_server(name, entry)?);
                }
            }
            "permissions" => config.rules = parse_rules(value)?,
            "limits" => config.limits = parse_limits(value, config.limits)?,
            "schema_gate" => {
                config.schema_gate = match value.get() {
                    "true" => SchemaGate::Closed,
                    "false" => SchemaGate::Open,
                    _ => return Err(Wrong("schema_gate must be true or false".into())),
                };
            }
            "protocol" => {
                config.protocol = match text_of(key, value)?.as_str() {
                    "auto" => Protocol::Auto,
                    "legacy" => Protocol::Legacy,
                    "modern" => Protocol::Modern,
                    other => {
                        return Err(Wrong(format!("protocol {other:?} is not one of auto, legacy, modern")));
                    }
                };
            }
            "reach" => {
                config.reach = match text_of(key, value)?.as_str() {
                    "direct" => Reach::Direct,
                    "search" => Reach::Search,
                    "wrapper" => Reach::Wrapper,
                    other => return Err(Wrong(format!("reach {other:?} is not one of direct, search, wrapper"))),
                };
            }
            _ => return Err(unknown("", key)),
        }
    }
    config.model = model.ok_or_else(|| Wrong("model is missing".into()))?;
    Ok(config)
}

fn parse_model(raw: &RawValue) -> Result<ModelConfig, Wrong> {
    let (mut api, mut base_url, mut key) = (None, None, String::new());
    for (name, value) in object("model", raw)?.0 {
        match name.as_str() {
            "api" => {
                api = Some(match text_of("model.api", value)?.as_str() {
                    "anthropic-messages" => ApiKind::AnthropicMessages,
                    "openai-responses" => ApiKind::OpenAiResponses,
                    other => {
                        return Err(Wrong(format!(
                            "model.api {other:?} is not one of anthropic-messages, openai-responses"
                        )));
                    }
                });
            }
            "base_url" => base_url = Some(text_of("model.base_url", value)?),
            "key" => key = text_of("model.key", value)?,
            _ => return Err(unknown("model.", &name)),
        }
    }
    match (api, base_url) {
        (Some(api), Some(base_url)) => Ok(ModelConfig { api, base_url, key }),
        (None, _) => Err(Wrong("model.api is missing".into())),
        (_, None) => Err(Wrong("model.base_url is missing".into())),
    }
}

fn parse_server(name: String, raw: &RawValue) -> Result<ServerConfig, Wrong> {
    let place = format!("servers.{name}");
    let mut server = ServerConfig { name, command: String::new(), args: Vec::new(), env: Vec::new(), cwd: None };
    for (key, value) in object(&place, raw)?.0 {
        let at = format!("{place}.{key}");
        match key.as_str() {
            "command" => server.command = text_of(&at, value)?,
            "args" => {
                server.args =
                    array(&at, value)?.into_iter().map(|item| text_of(&at, item)).collect::<Result<_, _>>()?
            }
            "env" => {
                for (variable, value) in object(&at, value)?.0 {
                    let value = text_of(&format!("{at}.{variable}"), value)?;
                    server.env.push((variable, value));
                }
            }
            "cwd" => server.cwd = Some(text_of(&at, value)?.into()),
            _ => return Err(unknown(&format!("{place}."), &key)),
        }
    }
    if server.command.is_empty() {
        return Err(Wrong(format!("{place}.command is missing")));
    }
    Ok(server)
}

fn parse_rules(raw: &RawValue) -> Result<Rules, Wrong> {
    let mut rules = Rules::default();
    for (key, value) in object("permissions", raw)?.0 {
        let at = format!("permissions.{key}");
        let list = match key.as_str() {
            "allow" => &mut rules.allow,
            "ask" => &mut rules.ask,
            "deny" => &mut rules.deny,
            "default" => {
                rules.default = match text_of(&at, value)?.as_str() {
                    "allow" => Decision::Allow,
                    "ask" => Decision::Ask,
                    "deny" => Decision::Deny,
                    other => {
                        return Err(Wrong(format!(
                            "permissions.default {other:?} is not one of allow, ask, deny"
                        )));
                    }
                };
                continue;
            }
            _ => return Err(unknown("permissions.", &key)),
        };
        *list = array(&at, value)?.into_iter().map(|item| parse_pattern(&at, item)).collect::<Result<_, _>>()?;
    }
    Ok(rules)
}

fn parse_pattern(at: &str, raw: &RawValue) -> Result<Pattern, Wrong> {
    if let Some(text) = json::string(raw) {
        return Pattern::parse(&text)
            .ok_or_else(|| Wrong(format!("{at}: {text:?} is not of the form SERVER/TOOL")));
    }
    let (mut server, mut tool) = (None, None);
    for (key, value) in object(at, raw)?.0 {
        match key.as_str() {
            "server" => server = Some(text_of(at, value)?),
            "tool" => tool = Some(text_of(at, value)?),
            _ => return Err(unknown(&format!("{at}: "), &key)),
        }
    }
    match (server, tool) {
        (Some(server), Some(tool)) => Ok(Pattern { server, tool }),
        _ => Err(Wrong(format!("{at}: a rule needs server and tool"))),
    }
}

fn parse_limits(raw: &RawValue, mut limits: Limits) -> Result<Limits, Wrong> {
    for (key, value) in object("limits", raw)?.0 {
        let milliseconds =
            value.get().parse().map_err(|_| Wrong(format!("limits.{key} must be a number of milliseconds")))?;
        match key.as_str() {
            "start_ms" => limits.start = Duration::from_millis(milliseconds),
            "call_ms" => limits.call = Duration::from_millis(milliseconds),
            _ => return Err(unknown("limits.", &key)),
        }
    }
    Ok(limits)
}

fn object<'a>(at: &str, raw: &'a RawValue) -> Result<Members<'a>, Wrong> {
    Members::of(raw).ok_or_else(|| Wrong(format!("{at} must be an object")))
}

fn array<'a>(at: &str, raw: &'a RawValue) -> Result<Vec<&'a RawValue>, Wrong> {
    json::elements(raw).ok_or_else(|| Wrong(format!("{at} must be an array")))
}

fn text_of(at: &str, raw: &RawValue) -> Result<String, Wrong> {
    json::string(raw).ok_or_else(|| Wrong(format!("{at} must be a string")))
}

fn unknown(prefix: &str, key: &str) -> Wrong {
    Wrong(format!("unknown key {prefix}{key}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODEL: &str = r#""model":{"api":"anthropic-messages","base_url":"http://127.0.0.1:1","key":"k"}"#;

    #[test]
    fn servers_keep_the_order_of_the_file() {
        let config = parse(&format!(
            r#"{{{MODEL},"servers":{{"z":{{"command":"/z"}},"a":{{"command":"/a","env":{{"B":"1","A":"2"}}}}}}}}"#
        ))
        .unwrap();
        let names: Vec<_> = config.servers.iter().map(|server| server.name.as_str()).collect();
        assert_eq!(names, ["z", "a"]);
        assert_eq!(config.servers[1].env, [("B".to_owned(), "1".to_owned()), ("A".to_owned(), "2".to_owned())]);
        assert_eq!(config.schema_gate, SchemaGate::Closed);
        assert_eq!(config.protocol, Protocol::Auto);
    }

    #[track_caller]
    fn check_wrong(rest: &str, expected: &str) {
        let Wrong(reason) = parse(&format!("{{{MODEL}{rest}}}")).unwrap_err();
        assert_eq!(reason, expected);
    }

    #[test]
    fn what_the_host_does_not_know_is_an_error() {
        check_wrong(r#","sever":{}"#, "unknown key sever");
        check_wrong(r#","servers":{"a":{"command":"/a","url":"x"}}"#, "unknown key servers.a.url");
        check_wrong(r#","servers":{"a":{}}"#, "servers.a.command is missing");
        check_wrong(r#","servers":{"a":{"command":"/a"},"a":{"command":"/b"}}"#, "servers: \"a\" appears twice");
        check_wrong(
            r#","permissions":{"allow":["orders"]}"#,
            "permissions.allow: \"orders\" is not of the form SERVER/TOOL",
        );
        check_wrong(
            r#","permissions":{"default":"maybe"}"#,
            "permissions.default \"maybe\" is not one of allow, ask, deny",
        );
        check_wrong(r#","limits":{"call_ms":1.5}"#, "limits.call_ms must be a number of milliseconds");
        check_wrong(r#","reach":"far""#, "reach \"far\" is not one of direct, search, wrapper");
        check_wrong(r#","protocol":"new""#, "protocol \"new\" is not one of auto, legacy, modern");
        assert_eq!(parse("{}").unwrap_err(), Wrong("model is missing".into()));
    }
}
