//! Transcripts: a trace as text that a person reads and a reviewer accepts.
//!
//! ```text
//! model  <-  tools        [mcp__orders__create_note mcp__orders__lookup_order]
//! model  ->  tool_use     <use:1> mcp__orders__lookup_order {"order_id":"A-1042"}
//! orders ->  tools/call   <id:3>  lookup_order {"order_id":"A-1042"}
//! orders <-  result       <id:3>  isError=false {"order_id":"A-1042","status":"paid"}
//! model  <-  tool_result  <use:1> ok {"order_id":"A-1042","status":"paid"}
//! ```
//!
//! `->` points away from the model, `<-` back to it. Two runs of one plan give the same bytes, also under load: what ran
//! concurrently is put into one order (see `order`), what is volatile becomes a placeholder whose shape was checked
//! first (see `placeholder`), and what only sometimes happens (side requests, the host's own output) is left out.

mod file;
mod line;
mod message;
mod model;
mod order;
mod placeholder;
pub mod store;

pub use file::{Sections, unwrap, wrap};
pub(crate) use line::lane_width;
pub use line::{Arrow, Line};

use crate::plan::Plan;
use crate::trace::Trace;

/// The transcript of a trace.
#[must_use]
pub fn transcript(plan: &Plan, trace: &Trace) -> String {
    line::text(&lines(plan, trace))
}

/// The lines of the transcript, each with the number of its event.
#[must_use]
pub fn lines(plan: &Plan, trace: &Trace) -> Vec<Line> {
    let mut writer = message::Writer::new(plan, trace);
    let mut lines = Vec::new();
    let runs = order::runs(trace);
    for run in &runs {
        if runs.len() > 1 {
            lines.push(Line::heading(run.start, format!("run {}: {}", run.number, run.role)));
        }
        writer.begin_run();
        for event in &run.ordered {
            lines.extend(writer.event(event));
        }
        let mut closing: Vec<Line> = run.closing.iter().filter_map(|event| writer.closing(event)).collect();
        // What happens at the end happens in any order: processes are reaped as they die.
        closing.sort_by_key(Line::without_number);
        lines.extend(closing);
    }
    together(lines)
}

/// Lines that follow one another and say the same become one that counts them.
fn together(lines: Vec<Line>) -> Vec<Line> {
    let mut counted: Vec<(Line, usize)> = Vec::new();
    for line in lines {
        match counted.last_mut() {
            Some((last, count)) if last.without_number() == line.without_number() => *count += 1,
            _ => counted.push((line, 1)),
        }
    }
    counted.into_iter().map(|(line, count)| if count > 1 { line.times(count) } else { line }).collect()
}

#[cfg(test)]
mod tests;
