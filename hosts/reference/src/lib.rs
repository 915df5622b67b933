//! A small correct MCP host.
