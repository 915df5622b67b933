//! Surfaces that show no tool by itself: searches and the tool that calls all others.

use super::*;
use crate::host::surface::{Found, Search, Wrapper};
use crate::model::{Answer, Engine, Names, Ours, Prompts, Request, Role};
use crate::plan::PlannedSearch;

/// The plan of a search for one tool, its use, and a closing text.
fn searching(name: ApiName) -> Plan {
    let mut plan = plan(name);
    let search = Search {
        tool: (name == ApiName::AnthropicMessages).then(|| "ToolSearch".to_owned()),
        arguments: String::new(),
        found: Found::Flat,
    };
    let model = &mut Arc::make_mut(&mut plan.profile).model;
    model.surface = Surface::Search(search);
    model.main_line = MainLine::Marker;
    plan.uses.truncate(1);
    plan.searches = vec![PlannedSearch {
        index: 0,
        step: 0,
        span: 0..0,
        tool: plan.uses[0].tool.clone(),
        input: r#"{"query":"orders"}"#.to_owned(),
    }];
    let turn = |text: Option<&str>, uses: &[usize], searches: &[usize]| Turn {
        prompt: 0,
        text: text.map(str::to_owned),
        uses: uses.to_vec(),
        searches: searches.to_vec(),
    };
    plan.turns = vec![turn(None, &[], &[0]), turn(None, &[0], &[]), turn(Some("Found."), &[], &[])];
    plan
}

/// The offer once something was found, and its result in the conversation.
fn found(name: ApiName, id: &str) -> (Json, Json) {
    match name {
        ApiName::AnthropicMessages | ApiName::Synthetic => {
            let entry = json(
                r#"{"name":"mcp__orders__lookup_order","description":"x [hc:k3f9a1]","defer_loading":true,
                    "input_schema":{"type":"object"}}"#,
            );
            let reference = json(r#"[{"type":"tool_reference","tool_name":"mcp__orders__lookup_order"}]"#);
            let result = Json::object([
                ("type", Json::from("tool_result")),
                ("tool_use_id", id.into()),
                ("content", reference),
            ]);
            let message = Json::object([("role", Json::from("user")), ("content", Json::array([result]))]);
            (Json::array([entry]), message)
        }
        ApiName::OpenaiResponses => {
            let tools = json(
                r#"[{"type":"namespace","name":"mcp__orders","tools":[{"type":"function","name":"lookup_order",
                    "description":"x [hc:k3f9a1]","defer_loading":true,"parameters":{"type":"object","properties":{}}}]}]"#,
            );
            let head = [("type", Json::from("tool_search_output")), ("call_id", id.into())];
            (Json::array::<Json>([]), Json::object(head.into_iter().chain([("tools", tools)])))
        }
    }
}

/// What the host sends after the replies that it got, with the results of the searches in them.
fn conversation(name: ApiName, plan: &Plan, answers: &[Answer]) -> Json {
    let replies = answers.iter().filter_map(|answer| answer.reply.clone());
    let mut body = body(
        name,
        &std::iter::once(Said::User(plan.prompts[0].clone())).chain(replies.map(Said::Model)).collect::<Vec<_>>(),
        Json::array::<Json>([]),
    );
    if let Some(search) = answers.iter().flat_map(|answer| &answer.searches).next() {
        let (tools, item) = found(name, &search.id);
        let key = if name == ApiName::AnthropicMessages { "messages" } else { "input" };
        let mut items = body.get(key).unwrap().items().to_vec();
        // Behind the prompt and what the model said to it; the developer message of one API is in front.
        let at = items.iter().position(|item| item.to_string().contains(&search.id)).unwrap() + 1;
        items.insert(at, item);
        body.set(key, Json::Array(items));
        body.set("tools", tools);
    }
    body
}

#[test]
fn a_search_comes_before_the_use_and_is_no_use() {
    for name in ApiName::ALL {
        let plan = searching(name);
        let mut engine = Engine::new(&plan, 1, Role::Main);
        let mut answers: Vec<Answer> = Vec::new();
        for turn in 0..3 {
            let body = conversation(name, &plan, &answers);
            let answer = engine.answer(&body, &body.to_bytes());
            assert_eq!((answer.main, answer.turn), (true, Some(turn)), "{name:?}");
            answers.push(answer);
        }
        assert_eq!([answers[0].searches.len(), answers[0].uses.len()], [1, 0]);
        assert_eq!([answers[1].searches.len(), answers[1].uses.len()], [0, 1]);
        assert_ne!(answers[0].searches[0].id, answers[1].uses[0].id);
        assert_eq!(answers[1].uses[0].name_from, crate::model::NameFrom::Offer);
        // The position comes from what a request carries: asked again, an early request gets the same bytes again.
        let again = conversation(name, &plan, &answers[..1]);
        let repeated = engine.answer(&again, &again.to_bytes());
        assert_eq!((repeated.reply, repeated.repeated), (answers[1].reply.clone(), true));
        let written = api(name).blocks(answers[0].reply.as_ref().unwrap());
        assert_eq!(api(name).parse_blocks(&written), answers[0].reply.as_ref().unwrap().blocks);
    }
}

fn offered(plan: &Plan, request: &Request) -> Vec<String> {
    Names::of(plan).offered(request).iter().map(|(tool, _)| tool.to_string()).collect()
}

#[test]
fn what_is_found_is_offered_whole_and_reduced() {
    for name in ApiName::ALL {
        let plan = searching(name);
        let mut engine = Engine::new(&plan, 1, Role::Main);
        let first = conversation(name, &plan, &[]);
        assert!(offered(&plan, &api(name).parse(&first).unwrap()).is_empty());
        let answer = engine.answer(&first, &first.to_bytes());
        let id = answer.searches[0].id.clone();
        let second = conversation(name, &plan, &[answer]);
        let ours = Ours::of(&plan);
        for body in [&second, &api(name).reduce(&second, &ours.keep(Prompts::Reduce))] {
            let request = api(name).parse(body).unwrap();
            assert_eq!(offered(&plan, &request), ["orders/lookup_order"], "{name:?}");
            assert_eq!(request.offers[0].found.as_deref(), Some(id.as_str()));
            let result = request.items.iter().find_map(|item| match item {
                crate::model::Item::ToolResult(result) => Some(result),
                _ => None,
            });
            assert_eq!(api(name).found(result.unwrap()), [published(name, "orders", "lookup_order")]);
            assert_eq!(api(name).violations(body), []);
        }
    }
}

#[test]
fn a_deferred_tool_without_a_reference_is_not_shown() {
    let name = ApiName::AnthropicMessages;
    let plan = searching(name);
    let (tools, _) = found(name, "unused");
    let body = body(name, &[Said::User(plan.prompts[0].clone())], tools);
    assert!(offered(&plan, &api(name).parse(&body).unwrap()).is_empty());
}

#[test]
fn one_tool_calls_all_others_and_its_description_offers_them() {
    let name = ApiName::AnthropicMessages;
    let mut plan = searching(name);
    let wrapper = Wrapper { tool: "call_tool".to_owned(), arguments: String::new(), search: None };
    Arc::make_mut(&mut plan.profile).model.surface = Surface::Wrapper(wrapper);
    plan.searches.clear();
    plan.turns.remove(0);
    plan.uses[0].by_rule = Published { namespace: None, name: "call_tool".to_owned() };
    let inner = plan.uses[0].input_text();
    plan.uses[0].wrapped = Some(format!(r#"{{"tool":"lookup_order","arguments":{inner}}}"#));
    let tools = json(
        r#"[{"name":"call_tool","description":"Calls: lookup_order [hc:k3f9a1], count [hc:m5n6b7]",
            "input_schema":{"type":"object"}}]"#,
    );
    let body = body(name, &[Said::User(plan.prompts[0].clone())], tools);
    assert_eq!(offered(&plan, &api(name).parse(&body).unwrap()), ["orders/lookup_order", "stock/count"]);
    let answer = Engine::new(&plan, 1, Role::Main).answer(&body, &body.to_bytes());
    let [emitted] = &answer.uses[..] else { panic!("one use") };
    assert_eq!((emitted.published.name.as_str(), emitted.input.as_str()), ("call_tool", inner.as_str()));
    let Some(Block::ToolUse { input, .. }) = answer.reply.unwrap().blocks.pop() else { panic!("a tool use") };
    assert_eq!(Some(input), plan.uses[0].wrapped);
}
