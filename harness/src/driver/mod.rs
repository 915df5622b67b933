//! Hosts that are driven call by call: libraries, and programs that ask no model endpoint.
//!
//! An agent framework has no process and no model endpoint of its own, so hopcheck cannot play its model over HTTP. It
//! is driven instead: [`Host::tools`] says what a model would be offered, [`Host::call`] carries out a tool use, and
//! what comes back is what a model would be told. From these hopcheck makes the model lane of the trace by itself
//! (the *synthetic* model lane), and judges the hops by the same checks as those of any other host. The servers are
//! real processes, as always, and the wires between them and the host are recorded byte by byte.
//!
//! A [`Host`] is run in one of two ways, both of which speak the protocol of [`protocol`]:
//!
//! * inside the test program, on a thread of its own, as a [`Library`];
//! * as a program of its own, whose `main` calls [`serve()`] with its standard streams. A program in another language
//!   speaks the protocol itself.

mod host;
mod library;
pub mod protocol;
mod result;
mod serve;
mod setup;

pub use host::{Host, HostError, OfferedTool, Question, ToolUse, User};
pub use library::Library;
pub use result::{RefusedBy, Told};
pub use serve::{ServeError, serve};
pub use setup::{Permissions, ServerSetup, Setup};

pub use crate::scenario::ast::{Answer, ToolPattern};
