//! Green, and red with each mistake that the host can make. The failure shows the line of the scenario, and the lanes with the
//! events that it rests on.

use crate::suite::{Copy, command, package, run};

#[test]
fn the_host_as_it_is_is_green() {
    let copy = Copy::new();
    copy.run(&["result/errors"]).says(0, &["6 passed; 0 failed"]);
    copy.run(&["numbers/"]).says(0, &["2 passed; 0 failed", "known: expect.call, hop.arguments"]);
}

/// Runs one test on a host that makes a mistake, and then on one that does not.
#[track_caller]
fn red(fault: &str, test: &str, words: &[&str]) {
    let copy = Copy::new();
    let arguments = [test, "--exact", "--nocapture"];
    copy.run(&arguments).says(0, &["1 passed; 0 failed"]);
    copy.edit("acme.toml", |text| text.replace("ACME_FAULT = \"\"", &format!("ACME_FAULT = \"{fault}\"")));
    let ended = copy.run(&arguments);
    ended.says(101, &["0 passed; 1 failed", &format!("---- {test} ----")]).says(101, words);
    // The record is kept, and is where the failure says.
    let trace = ended.stdout.lines().find_map(|line| line.trim_start().strip_prefix("trace: ")).unwrap();
    let text = std::fs::read_to_string(trace).unwrap();
    assert!(text.lines().count() > 5, "{trace}");
}

#[test]
fn a_wrong_name_on_the_wire_is_red() {
    red(
        "published-name-on-the-wire",
        "call/lookup@2025-11-25+stdio",
        &[
            "error: expect.call fail: the wire carries the name \"mcp__orders__lookup_order\"",
            "--> scenarios/call/lookup.toml:21:1",
            "21 | call = \"orders/lookup_order\"",
            "model  ->  tool_use     <use:1> mcp__orders__lookup_order",
            "orders ->  tools/call   <id:3>  mcp__orders__lookup_order",
        ],
    );
}

#[test]
fn an_error_that_the_model_is_not_told_of_is_red() {
    red(
        "forgets-errors",
        "result/errors[is-error-with-text]@2025-11-25+stdio",
        &[
            "error: expect.told fail: the error flag is false and not true",
            "error: hop.errors fail: the error of `results/error_text` was told without its flag",
            "--> scenarios/result/errors.toml:10:8",
            "10 | told = { is_error = true }",
            "results <-  result       <id:3>  isError=true \"the order is locked",
            "model   <-  tool_result  <use:1> ok \"the order is locked",
        ],
    );
}

#[test]
fn a_call_of_a_denied_tool_is_red() {
    red(
        "calls-denied",
        "permission/deny-tool@2025-11-25+stdio",
        &[
            "error: expect.deny fail",
            "--> scenarios/permission/deny-tool.toml:",
            "deny = \"orders/refund_order\"",
            "orders ->  tools/call",
        ],
    );
}

#[test]
fn a_host_that_is_not_there_is_red_and_says_where_it_was_looked_for() {
    let copy = Copy::new();
    let mut command = command(&package(), &["call/"]);
    run(command.env("HOPCHECK_BIN_ACME_HOST", "/nowhere/acme-host")).says(
        101,
        &["HOPCHECK_BIN_ACME_HOST names /nowhere/acme-host", "(told in full at the first test that failed)"],
    );
    copy.edit("acme.toml", |text| text.replace("acme-host (", "acme-hots ("));
    // No version is no error: the profile has nothing that depends on one.
    copy.run(&["call/lookup@2025-11-25+stdio", "--exact"]).says(0, &["1 passed"]);
}
