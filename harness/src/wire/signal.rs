//! Signals by name.

use rustix::process::Signal;

/// All that scripts and traces name.
const NAMES: [(&str, Signal); 12] = [
    ("SIGHUP", Signal::HUP),
    ("SIGINT", Signal::INT),
    ("SIGQUIT", Signal::QUIT),
    ("SIGABRT", Signal::ABORT),
    ("SIGKILL", Signal::KILL),
    ("SIGUSR1", Signal::USR1),
    ("SIGSEGV", Signal::SEGV),
    ("SIGUSR2", Signal::USR2),
    ("SIGPIPE", Signal::PIPE),
    ("SIGALRM", Signal::ALARM),
    ("SIGTERM", Signal::TERM),
    ("SIGBUS", Signal::BUS),
];

/// Further ones, by which a host may end or be ended, and which no script sends.
const OTHERS: [(&str, Signal); 9] = [
    ("SIGILL", Signal::ILL),
    ("SIGTRAP", Signal::TRAP),
    ("SIGFPE", Signal::FPE),
    ("SIGSTOP", Signal::STOP),
    ("SIGTSTP", Signal::TSTP),
    ("SIGTTIN", Signal::TTIN),
    ("SIGTTOU", Signal::TTOU),
    ("SIGXCPU", Signal::XCPU),
    ("SIGXFSZ", Signal::XFSZ),
];

/// The signal of a name such as `SIGTERM`.
#[must_use]
pub fn signal_named(name: &str) -> Option<Signal> {
    NAMES.iter().find(|(known, _)| *known == name).map(|&(_, signal)| signal)
}

/// The name of a signal by its number.
#[must_use]
pub fn signal_name(number: i32) -> String {
    let known = NAMES.iter().chain(&OTHERS).find(|(_, known)| known.as_raw() == number);
    known.map_or_else(|| format!("signal {number}"), |(name, _)| (*name).to_owned())
}
