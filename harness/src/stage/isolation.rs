//! A network that has nothing but loopback.

use std::io;

/// Moves this single-threaded process into a network namespace of its own and brings its loopback up.
///
/// # Errors
/// The machine does not allow it. The process may then be in a network without loopback and is of no further use.
#[cfg(target_os = "linux")]
pub(super) fn enter() -> io::Result<()> {
    use super::sys::{Namespaces, unshare};
    let (uid, gid) = (rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw());
    if unshare(Namespaces::Network).is_err() {
        unshare(Namespaces::UserAndNetwork)?;
        // Files of the run must keep their owner, so the maps change nothing. Without privilege, groups can only be
        // mapped by a process that has given up setting them.
        std::fs::write("/proc/self/setgroups", "deny")?;
        std::fs::write("/proc/self/uid_map", format!("{uid} {uid} 1"))?;
        std::fs::write("/proc/self/gid_map", format!("{gid} {gid} 1"))?;
    }
    loopback_up()
}

/// Sends `RTM_NEWLINK` for interface 1, which in a new network is always loopback, and reads the answer.
#[cfg(target_os = "linux")]
fn loopback_up() -> io::Result<()> {
    use rustix::net::netlink::SocketAddrNetlink;
    use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};

    const RTM_NEWLINK: u16 = 16;
    const REQUEST_AND_ACK: u16 = 1 | 4;
    const LOOPBACK: u32 = 1;
    const UP: u32 = 1;

    let socket = rustix::net::socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None)?;
    let mut message = Vec::with_capacity(32);
    // struct nlmsghdr: length, type, flags, sequence, port.
    message.extend(32_u32.to_ne_bytes());
    message.extend(RTM_NEWLINK.to_ne_bytes());
    message.extend(REQUEST_AND_ACK.to_ne_bytes());
    message.extend(1_u32.to_ne_bytes());
    message.extend(0_u32.to_ne_bytes());
    // struct ifinfomsg: family and type (any), index, flags, changed flags.
    message.extend(0_u32.to_ne_bytes());
    for word in [LOOPBACK, UP, UP] {
        message.extend(word.to_ne_bytes());
    }
    rustix::net::sendto(&socket, &message, SendFlags::empty(), &SocketAddrNetlink::new(0, 0))?;

    let mut answer = [0; 256];
    let (_, got) = rustix::net::recv(&socket, &mut answer, RecvFlags::empty())?;
    // struct nlmsgerr after the header: zero, or a negated error number.
    let code = answer[..got].get(16..20).and_then(|bytes| bytes.try_into().ok()).map(i32::from_ne_bytes);
    match code {
        Some(0) => Ok(()),
        Some(error) => Err(io::Error::from_raw_os_error(-error)),
        None => Err(io::Error::new(io::ErrorKind::InvalidData, "the answer of netlink is too short")),
    }
}

/// There are no network namespaces here.
///
/// # Errors
/// Always.
#[cfg(not(target_os = "linux"))]
pub(super) fn enter() -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "network isolation needs Linux"))
}
