use super::*;
use crate::model::{Answer, EmittedUse, Engine, NameFrom, Role};

/// A host that remembers what was said, and its model.
struct Talk {
    name: ApiName,
    engine: Engine,
    said: Vec<Said>,
}

impl Talk {
    fn new(name: ApiName) -> Self {
        let plan = plan(name);
        Self { name, said: vec![Said::User(plan.prompts[0].clone())], engine: Engine::new(&plan, 1, Role::Main) }
    }

    fn ask(&mut self) -> Answer {
        let body = body(self.name, &self.said, tools(self.name));
        self.send(&body)
    }

    fn send(&mut self, body: &Json) -> Answer {
        self.engine.answer(body, &body.to_bytes())
    }

    /// Remembers a reply, without results.
    fn hear(&mut self, answer: &Answer) -> Vec<String> {
        let reply = answer.reply.clone().unwrap();
        let ids = use_ids(&reply);
        self.said.push(Said::Model(reply));
        ids
    }

    /// Remembers a reply and a result for each use in it.
    fn obey(&mut self, answer: &Answer) {
        for id in self.hear(answer) {
            self.said.push(Said::Told(id, "a result"));
        }
    }

    fn user(&mut self, text: &str) {
        self.said.push(Said::User(text.to_owned()));
    }
}

#[track_caller]
fn at(answer: &Answer) -> (bool, Option<usize>, bool) {
    (answer.main, answer.turn, answer.repeated)
}

fn texts(answer: &Answer) -> Vec<String> {
    let texts = answer.reply.iter().flat_map(|reply| &reply.blocks).filter_map(|block| match block {
        Block::Text(text) => Some(text.clone()),
        Block::ToolUse { .. } | Block::Search { .. } => None,
    });
    texts.collect()
}

#[test]
fn a_correct_host_is_led_through_both_messages() {
    for name in APIS {
        let mut talk = Talk::new(name);
        for turn in 0..2 {
            let answer = talk.ask();
            assert_eq!(at(&answer), (true, Some(turn), false), "{name:?}");
            talk.obey(&answer);
        }
        let last = talk.ask();
        assert_eq!(at(&last), (true, Some(2), false), "{name:?}");
        assert_eq!(texts(&last), ["First answer."]);
        talk.hear(&last);

        talk.user(&plan(name).prompts[1]);
        let answer = talk.ask();
        assert_eq!(at(&answer), (true, Some(3), false), "{name:?}");
        talk.obey(&answer);
        let answer = talk.ask();
        assert_eq!(texts(&answer), ["Second answer."]);
        talk.hear(&answer);

        let after = talk.ask();
        assert_eq!(at(&after), (true, None, false), "{name:?}");
        assert_eq!(texts(&after), ["done"]);
        assert_eq!(at(&talk.ask()), (true, None, true), "{name:?}");
    }
}

#[test]
fn uses_have_ids_of_their_own_the_offered_names_and_the_text_as_it_stands() {
    for name in APIS {
        let plan = plan(name);
        let mut talk = Talk::new(name);
        let first = talk.ask();
        talk.obey(&first);
        let both = talk.ask();
        let emitted: Vec<&EmittedUse> = first.uses.iter().chain(&both.uses).collect();
        for (index, emitted) in emitted.iter().enumerate() {
            assert_eq!(emitted.index, index);
            assert_eq!(emitted.id, api(name).use_id(plan.key.seed, 1, index));
            assert_eq!(emitted.published, plan.uses[index].by_rule);
            assert_eq!(emitted.name_from, NameFrom::Offer);
        }
        let inputs: Vec<&str> = emitted.iter().map(|emitted| emitted.input.as_str()).collect();
        assert_eq!(inputs, [r#"{"order_id":"A-1042"}"#, r#"{"n":9007199254740993}"#, r#"{"a": "#]);
        assert_eq!(texts(&both), ["Both at once."]);
    }
}

#[test]
fn a_repeated_request_gets_the_same_reply_even_if_the_offer_changed() {
    for name in APIS {
        let mut talk = Talk::new(name);
        let first = talk.ask();
        let again = talk.ask();
        assert_eq!(at(&again), (true, Some(0), true), "{name:?}");
        assert_eq!(again.reply, first.reply);
        assert_eq!(again.uses, first.uses);

        let fewer = body(name, &talk.said, Json::array([tools(name).items()[0].clone()]));
        let again = talk.send(&fewer);
        assert_eq!(at(&again), (true, Some(0), true), "{name:?}");
        assert_eq!(again.reply, first.reply);
    }
}

#[test]
fn a_tool_that_is_not_offered_is_used_by_its_rule_name() {
    for name in APIS {
        let mut talk = Talk::new(name);
        let own = Json::array([tools(name).items()[0].clone()]);
        let answer = talk.send(&body(name, &talk.said.clone(), own));
        assert_eq!(answer.uses[0].name_from, NameFrom::Rule, "{name:?}");
        assert_eq!(answer.uses[0].published, plan(name).uses[0].by_rule);
    }
}

#[test]
fn a_renamed_tool_is_used_by_its_offered_name() {
    for name in APIS {
        let mut talk = Talk::new(name);
        let renamed = json(&tools(name).to_string().replace("lookup_order", "lkp_rdr_1"));
        let answer = talk.send(&body(name, &talk.said.clone(), renamed));
        assert_eq!(answer.uses[0].name_from, NameFrom::Offer, "{name:?}");
        assert!(answer.uses[0].published.name.ends_with("lkp_rdr_1"), "{:?}", answer.uses);
    }
}

#[test]
fn a_host_that_lost_one_of_two_results_goes_on() {
    for name in APIS {
        let mut talk = Talk::new(name);
        let first = talk.ask();
        talk.obey(&first);
        let both = talk.ask();
        let ids = talk.hear(&both);
        talk.said.push(Said::Told(ids[1].clone(), "only the second"));
        assert_eq!(at(&talk.ask()), (true, Some(2), false), "{name:?}");
    }
}

#[test]
fn later_results_prove_earlier_turns_that_the_host_forgot() {
    for name in APIS {
        let mut talk = Talk::new(name);
        let first = talk.ask();
        talk.obey(&first);
        let both = talk.ask();
        talk.said.truncate(1);
        talk.obey(&both);
        assert_eq!(at(&talk.ask()), (true, Some(2), false), "{name:?}");
    }
}

#[test]
fn the_next_user_message_closes_what_was_open() {
    for name in APIS {
        let mut talk = Talk::new(name);
        let first = talk.ask();
        talk.hear(&first);
        talk.user(&plan(name).prompts[1]);
        assert_eq!(at(&talk.ask()), (true, Some(3), false), "{name:?}");
    }
}

#[test]
fn a_reminder_of_the_first_message_is_not_the_next_one() {
    for name in APIS {
        let mut talk = Talk::new(name);
        let first = talk.ask();
        talk.obey(&first);
        let prompt = plan(name).prompts[0].clone();
        talk.user(&format!("Remember what was asked: {prompt}"));
        assert_eq!(at(&talk.ask()), (true, Some(1), false), "{name:?}");
    }
}

#[test]
fn the_next_user_message_may_repeat_the_first_or_arrive_changed() {
    for name in APIS {
        let same = plan(name).prompts[0].clone();
        for (scripted, sent) in [(same.clone(), same), ("And?".to_owned(), format!("(and) {MARKER}"))] {
            let mut plan = plan(name);
            plan.prompts[1] = scripted;
            let mut talk = Talk { engine: Engine::new(&plan, 1, Role::Main), ..Talk::new(name) };
            talk.user(&plan.prompts[0]);
            assert_eq!(at(&talk.ask()), (true, Some(0), false), "{name:?}: said twice, asked once");
            talk.said.pop();
            for _ in 0..3 {
                let answer = talk.ask();
                talk.obey(&answer);
            }
            talk.user(&sent);
            assert_eq!(at(&talk.ask()), (true, Some(3), false), "{name:?}: {sent}");
        }
    }
}

#[test]
fn side_requests_are_known_by_what_they_lack() {
    for name in APIS {
        let mut talk = Talk::new(name);
        let prompt = plan(name).prompts[0].clone();
        let none = Json::Array(Vec::new());
        let few_shot = Reply { id: "x".to_owned(), blocks: vec![Block::Text("An example.".to_owned())] };
        let cases = [
            ("no tools", body(name, &talk.said.clone(), none.clone()), None, "ok"),
            ("no marker", body(name, &[Said::User("Hello".to_owned())], tools(name)), None, "ok"),
            (
                "a foreign assistant turn",
                body(name, &[Said::User(prompt), Said::Model(few_shot)], tools(name)),
                None,
                "ok",
            ),
            (
                "a rule",
                body(name, &[Said::User(format!("Write a \"title\" of: {MARKER}"))], none),
                Some("title"),
                "Orders",
            ),
        ];
        for (what, body, side, text) in cases {
            let answer = talk.send(&body);
            assert_eq!(at(&answer), (false, None, false), "{name:?} {what}");
            assert_eq!(answer.side.as_deref(), side, "{name:?} {what}");
            assert_eq!(texts(&answer), [text], "{name:?} {what}");
            assert_eq!(answer.prefix, 0);
        }
        assert_eq!(at(&talk.ask()), (true, Some(0), false), "{name:?}: side requests move nothing");
    }
}

#[test]
fn an_id_of_ours_is_enough_for_the_main_line_without_tools() {
    for name in APIS {
        let mut talk = Talk::new(name);
        let first = talk.ask();
        talk.obey(&first);
        let answer = talk.send(&body(name, &talk.said.clone(), Json::Array(Vec::new())));
        assert_eq!(at(&answer), (true, Some(1), false), "{name:?}");
        assert_eq!(answer.uses[0].name_from, NameFrom::Rule);
    }
}

#[test]
fn a_profile_can_say_that_the_marker_alone_shows_the_main_line() {
    for name in APIS {
        let mut plan = plan(name);
        Arc::make_mut(&mut plan.profile).model.main_line = MainLine::Marker;
        let mut talk = Talk { engine: Engine::new(&plan, 1, Role::Main), ..Talk::new(name) };
        let answer = talk.send(&body(name, &talk.said.clone(), Json::Array(Vec::new())));
        assert_eq!(at(&answer), (true, Some(0), false), "{name:?}");
        assert_eq!(answer.uses[0].name_from, NameFrom::Rule);
    }
}

#[test]
fn runs_have_different_ids_and_the_same_script() {
    for name in APIS {
        let plan = plan(name);
        let said = [Said::User(plan.prompts[0].clone())];
        let body = body(name, &said, tools(name));
        let answers = [(1, Role::Main), (2, Role::Second), (3, Role::Twin)]
            .map(|(run, role)| Engine::new(&plan, run, role).answer(&body, &body.to_bytes()));
        let ids: Vec<&str> = answers.iter().map(|answer| answer.uses[0].id.as_str()).collect();
        assert!(ids[0] != ids[1] && ids[1] != ids[2] && ids[0] != ids[2], "{ids:?}");
        assert!(answers.iter().all(|answer| answer.uses[0].input == answers[0].uses[0].input));
    }
}

#[test]
fn the_prefix_is_shared_with_the_previous_main_line_request() {
    let name = ApiName::OpenaiResponses;
    let mut talk = Talk::new(name);
    let body = body(name, &talk.said, tools(name));
    let long = body.to_string().replace("helpful", &"x".repeat(1000));
    let changed = long.replace("Look up my order. [", "Look up my orders [");
    let same = talk.engine.answer(&json(&long), long.as_bytes());
    assert_eq!(same.prefix, 0);
    let changed_at = long.bytes().zip(changed.bytes()).position(|(a, b)| a != b).unwrap();
    let answer = talk.engine.answer(&json(&changed), changed.as_bytes());
    assert_eq!(answer.prefix, changed_at);
    let answer = talk.engine.answer(&json(&changed), changed.as_bytes());
    assert_eq!(answer.prefix, changed.len());
}

#[test]
fn a_strict_model_refuses_what_the_real_one_would() {
    for name in ApiName::ALL {
        let mut plan = plan(name);
        let profile = Arc::make_mut(&mut plan.profile);
        profile.model.strict = Strict::Refuse;
        let mut engine = Engine::new(&plan, 1, Role::Main);
        let good = body(name, &[Said::User(plan.prompts[0].clone())], tools(name));
        let bad = json(&good.to_string().replace("count\"", "count.all\""));
        let refused = engine.answer(&bad, &bad.to_bytes());
        assert_eq!((refused.status, refused.main, refused.reply), (400, true, None), "{name:?}");
        assert!(refused.refuse.unwrap().contains("count.all"));
        assert!(refused.uses.is_empty());
        let served = engine.answer(&good, &good.to_bytes());
        assert_eq!((served.status, served.turn, served.refuse), (200, Some(0), None), "{name:?}");
    }
}

#[test]
fn a_body_that_is_no_request_is_refused() {
    for name in APIS {
        let mut talk = Talk::new(name);
        let answer = talk.send(&json("[]"));
        assert_eq!((answer.status, answer.main), (400, false), "{name:?}");
        assert!(answer.refuse.is_some());
    }
}
