//! A user without privileges. As root, the tests become one; otherwise they are run as they are.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Command;

use super::machine::{check, text};
use crate::stage::program;

/// Nobody.
const USER: u32 = 65534;

/// What such a user can reach: a copy of the program, and a folder of its own.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let open = |mode| std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(folder.path(), open(0o755)).unwrap();
        std::fs::copy(program(), folder.path().join("hopcheck")).unwrap();
        for (name, mode) in [("own", 0o777), ("locked", 0o555)] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
            std::fs::set_permissions(folder.path().join(name), open(mode)).unwrap();
        }
        Self { folder }
    }

    fn own(&self) -> PathBuf {
        self.folder.path().join("own")
    }

    fn hopcheck(&self) -> Command {
        let mut command = Command::new(self.folder.path().join("hopcheck"));
        command.current_dir(self.own()).env_clear().env("PATH", "/usr/bin:/bin").env("TMPDIR", self.own());
        if rustix::process::getuid().is_root() {
            command.uid(USER).gid(USER);
        }
        command
    }
}

#[test]
fn a_whole_area_and_nothing_left() {
    let place = Place::new();
    check(place.hopcheck().args(["run", "process", "permission", "call", "--strict"]), 0, "runs: ");
    assert_eq!(std::fs::read_dir(place.own()).unwrap().count(), 0);
}

#[test]
fn folders_of_others() {
    let place = Place::new();
    let locked = place.folder.path().join("locked");
    let run = || {
        let mut run = place.hopcheck();
        run.args(["run", "call/lookup", "--revision", "2025-11-25"]);
        run
    };
    let output = check(run().arg("--out").arg(locked.join("traces")), 2, "Permission denied");
    assert!(output.stdout.is_empty(), "{}", text(&output));
    let report = format!("json={}", locked.join("report.json").display());
    let output = check(run().args(["--report", &report]), 2, "Permission denied");
    assert!(output.stdout.is_empty(), "{}", text(&output));
    check(run().env("TMPDIR", &locked), 5, "Permission denied");
}
