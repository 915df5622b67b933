//! Revisions of the specification, their eras, and transports.

use std::fmt;

/// A published revision of the MCP specification, oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Revision {
    /// 2024-11-05.
    V2024_11_05,
    /// 2025-03-26.
    V2025_03_26,
    /// 2025-06-18.
    V2025_06_18,
    /// 2025-11-25, the newest with a handshake.
    V2025_11_25,
    /// 2026-07-28, the first without.
    V2026_07_28,
}

/// How a connection opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Era {
    /// With a handshake (`initialize`), up to 2025-11-25.
    Legacy,
    /// Stateless, `_meta` on each request, from 2026-07-28.
    Modern,
}

impl Revision {
    /// All revisions, oldest first.
    pub const ALL: [Self; 5] =
        [Self::V2024_11_05, Self::V2025_03_26, Self::V2025_06_18, Self::V2025_11_25, Self::V2026_07_28];

    /// The date string that names it on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    /// The revision of that name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|revision| revision.as_str() == text)
    }

    /// Its era.
    #[must_use]
    pub fn era(self) -> Era {
        if self >= Self::V2026_07_28 { Era::Modern } else { Era::Legacy }
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// How host and server exchange messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Transport {
    /// Standard input and output of a child process.
    Stdio,
    /// Streamable HTTP.
    Http,
    /// HTTP with SSE, of 2024-11-05.
    Sse,
    /// WebSocket, which no revision defines.
    Ws,
}

impl Transport {
    /// All transports.
    pub const ALL: [Self; 4] = [Self::Stdio, Self::Http, Self::Sse, Self::Ws];

    /// The word for it in files and on the command line.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Stdio => "stdio",
            Self::Http => "http",
            Self::Sse => "sse",
            Self::Ws => "ws",
        }
    }

    /// The transport of that name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|transport| transport.as_str() == text)
    }
}

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
