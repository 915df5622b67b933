//! What the correct host sends to its model, in the form of each API.

use super::host::{Host, Told};
use crate::host::profile::{ApiName, Profile};
use crate::json::Json;
use crate::scenario::ast::ToolRef;

impl Host<'_> {
    pub(super) fn body(&self) -> Json {
        match self.plan.profile.model.api {
            ApiName::AnthropicMessages => Json::object([
                ("model", Json::from("m")),
                ("max_tokens", 1000.into()),
                ("stream", true.into()),
                ("tools", self.flat()),
                ("messages", Json::Array(self.history.clone())),
            ]),
            ApiName::Synthetic => {
                Json::object([("tools", self.flat()), ("messages", Json::Array(self.history.clone()))])
            }
            ApiName::OpenaiResponses => {
                // What was found stands in the results of the searches.
                let all = |_: &ToolRef| true;
                let tools = if self.searches() { Json::array([search_tool()]) } else { self.spaces(all) };
                Json::object([
                    ("model", Json::from("m")),
                    ("stream", true.into()),
                    ("store", false.into()),
                    ("tools", tools),
                    ("input", Json::Array(self.history.clone())),
                ])
            }
        }
    }

    fn searches(&self) -> bool {
        self.plan.profile.model.surface.search().is_some()
    }

    /// All that is listed, or what was found of it, with the place of its server.
    fn offers(&self, fits: impl Fn(&ToolRef) -> bool) -> Vec<(usize, ToolRef, &Json)> {
        let mut offers = Vec::new();
        for (at, link) in self.links.iter().enumerate() {
            for tool in &link.tools {
                let of = ToolRef { server: link.key.clone(), tool: tool.str("name").unwrap().to_owned() };
                if fits(&of) {
                    offers.push((at, of, tool));
                }
            }
        }
        offers
    }

    fn flat(&self) -> Json {
        let names = crate::host::names::Names::new(&self.plan.profile).unwrap();
        let offers = self.offers(|tool| !self.searches() || self.found.contains(tool));
        let tools = offers.into_iter().map(|(_, of, tool)| {
            let mut entry = Json::object([
                ("name", Json::from(names.published(&of).unwrap().name)),
                ("description", tool.get("description").cloned().unwrap_or(Json::Null)),
                ("input_schema", tool.get("inputSchema").cloned().unwrap_or(Json::Null)),
            ]);
            if self.searches() {
                entry.set("defer_loading", true);
            }
            entry
        });
        Json::array(tools)
    }

    fn spaces(&self, fits: impl Fn(&ToolRef) -> bool) -> Json {
        let names = crate::host::names::Names::new(&self.plan.profile).unwrap();
        let offers = self.offers(fits);
        let spaces = (0..self.links.len()).filter_map(|link| {
            let mut namespace = None;
            let of_link = offers.iter().filter(|(at, ..)| *at == link);
            let tools: Vec<Json> = of_link
                .map(|(_, of, tool)| {
                    let published = names.published(of).unwrap();
                    namespace = published.namespace;
                    Json::object([
                        ("type", Json::from("function")),
                        ("name", Json::from(published.name)),
                        ("description", tool.get("description").cloned().unwrap_or(Json::Null)),
                        ("strict", false.into()),
                        ("parameters", with_properties(tool.get("inputSchema"))),
                    ])
                })
                .collect();
            Some(Json::object([
                ("type", Json::from("namespace")),
                ("name", namespace?.into()),
                ("description", "tools".into()),
                ("tools", Json::Array(tools)),
            ]))
        });
        Json::array(spaces)
    }

    /// The result of a search, in the form of the Responses API.
    fn search_output(&self, id: &str, found: Option<&ToolRef>) -> Json {
        Json::object([
            ("type", Json::from("tool_search_output")),
            ("call_id", id.into()),
            ("execution", "client".into()),
            ("tools", self.spaces(|tool| Some(tool) == found)),
        ])
    }

    /// Puts a message of the user into the history, in the form of the API.
    pub(super) fn hear(&mut self, prompt: &str) {
        let message = match self.plan.profile.model.api {
            ApiName::AnthropicMessages => {
                let text = Json::object([("type", "text"), ("text", prompt)]);
                Json::object([("role", Json::from("user")), ("content", Json::array([text]))])
            }
            ApiName::Synthetic => {
                synthetic("user", Json::array([Json::object([("type", "text"), ("text", prompt)])]))
            }
            ApiName::OpenaiResponses => {
                let text = Json::object([("type", "input_text"), ("text", prompt)]);
                Json::object([
                    ("type", Json::from("message")),
                    ("role", "user".into()),
                    ("content", Json::array([text])),
                ])
            }
        };
        self.history.push(message);
    }

    /// Puts the reply and the results into the history, in the form of the API.
    pub(super) fn remember(&mut self, blocks: &Json, told: &[(String, Told)]) {
        match self.plan.profile.model.api {
            ApiName::AnthropicMessages => {
                let blocks = blocks.items().iter().map(|block| match block.str("input") {
                    // The API takes objects only in history.
                    Some(_) => {
                        let mut block = block.clone();
                        block.set("input", Json::empty());
                        block
                    }
                    None => block.clone(),
                });
                let assistant =
                    Json::object([("role", Json::from("assistant")), ("content", Json::array(blocks))]);
                let results = told.iter().map(|(id, told)| {
                    let (content, is_error) = content(&self.plan.profile, told);
                    Json::object([
                        ("type", Json::from("tool_result")),
                        ("tool_use_id", id.into()),
                        ("content", Json::Array(content)),
                        ("is_error", is_error.into()),
                    ])
                });
                self.history.push(assistant);
                if !told.is_empty() {
                    self.history
                        .push(Json::object([("role", Json::from("user")), ("content", Json::array(results))]));
                }
            }
            ApiName::Synthetic => {
                let results = told.iter().map(|(id, told)| {
                    let (content, is_error) = content(&self.plan.profile, told);
                    Json::object([
                        ("type", Json::from("tool_result")),
                        ("tool_use_id", id.into()),
                        ("is_error", is_error.into()),
                        ("content", Json::Array(content)),
                    ])
                });
                let results = Json::array(results);
                self.history.extend([synthetic("assistant", blocks.clone()), synthetic("tool", results)]);
            }
            ApiName::OpenaiResponses => {
                self.history.extend(blocks.items().iter().cloned());
                for (id, told) in told {
                    if let Told::Found(found) = told {
                        self.history.push(self.search_output(id, found.as_ref()));
                        continue;
                    }
                    let (content, _) = content(&self.plan.profile, told);
                    self.history.push(Json::object([
                        ("type", Json::from("function_call_output")),
                        ("call_id", id.into()),
                        ("output", output(&content)),
                    ]));
                }
            }
        }
    }
}

/// A message of the synthetic model lane.
fn synthetic(role: &str, content: Json) -> Json {
    Json::object([("role", Json::from(role)), ("content", content)])
}

/// The blocks that tell a result, and whether it is an error.
fn content(profile: &Profile, told: &Told) -> (Vec<Json>, bool) {
    let text = |text: &str| Json::object([("type", "text"), ("text", text)]);
    match told {
        Told::Refused(reason) => (vec![text(reason)], true),
        Told::Found(None) => (vec![text("There is no such tool.")], true),
        Told::Found(Some(tool)) => {
            let name = crate::host::names::Names::new(profile).unwrap().published(tool).unwrap().name;
            let reference = [("type", Json::from("tool_reference")), ("tool_name", name.into())];
            (vec![Json::object(reference)], false)
        }
        Told::Result(result) => {
            let blocks = result.get("content").map(Json::items).unwrap_or_default();
            let mut content: Vec<Json> = blocks
                .iter()
                .map(|block| match block.str("type") {
                    Some("image") => {
                        let data = block.get("data").cloned().unwrap();
                        let source = Json::object([
                            ("type", Json::from("base64")),
                            ("media_type", block.get("mimeType").cloned().unwrap()),
                            ("data", data),
                        ]);
                        Json::object([("type", Json::from("image")), ("source", source)])
                    }
                    Some("resource") => {
                        text(block.at(&["resource", "text"]).and_then(Json::as_str).unwrap_or_default())
                    }
                    _ => text(block.str("text").unwrap_or_default()),
                })
                .collect();
            if let (true, Some(structured)) = (content.is_empty(), result.get("structuredContent")) {
                content.push(text(&structured.to_string()));
            }
            (content, result.get("isError").and_then(Json::as_bool).unwrap_or(false))
        }
    }
}

fn search_tool() -> Json {
    Json::object([("type", "tool_search"), ("execution", "client"), ("description", "Finds tools.")])
}

/// The content as the Responses API wants it: one text, or parts where there is more than texts.
fn output(content: &[Json]) -> Json {
    let texts: Vec<&str> = content.iter().filter_map(|block| block.str("text")).collect();
    if texts.len() == content.len() {
        return texts.join("\n").into();
    }
    let part = |block: &Json| match block.str("text") {
        Some(text) => Json::object([("type", "input_text"), ("text", text)]),
        None => {
            let of = |key: &str| block.at(&["source", key]).and_then(Json::as_str).unwrap_or_default().to_owned();
            let url = format!("data:{};base64,{}", of("media_type"), of("data"));
            Json::object([("type", "input_image"), ("image_url", &url)])
        }
    };
    Json::array(content.iter().map(part))
}

/// The schema as the Responses API wants it: with properties, be they none.
fn with_properties(schema: Option<&Json>) -> Json {
    let mut schema = schema.cloned().unwrap_or_else(Json::empty);
    if schema.get("properties").is_none() {
        schema.set("properties", Json::empty());
    }
    schema
}
