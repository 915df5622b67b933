//! The processes of a run, as its supervisor finds them.

use rustix::process::Pid;

/// A process below this one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Descendant {
    /// Its id.
    pub(super) pid: Pid,
    /// The program that it runs, as it names itself.
    pub(super) command: String,
}

/// All processes below `root` that still run. Zombies are left out: they only wait to be taken in.
#[cfg(target_os = "linux")]
#[must_use]
pub(super) fn below(root: Pid) -> Vec<Descendant> {
    use std::collections::{HashMap, HashSet};

    let Ok(folder) = std::fs::read_dir("/proc") else { return Vec::new() };
    let mut parents = HashMap::new();
    let mut zombies = HashSet::new();
    for entry in folder.flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else { continue };
        // A process that ends meanwhile has no file any more.
        let Ok(stat) = std::fs::read(entry.path().join("stat")) else { continue };
        let Some((state, parent)) = state_and_parent(&String::from_utf8_lossy(&stat)) else { continue };
        parents.insert(pid, parent);
        if state == 'Z' || state == 'X' {
            zombies.insert(pid);
        }
    }
    let root = root.as_raw_nonzero().get();
    let is_below = |mut pid: i32| {
        // A tree that changes while it is read could show a loop; no tree is this deep.
        for _ in 0..1000 {
            match parents.get(&pid) {
                Some(&parent) if parent == root => return true,
                Some(&parent) => pid = parent,
                None => return false,
            }
        }
        false
    };
    let mut found: Vec<Descendant> = parents
        .keys()
        .filter(|pid| !zombies.contains(pid) && is_below(**pid))
        .filter_map(|&pid| Some(Descendant { pid: Pid::from_raw(pid)?, command: command(pid) }))
        .collect();
    found.sort_by_key(|process| process.pid.as_raw_nonzero());
    found
}

/// All processes of this machine that can be seen.
#[cfg(target_os = "linux")]
pub(super) fn all() -> impl Iterator<Item = Pid> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?))
}

/// Whether a file of a process, such as its `cmdline`, has these bytes in it.
#[cfg(target_os = "linux")]
pub(super) fn mentions(pid: Pid, file: &str, bytes: &[u8]) -> bool {
    let path = format!("/proc/{}/{file}", pid.as_raw_nonzero());
    std::fs::read(path).is_ok_and(|text| text.windows(bytes.len()).any(|window| window == bytes))
}

/// Fields 3 and 4 of `/proc/PID/stat`, behind a name in parentheses that may hold anything.
#[cfg(target_os = "linux")]
fn state_and_parent(stat: &str) -> Option<(char, i32)> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_whitespace();
    Some((fields.next()?.chars().next()?, fields.next()?.parse().ok()?))
}

/// The first word of the command line, without its folders.
#[cfg(target_os = "linux")]
pub(super) fn command(pid: i32) -> String {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let word = line.split(|&byte| byte == 0).next().unwrap_or_default();
    let word = String::from_utf8_lossy(word);
    word.rsplit('/').next().unwrap_or_default().to_owned()
}

/// Without a subreaper nobody knows them; the process group has to do.
#[cfg(not(target_os = "linux"))]
#[must_use]
pub(super) fn below(_root: Pid) -> Vec<Descendant> {
    Vec::new()
}

/// All processes below this one that still run.
#[must_use]
pub(super) fn descendants() -> Vec<Descendant> {
    below(rustix::process::getpid())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_parentheses_does_not_shift_the_fields() {
        assert_eq!(state_and_parent("12 (a) b) S 7 12 12 0"), Some(('S', 7)));
        assert_eq!(state_and_parent("12 a"), None);
    }

    #[test]
    fn a_child_is_found() {
        let mut child = std::process::Command::new("/bin/sleep").arg("60").spawn().unwrap();
        let found = descendants();
        child.kill().unwrap();
        let pid = Pid::from_child(&child);
        child.wait().unwrap();
        assert!(found.iter().any(|process| process.pid == pid), "{found:?}");
    }
}
