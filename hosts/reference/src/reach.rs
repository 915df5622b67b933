//! How the model reaches a tool: by itself, once it has searched for it, or through one tool that calls all.

use std::collections::HashSet;

use crate::directory::{Directory, Entry};
use crate::fault::{Fault, Lies};
use crate::json::{self, Members, quote};
use crate::model::{Api, Offered, Own, Purpose};
use crate::server::Server;
use crate::told::{Part, Told};

/// How tools are reached.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Every tool is offered.
    #[default]
    Direct,
    /// A tool is offered once a search has found it.
    Search,
    /// No tool is offered; one tool of the host calls them all.
    Wrapper,
}

/// The tool that finds tools.
pub(crate) const FIND: &str = "find_tool";

/// The tool that calls tools.
const CALL: &str = "call_tool";

/// Tools that a search has found, by server and registered name.
pub(crate) type Found = HashSet<(usize, String)>;

/// A tool use, resolved to a tool.
#[derive(Debug)]
pub(crate) struct Aim {
    pub(crate) entry: Entry,
    /// The arguments for the tool, as the text that the model wrote.
    pub(crate) input: String,
}

/// The tool of the host itself, where it has one. Its description is all that the model knows of the tools behind it.
pub(crate) fn own(reach: Reach, directory: &Directory, servers: &[Server]) -> Option<Own> {
    match reach {
        Reach::Direct => None,
        Reach::Search => {
            let names = directory.published().join(", ");
            Some(Own {
                name: FIND,
                description: format!("Finds a tool, which can then be used. There are: {names}."),
                schema: r#"{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}"#,
                purpose: Purpose::Search,
            })
        }
        Reach::Wrapper => {
            let mut description =
                "Calls a tool of a server. There are, with the schema of their arguments:".to_owned();
            for (entry, tool) in directory.shown(servers) {
                let text = tool.description_json.as_deref().unwrap_or("\"\"");
                description.push_str(&format!(
                    "\n- {{\"server\":{},\"tool\":{},\"description\":{text},\"arguments\":{}}}",
                    quote(&servers[entry.server].name),
                    tool.name_json,
                    tool.input.text()
                ));
            }
            Some(Own {
                name: CALL,
                description,
                schema: r#"{"type":"object","properties":{"server":{"type":"string"},"tool":{"type":"string"},"arguments":{"type":"object"}},"required":["server","tool"]}"#,
                purpose: Purpose::Call,
            })
        }
    }
}

/// Whether a tool use is a search.
pub(crate) fn is_search(reach: Reach, name: &str) -> bool {
    reach == Reach::Search && name == FIND
}

/// Looks for the tool that a search names. What it finds is offered from now on.
pub(crate) fn search(directory: &Directory, servers: &[Server], input: &str, lies: Lies) -> Option<Entry> {
    if lies.tell(Fault::FindNothing) {
        return None;
    }
    let name = Members::parse(input).ok()?.string("name")?;
    let mut shown: Vec<&Entry> = directory.shown(servers).into_iter().map(|(entry, _)| entry).collect();
    if lies.tell(Fault::FindNeighbour) {
        shown.rotate_right(1);
    }
    let at = directory.shown(servers).iter().position(|(entry, _)| entry.published() == name)?;
    Some(shown[at].clone())
}

/// The result of a search.
pub(crate) fn found(api: &dyn Api, tool: Option<Offered<'_>>) -> Told {
    match tool {
        Some(tool) => Told { parts: vec![Part::Found(api.found(&tool))], is_error: false },
        None => Told::trouble("there is no tool of that name"),
    }
}

/// The tool and the arguments that a use of the calling tool names.
pub(crate) fn unwrap(
    directory: &Directory,
    servers: &[Server],
    (name, input): (&str, &str),
    lies: Lies,
) -> Result<Aim, String> {
    if name != CALL {
        return Err(format!("unknown tool: {name}"));
    }
    let members = Members::parse(input).map_err(|error| format!("the arguments are not JSON: {error}"))?;
    let (Some(server), Some(tool)) = (members.string("server"), members.string("tool")) else {
        return Err(format!("{CALL} needs a server and a tool"));
    };
    let entry = directory.entries.iter().find(|entry| servers[entry.server].name == server && entry.tool == tool);
    let Some(entry) = entry else { return Err(format!("the server {server} has no tool {tool}")) };
    let arguments = members.get("arguments").map_or("{}", |arguments| arguments.get());
    let input = match lies.which() {
        Some(Fault::WrapperLosesArguments) => "{}".to_owned(),
        Some(Fault::WrapperSendsItself) => input.to_owned(),
        _ => arguments.to_owned(),
    };
    Ok(Aim { entry: entry.clone(), input })
}

/// The schema of a found tool, when it is not the honest one: without its last property.
pub(crate) fn without_last_property(schema: &str) -> Option<String> {
    let members = Members::parse(schema).ok()?;
    let properties = members.get("properties").and_then(Members::of)?;
    let (last, _) = properties.0.last()?;
    let kept: Vec<String> = properties
        .0
        .iter()
        .filter(|(key, _)| key != last)
        .map(|(key, value)| format!("{}:{}", quote(key), value.get()))
        .collect();
    let rest = members.0.iter().map(|(key, value)| match key.as_str() {
        "properties" => format!("\"properties\":{{{}}}", kept.join(",")),
        _ => format!("{}:{}", json::quote(key), value.get()),
    });
    Some(format!("{{{}}}", rest.collect::<Vec<_>>().join(",")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_property_goes_and_nothing_else() {
        let schema = r#"{"type":"object","properties":{"a":{"n":1.0},"b":{}},"required":["a"]}"#;
        let bent = r#"{"type":"object","properties":{"a":{"n":1.0}},"required":["a"]}"#;
        assert_eq!(without_last_property(schema).as_deref(), Some(bent));
        assert_eq!(without_last_property(r#"{"type":"object"}"#), None);
    }

    #[test]
    fn a_use_of_the_calling_tool_must_name_a_tool() {
        let directory = Directory::default();
        let fails = |name: &str, input: &str| unwrap(&directory, &[], (name, input), Lies::default()).unwrap_err();
        assert_eq!(fails("other", "{}"), "unknown tool: other");
        assert_eq!(fails(CALL, r#"{"server":"a"}"#), "call_tool needs a server and a tool");
        assert_eq!(fails(CALL, r#"{"server":"a","tool":"b"}"#), "the server a has no tool b");
        assert!(fails(CALL, "{").starts_with("the arguments are not JSON"));
    }
}
