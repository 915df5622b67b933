use super::*;
use crate::model::{Names, Offer};

fn offer(published: Published, description: Option<&str>) -> Offer {
    Offer {
        published,
        description: description.map(str::to_owned),
        schema: None,
        raw: Json::Null,
        reduced: false,
        found: None,
    }
}

/// The tool behind each offer, where it is one of ours.
fn identify(plan: &Plan, offers: &[Offer]) -> Vec<Option<ToolRef>> {
    let names = Names::of(plan);
    offers.iter().map(|offer| names.tool(offer).cloned()).collect()
}

#[test]
fn offers_are_known_by_word_and_else_by_rule() {
    for name in APIS {
        let plan = plan(name);
        let lookup = published(name, "orders", "lookup_order");
        let note = published(name, "orders", "create_note");
        let foreign = Published { namespace: None, name: "Read".to_owned() };
        let cases = [
            (offer(foreign.clone(), Some("A file. [hc:k3f9a1]")), Some(("orders", "lookup_order"))),
            (offer(foreign.clone(), Some("[hc:m5n6b7] moved to the front")), Some(("stock", "count"))),
            (offer(lookup.clone(), None), Some(("orders", "lookup_order"))),
            (offer(lookup.clone(), Some("Cut short by the host [hc:k3")), Some(("orders", "lookup_order"))),
            (offer(lookup.clone(), Some("Written by a server [hc:nobody]")), Some(("orders", "lookup_order"))),
            (offer(lookup, Some("A word beats a name. [hc:p8s2d4]")), Some(("orders", "create_note"))),
            (offer(Published { namespace: Some("other".to_owned()), ..note }, None), None),
            (offer(foreign, Some("A tool of the host.")), None),
            // A tool that the script never uses, and whose description has no word.
            (offer(published(name, "stock", "un_used"), None), Some(("stock", "un-used"))),
        ];
        let (offers, expected): (Vec<Offer>, Vec<_>) = cases.into_iter().unzip();
        let expected: Vec<Option<ToolRef>> =
            expected.into_iter().map(|tool| tool.map(|(server, tool)| tool_ref(server, tool))).collect();
        assert_eq!(identify(&plan, &offers), expected, "{name:?}");
    }
}

#[test]
fn a_whole_and_a_reduced_request_offer_the_same() {
    for name in APIS {
        let plan = plan(name);
        let ours = crate::model::Ours::of(&plan);
        let body = body(name, &[Said::User(plan.prompts[0].clone())], tools(name));
        let reduced = api(name).reduce(&body, &ours.keep(crate::model::Prompts::Reduce));
        let whole = api(name).parse(&body).unwrap().offers;
        let reduced = api(name).parse(&reduced).unwrap().offers;
        let found = identify(&plan, &whole);
        assert_eq!(found.iter().flatten().count(), 3);
        assert_eq!(identify(&plan, &reduced), found);
        for ((whole, reduced), tool) in whole.iter().zip(&reduced).zip(found) {
            match tool {
                Some(_) => assert_eq!(whole, reduced),
                None => assert!(reduced.reduced && whole.published == reduced.published),
            }
        }
    }
}
