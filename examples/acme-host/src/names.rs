//! Names of tools, as the model sees them.

/// `mcp__SERVER__TOOL`, with what the model API does not take replaced.
pub(crate) fn published(server: &str, tool: &str) -> String {
    format!("mcp__{}__{}", plain(server), plain(tool))
}

fn plain(name: &str) -> String {
    name.chars()
        .map(|char| if char.is_ascii_alphanumeric() || char == '-' || char == '_' { char } else { '_' })
        .collect()
}
