//! The model of one host run: request in, reply out.

use std::collections::HashMap;

use crate::host::profile::{SideRule, Strict};
use crate::json::Json;
use crate::plan::{Plan, Published};
use crate::scenario::ast::ToolRef;

use super::offer::Names;
use super::script::{CLOSING, Position, SIDE_ANSWER, Script};
use super::types::{Block, Offer, Reply, Request};
use super::{Api, api};

/// The part that a host run plays in its trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// The run that the scenario speaks of.
    Main,
    /// The same again, for comparison.
    Second,
    /// The same with every deny turned into allow.
    Twin,
}

impl Role {
    /// All.
    pub const ALL: [Self; 3] = [Self::Main, Self::Second, Self::Twin];

    /// Its word in a trace.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Main => "main",
            Self::Second => "second",
            Self::Twin => "twin",
        }
    }

    /// The role of that word.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.as_str() == text)
    }
}

/// The scripted model of one host run.
pub struct Engine {
    api: &'static dyn Api,
    strict: Strict,
    sides: Vec<SideRule>,
    role: Role,
    run: u32,
    script: Script,
    uses: Vec<ScriptedUse>,
    searches: Vec<EmittedSearch>,
    names: Names,
    /// What was answered at each position, to be answered again.
    given: HashMap<Position, Given>,
    previous: Vec<u8>,
    side_replies: u32,
}

/// One tool use of the script, with its id in this run.
struct ScriptedUse {
    id: String,
    tool: ToolRef,
    by_rule: Published,
    input: String,
    wrapped: Option<String>,
}

#[derive(Clone)]
struct Given {
    reply: Reply,
    uses: Vec<EmittedUse>,
    searches: Vec<EmittedSearch>,
}

/// What is answered to one model request.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// Whether the request belongs to the main line.
    pub main: bool,
    /// Whether the host wants a stream.
    pub stream: bool,
    /// The turn of the script that is given; `None` for side requests, and when the script is at its end.
    pub turn: Option<usize>,
    /// The name of the side rule that answers.
    pub side: Option<String>,
    /// Whether the same position was asked before; the reply is the same again.
    pub repeated: bool,
    /// Bytes shared with the previous main-line body, from the start. Zero for side requests.
    pub prefix: usize,
    /// The HTTP status.
    pub status: u16,
    /// The reply; `None` where the request is refused.
    pub reply: Option<Reply>,
    /// The tool uses in the reply.
    pub uses: Vec<EmittedUse>,
    /// The searches in the reply.
    pub searches: Vec<EmittedSearch>,
    /// Why the request is refused.
    pub refuse: Option<String>,
}

/// A tool use that the model emits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmittedUse {
    /// Its index in the plan.
    pub index: usize,
    /// Its id in this run.
    pub id: String,
    /// The name that the model uses.
    pub published: Published,
    /// Where that name is from.
    pub name_from: NameFrom,
    /// The argument text.
    pub input: String,
    /// What the model gives the tool that calls it, with those arguments inside, where the surface has such a tool.
    pub wrapped: Option<String>,
}

/// A search that the model emits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmittedSearch {
    /// Its index in the plan.
    pub index: usize,
    /// Its id in this run.
    pub id: String,
    /// The host's search tool; `None` for the search of the model API itself.
    pub tool: Option<String>,
    /// The argument text.
    pub input: String,
}

impl EmittedSearch {
    fn block(&self) -> Block {
        match &self.tool {
            Some(name) => Block::ToolUse {
                id: self.id.clone(),
                published: Published { namespace: None, name: name.clone() },
                input: self.input.clone(),
            },
            None => Block::Search { id: self.id.clone(), input: self.input.clone() },
        }
    }
}

impl EmittedUse {
    fn block(&self) -> Block {
        Block::ToolUse {
            id: self.id.clone(),
            published: self.published.clone(),
            input: self.wrapped.as_ref().unwrap_or(&self.input).clone(),
        }
    }
}

/// Where the published name of a tool use is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NameFrom {
    /// The host offered the tool under this name.
    Offer,
    /// The host did not offer the tool; this is the name that its profile's rule gives.
    Rule,
}

impl NameFrom {
    /// All.
    pub const ALL: [Self; 2] = [Self::Offer, Self::Rule];

    /// Its word in a trace.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Offer => "offer",
            Self::Rule => "rule",
        }
    }

    /// The origin of that word.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|from| from.as_str() == text)
    }
}

impl Engine {
    /// The model of the given host run of a plan. All roles follow the same script; ids differ from run to run.
    #[must_use]
    pub fn new(plan: &Plan, run: u32, role: Role) -> Self {
        let profile = &plan.profile.model;
        let api = api(profile.api);
        let id = |at: usize| api.use_id(plan.key.seed, run, at);
        let ids: Vec<String> = plan.uses.iter().map(|planned| id(planned.index)).collect();
        // Searches are numbered behind the uses, so that no two ids are the same.
        let tool = profile.surface.search().and_then(|search| search.tool.clone());
        let searches: Vec<EmittedSearch> = plan
            .searches
            .iter()
            .map(|planned| EmittedSearch {
                index: planned.index,
                id: id(plan.uses.len() + planned.index),
                tool: tool.clone(),
                input: planned.input.clone(),
            })
            .collect();
        let search_ids: Vec<String> = searches.iter().map(|search| search.id.clone()).collect();
        let script = Script::new(plan, &ids, &search_ids);
        let uses = plan
            .uses
            .iter()
            .zip(ids)
            .map(|(planned, id)| ScriptedUse {
                id,
                tool: planned.tool.clone(),
                by_rule: planned.by_rule.clone(),
                input: planned.input_text(),
                wrapped: planned.wrapped.clone(),
            })
            .collect();
        Self {
            api,
            strict: profile.strict,
            sides: profile.sides.clone(),
            role,
            run,
            script,
            uses,
            searches,
            names: Names::of(plan),
            given: HashMap::new(),
            previous: Vec::new(),
            side_replies: 0,
        }
    }

    /// The API that is spoken.
    #[must_use]
    pub fn api(&self) -> &'static dyn Api {
        self.api
    }

    /// The role of the run.
    #[must_use]
    pub const fn role(&self) -> Role {
        self.role
    }

    /// Answers a request, given as JSON and as the bytes that it was parsed from.
    pub fn answer(&mut self, body: &Json, bytes: &[u8]) -> Answer {
        let request = match self.api.parse(body) {
            Ok(request) => request,
            Err(reason) => return Answer::side(false).refused(reason),
        };
        let answer = match self.script.read(&request) {
            Some(position) => self.answer_main(position, &request, bytes),
            None => self.answer_side(&request, body, bytes),
        };
        match self.strict {
            Strict::Report => answer,
            Strict::Refuse => match self.api.violations(body).into_iter().next() {
                Some(violation) => answer.refused(violation.what),
                None => answer,
            },
        }
    }

    fn answer_main(&mut self, position: Position, request: &Request, bytes: &[u8]) -> Answer {
        let prefix = common_prefix(&self.previous, bytes);
        self.previous.clear();
        self.previous.extend_from_slice(bytes);
        let before = self.given.get(&position).cloned();
        let repeated = before.is_some();
        let given = before.unwrap_or_else(|| {
            let given = self.give(position, &request.offers);
            self.given.insert(position, given.clone());
            given
        });
        Answer {
            main: true,
            stream: request.stream,
            turn: position.turn,
            side: None,
            repeated,
            prefix,
            status: 200,
            reply: Some(given.reply),
            uses: given.uses,
            searches: given.searches,
            refuse: None,
        }
    }

    fn give(&self, position: Position, offers: &[Offer]) -> Given {
        let Some((at, turn)) = position.turn.and_then(|at| Some((at, self.script.turn(at)?))) else {
            let id = format!("{}_end{}", self.run, position.prompt);
            let blocks = vec![Block::Text(CLOSING.to_owned())];
            return Given { reply: Reply { id, blocks }, uses: Vec::new(), searches: Vec::new() };
        };
        let uses: Vec<EmittedUse> = turn.uses.iter().filter_map(|index| self.emit(*index, offers)).collect();
        let searches: Vec<EmittedSearch> =
            turn.searches.iter().filter_map(|index| self.searches.get(*index).cloned()).collect();
        let text = turn.text.clone().or_else(|| turn.is_text().then(|| CLOSING.to_owned()));
        let asked = searches.iter().map(EmittedSearch::block).chain(uses.iter().map(EmittedUse::block));
        let blocks = text.into_iter().map(Block::Text).chain(asked).collect();
        Given { reply: Reply { id: format!("{}_turn{at}", self.run), blocks }, uses, searches }
    }

    fn emit(&self, index: usize, offers: &[Offer]) -> Option<EmittedUse> {
        let scripted = self.uses.get(index)?;
        // The tool that calls all others is offered under its own name, which no server listed.
        let offered = match scripted.wrapped {
            Some(_) => offers.iter().find(|offer| offer.published == scripted.by_rule),
            None => offers.iter().find(|offer| self.names.tool(offer) == Some(&scripted.tool)),
        };
        let (published, name_from) = match offered {
            Some(offer) => (offer.published.clone(), NameFrom::Offer),
            None => (scripted.by_rule.clone(), NameFrom::Rule),
        };
        let (id, input, wrapped) = (scripted.id.clone(), scripted.input.clone(), scripted.wrapped.clone());
        Some(EmittedUse { index, id, published, name_from, input, wrapped })
    }

    fn answer_side(&mut self, request: &Request, body: &Json, bytes: &[u8]) -> Answer {
        let rule = self.sides.iter().find(|rule| contains(body, bytes, &rule.contains));
        let text = rule.map_or(SIDE_ANSWER, |rule| rule.answer.as_str()).to_owned();
        self.side_replies += 1;
        let id = format!("{}_side{}", self.run, self.side_replies);
        Answer {
            side: rule.map(|rule| rule.name.clone()),
            reply: Some(Reply { id, blocks: vec![Block::Text(text)] }),
            ..Answer::side(request.stream)
        }
    }
}

impl Answer {
    fn side(stream: bool) -> Self {
        Self {
            main: false,
            stream,
            turn: None,
            side: None,
            repeated: false,
            prefix: 0,
            status: 200,
            reply: None,
            uses: Vec::new(),
            searches: Vec::new(),
            refuse: None,
        }
    }

    fn refused(self, reason: String) -> Self {
        Self { status: 400, reply: None, uses: Vec::new(), searches: Vec::new(), refuse: Some(reason), ..self }
    }
}

/// Whether a body contains a text, as it stands or inside one of its strings.
fn contains(body: &Json, bytes: &[u8], text: &str) -> bool {
    if str::from_utf8(bytes).is_ok_and(|bytes| bytes.contains(text)) {
        return true;
    }
    let mut found = false;
    body.walk(&mut |value| found = found || value.as_str().is_some_and(|string| string.contains(text)));
    found
}

/// The number of bytes that both begin with.
fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    // Whole blocks first: bodies share most of their bytes, and comparing slices is faster than comparing bytes.
    const BLOCK: usize = 256;
    let blocks = a.chunks_exact(BLOCK).zip(b.chunks_exact(BLOCK)).take_while(|(a, b)| a == b).count();
    let at = blocks * BLOCK;
    at + a[at..].iter().zip(&b[at..]).take_while(|(a, b)| a == b).count()
}
