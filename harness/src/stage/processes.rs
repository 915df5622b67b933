//! The processes of a run, as its supervisor finds them, and as hopcheck finds them where the supervisor is lost.

use std::time::Duration;

use rustix::process::Pid;

/// A process of a run.
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
        let Some(stat) = Stat::parse(&stat) else { continue };
        parents.insert(pid, stat.parent);
        if !stat.runs {
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

/// What `/proc/PID/stat` tells.
#[cfg(target_os = "linux")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stat {
    parent: i32,
    /// Whether it can still do anything: a process whose main thread has ended looks like a zombie, and others go on.
    runs: bool,
}

#[cfg(target_os = "linux")]
impl Stat {
    /// Fields 3, 4 and 20, behind a name in parentheses that may hold anything.
    fn parse(stat: &[u8]) -> Option<Self> {
        let stat = String::from_utf8_lossy(stat);
        let (_, rest) = stat.rsplit_once(')')?;
        let fields: Vec<&str> = rest.split_whitespace().collect();
        let [state, parent, ..] = fields[..] else { return None };
        let threads = fields.get(17).and_then(|threads| threads.parse::<u32>().ok()).unwrap_or(1);
        Some(Self { parent: parent.parse().ok()?, runs: !matches!(state, "Z" | "X") || threads > 1 })
    }
}

/// The first word of the command line, without its folders.
#[cfg(target_os = "linux")]
pub(super) fn command(pid: i32) -> String {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let word = line.split(|&byte| byte == 0).next().unwrap_or_default();
    let word = String::from_utf8_lossy(word);
    word.rsplit('/').next().unwrap_or_default().to_owned()
}

/// What all processes of a run carry, wherever they are in the tree: a resource limit, which every child inherits, also
/// over `exec`, in a new session and in an empty environment. Linux has not used the number of file locks since 2.4.24,
/// so it can hold any number and limits nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark(pub(super) u64);

#[cfg(target_os = "linux")]
impl Mark {
    /// Puts a mark that nobody else has on this process and all that it will start. The hard limit stays, so that a
    /// hopcheck inside can do the same.
    pub(super) fn put_on_self() -> std::io::Result<Self> {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        use std::io::Read as _;
        let mut random = [0; 8];
        std::fs::File::open("/dev/urandom")?.read_exact(&mut random)?;
        let Rlimit { maximum, .. } = getrlimit(Resource::Locks);
        let most = maximum.unwrap_or(u64::MAX).clamp(1, i64::MAX.unsigned_abs());
        let number = u64::from_ne_bytes(random) % most;
        setrlimit(Resource::Locks, Rlimit { current: Some(number), maximum })?;
        Ok(Self(number))
    }

    fn is_on(self, pid: Pid) -> bool {
        let limits = std::fs::read_to_string(format!("/proc/{}/limits", pid.as_raw_nonzero())).unwrap_or_default();
        let soft = limits.lines().find_map(|line| line.strip_prefix("Max file locks")?.split_whitespace().next());
        soft.is_some_and(|soft| soft.parse() == Ok(self.0))
    }
}

/// Kills all processes that carry a mark, and waits until they are gone. What it could not end in that time is left.
#[cfg(target_os = "linux")]
pub(super) fn kill_marked(mark: Mark, patience: Duration) -> Left {
    use std::time::Instant;

    use rustix::event::{PollFd, PollFlags};
    use rustix::process::{PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

    let until = Instant::now() + patience;
    loop {
        // A descriptor holds on to the process: another one with the same id, which came since, does not carry the mark.
        let alive = all().filter(|pid| !is_zombie(pid.as_raw_nonzero().get()));
        let opened = alive.filter_map(|pid| Some((pid, pidfd_open(pid, PidfdFlags::empty()).ok()?)));
        let found: Vec<_> = opened.filter(|(pid, _)| mark.is_on(*pid)).map(|(_, fd)| fd).collect();
        if found.is_empty() {
            return Left::Nothing;
        }
        for process in &found {
            // It may just have ended.
            let _ = pidfd_send_signal(process, Signal::KILL);
        }
        for process in &found {
            let ended = super::watch::poll_until(&mut [PollFd::new(process, PollFlags::IN)], Some(until));
            if !matches!(ended, Ok(1..)) {
                return Left::Some;
            }
        }
    }
}

/// Whether processes of a run are left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Left {
    Nothing,
    Some,
}

#[cfg(target_os = "linux")]
fn is_zombie(pid: i32) -> bool {
    // A process that ends meanwhile has no file any more.
    std::fs::read(format!("/proc/{pid}/stat"))
        .ok()
        .and_then(|stat| Stat::parse(&stat))
        .is_none_or(|stat| !stat.runs)
}

#[cfg(not(target_os = "linux"))]
impl Mark {
    /// Nobody could read it.
    pub(super) fn put_on_self() -> std::io::Result<Self> {
        Err(std::io::ErrorKind::Unsupported.into())
    }
}

/// There are no marks here.
#[cfg(not(target_os = "linux"))]
pub(super) fn kill_marked(_mark: Mark, _patience: Duration) -> Left {
    Left::Nothing
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
        let stat = |text: &str| Stat::parse(text.as_bytes());
        assert_eq!(stat("12 (a) b) S 7 12 12 0"), Some(Stat { parent: 7, runs: true }));
        assert_eq!(stat("12 a"), None);
        assert_eq!(
            stat("12 (a) Z 7 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 1 0"),
            Some(Stat { parent: 7, runs: false })
        );
        let others_go_on = "12 (a) Z 7 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 2 0";
        assert_eq!(stat(others_go_on), Some(Stat { parent: 7, runs: true }));
    }

    #[test]
    fn a_mark_outlives_an_empty_environment_and_a_new_session() {
        use std::process::Stdio;
        // A marked process, which is this program again, leaves a daemon behind.
        if std::env::var_os("HOPCHECK_MARKED").is_some() {
            let mark = Mark::put_on_self().unwrap();
            let mut daemon = std::process::Command::new("setsid");
            daemon.args(["/bin/sleep", "600"]).env_clear().stdout(Stdio::null()).stderr(Stdio::null());
            println!("mark {} {}", mark.0, daemon.spawn().unwrap().id());
            return;
        }
        let marked = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "--nocapture"])
            .arg("stage::processes::tests::a_mark_outlives_an_empty_environment_and_a_new_session")
            .env("HOPCHECK_MARKED", "yes")
            .output()
            .unwrap();
        let text = String::from_utf8(marked.stdout).unwrap();
        let (_, line) = text.split_once("mark ").unwrap();
        let numbers: Vec<u64> = line.split_whitespace().take(2).map(|word| word.parse().unwrap()).collect();
        assert_eq!(kill_marked(Mark(numbers[0] ^ 1), Duration::from_secs(30)), Left::Nothing);
        let daemon = i32::try_from(numbers[1]).unwrap();
        assert!(!is_zombie(daemon));
        assert_eq!(kill_marked(Mark(numbers[0]), Duration::from_secs(30)), Left::Nothing);
        assert!(is_zombie(daemon));
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
