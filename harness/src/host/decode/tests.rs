use super::parse;
use crate::diagnostic::{Diagnostic, Source};
use crate::host::profile::{
    ApiName, ArgumentsClaim, DialectName, DriveKind, Profile, SchemaGate, Strict, Surface,
};
use crate::revision::{Revision, Transport};
use crate::scenario::ast::Feature;

const ACME: &str = r#"
name = "acme"
title = "Acme Agent"
bin = { env = "HOPCHECK_ACME", names = ["acme"], npm = "@acme/agent" }
runtime = "node>=22"
version = { args = ["version"], pattern = 'acme (\S+)' }

[model]
api = "openai-responses"
surface = "namespace"
strict = "refuse"
[[model.side]]
name = "title"
contains = "Write a title"
answer = "Orders"

[names]
flat = "mcp__{{ server }}__{{ tool }}"
namespace = "mcp__{{ server }}"
replace = '[^A-Za-z0-9_]'
max = 128

[wire]
tool_use_id = "/_meta/callId"

[[drive]]
kind = "headless"
argv = ["{{ bin }}", "exec", "--json", "{{ prompt }}"]
env = { ACME_HOME = "{{ home }}/.acme", MOCK_API_KEY = "{{ model.key }}" }
features = ["permissions.filter"]

[[file]]
path = "{{ home }}/.acme/config.toml"
template = """[mcp_servers]
{% for server in servers %}{{ server.key }}{% endfor %}
"""

[claims]
dialect = "plain"
schema_gate = true
arguments = "strip-null"
[[claims.wire]]
transport = "stdio"
revisions = ["2025-06-18", "2025-11-25"]

[told]
strip = ['^Took .* ms\n']

[redact]
id = '^[0-9a-f]{8}$'

[[variant]]
name = "flat"
set.model.surface = "flat"
set.title = "Acme Agent, flat"

[[when]]
version = ">=0.180"
set.drive.0.argv = ["{{ bin }}", "run"]
set.title = "Acme Agent 0.180"
"#;

#[track_caller]
fn valid(variant: Option<&str>, version: Option<&str>) -> Profile {
    parse(&Source::new("acme.toml", ACME), variant, version).unwrap_or_else(|found| {
        panic!("{}", found.iter().map(Diagnostic::render_plain).collect::<Vec<_>>().join("\n\n"))
    })
}

#[test]
fn reads_every_key() {
    let profile = valid(None, None);
    assert_eq!(profile.selector(), "acme");
    assert_eq!(profile.variants, ["flat"]);
    assert_eq!(profile.bin.env.as_deref(), Some("HOPCHECK_ACME"));
    assert_eq!(profile.version.args, ["version"]);
    assert_eq!((profile.model.api, profile.model.surface), (ApiName::OpenaiResponses, Surface::Namespace));
    assert_eq!(profile.model.strict, Strict::Refuse);
    assert_eq!(profile.model.sides[0].name, "title");
    assert_eq!(profile.names.max, 128);
    assert_eq!(profile.tool_use_id.as_deref(), Some("/_meta/callId"));
    assert_eq!(profile.drives[0].kind, DriveKind::Headless);
    assert_eq!(profile.drives[0].argv.len(), 4);
    assert_eq!(profile.drives[0].env[1].0, "MOCK_API_KEY");
    assert_eq!(profile.drives[0].features, [Feature::PermissionsFilter]);
    assert!(profile.files[0].template.value.starts_with("[mcp_servers]"));
    assert_eq!(profile.claims.dialect, DialectName::Plain);
    assert_eq!(profile.claims.schema_gate, SchemaGate::Claimed);
    assert_eq!(profile.claims.arguments, ArgumentsClaim::StripNull);
    assert_eq!(profile.claims.wire, [(Transport::Stdio, vec![Revision::V2025_06_18, Revision::V2025_11_25])]);
    assert_eq!(profile.strip.len(), 1);
    assert_eq!(profile.redact[0].0, "id");
}

#[test]
fn the_variant_has_the_last_word() {
    let old = valid(Some("flat"), Some("0.99.0"));
    assert_eq!((old.selector().as_str(), old.title.as_str()), ("acme:flat", "Acme Agent, flat"));
    assert_eq!(old.drives[0].argv.len(), 4);
    let new = valid(Some("flat"), Some("0.181.2"));
    assert_eq!((new.title.as_str(), new.drives[0].argv.len()), ("Acme Agent, flat", 2));
    assert_eq!(valid(None, Some("0.180")).title, "Acme Agent 0.180");
}

#[test]
fn an_unknown_variant_is_an_error() {
    let found = parse(&Source::new("acme.toml", ACME), Some("flt"), None).unwrap_err();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].help, ["did you mean `flat`?"]);
}
