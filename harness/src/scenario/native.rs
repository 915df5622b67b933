//! `native.HOST`: what only one host has words for.

use super::refs::Names;
use crate::decode::{Reporter, Value, payload};
use crate::diagnostic::{Span, Spanned};
use crate::json::Json;

/// Words of one host, taken as they stand, and what must come of them.
#[derive(Clone, Debug)]
pub struct Native {
    /// The host, by the name of its profile.
    pub host: Spanned<String>,
    /// Config entries by the key of their server, as templates.
    pub entries: Vec<(String, String)>,
    /// Further variables of the host itself, as templates.
    pub env: Vec<(String, String)>,
    /// What stands in the place of the rendered rules: objects are merged, all else is replaced.
    pub rules: Option<Json>,
    /// What must come of it.
    pub expect: Option<Expect>,
}

/// What must come of a host's own words.
#[derive(Clone, Debug)]
pub struct Expect {
    /// The place of the table.
    pub span: Span,
    /// The servers that are connected. All others of the scenario are not.
    pub connected: Option<Vec<Spanned<String>>>,
    /// Servers that the host names in its output.
    pub named: Vec<Spanned<String>>,
    /// Texts that reach no server, neither as an argument nor in a message.
    pub never_on_wire: Vec<Spanned<String>>,
    /// Servers that get the variable that is configured for them, with its value.
    pub arrived: Vec<Spanned<String>>,
}

/// All tables of `native`.
pub(super) fn read(table: Option<&Value>, names: &Names, out: &mut Reporter) -> Vec<Native> {
    let hosts = table.map(Value::members).unwrap_or_default();
    hosts
        .iter()
        .map(|member| {
            let value = &member.value;
            Native {
                host: member.key.clone(),
                entries: entries(value, names, out),
                env: texts(value.get("env")),
                rules: value.get("rules").and_then(payload::json),
                expect: value.get("expect").map(|table| expect(table, names, out)),
            }
        })
        .collect()
}

fn entries(value: &Value, names: &Names, out: &mut Reporter) -> Vec<(String, String)> {
    for member in value.get("entry").map(Value::members).unwrap_or_default() {
        names.check_server(&member.key, out);
    }
    texts(value.get("entry"))
}

fn texts(table: Option<&Value>) -> Vec<(String, String)> {
    let members = table.map(Value::members).unwrap_or_default();
    members
        .iter()
        .filter_map(|member| Some((member.key.value.clone(), member.value.as_str()?.to_owned())))
        .collect()
}

fn expect(table: &Value, names: &Names, out: &mut Reporter) -> Expect {
    let servers = |key: &str, out: &mut Reporter| {
        let servers = table.get(key).map(Value::spanned_strings).unwrap_or_default();
        servers.iter().for_each(|server| names.check_server(server, out));
        servers
    };
    Expect {
        span: table.span.clone(),
        connected: table.get("connected").is_some().then(|| servers("connected", out)),
        named: servers("named", out),
        never_on_wire: table.get("never_on_wire").map(Value::spanned_strings).unwrap_or_default(),
        arrived: servers("arrived", out),
    }
}
