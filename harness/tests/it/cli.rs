//! The command line from outside: help, complaints and exit codes, word for word.
//!
//! `tests/cli/NAME.txt` holds what a command prints. `HOPCHECK_BLESS=1` rewrites the files; review the difference like a
//! snapshot.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fs};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli")
}

/// Runs the program with nothing of the environment but what it needs to start hosts.
fn hopcheck(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_hopcheck"))
        .args(args)
        .current_dir(folder())
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .output()
        .unwrap()
}

#[track_caller]
fn check(name: &str, args: &[&str]) {
    let output = hopcheck(args);
    let mut actual = format!("$ hopcheck {}\n", args.join(" "));
    for (stream, bytes) in [("stdout", &output.stdout), ("stderr", &output.stderr)] {
        let text = String::from_utf8(bytes.clone()).unwrap();
        if !text.is_empty() {
            actual.push_str(&format!("-- {stream}\n{text}"));
        }
    }
    actual.push_str(&format!("-- exit {}\n", output.status.code().unwrap()));
    let path = folder().join(format!("{name}.txt"));
    if env::var_os("HOPCHECK_BLESS").is_some() {
        fs::write(&path, actual).unwrap();
        return;
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert!(expected == actual, "{} differs:\n{actual}", path.display());
}

#[test]
fn help_says_what_there_is() {
    check("help", &["--help"]);
    for command in
        ["run", "record", "judge", "self-test", "serve", "show", "list", "explain", "check", "baseline", "schema"]
    {
        check(&format!("help-{command}"), &[command, "--help"]);
    }
}

#[test]
fn wrong_names_are_complained_about() {
    check("unknown-host", &["run", "--host", "no-such-host"]);
    check("unknown-host-close", &["run", "--host", "refrence"]);
    check("unknown-variant", &["run", "--host", "reference:response"]);
    check("unknown-scenario", &["run", "call/lokup"]);
    check("misspelt-host", &["run", "misspelt-host.toml"]);
    check("misspelt-host-checked", &["check", "misspelt-host.toml"]);
    check("unknown-fault", &["run", "--fault", "prefixed-wire-nam"]);
    check("fault-elsewhere", &["run", "--host", "null", "--fault", "prefixed-wire-name"]);
    check("unknown-requirement", &["explain", "hop.wirename"]);
    check("unknown-script", &["serve", "order"]);
    check("unknown-revision", &["run", "--revision", "2025-01-01"]);
    check("unknown-schema", &["schema", "drivers"]);
    check("report-of-later", &["run", "--report", "junit=x.xml"]);
    check("report-without-file", &["run", "--report", "json"]);
    check("no-trace", &["judge", "bad.toml"]);
}

#[test]
fn a_known_host_that_is_not_there_is_exit_4() {
    check("not-installed", &["run", "--host", "codex"]);
    check("library", &["run", "--host", "./library.toml"]);
    // A wrong name is graver than a missing program.
    assert_eq!(hopcheck(&["run", "--host", "codex", "--host", "no-such-host"]).status.code(), Some(2));
}

/// Its reports are written all the same, and those of the other hosts with them.
#[test]
fn a_host_that_cannot_be_started_takes_no_report_along() {
    let report = tempfile::NamedTempFile::new().unwrap();
    let argument = format!("json={}", report.path().display());
    let scenario = ["run", "call/lookup", "--revision", "2025-11-25"];
    let hosts = ["--host", "reference", "--host", "unstartable.toml", "--report", &argument];
    let status = Command::new(env!("CARGO_BIN_EXE_hopcheck"))
        .args(scenario.into_iter().chain(hosts))
        .current_dir(folder())
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        // A file that is no program.
        .env("HOPCHECK_UNSTARTABLE", folder().join("unstartable.toml"))
        .output()
        .unwrap()
        .status;
    let text = fs::read_to_string(report.path()).unwrap();
    assert_eq!(status.code(), Some(4), "{text}");
    assert!(text.contains(r#""outcome":"pass""#), "{text}");
    assert!(text.contains(r#""outcome":"error""#) && text.contains("cannot start"), "{text}");
}

/// A lie that breaks only what never fails a run is caught all the same.
#[test]
fn a_run_with_a_fault_says_by_what_it_was_caught() {
    let run = |scenario: &str| hopcheck(&["run", scenario, "--fault", "reverse-blocks", "--quiet"]);
    let caught = run("result/shapes");
    let text = String::from_utf8(caught.stdout).unwrap();
    assert_eq!(caught.status.code(), Some(1), "{text}");
    assert!(text.contains("fault reverse-blocks: caught by tools.result.multiple-blocks-order"), "{text}");
    let text = String::from_utf8(run("connect/by-itself").stdout).unwrap();
    assert!(text.contains("fault reverse-blocks: not caught here"), "{text}");
}

#[test]
fn a_trace_is_shown_by_hop_and_by_path() {
    let trace = "../../../hosts/traces/codex/result/errors[is-error-with-text]@2025-06-18+stdio.jsonl";
    check("show-hop", &["show", trace, "--hop", "1"]);
    check("show-hop-path", &["show", trace, "--hop", "1", "--path", "$.params.arguments"]);
    check("show-path", &["show", trace, "--path", "$.params.name"]);
    check("show-no-hop", &["show", trace, "--hop", "9"]);
    check("show-bad-path", &["show", trace, "--path", "params.name"]);
    check("show-no-trace", &["show", "bad.toml"]);
}

#[test]
fn every_mistake_of_a_file_is_shown_at_once() {
    check("bad-file", &["check", "bad.toml", "no-such-file.toml"]);
}

#[test]
fn lists_are_json_for_programs() {
    check("list-features", &["list", "features"]);
    for (what, key) in [("hosts", "name"), ("scenarios", "id"), ("requirements", "id"), ("faults", "name")] {
        let output = hopcheck(&["list", what, "--format", "json"]);
        assert!(output.status.success(), "{what}");
        let list = hopcheck::json::Json::parse(&output.stdout).unwrap();
        assert!(!list.items().is_empty(), "{what}");
        assert!(list.items().iter().all(|item| item.str(key).is_some()), "{what}");
    }
}

#[test]
fn a_schema_is_printed_as_it_is_committed() {
    for schema in hopcheck::schema::Schema::ALL {
        let output = hopcheck(&["schema", schema.as_str()]);
        assert!(output.status.success(), "{schema}");
        let committed = folder().join(format!("../../schemas/{schema}.json"));
        assert!(output.stdout == fs::read(committed).unwrap(), "{schema}");
    }
}

#[test]
fn a_server_speaks_to_any_client() {
    use std::io::Write as _;
    use std::process::Stdio;

    let mut child = Command::new(env!("CARGO_BIN_EXE_hopcheck"))
        .args(["serve", "orders", "--revision", "2025-11-25"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
    writeln!(stdin, "{hello}").unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains(r#""protocolVersion":"2025-11-25""#), "{text}");
}
