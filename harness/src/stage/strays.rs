//! The processes of a run that has no supervisor: those that name the run's folder in their arguments or environment.

use std::os::fd::BorrowedFd;
#[cfg(target_os = "linux")]
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use crate::json::Json;

/// Processes that are alive, each held by a descriptor that no other process can come to stand for.
#[derive(Debug, Default)]
pub(super) struct Strays {
    #[cfg(target_os = "linux")]
    found: Vec<Stray>,
}

#[cfg(target_os = "linux")]
#[derive(Debug)]
struct Stray {
    pid: rustix::process::Pid,
    command: String,
    fd: OwnedFd,
}

#[cfg(target_os = "linux")]
impl Strays {
    /// The processes that name this folder. Those that only wait to be taken in are left out: they name nothing any more.
    pub(super) fn of(folder: &Path) -> Self {
        use rustix::process::{PidfdFlags, getpid, pidfd_open};
        let (own, folder) = (getpid(), folder.as_os_str().as_encoded_bytes());
        let names = |pid| ["cmdline", "environ"].iter().any(|file| super::processes::mentions(pid, file, folder));
        let found = super::processes::all().filter(|pid| *pid != own && names(*pid)).filter_map(|pid| {
            let fd = pidfd_open(pid, PidfdFlags::empty()).ok()?;
            // Another process may have taken the number before it was held; this is the same one again.
            let command = super::processes::command(pid.as_raw_nonzero().get());
            names(pid).then_some(Stray { pid, command, fd })
        });
        Self { found: found.collect() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// What is reported of each.
    pub(super) fn facts(&self) -> impl Iterator<Item = Json> {
        self.found.iter().map(|stray| {
            let pid = Json::from(stray.pid.as_raw_nonzero().get());
            Json::object([("pid", pid), ("command", stray.command.as_str().into())])
        })
    }

    /// Readable when the process has ended.
    pub(super) fn fds(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.found.iter().map(|stray| stray.fd.as_fd())
    }

    pub(super) fn kill(&self) {
        for stray in &self.found {
            // It may just have ended.
            let _ = rustix::process::pidfd_send_signal(&stray.fd, rustix::process::Signal::KILL);
        }
    }
}

/// Elsewhere nobody can be asked. The relays of a run end with it, since hopcheck closes their sockets.
#[cfg(not(target_os = "linux"))]
impl Strays {
    pub(super) fn of(_folder: &Path) -> Self {
        Self::default()
    }

    pub(super) const fn is_empty(&self) -> bool {
        true
    }

    pub(super) fn facts(&self) -> impl Iterator<Item = Json> {
        std::iter::empty()
    }

    pub(super) fn fds(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        std::iter::empty()
    }

    pub(super) const fn kill(&self) {}
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn what_names_the_folder_is_found_and_killed() {
        let folder = tempfile::tempdir().unwrap();
        let start = |program: &str, args: &[&str], home: &Path| {
            let mut command = Command::new(program);
            command.args(args).env("HOME", home).stdin(Stdio::piped()).spawn().unwrap()
        };
        let socket = folder.path().join("s").display().to_string();
        let mut by_environment = start("/bin/sleep", &["600"], &folder.path().join("home"));
        let mut by_argument = start("/bin/sh", &["-c", "read line", &socket], Path::new("/"));
        let mut other = start("/bin/sleep", &["600"], Path::new("/"));

        let strays = Strays::of(folder.path());
        let mut pids: Vec<i64> = strays.facts().map(|facts| facts.get("pid").unwrap().as_i64().unwrap()).collect();
        pids.sort_unstable();
        let mut expected = [by_environment.id(), by_argument.id()].map(i64::from);
        expected.sort_unstable();
        assert_eq!(pids, expected);
        strays.kill();
        by_environment.wait().unwrap();
        by_argument.wait().unwrap();
        assert!(Strays::of(folder.path()).is_empty());
        assert!(other.try_wait().unwrap().is_none(), "a stranger was killed");
        other.kill().unwrap();
        other.wait().unwrap();
    }
}
