//! A machine that refuses: full disks, folders that cannot be written, no namespaces, few descriptors.

use std::process::{Command, Output};

use crate::stage::program;

/// A run of one scenario in one revision, with more arguments.
pub(super) fn lookup() -> Command {
    let mut command = Command::new(program());
    command.args(["run", "call/lookup", "--revision", "2025-11-25"]);
    command
}

pub(super) fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// That a command ends with this code and says these words.
#[track_caller]
pub(super) fn check(command: &mut Command, code: i32, words: &str) -> Output {
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(code), "{}", text(&output));
    assert!(text(&output).contains(words), "{}", text(&output));
    output
}

/// That nothing was run before the complaint.
#[track_caller]
fn refused(arguments: &[&str], words: &str) {
    let output = check(lookup().args(arguments), 2, words);
    assert!(output.stdout.is_empty(), "{}", text(&output));
}

#[test]
fn folders_that_cannot_be_written() {
    refused(&["--out", "/proc/x"], "cannot make /proc/x: ");
    refused(&["--out", "/dev/null/x"], "cannot make /dev/null/x: ");
    refused(&["--report", "json=/proc/x/y.json"], "cannot write /proc/x/y.json: ");
    refused(&["--report", "json=/proc/y.json"], "cannot write /proc/y.json: ");
    refused(&["--report", "json=/"], "cannot write /: ");
}

#[test]
fn no_room_for_sandboxes() {
    check(lookup().env("TMPDIR", "/proc"), 5, "/proc");
    check(lookup().env("TMPDIR", "/nowhere"), 5, "/nowhere");
}

#[test]
fn a_full_disk_for_reports_and_output() {
    check(lookup().args(["--report", "json=/dev/full"]), 2, "cannot write /dev/full: No space left");
    let full = || std::fs::File::create("/dev/full").unwrap();
    check(lookup().stdout(full()), 5, "cannot write to standard output: No space left");
    check(Command::new(program()).arg("list").arg("hosts").stdout(full()), 5, "No space left");
}

/// The other runs go on, and their traces are there.
#[test]
fn a_full_disk_for_a_trace() {
    let folder = tempfile::tempdir().unwrap();
    let traces = folder.path().join("reference/call");
    std::fs::create_dir_all(&traces).unwrap();
    let [full, other] = ["2025-11-25", "2026-07-28"].map(|r| traces.join(format!("lookup@{r}+stdio.jsonl")));
    std::os::unix::fs::symlink("/dev/full", full).unwrap();
    let mut run = Command::new(program());
    let output =
        check(run.args(["run", "call/lookup", "--out"]).arg(folder.path()), 5, "cannot write the trace: No space");
    assert!(text(&output).contains("1 pass, 1 error"), "{}", text(&output));
    assert!(hopcheck::trace::file::read("t", &std::fs::read(other).unwrap()).is_ok());
}

/// A machine without room for connections is not taken for a host that hangs.
#[test]
fn few_descriptors() {
    let program = program();
    for most in [8, 12, 16, 20, 24, 28, 32, 40] {
        let limited =
            format!("ulimit -n {most} && exec {} run call/lookup --revision 2025-11-25", program.display());
        let begun = std::time::Instant::now();
        let output = Command::new("/bin/sh").args(["-c", &limited]).output().unwrap();
        assert!(begun.elapsed() < super::PATIENCE, "{most}: {}", text(&output));
        let text = text(&output);
        let said = text.to_lowercase().contains("too many open files") || text.contains("os error 24");
        assert!(
            output.status.success() || (output.status.code() == Some(5) && said),
            "{most}: {:?} {text}",
            output.status
        );
    }
}

/// A filter that refuses new namespaces, as container runtimes have it.
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod namespaces {
    use std::io;
    use std::os::unix::process::CommandExt as _;

    use super::{Command, check, lookup};

    /// One instruction of the kernel's packet filter.
    #[repr(C)]
    #[derive(Clone, Copy)]
    struct Instruction {
        code: u16,
        yes: u8,
        no: u8,
        value: u32,
    }

    #[repr(C)]
    struct Program {
        len: u16,
        instructions: *const Instruction,
    }

    unsafe extern "C" {
        fn prctl(option: i32, ...) -> i32;
    }

    const LOAD: u16 = 0x20;
    const JUMP_EQUAL: u16 = 0x15;
    const JUMP_ANY_BIT: u16 = 0x45;
    const RETURN: u16 = 0x06;
    const ALLOW: u32 = 0x7fff_0000;
    const REFUSE: u32 = 0x0005_0000 | 1; // EPERM

    #[cfg(target_arch = "x86_64")]
    const NUMBERS: [u32; 2] = [272, 56];
    #[cfg(target_arch = "aarch64")]
    const NUMBERS: [u32; 2] = [97, 220];
    /// Every flag that makes a new namespace.
    const NEW: u32 = 0x7e02_0000;

    const fn step(code: u16, value: u32, yes: u8, no: u8) -> Instruction {
        Instruction { code, yes, no, value }
    }

    /// `unshare` is refused, and `clone` where it asks for a namespace.
    static FILTER: [Instruction; 7] = [
        step(LOAD, 0, 0, 0),
        step(JUMP_EQUAL, NUMBERS[0], 4, 0),
        step(JUMP_EQUAL, NUMBERS[1], 0, 2),
        step(LOAD, 16, 0, 0),
        step(JUMP_ANY_BIT, NEW, 1, 0),
        step(RETURN, ALLOW, 0, 0),
        step(RETURN, REFUSE, 0, 0),
    ];

    fn refuse_namespaces() -> io::Result<()> {
        let program = Program { len: 7, instructions: FILTER.as_ptr() };
        // SAFETY: the first call takes numbers only; the second reads `program` and the static filter, and keeps neither.
        let done =
            unsafe { prctl(38, 1_u64, 0_u64, 0_u64, 0_u64) == 0 && prctl(22, 2_u64, &raw const program) == 0 };
        if done { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    /// The run of a scenario where no namespace is to be had.
    fn confined() -> Command {
        let mut command = lookup();
        // SAFETY: between fork and exec there are two system calls and nothing that allocates.
        unsafe { command.pre_exec(refuse_namespaces) };
        command
    }

    #[test]
    fn without_namespaces_isolation_is_missed_and_told() {
        check(&mut confined(), 0, "1 pass");
        check(&mut confined(), 0, "hosts were not cut off from the network: Operation not permitted");
        check(confined().args(["--isolate", "auto"]), 0, "`--isolate yes` makes that an error");
        let output = check(confined().args(["--isolate", "no"]), 0, "1 pass");
        assert!(!super::text(&output).contains("cut off"), "{}", super::text(&output));
        check(confined().args(["--isolate", "yes"]), 5, "cannot isolate the network: Operation not permitted");
    }

    #[test]
    fn the_trace_says_which_isolation_held() {
        let folder = tempfile::tempdir().unwrap();
        check(confined().arg("--out").arg(folder.path()), 0, "1 pass");
        let trace = folder.path().join("reference/call/lookup@2025-11-25+stdio.jsonl");
        let text = std::fs::read_to_string(trace).unwrap();
        assert!(text.contains(r#""isolation":"none""#), "{text}");
    }
}
