//! Accepted transcripts of hosts, one file per scenario, reviewed with `cargo insta review`.
