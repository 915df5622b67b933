//! What carries bytes: descriptors passed over Unix sockets, lines, queues, HTTP. Nothing here knows what they mean.

pub mod channel;
pub mod http;
pub mod lines;
pub mod relay;
pub mod signal;
pub mod sink;
pub mod source;
