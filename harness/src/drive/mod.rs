//! How a host is started and talked to.
