//! Lanes that a host does not have: what cannot be seen of it is said, and nothing is asked of it.

use super::sheet::Sheet;
use super::view::View;
use crate::host::profile::{DriveKind, ModelLane};
use crate::plan::Plan;
use crate::trace::event::Kind;

/// Requirements that speak of the model API, which a synthetic model lane has none of.
const MODEL_API: [&str; 1] = ["expect.model-api"];

/// Says where the model lane comes from, and that a library has no process of its own.
pub(super) fn check(view: &View<'_>, sheet: &mut Sheet<'_>) {
    let Some(run) = view.judged().find(|run| run.is_alive()) else { return };
    let Some(start) = run.of(Kind::HostStart).next() else { return };
    let Some(kind) = drive(view.plan) else { return };
    if kind.model_lane() == ModelLane::Synthetic {
        let message = "the host asks no model: the model lane is made of what it offers and returns, and requirements \
                       about model APIs do not apply";
        sheet.record("model-lane", "synthetic", message, [start], None);
    }
    if kind == DriveKind::InProcess {
        let message = "the host is a library in the test program: it has no environment, network or exit code of its own, \
                       and the features of its dependencies are those of a build with hopcheck in it";
        sheet.record("host-process", "none", message, [start], None);
    }
}

/// Why a requirement does not apply to a host without the lane that shows it.
pub(super) fn not_applicable(id: &str, plan: &Plan) -> Option<String> {
    let synthetic = drive(plan).is_some_and(|kind| kind.model_lane() == ModelLane::Synthetic);
    (synthetic && MODEL_API.contains(&id)).then(|| format!("{} asks no model", plan.profile.name))
}

fn drive(plan: &Plan) -> Option<DriveKind> {
    plan.profile.drives.get(plan.drive).map(|drive| drive.kind)
}
