//! The same host as a program of its own, which speaks the driver protocol over its standard streams.

use std::env;
use std::sync::Arc;

use hopcheck::check::finding::Outcome;
use hopcheck::driver::serve;
use hopcheck::plan::{Plan, Planned};
use hopcheck::stage::{self, StageOptions};
use hopcheck::trace::event::Kind;

use super::{Judged, Lie, PROFILE, Witness, header, impatient, judge, options, plans_with};

/// No test of its own: the entry of this program when it plays a driver.
#[test]
fn host() {
    let Ok(lie) = env::var("HOPCHECK_DRIVER") else { return };
    let lie = match lie.as_str() {
        "none" => Lie::None,
        "published-on-the-wire" => Lie::PublishedOnTheWire,
        "hangs" => Lie::Hangs,
        "breaks" => Lie::Breaks,
        other => panic!("no such lie: {other}"),
    };
    // What else a program prints is output: here a line, and before it what the test program says of itself.
    println!("\nthe driver is up");
    serve(&mut Witness::new(lie), std::io::stdin().lock(), std::io::stdout()).unwrap();
    std::process::exit(0);
}

/// The profile of the witness as a program.
fn profile(lie: &str) -> String {
    let drive = format!(
        r#"kind = "driver"
argv = ["{{{{ bin }}}}", "--exact", "library_host::driver::host", "--nocapture"]
env = {{ HOME = "{{{{ home }}}}", PATH = "{{{{ path }}}}", HOPCHECK_DRIVER = "{lie}" }}"#
    );
    let bin = "title = \"Witness\"\nbin = { names = [\"witness\"] }\nversion = { args = [], pattern = '(.*)' }";
    PROFILE.replace(r#"kind = "in-process""#, &drive).replace("title = \"Witness library\"", bin)
}

fn plan_of(id: &str, lie: &str) -> Plan {
    let file = format!("scenarios/{}.toml", id.split('[').next().unwrap());
    let source = hopcheck::library::scenarios().iter().find(|source| source.name == file).unwrap();
    let mut plans = plans_with(&profile(lie), &Arc::clone(source)).into_iter();
    match plans.find(|planned| planned.key().scenario == id) {
        Some(Planned::Run(plan)) => *plan,
        other => panic!("{id}: {other:?}"),
    }
}

fn run(id: &str, lie: &str, options: &StageOptions) -> Judged {
    let plan = plan_of(id, lie);
    let bin = [env::current_exe().unwrap().to_string_lossy().into_owned()];
    let trace = stage::run(&plan, header(&plan), &bin, options, None).unwrap().trace;
    judge(&plan, trace)
}

#[test]
fn an_honest_driver_passes() {
    let scenarios = [
        "call/lookup",
        "args/malformed[truncated]",
        "order/together[two-servers]",
        "permission/ask[allowed]",
        "permission/deny-tool",
    ];
    for id in scenarios {
        let judged = run(id, "none", &options());
        assert_eq!(judged.outcome, Outcome::Pass, "{id}: {}", judged.failures());
        assert_eq!(judged.verdict("trait.model-lane"), Some("trait"));
        assert_eq!(judged.verdict("trait.host-process"), None, "a program has a process");
    }
}

#[test]
fn a_driver_is_stopped_by_a_signal() {
    let judged = run("process/stopped[sigkill]", "none", &options());
    assert_eq!(judged.outcome, Outcome::Pass, "{}", judged.failures());
}

#[test]
fn what_a_driver_prints_beside_the_protocol_is_output() {
    let judged = run("call/lookup", "none", &options());
    let is_it = |event: &&hopcheck::trace::event::Event| event.bytes() == Some(b"the driver is up");
    let output: Vec<_> = judged.trace.events.iter().filter(|event| event.kind == Kind::HostOut).collect();
    assert!(output.iter().any(is_it), "{output:?}");
    let protocol = output.iter().filter(|event| event.json().is_some_and(|json| json.get("id").is_some()));
    assert_eq!(protocol.count(), 0, "the protocol is in the lanes, not in the output");
}

#[test]
fn a_lying_driver_is_caught() {
    let judged = run("call/lookup", "published-on-the-wire", &options());
    assert_eq!(judged.verdict("hop.wire-name"), Some("fail"), "{}", judged.failures());
}

#[test]
fn a_hanging_driver_is_killed() {
    let judged = run("call/lookup", "hangs", &impatient());
    assert_eq!(judged.verdict("expect.run-ends"), Some("fail"), "{}", judged.failures());
    let exit = judged.trace.events.iter().find(|event| event.kind == Kind::HostExit).unwrap();
    assert_eq!(exit.data.str("signal"), Some("SIGKILL"));
}

#[test]
fn a_broken_driver_is_an_error() {
    let judged = run("call/lookup", "breaks", &options());
    assert_eq!(judged.outcome, Outcome::Error, "{}", judged.failures());
    assert!(judged.reason.unwrap().ends_with("it failed at `call`: the witness was told to break"));
}
