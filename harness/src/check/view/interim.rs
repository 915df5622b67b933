//! Stands in for the model APIs until they are there.

use super::Offered;
use crate::json::Json;
use crate::model::{Item, Offer, Part, Request, ToolResult};
use crate::plan::{Plan, Published};
use crate::scenario::ast::ToolRef;

pub(super) fn parse(body: &Json) -> Option<Request> {
    let offers = body
        .get("tools")
        .map(Json::items)
        .unwrap_or_default()
        .iter()
        .map(|tool| Offer {
            published: Published {
                namespace: None,
                name: tool.str("name").unwrap_or_default().to_owned(),
            },
            description: tool.str("description").map(str::to_owned),
            schema: tool.get("input_schema").cloned(),
            raw: tool.clone(),
            reduced: false,
        });
    let mut items = Vec::new();
    for message in body.get("messages")?.items() {
        for block in message.get("content").map(Json::items).unwrap_or_default() {
            items.push(match block.str("type") {
                Some("tool_result") => Item::ToolResult(ToolResult {
                    id: block.str("tool_use_id").unwrap_or_default().to_owned(),
                    is_error: block.get("is_error").and_then(Json::as_bool),
                    parts: match block.get("content") {
                        Some(Json::String(text)) => vec![Part::Text(text.to_lossy().into_owned())],
                        Some(content) => content.items().iter().map(part).collect(),
                        None => Vec::new(),
                    },
                }),
                _ => Item::Other(block.clone()),
            });
        }
    }
    Some(Request {
        stream: true,
        offers: offers.collect(),
        items,
    })
}

fn part(block: &Json) -> Part {
    match block.str("type") {
        Some("text") => Part::Text(block.str("text").unwrap_or_default().to_owned()),
        Some("image") => Part::Image(block.clone()),
        _ => Part::Other(block.clone()),
    }
}

pub(super) fn identify(plan: &Plan, offers: &[Offer]) -> Vec<Offered> {
    let tool = |offer: &Offer| {
        let word = offer.word()?;
        plan.servers.iter().find_map(|server| {
            let (tool, _) = server.words.iter().find(|(_, known)| known == word)?;
            Some(ToolRef {
                server: server.key.clone(),
                tool: tool.clone(),
            })
        })
    };
    let found = offers.iter().filter_map(|offer| {
        Some(Offered {
            tool: tool(offer)?,
            published: offer.published.clone(),
        })
    });
    found.collect()
}
