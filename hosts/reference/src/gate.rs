//! The permission rules, and the order in which they are read: deny, ask, allow, default.

use crate::fault::{Fault, Lies};

/// What the rules say about one tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Decision {
    Deny,
    /// The default of the default: nobody has said anything, so somebody must be asked.
    #[default]
    Ask,
    Allow,
}

/// A rule: one tool, or all tools of a server, or all tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pattern {
    pub(crate) server: String,
    pub(crate) tool: String,
}

impl Pattern {
    /// Reads `SERVER/TOOL`, split at the first slash. A `*` stands for all names, and only when it is the whole part.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (server, tool) = text.split_once('/')?;
        Some(Self { server: server.to_owned(), tool: tool.to_owned() })
    }

    /// Whether the rule speaks of this tool, by configured server key and registered name.
    pub(crate) fn matches(&self, server: &str, tool: &str, lies: Lies) -> bool {
        let part = |pattern: &str, name: &str| {
            pattern == "*" || pattern == name || (lies.tell(Fault::MatchByPrefix) && name.starts_with(pattern))
        };
        part(&self.server, server) && part(&self.tool, tool)
    }
}

/// The rules of the config file.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rules {
    pub(crate) allow: Vec<Pattern>,
    pub(crate) ask: Vec<Pattern>,
    pub(crate) deny: Vec<Pattern>,
    pub(crate) default: Decision,
}

impl Rules {
    /// What the rules say about a tool. The most careful rule wins, so a narrow allow never opens what a wide deny has closed.
    pub(crate) fn decide(&self, server: &str, tool: &str, lies: Lies) -> Decision {
        let any = |patterns: &[Pattern]| patterns.iter().any(|pattern| pattern.matches(server, tool, lies));
        if lies.tell(Fault::AllowBeatsDeny) && any(&self.allow) {
            Decision::Allow
        } else if any(&self.deny) && !lies.tell(Fault::IgnoreDeny) {
            Decision::Deny
        } else if any(&self.ask) && !(lies.tell(Fault::AllowBeatsAsk) && any(&self.allow)) {
            Decision::Ask
        } else if any(&self.allow) {
            Decision::Allow
        } else {
            self.default
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(deny: &[&str], ask: &[&str], allow: &[&str]) -> Rules {
        let parse = |texts: &[&str]| texts.iter().map(|text| Pattern::parse(text).unwrap()).collect();
        Rules { deny: parse(deny), ask: parse(ask), allow: parse(allow), default: Decision::Ask }
    }

    #[track_caller]
    fn check(rules: &Rules, tool: &str, expected: Decision) {
        let (server, tool) = tool.split_once('/').unwrap();
        assert_eq!(rules.decide(server, tool, Lies::default()), expected, "{server}/{tool}");
    }

    #[test]
    fn deny_goes_before_ask_before_allow() {
        let both = rules(&["orders/refund"], &["orders/refund", "orders/note"], &["orders/*", "orders/note"]);
        check(&both, "orders/refund", Decision::Deny);
        check(&both, "orders/note", Decision::Ask);
        check(&both, "orders/lookup", Decision::Allow);
        check(&both, "other/lookup", Decision::Ask);
        check(&rules(&["*/*"], &[], &["orders/lookup"]), "orders/lookup", Decision::Deny);
    }

    #[test]
    fn a_rule_matches_whole_names_only() {
        let narrow = rules(&[], &[], &["orders/look", "a/b/c", "*/ping"]);
        check(&narrow, "orders/lookup", Decision::Ask);
        check(&narrow, "orders/Look", Decision::Ask);
        check(&narrow, "a/b/c", Decision::Allow);
        check(&narrow, "any/ping", Decision::Allow);
        check(&rules(&[], &[], &["orders/lo*"]), "orders/lookup", Decision::Ask);
    }

    #[test]
    fn the_default_speaks_last() {
        for default in [Decision::Deny, Decision::Ask, Decision::Allow] {
            let rules = Rules { default, ..Rules::default() };
            check(&rules, "orders/lookup", default);
        }
    }
}
