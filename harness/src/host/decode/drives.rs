//! What a profile must and must not say, by how its host is driven.

use super::keys;
use crate::decode::keys::{KeyTable, quoted};
use crate::decode::{Reporter, Value, shape};
use crate::host::profile::{DriveKind, ModelLane};
use crate::scenario::ast::Feature;

/// The lane and the place of the host, as all drives of the profile have them.
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

/// Checks the drives of a profile, and what depends on them. Wrong words were reported before.
pub(super) fn check(root: &Value, out: &mut Reporter) {
    let drives = root.list("drive");
    let kinds: Vec<Option<DriveKind>> = drives.iter().map(|drive| kind(drive)).collect();
    let Some(first) = kinds.first().copied().unwrap_or(Some(DriveKind::Headless)) else { return };
    let sort = Sort::of(first);
    for (drive, kind) in drives.iter().zip(&kinds) {
        let Some(kind) = *kind else { continue };
        if Sort::of(kind) != sort {
            let place = drive.get("kind").map_or(drive.span.clone(), |word| word.span.clone());
            out.error(place, format!("`{}` beside `{}`", kind.as_str(), first.as_str()))
                .label("a host of another sort")
                .help("all drives of a profile are of one sort: give this one a profile of its own");
        }
        if kind == DriveKind::InProcess {
            library_drive(drive, out);
        } else {
            need(drive, &keys::DRIVE, "argv", out);
        }
    }
    match sort {
        Sort::Asking => need(root, &keys::PROFILE, "model", out),
        Sort::Driven | Sort::Library => {
            let why = "the host is driven call by call, and asks no model";
            reject(root, "model", why, out);
        }
    }
    match sort {
        Sort::Asking | Sort::Driven => need(root, &keys::PROFILE, "bin", out),
        Sort::Library => {
            for key in ["bin", "runtime", "version"] {
                reject(root, key, "the host is a library: the test program brings it, and says its version", out);
            }
        }
    }
}

pub(super) fn kind(drive: &Value) -> Option<DriveKind> {
    let word = drive.get("kind")?.as_str()?;
    DriveKind::ALL.into_iter().find(|kind| kind.as_str() == word)
}

fn library_drive(drive: &Value, out: &mut Reporter) {
    for key in ["argv", "env"] {
        reject(drive, key, "a library has neither arguments nor an environment of its own", out);
    }
    let missing = Feature::Interrupt.as_str();
    for word in drive.list("features").iter().filter(|word| word.as_str() == Some(missing)) {
        out.error(word.span.clone(), format!("`{missing}` with an in-process host"))
            .label("a call of a library cannot be interrupted")
            .help(format!("leave it out: scenarios that need {} do not apply then", quoted([missing])));
    }
}

fn need(value: &Value, table: &'static KeyTable, key: &str, out: &mut Reporter) {
    if let (None, Some(key)) = (value.get(key), table.find(key)) {
        shape::report_missing(value, key, table, out);
    }
}

fn reject(value: &Value, key: &str, why: &str, out: &mut Reporter) {
    if let Some(member) = value.member(key) {
        out.error(member.key.span.clone(), format!("`{key}` where it says nothing")).label(why).help("remove it");
    }
}
