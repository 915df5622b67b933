//! What a command took.

use std::io;
use std::mem::MaybeUninit;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What a command took, with all its descendants that were waited for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Usage {
    /// User and system time of all processes.
    pub(crate) cpu: Duration,
    /// Time on the wall.
    pub(crate) wall: Duration,
    /// The most memory that one of the processes held at a time, in bytes.
    pub(crate) peak: u64,
}

/// Runs a command to its end, with its output thrown away.
///
/// # Errors
/// It does not start, or it does not succeed.
pub(crate) fn run(command: &mut Command) -> io::Result<Usage> {
    let (before, start) = (children()?, Instant::now());
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn()?;
    let (status, own) = wait(child.id())?;
    let wall = start.elapsed();
    if status != 0 {
        return Err(io::Error::other(format!("{command:?} failed with wait status {status}")));
    }
    // The kernel counts kibibytes, and takes the largest of the process and what it waited for.
    Ok(Usage {
        cpu: cpu(&children()?) - cpu(&before),
        wall,
        peak: u64::try_from(own.ru_maxrss).unwrap_or(0) << 10,
    })
}

fn cpu(usage: &libc::rusage) -> Duration {
    let time = |time: libc::timeval| {
        Duration::from_secs(time.tv_sec.try_into().unwrap_or(0))
            + Duration::from_micros(time.tv_usec.try_into().unwrap_or(0))
    };
    time(usage.ru_utime) + time(usage.ru_stime)
}

/// What all children that were waited for took so far.
fn children() -> io::Result<libc::rusage> {
    let mut usage = MaybeUninit::uninit();
    // SAFETY: the pointer is to memory of the right size, and the call writes all of it where it succeeds.
    unsafe {
        match libc::getrusage(libc::RUSAGE_CHILDREN, usage.as_mut_ptr()) {
            0 => Ok(usage.assume_init()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

/// Waits for a child, and gives its wait status and what it took.
fn wait(pid: u32) -> io::Result<(i32, libc::rusage)> {
    let pid = libc::pid_t::try_from(pid).map_err(io::Error::other)?;
    let mut status = 0;
    let mut usage = MaybeUninit::uninit();
    loop {
        // SAFETY: both pointers are to memory of the right size, and the call writes all of it where it succeeds.
        unsafe {
            if libc::wait4(pid, &raw mut status, 0, usage.as_mut_ptr()) == pid {
                return Ok((status, usage.assume_init()));
            }
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}
