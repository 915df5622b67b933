//! The unsafe calls of the whole crate.

use std::io;

/// What a process is moved into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Namespaces {
    /// A network of its own; needs privilege.
    Network,
    /// A network of its own inside a user namespace of its own; needs none, where the machine allows it.
    UserAndNetwork,
}

/// Moves this process into new namespaces.
///
/// # Errors
/// The machine does not allow it, or the process has more than one thread.
#[expect(unsafe_code, reason = "rustix has no safe form of `unshare`")]
pub(super) fn unshare(namespaces: Namespaces) -> io::Result<()> {
    use rustix::thread::UnshareFlags;
    let flags = match namespaces {
        Namespaces::Network => UnshareFlags::NEWNET,
        Namespaces::UserAndNetwork => UnshareFlags::NEWNET | UnshareFlags::NEWUSER,
    };
    // SAFETY: the only unsound flag is `FILES`, which is not among these: no descriptor table is unshared.
    unsafe { rustix::thread::unshare_unsafe(flags) }?;
    Ok(())
}
