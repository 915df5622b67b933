//! `expect.stop`: the host ends as it was told to, and nothing survives.

use std::ops::Range;

use super::{Judged, close, every, unreached};
use crate::check::clean_end;
use crate::check::sheet::{Sheet, Tally};
use crate::check::view::View;
use crate::scenario::ast::Stop;
use crate::trace::event::Kind;

pub(super) fn check(view: &View<'_>, sheet: &mut Sheet<'_>, stop: Stop, span: &Range<usize>) {
    let judged = every(view, |run| {
        if !run.is_alive() {
            return unreached(run);
        }
        let mut tally = Tally::default();
        match run.of(Kind::HostExit).last() {
            Some(exit) if stop != Stop::Exit || run.own_exit().is_some() => tally.holds([exit]),
            Some(exit) => tally.fails("the host did not end by itself", [exit]),
            None => tally.fails("the host did not end", run.of(Kind::RunEnd)),
        }
        tally.absorb(clean_end::survivors(run));
        Judged::Facts(tally)
    });
    close(sheet, "expect.stop", span, judged, "the host ended, and nothing survived");
}
