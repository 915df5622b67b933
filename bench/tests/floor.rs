//! The floor programs do what every scenario has to do, and notice when it is not done.

use std::process::{Command, Output, Stdio};

fn host(server: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_floor-host")).arg(server).stderr(Stdio::null()).output().expect("a program")
}

#[test]
fn four_round_trips_and_an_end() {
    assert!(host(env!("CARGO_BIN_EXE_floor-server")).status.success());
}

#[test]
fn a_server_that_does_not_answer_is_noticed() {
    // It ends without a word, or answers with what is no JSON.
    for server in ["/bin/true", "/bin/cat-that-is-not-there"] {
        assert!(!host(server).status.success(), "{server}");
    }
}
