use std::sync::Arc;

use super::*;
use crate::diagnostic::Source;
use crate::host::profile::*;

fn profile(dialect: DialectName) -> Profile {
    Profile {
        pack: None,
        source: Arc::clone(&Source::new("test.toml", "")),
        name: "test".to_owned(),
        variant: None,
        variants: Vec::new(),
        title: "Test".to_owned(),
        bin: Bin::default(),
        runtime: String::new(),
        version: VersionQuery { args: Vec::new(), pattern: String::new() },
        model: ModelProfile {
            api: ApiName::AnthropicMessages,
            surface: Surface::Flat,
            main_line: MainLine::Tools,
            strict: Strict::Report,
            sides: Vec::new(),
        },
        names: NameRule {
            flat: "mcp__{{ server }}__{{ tool }}".to_owned(),
            namespace: "mcp__{{ server }}".to_owned(),
            replace: "[^A-Za-z0-9_-]".to_owned(),
            max: 128,
        },
        tool_use_id: None,
        drives: Vec::new(),
        files: Vec::new(),
        claims: Claims {
            dialect,
            schema_gate: SchemaGate::Unclaimed,
            arguments: ArgumentsClaim::Exact,
            published: None,
            wire: Vec::new(),
        },
        strip: Vec::new(),
        redact: Vec::new(),
    }
}

fn pattern(text: &str) -> ToolPattern {
    let (server, tool) = text.split_once('/').unwrap();
    let part = |text: &str| (text != "*").then(|| text.to_owned());
    ToolPattern { server: part(server), tool: part(tool) }
}

fn rules(list: &[(Action, &str)]) -> Vec<Rule> {
    list.iter().map(|(action, text)| Rule { action: *action, pattern: pattern(text) }).collect()
}

fn world() -> Vec<(String, Vec<String>)> {
    vec![
        ("orders".to_owned(), vec!["lookup_order".to_owned(), "a.b".to_owned(), "a_b".to_owned()]),
        ("my shop".to_owned(), vec!["lookup_order".to_owned()]),
    ]
}

#[track_caller]
fn check(dialect: DialectName, list: &[(Action, &str)], expected: &str) {
    let rendering = render(&profile(dialect), &rules(list), &world(), None).unwrap();
    assert_eq!(rendering.rules.to_string(), expected);
}

#[track_caller]
fn refuses(dialect: DialectName, list: &[(Action, &str)], by: Option<DenyBy>, reason: &str) {
    let error = render(&profile(dialect), &rules(list), &world(), by).unwrap_err().to_string();
    assert!(error.contains(reason), "{error}");
}

#[test]
fn plain_keeps_the_neutral_words() {
    check(
        DialectName::Plain,
        &[(Action::Allow, "orders/*"), (Action::Deny, "*/*"), (Action::Ask, "orders/a.b")],
        r#"{"allow":["orders/*"],"ask":["orders/a.b"],"deny":["*/*"],"default":"ask"}"#,
    );
}

#[test]
fn claude_code_names_published_names() {
    check(
        DialectName::ClaudeCode,
        &[(Action::Allow, "*/*"), (Action::Deny, "orders/lookup_order"), (Action::Ask, "my shop/*")],
        r#"{"allow":["mcp__orders","mcp__my_shop"],"ask":["mcp__my_shop"],"deny":["mcp__orders__lookup_order"]}"#,
    );
    check(DialectName::ClaudeCode, &[(Action::Deny, "*/*")], r#"{"allow":[],"ask":[],"deny":["mcp__*"]}"#);
}

#[test]
fn claude_code_refuses_what_its_names_cannot_tell_apart() {
    refuses(DialectName::ClaudeCode, &[(Action::Deny, "orders/a.b")], None, "both published as mcp__orders__a_b");
    refuses(DialectName::ClaudeCode, &[(Action::Deny, "*/a.b")], None, "orders/a.b");
    refuses(DialectName::ClaudeCode, &[(Action::Deny, "orders/lookup_order")], Some(DenyBy::Filter), "no filter");
}

#[test]
fn codex_resolves_rules_tool_by_tool() {
    check(
        DialectName::Codex,
        &[(Action::Allow, "orders/*"), (Action::Deny, "orders/a.b"), (Action::Ask, "*/lookup_order")],
        concat!(
            r#"{"servers":{"orders":{"disabled_tools":["a.b"],"tools":[{"name":"lookup_order","approval_mode":"prompt"},"#,
            r#"{"name":"a_b","approval_mode":"approve"}]},"my shop":{"tools":[{"name":"lookup_order","approval_mode":"prompt"}]}}}"#
        ),
    );
    refuses(DialectName::Codex, &[(Action::Deny, "orders/a.b")], Some(DenyBy::Permission), "no deny rule");
}

#[test]
fn a_host_without_rules_can_only_allow() {
    check(DialectName::None, &[(Action::Allow, "*/*")], "{}");
    refuses(DialectName::None, &[(Action::Ask, "orders/a.b")], None, "has no rules");
}
