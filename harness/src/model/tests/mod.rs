//! Fixtures: a plan, and the requests that a correct host makes of it.

mod engine;
mod offers;
mod reducing;
mod requests;
mod streams;
mod strictness;
mod surfaces;

use std::sync::Arc;

use crate::diagnostic::{Source, Spanned};
use crate::host::profile::{
    ApiName, ArgumentsClaim, Bin, Claims, DialectName, MainLine, ModelProfile, NameRule, Profile, SchemaGate,
    SideRule, Strict, Surface, VersionQuery,
};
use crate::json::Json;
use crate::plan::{Plan, PlanKey, PlannedServer, PlannedUse, Published, Turn};
use crate::revision::{Revision, Transport};
use crate::scenario::ast::{Input, Permissions, Revisions, Scenario, ScenarioId, ToolRef, UseKind};
use crate::server::script::{Describe, Pages, Script, Tool};

use super::{Block, Reply, api};

const MARKER: &str = "run-7f3k9q2m";

/// The tools of the plan: server, registered name, word.
const TOOLS: [(&str, &str, &str); 3] =
    [("orders", "lookup_order", "k3f9a1"), ("orders", "create_note", "p8s2d4"), ("stock", "count", "m5n6b7")];

#[track_caller]
fn json(text: &str) -> Json {
    Json::parse(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Two user messages: the first has one use, then two at once, then a text; the second one use, then a text.
fn plan(name: ApiName) -> Plan {
    let source = Source::new("test.toml", "");
    let uses = [
        ("orders", "lookup_order", Input::Json(json(r#"{"order_id":"A-1042"}"#))),
        ("orders", "create_note", Input::Json(json(r#"{"n":9007199254740993}"#))),
        ("stock", "count", Input::Raw(r#"{"a": "#.to_owned())),
        ("stock", "count", Input::Absent),
    ];
    let uses = uses.into_iter().enumerate().map(|(index, (server, tool, input))| PlannedUse {
        index,
        step: index,
        span: 0..0,
        tool: tool_ref(server, tool),
        by_rule: published(name, server, tool),
        kind: UseKind::Call,
        input,
        told: None,
        wrapped: None,
    });
    let turn = |prompt, text: Option<&str>, uses: &[usize]| Turn {
        prompt,
        text: text.map(str::to_owned),
        uses: uses.to_vec(),
        searches: Vec::new(),
    };
    Plan {
        key: PlanKey {
            scenario: "test/fixture".to_owned(),
            host: "acme".to_owned(),
            variant: None,
            version: None,
            revision: Revision::V2025_06_18,
            transport: Transport::Stdio,
            seed: 42,
        },
        scenario: Arc::new(scenario(&source)),
        profile: Arc::new(profile(&source, name)),
        drive: 0,
        servers: ["orders", "stock"].into_iter().map(server).collect(),
        prompts: vec![format!("Look up my order. [{MARKER}]"), format!("And the stock? [{MARKER}]")],
        run_marker: MARKER.to_owned(),
        uses: uses.collect(),
        searches: Vec::new(),
        turns: vec![
            turn(0, None, &[0]),
            turn(0, Some("Both at once."), &[1, 2]),
            turn(0, Some("First answer."), &[]),
            turn(1, None, &[3]),
            turn(1, Some("Second answer."), &[]),
        ],
        next_turns: Vec::new(),
        cues: Vec::new(),
        stop: None,
        rules: Json::Null,
        twin_rules: None,
        runs: 1,
    }
}

fn tool_ref(server: &str, tool: &str) -> ToolRef {
    ToolRef { server: server.to_owned(), tool: tool.to_owned() }
}

fn published(name: ApiName, server: &str, tool: &str) -> Published {
    match name {
        ApiName::AnthropicMessages | ApiName::Synthetic => {
            Published { namespace: None, name: format!("mcp__{server}__{tool}") }
        }
        ApiName::OpenaiResponses => Published { namespace: Some(format!("mcp__{server}")), name: tool.to_owned() },
    }
}

fn server(key: &str) -> PlannedServer {
    let tools = TOOLS.iter().filter(|(server, ..)| *server == key);
    PlannedServer {
        key: key.to_owned(),
        script: Script {
            name: key.to_owned(),
            info: Json::empty(),
            capabilities: Json::empty(),
            instructions: None,
            pages: Pages::default(),
            tools: tools.clone().map(|(_, tool, _)| *tool).chain(["un-used"]).map(script_tool).collect(),
            on: Vec::new(),
            generations: Vec::new(),
        },
        later: Vec::new(),
        transport: Transport::Stdio,
        required: false,
        words: tools.map(|(_, tool, word)| ((*tool).to_owned(), (*word).to_owned())).collect(),
    }
}

fn script_tool(name: &str) -> Tool {
    Tool {
        name: name.to_owned(),
        title: None,
        description: None,
        describe: Describe::Marked,
        input_schema: None,
        output_schema: None,
        annotations: None,
        meta: None,
        replies: Vec::new(),
    }
}

fn scenario(source: &Arc<Source>) -> Scenario {
    Scenario {
        id: ScenarioId { area: "test".to_owned(), name: "fixture".to_owned(), case: None },
        source: Arc::clone(source),
        title: Spanned::new(String::new(), 0..0),
        requirements: Vec::new(),
        revisions: Revisions::Eras,
        transports: Vec::new(),
        hosts: Vec::new(),
        natives: Vec::new(),
        needs: Vec::new(),
        runs: 1,
        servers: Vec::new(),
        permissions: Permissions::Implied,
        limits: crate::scenario::ast::Limits::default(),
        steps: Vec::new(),
        expect: Vec::new(),
    }
}

fn profile(source: &Arc<Source>, api: ApiName) -> Profile {
    Profile {
        pack: None,
        source: Arc::clone(source),
        name: "acme".to_owned(),
        variant: None,
        variants: Vec::new(),
        title: "Acme Agent".to_owned(),
        bin: Bin::default(),
        runtime: String::new(),
        version: VersionQuery { args: Vec::new(), pattern: String::new() },
        model: ModelProfile {
            api,
            surface: match api {
                ApiName::AnthropicMessages | ApiName::Synthetic => Surface::Flat,
                ApiName::OpenaiResponses => Surface::Namespace,
            },
            main_line: MainLine::Tools,
            strict: Strict::Report,
            sides: vec![SideRule {
                name: "title".to_owned(),
                contains: "a \"title\" of".to_owned(),
                answer: "Orders".to_owned(),
            }],
        },
        names: NameRule {
            flat: "mcp__{{ server }}__{{ tool }}".to_owned(),
            namespace: "mcp__{{ server }}".to_owned(),
            replace: "[^A-Za-z0-9_]".to_owned(),
            max: 128,
        },
        tool_use_id: None,
        drives: Vec::new(),
        files: Vec::new(),
        claims: Claims {
            dialect: DialectName::Plain,
            schema_gate: SchemaGate::Unclaimed,
            arguments: ArgumentsClaim::Exact,
            published: None,
            wire: Vec::new(),
        },
        strip: Vec::new(),
        redact: Vec::new(),
    }
}

/// The APIs that profiles name, and the model lane that hopcheck makes by itself.
const APIS: [ApiName; 3] = [ApiName::AnthropicMessages, ApiName::OpenaiResponses, ApiName::Synthetic];

/// What has been said so far, as a host remembers it.
#[derive(Clone)]
enum Said {
    User(String),
    Model(Reply),
    Told(String, &'static str),
}

/// A description of ours, with its word.
fn described(word: &str) -> String {
    format!("A tool of a server. [hc:{word}]")
}

/// The tools as a correct host offers them, beside one of its own.
fn tools(name: ApiName) -> Json {
    let schema = || json(r#"{"type":"object","properties":{"order_id":{"type":"string"}}}"#);
    let entry = |name: String, word: &str, parameters: &str| {
        Json::object([("name", Json::from(name)), ("description", described(word).into()), (parameters, schema())])
    };
    match name {
        ApiName::AnthropicMessages | ApiName::Synthetic => {
            let own = json(r#"{"name":"Read","description":"Reads a file.","input_schema":{"type":"object"}}"#);
            let ours = TOOLS
                .iter()
                .map(|(server, tool, word)| entry(format!("mcp__{server}__{tool}"), word, "input_schema"));
            Json::array(std::iter::once(own).chain(ours))
        }
        ApiName::OpenaiResponses => {
            let own = json(
                r#"{"type":"function","name":"read","description":"Reads a file.",
                    "parameters":{"type":"object","properties":{}}}"#,
            );
            let namespaces = ["orders", "stock"].into_iter().map(|key| {
                let ours = TOOLS.iter().filter(|(server, ..)| *server == key).map(|(_, tool, word)| {
                    let mut entry = entry((*tool).to_owned(), word, "parameters");
                    entry.set("type", "function");
                    entry
                });
                Json::object([
                    ("type", Json::from("namespace")),
                    ("name", format!("mcp__{key}").into()),
                    ("description", "What the server says of itself.".into()),
                    ("tools", Json::array(ours)),
                ])
            });
            Json::array(std::iter::once(own).chain(namespaces))
        }
    }
}

/// The body that a correct host sends.
fn body(name: ApiName, said: &[Said], tools: Json) -> Json {
    match name {
        ApiName::AnthropicMessages => messages_body(said, tools),
        ApiName::OpenaiResponses => responses_body(said, tools),
        ApiName::Synthetic => synthetic_body(said, tools),
    }
}

/// As the drive makes it of what a host offers and returns.
fn synthetic_body(said: &[Said], tools: Json) -> Json {
    let message = |role: &str, content: Json| Json::object([("role", Json::from(role)), ("content", content)]);
    let text = |text: &str| Json::array([Json::object([("type", "text"), ("text", text)])]);
    let messages = said.iter().map(|said| match said {
        Said::User(said) => message("user", text(said)),
        Said::Model(reply) => message("assistant", api(ApiName::Synthetic).blocks(reply)),
        Said::Told(id, told) => message(
            "tool",
            Json::array([Json::object([
                ("type", Json::from("tool_result")),
                ("tool_use_id", id.into()),
                ("is_error", false.into()),
                ("content", text(told)),
            ])]),
        ),
    });
    Json::object([("tools", tools), ("messages", Json::array(messages))])
}

fn messages_body(said: &[Said], tools: Json) -> Json {
    let message = |role: &str, content: Json| Json::object([("role", Json::from(role)), ("content", content)]);
    let messages = said.iter().map(|said| match said {
        Said::User(text) => message("user", text.into()),
        Said::Model(reply) => {
            let whole = api(ApiName::AnthropicMessages).whole(reply);
            message("assistant", whole.get("content").cloned().unwrap_or(Json::Null))
        }
        Said::Told(id, text) => message(
            "user",
            Json::array([Json::object([("type", "tool_result"), ("tool_use_id", id), ("content", *text)])]),
        ),
    });
    let messages = Json::array(messages);
    Json::object([
        ("model", Json::from("model-1")),
        ("messages", messages),
        ("system", json(r#"[{"type":"text","text":"You are a helpful program."}]"#)),
        ("tools", tools),
        ("max_tokens", 1024.into()),
        ("stream", true.into()),
    ])
}

fn responses_body(said: &[Said], tools: Json) -> Json {
    let mut input = vec![json(
        r#"{"type":"message","role":"developer","content":[{"type":"input_text","text":"You are a helpful program."}]}"#,
    )];
    for said in said {
        match said {
            Said::User(text) => input.push(Json::object([
                ("type", Json::from("message")),
                ("role", "user".into()),
                ("content", Json::array([Json::object([("type", "input_text"), ("text", text)])])),
            ])),
            Said::Model(reply) => {
                input.extend(api(ApiName::OpenaiResponses).blocks(reply).items().iter().cloned());
            }
            Said::Told(id, text) => {
                input.push(Json::object([("type", "function_call_output"), ("call_id", id), ("output", *text)]));
            }
        }
    }
    Json::object([
        ("model", Json::from("model-1")),
        ("instructions", "You are a helpful program.".into()),
        ("input", Json::Array(input)),
        ("tools", tools),
        ("tool_choice", "auto".into()),
        ("stream", true.into()),
        ("prompt_cache_key", "0198".into()),
    ])
}

/// The ids of the tool uses of a reply.
fn use_ids(reply: &Reply) -> Vec<String> {
    reply
        .blocks
        .iter()
        .filter_map(|block| match block {
            Block::ToolUse { id, .. } | Block::Search { id, .. } => Some(id.clone()),
            Block::Text(_) => None,
        })
        .collect()
}
