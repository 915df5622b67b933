//! `during`, `release` and `change`: what happens while a run is going on.

use super::ast::{CountRange, Use};
use super::live::{Change, Deed, During, Order, Release, SETTLE};
use super::refs::Names;
use super::{keys, small};
use crate::decode::{Reporter, Value};
use crate::diagnostic::Spanned;
use crate::server::decode::edits;

/// What is done while the uses of a step are in flight: `release` is a `during` of one act.
pub(super) fn acts(step: &Value, names: &Names, out: &mut Reporter) -> Vec<During> {
    let release = step.member("release");
    let during = step.member("during");
    if let (Some(release), Some(_)) = (release, during) {
        out.error(release.key.span.clone(), "`release` beside `during`")
            .label("two orders for the same time")
            .help("write it as an act of `during`: `{ release = \"NAME\", order = \"reverse\" }`");
    }
    if let Some(release) = release {
        let deed = release.value.get("hold").and_then(|hold| held(hold, &release.value, names, out));
        return deed.map(|deed| During { span: release.key.span.clone(), deed }).into_iter().collect();
    }
    let acts = during.map_or(&[][..], |during| during.value.items());
    acts.iter().filter_map(|act| one(act, names, out)).collect()
}

fn one(table: &Value, names: &Names, out: &mut Reporter) -> Option<During> {
    let choice = keys::DURING.choice.as_ref()?.keys;
    let member = table.members().iter().find(|member| choice.contains(&member.key.value.as_str()))?;
    let deed = match member.key.value.as_str() {
        "interrupt" => Deed::Interrupt,
        "expect" => Deed::Expect(member.value.pick(&keys::EXPECTED)?, settle(table)),
        "release" => held(&member.value, table, names, out)?,
        _ => Deed::Change(change(&member.value, table, names, out)?),
    };
    Some(During { span: member.key.span.clone(), deed })
}

fn held(name: &Value, table: &Value, names: &Names, out: &mut Reporter) -> Option<Deed> {
    let hold = name.spanned_str()?;
    names.check_hold(&hold, out);
    let order = table.get("order").and_then(|word| word.pick(&Order::ALL)).unwrap_or(Order::Forward);
    Some(Deed::Release(Release { hold, order }))
}

/// A change of the server that `name` names.
pub(super) fn change(name: &Value, table: &Value, names: &Names, out: &mut Reporter) -> Option<Change> {
    let server = name.spanned_str()?;
    names.check_server(&server, out);
    let announce = table.get("announce").map_or(Some(1), announcements).unwrap_or(1);
    if let (Some(place), true) = (table.get("announce").or(Some(name)), announce > 0)
        && names.is_mute(&server.value)
        && !out.is_damaged()
    {
        out.error(place.span.clone(), format!("`{}` may not announce changes", server.value))
            .label("its capabilities have no `tools.listChanged`")
            .help("write `capabilities = '''{\"tools\":{\"listChanged\":true}}'''`, or `announce = false`");
    }
    let refreshes = table.get("refreshes").and_then(|value| {
        let range: CountRange = small::range(value, out)?;
        Some(Spanned::new(range, value.span.clone()))
    });
    Some(Change { server, edit: edits::edit(table), announce, settle: settle(table), refreshes })
}

fn announcements(value: &Value) -> Option<u32> {
    value.as_bool().map(u32::from).or_else(|| value.as_integer())
}

/// `settle`, in milliseconds.
pub(super) fn settle(table: &Value) -> u32 {
    table.get("settle").and_then(Value::as_integer).unwrap_or(SETTLE)
}

/// Reports an overlap that replies could hide by coming early.
pub(super) fn check_record(step: &Value, uses: &[Use], during: &[During], out: &mut Reporter) {
    let Some(record) = step.member("record") else { return };
    let holds = during.iter().any(|act| matches!(act.deed, Deed::Release(_)));
    if !holds && !uses.is_empty() && !out.is_damaged() {
        out.error(record.key.span.clone(), "`record` without `release`")
            .label("a reply that is not held may come before the next call")
            .help("hold the replies by a rule of the server, and write `release = { hold = \"NAME\" }`");
    }
}
