//! The lists that are asked for again after a change.

/// A server whose list is waited for.
#[derive(Clone, Debug)]
struct Watched {
    server: String,
    /// The events of the requests that lead to the list.
    asked: Vec<u32>,
    complete: bool,
}

/// The lists that are waited for.
#[derive(Clone, Debug, Default)]
pub(super) struct Lists(Vec<Watched>);

impl Lists {
    /// What is asked for from here on shows a change of this server.
    pub(super) fn begin(&mut self, server: &str) {
        self.0.retain(|watched| watched.server != server);
        self.0.push(Watched { server: server.to_owned(), asked: Vec::new(), complete: false });
    }

    /// A page was asked for. One that goes on where an older list stood shows nothing.
    pub(super) fn ask(&mut self, server: &str, event: u32, goes_on: bool) {
        let watched = self.0.iter_mut().find(|watched| watched.server == server);
        if let Some(watched) = watched.filter(|watched| !goes_on || !watched.asked.is_empty()) {
            watched.asked.push(event);
        }
    }

    /// Whether the answer to a request is waited for.
    pub(super) fn waits_for(&self, event: u32) -> bool {
        self.0.iter().any(|watched| watched.asked.contains(&event))
    }

    /// A page was given, with more behind it or not.
    pub(super) fn answer(&mut self, event: u32, more: bool) {
        let watched = self.0.iter_mut().filter(|watched| watched.asked.contains(&event));
        watched.for_each(|watched| watched.complete |= !more);
    }

    /// Whether the list was read to its end since the change.
    pub(super) fn is_complete(&self, server: &str) -> bool {
        self.0.iter().any(|watched| watched.server == server && watched.complete)
    }
}
