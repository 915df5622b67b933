//! Baselines: text to [`Baseline`].

use std::sync::Arc;

use super::keys::BASELINE;
use super::{Baseline, Known, KnownVerdict};
use crate::check::registry;
use crate::decode::{Reporter, Value, shape, suggest, syntax};
use crate::diagnostic::{Diagnostic, Source, Spanned};
use crate::host::decode::VersionReq;
use crate::requirement;
use crate::revision::{Revision, Transport};

/// Reads a baseline.
///
/// # Errors
/// Everything that is wrong with the file.
pub fn parse(source: &Arc<Source>) -> Result<Baseline, Vec<Diagnostic>> {
    let mut out = Reporter::new(source);
    let root = syntax::read(source, &mut out);
    shape::check(&root, &BASELINE, &mut out);
    let known: Vec<Known> = root.list("known").iter().filter_map(|entry| known(entry, &mut out)).collect();
    twice(&known, &mut out);
    let baseline = Baseline {
        source: Arc::clone(source),
        host: root.get("host").and_then(Value::spanned_str).unwrap_or_else(|| Spanned::new(String::new(), 0..0)),
        versions: VersionReq::read(&root, "versions", &mut out),
        known,
    };
    out.finish(baseline)
}

fn known(entry: &Value, out: &mut Reporter) -> Option<Known> {
    let versions = VersionReq::read(entry, "versions", out);
    let requirements = entry.get("requirement").map(Value::spanned_strings).unwrap_or_default();
    for requirement in requirements.iter().filter(|requirement| !requirement.value.is_empty()) {
        judged(requirement, out);
    }
    if entry.get("requirement").is_some_and(|value| value.type_name() == "an array" && value.items().is_empty()) {
        out.error(entry.span.clone(), "a known failure of no requirement").label("`requirement` is empty");
    }
    let words = |key: &str| entry.get(key).map_or(&[][..], Value::one_or_many);
    Some(Known {
        scenario: entry.get("scenario")?.spanned_str()?,
        requirements,
        verdict: match entry.get("verdict").and_then(Value::as_str) {
            Some(word) if word == KnownVerdict::Untestable.as_str() => KnownVerdict::Untestable,
            _ => KnownVerdict::Fail,
        },
        revisions: words("revision").iter().filter_map(|word| Revision::parse(word.as_str()?)).collect(),
        transports: words("transport").iter().filter_map(|word| Transport::parse(word.as_str()?)).collect(),
        versions,
        reason: entry.string("reason")?,
        span: entry.span.clone(),
    })
}

/// Only what is judged can fail.
fn judged(requirement: &Spanned<String>, out: &mut Reporter) {
    let id = requirement.value.as_str();
    if registry::find(id).is_some() {
        return;
    }
    if requirement::is_known(id) {
        out.error(requirement.span.clone(), format!("no check judges `{id}`"))
            .label("it cannot fail")
            .help("remove it; `hopcheck list requirements` says which are judged");
        return;
    }
    let wording = out
        .error(requirement.span.clone(), format!("unknown requirement `{id}`"))
        .label("neither of the specification nor of hopcheck");
    match suggest(id, registry::REQUIREMENTS.iter().map(|known| known.id)) {
        Some(close) => wording.help(format!("did you mean `{close}`?")),
        None => wording.help("`hopcheck list requirements` lists them all"),
    };
}

/// Two entries for one failure: one of the reasons would outlive it.
fn twice(known: &[Known], out: &mut Reporter) {
    for (at, entry) in known.iter().enumerate() {
        for requirement in &entry.requirements {
            let same =
                |other: &Spanned<String>| other.value == requirement.value && !std::ptr::eq(other, requirement);
            let earlier = known[..at].iter().filter(|other| other.overlaps(entry)).flat_map(|o| &o.requirements);
            let own = entry.requirements.iter().take_while(|other| !std::ptr::eq(*other, requirement));
            if earlier.chain(own).any(same) {
                out.error(
                    requirement.span.clone(),
                    format!("`{}` is known twice in `{}`", requirement.value, entry.scenario.value),
                )
                .label("another entry has it")
                .help("keep one of the two");
            }
        }
    }
}

impl Known {
    /// Whether two entries may speak of one run. Ranges of versions may be cut as the author likes.
    fn overlaps(&self, other: &Self) -> bool {
        fn meet<T: PartialEq>(a: &[T], b: &[T]) -> bool {
            a.is_empty() || b.is_empty() || a.iter().any(|one| b.contains(one))
        }
        self.scenario.value == other.scenario.value
            && self.verdict == other.verdict
            && meet(&self.revisions, &other.revisions)
            && meet(&self.transports, &other.transports)
            && self.versions == other.versions
    }
}
