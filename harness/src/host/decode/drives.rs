//! Drives that do not go together, and what a drive cannot do.

use crate::decode::{Reporter, Value};
use crate::host::profile::{DriveKind, ModelLane};
use crate::scenario::ast::Feature;

/// What a profile describes; all its drives describe the same.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sort {
    /// A program that asks a model.
    Asking,
    /// A program that is driven call by call.
    Driven,
    /// A library.
    Library,
}

impl Sort {
    const fn of(kind: DriveKind) -> Self {
        match (kind, kind.model_lane()) {
            (DriveKind::InProcess, _) => Self::Library,
            (_, ModelLane::Synthetic) => Self::Driven,
            (_, ModelLane::Endpoint) => Self::Asking,
        }
    }
}

/// Checks the drives of a profile. Wrong words were reported before.
pub(super) fn check(root: &Value, out: &mut Reporter) {
    let drives = root.list("drive");
    let Some(first) = drives.first().and_then(kind) else { return };
    for drive in drives {
        let Some(kind) = kind(drive) else { continue };
        if Sort::of(kind) != Sort::of(first) {
            let place = drive.get("kind").map_or(drive.span.clone(), |word| word.span.clone());
            out.error(place, format!("`{}` beside `{}`", kind.as_str(), first.as_str()))
                .label("a host of another sort")
                .help("all drives of a profile are of one sort: give this one a profile of its own");
        }
        if kind == DriveKind::InProcess {
            library_drive(drive, out);
        }
    }
}

/// How the host of a drive is driven.
pub(super) fn kind(drive: &Value) -> Option<DriveKind> {
    let word = drive.get("kind")?.as_str()?;
    DriveKind::ALL.into_iter().find(|kind| kind.as_str() == word)
}

fn library_drive(drive: &Value, out: &mut Reporter) {
    let missing = Feature::Interrupt.as_str();
    for word in drive.list("features").iter().filter(|word| word.as_str() == Some(missing)) {
        out.error(word.span.clone(), format!("`{missing}` with an in-process host"))
            .label("a call of a library cannot be interrupted")
            .help("leave it out: scenarios that need it do not apply then");
    }
}
