//! Subscriptions of a modern connection (2026-07-28, `basic/patterns/subscriptions`).

use crate::json::Json;

/// The `_meta` key that ties a message to the subscription it belongs to.
pub(super) const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";

/// The request that asks for a subscription.
pub(super) const LISTEN: &str = "subscriptions/listen";

/// The notification that opens a subscription.
pub(super) const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";

/// What says that the list of tools has changed.
pub(super) const TOOLS_CHANGED: &str = "notifications/tools/list_changed";

/// Filter member, capability path and notification of each kind that can be listened to by a flag.
const FLAGS: [(&str, [&str; 2], &str); 3] = [
    ("toolsListChanged", ["tools", "listChanged"], TOOLS_CHANGED),
    ("promptsListChanged", ["prompts", "listChanged"], "notifications/prompts/list_changed"),
    ("resourcesListChanged", ["resources", "listChanged"], "notifications/resources/list_changed"),
];

const RESOURCE_URIS: &str = "resourceSubscriptions";
const RESOURCE_UPDATED: &str = "notifications/resources/updated";

/// An open `subscriptions/listen` request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Subscription {
    /// The id of the request.
    pub(super) id: Json,
    /// What was asked for and is offered, as it is acknowledged.
    filter: Json,
}

impl Subscription {
    /// What a server with these capabilities agrees to of what was asked: the types that it does not support are left
    /// out (`basic/patterns/subscriptions#acknowledgment`).
    pub(super) fn new(id: Json, asked: &Json, capabilities: &Json) -> Self {
        let supports = |path: &[&str]| capabilities.at(path).and_then(Json::as_bool) == Some(true);
        let mut filter = Json::empty();
        for (flag, capability, _) in FLAGS {
            if asked.get(flag).and_then(Json::as_bool) == Some(true) && supports(&capability) {
                filter.set(flag, true);
            }
        }
        if let (Some(uris), true) = (asked.get(RESOURCE_URIS), supports(&["resources", "subscribe"])) {
            filter.set(RESOURCE_URIS, uris.clone());
        }
        Self { id, filter }
    }

    /// The params of `notifications/subscriptions/acknowledged`.
    pub(super) fn acknowledgement(&self) -> Json {
        self.tag(Some(&Json::object([("notifications", self.filter.clone())])))
    }

    /// The params of a notification on this subscription.
    pub(super) fn tag(&self, params: Option<&Json>) -> Json {
        let mut meta = params.and_then(|params| params.get("_meta")).cloned().unwrap_or_else(Json::empty);
        meta.set(SUBSCRIPTION_ID, self.id.clone());
        let own = params.map(Json::members).unwrap_or_default();
        let rest = own.iter().filter(|(key, _)| *key != "_meta").cloned();
        Json::Object(std::iter::once(("_meta".into(), meta)).chain(rest).collect())
    }

    /// Whether this notification was asked for here.
    pub(super) fn wants(&self, method: &str, params: Option<&Json>) -> bool {
        if method == RESOURCE_UPDATED {
            let uri = params.and_then(|params| params.get("uri"));
            return self
                .filter
                .get(RESOURCE_URIS)
                .is_some_and(|uris| uris.items().iter().any(|item| Some(item) == uri));
        }
        FLAGS.iter().any(|(flag, _, notification)| *notification == method && self.filter.get(flag).is_some())
    }
}

/// Whether a modern server may send this notification only on a subscription that asked for it.
pub(super) fn is_change(method: &str) -> bool {
    method == RESOURCE_UPDATED || FLAGS.iter().any(|(_, _, notification)| *notification == method)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Json {
        Json::parse(text).unwrap()
    }

    #[test]
    fn only_supported_types_are_acknowledged() {
        let asked =
            json(r#"{"toolsListChanged":true,"promptsListChanged":true,"resourceSubscriptions":["file:///a"]}"#);
        for (capabilities, expected) in [
            (r#"{"tools":{"listChanged":true}}"#, r#"{"toolsListChanged":true}"#),
            (r#"{"tools":{}}"#, "{}"),
            (r#"{"resources":{"subscribe":true}}"#, r#"{"resourceSubscriptions":["file:///a"]}"#),
        ] {
            let subscription = Subscription::new(json("7"), &asked, &json(capabilities));
            assert_eq!(
                subscription.acknowledgement().to_string(),
                format!(r#"{{"_meta":{{"{SUBSCRIPTION_ID}":7}},"notifications":{expected}}}"#)
            );
        }
    }

    #[test]
    fn notifications_go_where_they_were_asked_for() {
        let capabilities = json(r#"{"tools":{"listChanged":true},"resources":{"subscribe":true}}"#);
        let asked = json(r#"{"toolsListChanged":true,"resourceSubscriptions":["file:///a"]}"#);
        let subscription = Subscription::new(json("1"), &asked, &capabilities);
        assert!(subscription.wants("notifications/tools/list_changed", None));
        assert!(!subscription.wants("notifications/prompts/list_changed", None));
        assert!(subscription.wants(RESOURCE_UPDATED, Some(&json(r#"{"uri":"file:///a"}"#))));
        assert!(!subscription.wants(RESOURCE_UPDATED, Some(&json(r#"{"uri":"file:///b"}"#))));
        assert!(!subscription.wants(RESOURCE_UPDATED, None));
    }

    #[test]
    fn a_tag_keeps_what_was_there() {
        let subscription = Subscription::new(json(r#""a""#), &Json::empty(), &Json::empty());
        assert_eq!(
            subscription.tag(Some(&json(r#"{"uri":"u","_meta":{"x":1}}"#))).to_string(),
            format!(r#"{{"_meta":{{"x":1,"{SUBSCRIPTION_ID}":"a"}},"uri":"u"}}"#)
        );
    }
}
