use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::*;
use crate::diagnostic::Source;
use crate::host;
use crate::host::profile::Profile;
use crate::revision::Revision;
use crate::scenario::Library;
use crate::scenario::ast::Scenario;

/// The repository's own files, as they are.
struct Repository;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(path: &Path) -> Arc<Source> {
    Source::new(path.file_name().unwrap().to_string_lossy(), std::fs::read_to_string(path).unwrap())
}

impl Library for Repository {
    fn script(&self, name: &str) -> Option<Arc<Source>> {
        Some(read(&root().join("servers").join(format!("{name}.toml"))))
    }

    fn script_names(&self) -> Vec<String> {
        Vec::new()
    }

    fn is_requirement(&self, _id: &str) -> bool {
        true
    }

    fn requirement_ids(&self) -> Vec<String> {
        Vec::new()
    }
}

fn profile(name: &str) -> Arc<Profile> {
    let source = read(&root().join("hosts/profiles").join(format!("{name}.toml")));
    Arc::new(host::decode::parse(&source, None, None).unwrap())
}

fn scenario(text: &str) -> Arc<Scenario> {
    let source = Source::new("test.toml", text);
    Arc::new(load(&source, "area", "test", &Repository).unwrap().remove(0))
}

fn planned(scenario: &Arc<Scenario>, host: &str, select: Select) -> Vec<Planned> {
    plan(scenario, &profile(host), None, &select).unwrap()
}

const ORDER: &str = r#"
title = "One allowed, one asked, one denied"
[server.orders]
script = "orders"
[permissions]
allow = ["orders/lookup_order"]
ask = ["orders/create_note"]
deny = ["orders/refund_order"]
[[step]]
call = "orders/lookup_order"
[[step]]
ask = "orders/create_note"
answer = "allow"
[[step]]
deny = "orders/refund_order"
"#;

#[test]
fn the_first_drive_that_can_ask_is_taken() {
    let plans = planned(&scenario(ORDER), "reference", Select::default());
    assert_eq!(plans.len(), 2);
    for one in plans {
        let Planned::Run(plan) = one else { panic!("{one:?}") };
        assert_eq!(plan.drive, 1);
        assert_eq!(plan.uses.len(), 3);
        assert_eq!(plan.turns.len(), 4, "three uses and a closing text");
        assert!(plan.prompts[0].contains(&plan.run_marker));
        assert_eq!(plan.rules.get("deny").unwrap().to_string(), r#"["orders/refund_order"]"#);
        let twin = plan.twin_rules.unwrap();
        assert_eq!(twin.get("deny").unwrap().to_string(), "[]");
        assert_eq!(twin.get("allow").unwrap().to_string(), r#"["orders/lookup_order","orders/refund_order"]"#);
    }
}

#[test]
fn what_a_host_cannot_do_is_not_applicable_with_its_reason() {
    let plans = planned(&scenario(ORDER), "codex", Select::default());
    assert!(!plans.is_empty());
    for one in plans {
        let Planned::NotApplicable { reason, .. } = one else { panic!("{one:?}") };
        assert_eq!(reason, "no drive of codex has permissions.ask");
    }
}

#[test]
fn a_revision_that_the_host_lacks_is_not_applicable() {
    let select = Select { revisions: SelectRevisions::One(Revision::V2024_11_05), ..Select::default() };
    let text = "title = \"x\"\n[server.orders]\nscript = \"orders\"\n[[step]]\nconnect = \"all\"\n";
    let plans = planned(&scenario(text), "codex", select);
    let [Planned::NotApplicable { key, reason, .. }] = plans.as_slice() else { panic!("{plans:?}") };
    assert_eq!(key.revision, Revision::V2024_11_05);
    assert!(reason.contains("codex has no revision"), "{reason}");
}

#[test]
fn the_same_coordinates_give_the_same_plan() {
    let scenario = scenario(ORDER);
    let plans = planned(&scenario, "reference", Select { seed: 7, ..Select::default() });
    for one in plans {
        let Planned::Run(first) = one else { panic!("{one:?}") };
        let again = plan_one(&scenario, &profile("reference"), first.key.clone()).unwrap();
        let Planned::Run(again) = again else { panic!("{again:?}") };
        assert_eq!((first.run_marker, first.prompts, first.turns), (again.run_marker, again.prompts, again.turns));
        assert_eq!(first.servers[0].words, again.servers[0].words);
    }
}

#[track_caller]
fn contradicts(steps: &str, expected: &str) {
    let text = format!(
        "title = \"x\"\n[server.orders]\nscript = \"orders\"\n[permissions]\nallow = [\"orders/lookup_order\"]\nask = [\"orders/create_note\"]\ndeny = [\"orders/refund_order\"]\n{steps}"
    );
    let source = Source::new("test.toml", text);
    let errors = load(&source, "area", "test", &Repository).unwrap_err();
    assert_eq!(errors.len(), 1, "{errors:?}");
    let rendered = errors[0].render_plain();
    assert!(rendered.contains(expected), "{rendered}");
}

#[test]
fn steps_that_contradict_rules_are_errors() {
    contradicts("[[step]]\ncall = \"orders/create_note\"\n", "`orders/create_note` is asked about by the rules");
    contradicts("[[step]]\ncall = \"orders/refund_order\"\n", "`orders/refund_order` is denied by the rules");
    contradicts("[[step]]\ncall = \"orders/cancel_order\"\n", "is left to the host's default");
    contradicts("[[step]]\ndeny = \"orders/lookup_order\"\n", "is not denied");
    contradicts("[[step]]\nask = \"orders/lookup_order\"\nanswer = \"deny\"\n", "is not asked about");
    contradicts(
        "[[step]]\ndeny = \"orders/refund_order\"\nby = \"schema\"\n",
        "would be stopped by a rule, not by its schema",
    );
    contradicts("[[step]]\nsay = \"done\"\n[[step]]\ncall = \"orders/lookup_order\"\n", "already ended");
    let twice = "[[step]]\ncall = \"orders/lookup_order\"\nwith = { order_id = \"A-1042\" }\n";
    contradicts(&twice.repeat(2), "two calls get the same reply");
}

/// Every scenario of the repository is free of semantic errors and applies to the reference host.
#[test]
fn the_built_in_scenarios_apply_to_the_reference_host() {
    let profile = profile("reference");
    let mut count = 0;
    for area in std::fs::read_dir(root().join("scenarios")).unwrap().flatten().filter(|e| e.path().is_dir()) {
        for file in std::fs::read_dir(area.path()).unwrap().flatten() {
            let path = file.path();
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            let area = area.file_name().to_string_lossy().into_owned();
            let scenarios = load(&read(&path), &area, &name, &Repository)
                .unwrap_or_else(|errors| panic!("{}", errors.iter().map(ToString::to_string).collect::<String>()));
            for scenario in scenarios {
                count += 1;
                let plans = plan(&Arc::new(scenario), &profile, None, &Select::default()).unwrap();
                let reasons: Vec<&String> = plans
                    .iter()
                    .filter_map(|planned| match planned {
                        Planned::NotApplicable { reason, .. } => Some(reason),
                        Planned::Run(_) => None,
                    })
                    .filter(|reason| !reason.contains("written for") && !reason.contains("no filter"))
                    .collect();
                assert!(reasons.is_empty(), "{area}/{name}: {reasons:?}");
            }
        }
    }
    assert!(count >= 40, "{count}");
}
