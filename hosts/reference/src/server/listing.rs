//! The list of tools: asking for it page by page, and taking it over.

use std::time::Instant;

use serde_json::value::RawValue;

use super::{Era, Server};
use crate::fault::Fault;
use crate::list::{After, Listing};
use crate::rpc::{self, RpcError};
use crate::tool::Tool;

/// How the walk over the pages ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Walk {
    Complete,
    Broken,
}

impl Server {
    pub(super) fn list(&mut self) {
        let id = self.take_id();
        let until = if self.listed { Instant::now() + self.limits.start } else { self.start_by };
        self.listing = Some(Listing::new(id, until, self.lies));
        self.send_list(id, None, until);
    }

    fn send_list(&mut self, id: u64, cursor: Option<&str>, deadline: Instant) {
        let members = cursor.map(|cursor| format!("\"cursor\":{cursor}")).unwrap_or_default();
        let params = self.params(&members, "");
        self.send(&rpc::request(id, "tools/list", params.as_deref()), deadline);
    }

    pub(super) fn on_page(&mut self, outcome: Result<&RawValue, RpcError>) {
        let Some(listing) = &mut self.listing else {
            return;
        };
        let after = outcome.map_or(After::Invalid, |page| listing.take(page));
        match after {
            After::Complete => self.finish_list(Walk::Complete),
            After::Follow(cursor) => {
                let until = listing.until;
                let id = self.take_id();
                if let Some(listing) = &mut self.listing {
                    listing.id = id;
                }
                self.send_list(id, Some(&cursor), until);
            }
            // A cursor can grow old while the list is walked; the beginning cannot.
            After::Invalid if listing.has_followed() && !listing.second_try => {
                let until = listing.until;
                self.list();
                if let Some(listing) = &mut self.listing {
                    listing.second_try = true;
                    listing.until = until;
                }
            }
            After::Invalid => self.finish_list(Walk::Broken),
        }
    }

    /// The lie about announcements: there is a list for each.
    pub(super) fn list_what_is_owed(&mut self) {
        if self.owed > 0 && self.is_ready() && self.listing.is_none() {
            self.owed -= 1;
            self.list();
        }
    }

    /// The lies about a list that takes the place of another.
    fn bend_list(&mut self, before: Vec<Tool>) {
        for old in before {
            match self.tools.iter_mut().find(|tool| tool.name == old.name) {
                Some(tool) if self.lies.tell(Fault::KeepFirstEntry) => *tool = old,
                None if self.lies.tell(Fault::KeepRemovedTools) => self.tools.push(old),
                _ => {}
            }
        }
    }

    pub(super) fn finish_list(&mut self, walk: Walk) {
        let Some(listing) = self.listing.take() else {
            return;
        };
        if listing.left_out > 0 {
            crate::note(&format!(
                "server {}: {} tools without a usable schema are left out",
                self.name, listing.left_out
            ));
        }
        // Half of a new list is better than nothing, but not better than the whole of the one before.
        if walk == Walk::Complete || !self.listed {
            let before = std::mem::replace(&mut self.tools, listing.tools);
            self.bend_list(before);
            self.list_version += 1;
        }
        if walk == Walk::Broken {
            crate::note(&format!("server {}: the tool list could not be read to its end", self.name));
        }
        self.listed = true;
        self.list_what_is_owed();
        let fresh_for = if self.era == Era::Modern { listing.fresh_for } else { None };
        self.stale_at = fresh_for.map(|fresh_for| Instant::now() + fresh_for);
    }
}
