//! `expect.told`: what the model must be told of a result.

use super::{Judged, emitted};
use crate::check::arguments::brief;
use crate::check::catalogue::timeout;
use crate::check::sheet::Tally;
use crate::check::view::{Emitted, Run, Told as Heard, after};
use crate::json::Json;
use crate::plan::PlannedUse;
use crate::scenario::ast::Told;
use crate::trace::event::Kind;

pub(super) fn judge(run: &Run<'_>, planned: &PlannedUse, wanted: &Told) -> Judged {
    let used = match emitted(run, planned) {
        Ok(used) => used,
        Err(judged) => return judged,
    };
    let mut tally = Tally::default();
    match run.told(used) {
        Some(heard) => {
            let events = [used.reply, heard.exchange.event];
            match mismatch(&heard, wanted) {
                None => tally.holds(events),
                Some(reason) => tally.fails(reason, events),
            }
            if wanted.before.is_some() {
                in_time(run, used, &heard, &mut tally);
            }
        }
        None => {
            let end = run.follow(used).map(|exchange| exchange.event).or_else(|| run.of(Kind::HostExit).last());
            let reason = format!("the model was not told one result of `{}`", planned.tool);
            tally.fails(reason, [used.reply].into_iter().chain(end));
        }
    }
    Judged::Facts(tally)
}

/// Told before the server answered, and before the harness found it overdue.
fn in_time(run: &Run<'_>, used: &Emitted<'_>, heard: &Heard<'_, '_>, tally: &mut Tally) {
    let (tool, told) = (&used.planned.tool, heard.exchange.event);
    let answers = run.calls(used).flat_map(|(_, call)| &call.answers);
    for answer in answers.filter(|answer| !after(answer.event, told)) {
        tally.fails(format!("`{tool}` was answered before its result was told"), [answer.event, told]);
    }
    match timeout::overdue(run, used) {
        Some(overdue) if !after(overdue, told) => {
            let ms = overdue.data.get("ms").map(Json::to_string).unwrap_or_default();
            tally
                .fails(format!("the result of `{tool}` was not told within {ms} ms"), [used.reply, overdue, told]);
        }
        _ => tally.holds([used.reply, told]),
    }
}

/// The first thing that was not told, as a sentence.
fn mismatch(heard: &Heard<'_, '_>, wanted: &Told) -> Option<String> {
    if let Some(is_error) = &wanted.is_error {
        // Where neither the API nor the host has a flag, the text has to speak for itself.
        if heard.flag.is_some_and(|flag| flag != is_error.value) {
            return Some(format!("the error flag is {} and not {}", !is_error.value, is_error.value));
        }
    }
    // What the server put in the place of a marker is unknown to the scenario; the rest around it has to be there.
    let texts = wanted.text.iter().flat_map(|text| text.value.split("{{ marker }}"));
    if !heard.reading.says(texts) {
        let wanted: Vec<&str> = wanted.text.iter().map(|text| text.value.as_str()).collect();
        return Some(format!("the model was told {:?}, which lacks {wanted:?}", short(heard.reading.text())));
    }
    if let Some(json) = wanted.text_json.as_ref().filter(|json| !heard.reading.holds(&json.value)) {
        let told = short(heard.reading.text());
        return Some(format!("the model was told {told:?}, in which {} is not found", brief(&json.value)));
    }
    if let Some(image) = wanted.image.as_ref().filter(|image| heard.reading.image != image.value) {
        let what = if image.value { "no image" } else { "an image" };
        return Some(format!("the model was told {what}"));
    }
    let mut reasons = wanted.any.iter().map(|other| mismatch(heard, other));
    match wanted.any.len() {
        0 => None,
        _ if reasons.clone().any(|reason| reason.is_none()) => None,
        _ => reasons.next().flatten().map(|reason| format!("no alternative holds; of the first: {reason}")),
    }
}

fn short(text: &str) -> String {
    const MOST: usize = 120;
    let head: String = text.chars().take(MOST).collect();
    if head.len() < text.len() { format!("{head}…") } else { head }
}
