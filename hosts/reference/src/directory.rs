//! The directory: which published name stands for which tool of which server, and what of it the model is shown.

use crate::fault::{Fault, Lies};
use crate::gate::{Decision, Rules};
use crate::json::quote;
use crate::model::{Api, Offered, Surface};
use crate::name::{Alphabet, Namer, mangle};
use crate::reach::{self, Found, Reach};
use crate::schema::InputSchema;
use crate::server::Server;
use crate::tool::Tool;

/// A tool under its published name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Index of the server.
    pub(crate) server: usize,
    /// The registered name.
    pub(crate) tool: String,
    /// The group, where the API has groups.
    pub(crate) namespace: Option<String>,
    /// The published name, inside the group.
    pub(crate) name: String,
    /// Whether the model is shown the tool.
    shown: bool,
}

impl Entry {
    /// The published name in one piece.
    pub(crate) fn published(&self) -> String {
        match &self.namespace {
            Some(namespace) => format!("{namespace}__{}", self.name),
            None => self.name.clone(),
        }
    }
}

/// All tools of all servers, in the order of the config and the lists.
#[derive(Default)]
pub(crate) struct Directory {
    pub(crate) entries: Vec<Entry>,
    /// What the lie about unlisted tools offers: the published name, and the tool.
    invented: Option<(String, Tool)>,
    /// The offer, as the JSON text of the model API: built once, so that it is the same bytes on each turn.
    pub(crate) offer: String,
}

impl Directory {
    /// Names the tools that the servers list now.
    pub(crate) fn build(
        servers: &[Server],
        rules: &Rules,
        api: &dyn Api,
        (reach, found): (Reach, &Found),
        lies: Lies,
    ) -> Self {
        let mut entries = Vec::new();
        let mut flat = Namer::default();
        let mut namespaces = Namer::default();
        for (index, server) in servers.iter().enumerate() {
            let mut grouped = Namer::default();
            let namespace = match api.surface() {
                Surface::Flat => None,
                Surface::Namespace => {
                    Some(namespaces.take(&format!("mcp__{}", mangle(&server.name, Alphabet::UnderscoreOnly))))
                }
            };
            for tool in &server.tools {
                let name = match api.surface() {
                    Surface::Flat => flat.take(&flat_name(server, &tool.name)),
                    Surface::Namespace => grouped.take(&mangle(&tool.name, Alphabet::UnderscoreOnly)),
                };
                // A tool that may never be called only takes up room. It keeps its name, so that a call can be told why.
                let shown = rules.decide(&server.name, &tool.name, lies) != Decision::Deny;
                let (namespace, name) = match twin(&entries, &tool.name, lies) {
                    Some(twin) => (twin.namespace.clone(), twin.name.clone()),
                    None => (namespace.clone(), name),
                };
                entries.push(Entry { server: index, tool: tool.name.clone(), namespace, name, shown });
            }
        }
        if lies.tell(Fault::HideNeighbours) {
            let closed: Vec<_> = entries.iter().filter(|entry| !entry.shown).map(|entry| entry.server).collect();
            entries.retain(|entry| !closed.contains(&entry.server));
        }
        if lies.tell(Fault::SickServerHidesAll) && servers.iter().any(|server| !server.is_ready()) {
            entries.clear();
        }
        let invented = lies.tell(Fault::OfferUnlisted).then(|| invented(&entries, servers)).flatten();
        let mut directory = Self { entries, invented, offer: String::new() };
        let own = reach::own(reach, &directory, servers);
        let offers = |entry: &Entry| match reach {
            Reach::Direct => true,
            Reach::Search => found.contains(&(entry.server, entry.tool.clone())) || lies.tell(Fault::PourTable),
            Reach::Wrapper => false,
        };
        directory.offer = api.offer(&directory.offered(servers, offers, lies), own.as_ref());
        directory
    }

    /// The tools that the model is shown, or may find.
    pub(crate) fn shown<'a>(&'a self, servers: &'a [Server]) -> Vec<(&'a Entry, &'a Tool)> {
        let shown = self.entries.iter().filter(|entry| entry.shown);
        shown.filter_map(|entry| Some((entry, tool_of(entry, servers)?))).collect()
    }

    /// One tool as the model is shown it.
    pub(crate) fn offered_entry<'a>(
        &'a self,
        entry: &'a Entry,
        servers: &'a [Server],
        lies: Lies,
    ) -> Option<Offered<'a>> {
        let tool = tool_of(entry, servers)?;
        let bent =
            if lies.tell(Fault::DropParameter) { reach::without_last_property(tool.input.text()) } else { None };
        Some(Offered {
            namespace: entry.namespace.as_deref(),
            name: &entry.name,
            server: &servers[entry.server].name,
            tool,
            schema: bent.map_or_else(|| tool.input.text().into(), Into::into),
        })
    }

    /// The published names of the tools that the model is shown.
    pub(crate) fn published(&self) -> Vec<String> {
        self.entries.iter().filter(|entry| entry.shown).map(Entry::published).collect()
    }

    /// The tool behind a name that the model used.
    pub(crate) fn find(&self, namespace: Option<&str>, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.namespace.as_deref() == namespace && entry.name == name)
    }

    fn offered<'a>(
        &'a self,
        servers: &'a [Server],
        offers: impl Fn(&Entry) -> bool,
        lies: Lies,
    ) -> Vec<Offered<'a>> {
        let shown = self.entries.iter().filter(|entry| entry.shown && offers(entry));
        let mut offered: Vec<_> = shown.filter_map(|entry| self.offered_entry(entry, servers, lies)).collect();
        if let (Some((name, tool)), Some(last)) = (&self.invented, offered.last()) {
            let schema = tool.input.text().into();
            offered.push(Offered { name, tool, schema, namespace: last.namespace, server: last.server });
        }
        offered
    }
}

/// What the server of an entry lists under its name.
fn tool_of<'a>(entry: &Entry, servers: &'a [Server]) -> Option<&'a Tool> {
    servers[entry.server].tools.iter().find(|tool| tool.name == entry.tool)
}

/// The lie about shared names: the tool of that name at an earlier server, whose published name is given out again.
fn twin<'a>(entries: &'a [Entry], tool: &str, lies: Lies) -> Option<&'a Entry> {
    entries.iter().find(|entry| entry.tool == tool).filter(|_| lies.tell(Fault::ShareNames))
}

/// The lie about unlisted tools: the last tool once more, under a name that nobody listed.
fn invented(entries: &[Entry], servers: &[Server]) -> Option<(String, Tool)> {
    let last = entries.last()?;
    let listed = &servers[last.server].tools;
    let tool = listed.iter().find(|tool| tool.name == last.tool)?;
    let name = format!("{}_invented", last.name);
    let invented = Tool {
        name: name.clone(),
        name_json: quote(&name),
        description_json: tool.description_json.clone(),
        input: InputSchema::anything(),
    };
    Some((name, invented))
}

fn flat_name(server: &Server, tool: &str) -> String {
    format!("mcp__{}__{}", mangle(&server.name, Alphabet::WithHyphen), mangle(tool, Alphabet::WithHyphen))
}
