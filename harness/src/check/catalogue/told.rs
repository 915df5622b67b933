//! What the model is told of results (`server/tools#tool-result`, `server/tools#error-handling`).

use super::tools::per_use;
use crate::check::sheet::{Sheet, Tally};
use crate::check::view::{Emitted, Run, View};
use crate::check::{errors, reading};
use crate::json::Json;

pub(super) fn check(view: &View<'_>, sheet: &mut Sheet<'_>) {
    let reasons = per_use(view, |run, used| match run.settled_call(used) {
        Some((_, call)) if call.is_tool_error() => errors::reason_is_told(run, used, call),
        _ => Tally::default(),
    });
    sheet.close("tools.error.is-error-to-model", reasons, "every error result reached the model");
    let messages = per_use(view, message_is_told);
    sheet.close("tools.error.protocol-error-to-model", messages, "JSON-RPC errors reached the model");
    let order = per_use(view, blocks_in_order);
    sheet.close("tools.result.multiple-blocks-order", order, "content blocks stayed in order");
    let images = per_use(view, image);
    sheet.close("tools.result.content.text-image-resource", images, "images reached the model");
    let accepted = per_use(view, structured);
    sheet.close("tools.structured.object-accepted", accepted, "structured content reached the model");
    let believed = per_use(view, unknown_type);
    sheet.close(
        "base.result-type.unknown-invalid",
        believed,
        "a result of an unknown type was told as no success",
    );
}

fn message_is_told(run: &Run<'_>, used: &Emitted<'_>) -> Tally {
    let mut tally = Tally::default();
    let error = run.settled_call(used).and_then(|(_, call)| call.error());
    let Some(((answer, error), told)) = error.zip(run.told(used)) else { return tally };
    let message = error.str("message").unwrap_or_default();
    if told.reading.says([message]) {
        tally.holds([answer, told.exchange.event]);
    } else {
        let reason = format!("the message of the error of `{}` was not told", used.planned.tool);
        tally.fails(reason, [answer, told.exchange.event]);
    }
    tally
}

fn blocks_in_order(run: &Run<'_>, used: &Emitted<'_>) -> Tally {
    let mut tally = Tally::default();
    let result = run.settled_call(used).and_then(|(_, call)| call.result());
    let Some(((answer, result), told)) = result.zip(run.told(used)) else { return tally };
    let blocks = reading::blocks(result);
    if blocks.len() < 2 {
        return tally;
    }
    if told.reading.says(blocks.iter().copied()) {
        tally.holds([answer, told.exchange.event]);
    } else if blocks.iter().all(|block| told.reading.says([*block])) {
        let reason = format!("the content blocks of `{}` changed their order", used.planned.tool);
        tally.fails(reason, [answer, told.exchange.event]);
    }
    tally
}

fn image(run: &Run<'_>, used: &Emitted<'_>) -> Tally {
    let mut tally = Tally::default();
    let result = run.settled_call(used).and_then(|(_, call)| call.result());
    let Some(((answer, result), told)) = result.zip(run.told(used)) else { return tally };
    let content = result.get("content").map(Json::items).unwrap_or_default();
    if !content.iter().any(|block| block.str("type") == Some("image")) {
        return tally;
    }
    if told.reading.image {
        tally.holds([answer, told.exchange.event]);
    } else {
        let reason = format!("the image of `{}` did not reach the model", used.planned.tool);
        tally.fails(reason, [answer, told.exchange.event]);
    }
    tally
}

/// Text or structured content is told, and neither of them makes a success an error.
fn structured(run: &Run<'_>, used: &Emitted<'_>) -> Tally {
    let mut tally = Tally::default();
    let Some((_, call)) = run.settled_call(used).filter(|(_, call)| !call.is_tool_error()) else { return tally };
    let Some(((answer, result), told)) = call.result().zip(run.told(used)) else { return tally };
    if result.get("structuredContent").is_none() {
        return tally;
    }
    if told.flag != Some(true) && reading::contains(told.reading, result) {
        tally.holds([answer, told.exchange.event]);
    } else {
        let reason = format!("the structured content of `{}` did not reach the model", used.planned.tool);
        tally.fails(reason, [answer, told.exchange.event]);
    }
    tally
}

/// A result that nobody can read is told as a failure, or at least not with its content.
fn unknown_type(run: &Run<'_>, used: &Emitted<'_>) -> Tally {
    let mut tally = Tally::default();
    let Some((_, call)) = run.settled_call(used) else { return tally };
    let (Some(kind), Some((answer, result)), Some(told)) = (call.unknown_type(), call.result(), run.told(used))
    else {
        return tally;
    };
    if told.flag != Some(true) && reading::contains(told.reading, result) {
        let reason = format!("a result of the type `{kind}` was told as a success");
        tally.fails(reason, [answer, told.exchange.event]);
    } else {
        tally.holds([answer, told.exchange.event]);
    }
    tally
}
