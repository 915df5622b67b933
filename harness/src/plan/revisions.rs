//! Which revisions and transports a scenario is planned for on a host.

use super::Select;
use crate::host::profile::Profile;
use crate::revision::{Era, Revision, Transport};
use crate::scenario::ast::{Revisions, Scenario};

/// Transports that this version can play. The others are planned as soon as it can.
pub const PLAYED: &[Transport] = &[Transport::Stdio];

/// The pairs to plan, or why there is none.
pub(super) fn pairs(
    scenario: &Scenario,
    profile: &Profile,
    select: &Select,
) -> Result<Vec<(Revision, Transport)>, String> {
    let mut pairs = Vec::new();
    let mut reasons = Vec::new();
    for transport in Transport::ALL {
        let wanted = scenario.transports.is_empty() || scenario.transports.contains(&transport);
        let selected = select.transport.is_none_or(|one| one == transport);
        let claimed = profile.claims.wire.iter().find(|(claimed, _)| *claimed == transport);
        let (true, true, Some((_, revisions))) = (wanted, selected, claimed) else { continue };
        if !PLAYED.contains(&transport) {
            reasons.push(format!("this version does not play {transport} servers"));
            continue;
        }
        pairs.extend(choose(&scenario.revisions, revisions, select.revisions).into_iter().map(|r| (r, transport)));
    }
    if !pairs.is_empty() {
        return Ok(pairs);
    }
    reasons.push(format!("{} has no revision and transport that the scenario asks for", profile.name));
    Err(reasons.swap_remove(0))
}

fn choose(limit: &Revisions, host: &[Revision], select: SelectRevisions) -> Vec<Revision> {
    let mut admitted: Vec<Revision> = host.iter().copied().filter(|revision| limit.admits(*revision)).collect();
    admitted.sort_unstable();
    admitted.dedup();
    match (select, limit) {
        (SelectRevisions::One(revision), _) => admitted.retain(|candidate| *candidate == revision),
        (SelectRevisions::All, _) => {}
        // A list or `all` names a set; everything else is a limit around the default.
        (SelectRevisions::Default, Revisions::All | Revisions::List(_)) => {}
        (SelectRevisions::Default, _) => {
            let newest = |era| admitted.iter().copied().filter(|revision| revision.era() == era).max();
            let kept = [newest(Era::Legacy), newest(Era::Modern)];
            admitted.retain(|revision| kept.contains(&Some(*revision)));
        }
    }
    admitted
}

/// Which revisions the user asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SelectRevisions {
    /// What the scenario says; by default the newest of each era.
    #[default]
    Default,
    /// All that scenario and host admit.
    All,
    /// One.
    One(Revision),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(limit: Revisions, select: SelectRevisions, expected: &[&str]) {
        let chosen = choose(&limit, &Revision::ALL, select);
        assert_eq!(chosen.iter().map(|revision| revision.as_str()).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn limits_and_sets() {
        use Revision as R;
        use SelectRevisions as S;
        check(Revisions::Eras, S::Default, &["2025-11-25", "2026-07-28"]);
        check(Revisions::AtMost(R::V2025_06_18), S::Default, &["2025-06-18"]);
        check(Revisions::AtMost(R::V2025_06_18), S::All, &["2024-11-05", "2025-03-26", "2025-06-18"]);
        check(Revisions::AtLeast(R::V2025_11_25), S::Default, &["2025-11-25", "2026-07-28"]);
        check(Revisions::List(vec![R::V2024_11_05, R::V2025_03_26]), S::Default, &["2024-11-05", "2025-03-26"]);
        check(Revisions::Eras, S::One(R::V2024_11_05), &["2024-11-05"]);
        check(Revisions::AtLeast(R::V2025_06_18), S::One(R::V2024_11_05), &[]);
        check(Revisions::All, S::Default, &["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"]);
    }
}
