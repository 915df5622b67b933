//! The keys of a baseline.

use super::KnownVerdict;
use crate::decode::keys::{Key, KeyTable, Kind, Words};
use crate::revision::{Revision, Transport};

static VERDICT_WORDS: Words = Words { known: || KnownVerdict::ALL.map(KnownVerdict::as_str).to_vec(), later: &[] };
static REVISION_WORDS: Words = Words { known: || Revision::ALL.map(Revision::as_str).to_vec(), later: &[] };
static TRANSPORT_WORDS: Words = Words { known: || Transport::ALL.map(Transport::as_str).to_vec(), later: &[] };

/// A baseline.
pub static BASELINE: KeyTable = KeyTable {
    noun: "a baseline",
    keys: &[
        Key::new("host", Kind::NonEmpty, "the host, as `NAME` or `NAME:VARIANT` of its profile").required(),
        Key::new("versions", Kind::NonEmpty, "versions of the host, such as `>=1.2, <1.3`; default all"),
        Key::new("known", Kind::Tables(&KNOWN), "its known failures"),
    ],
    includes: &[],
    choice: None,
};

static KNOWN: KeyTable = KeyTable {
    noun: "a known failure",
    keys: &[
        Key::new("scenario", Kind::NonEmpty, "`AREA/NAME` or `AREA/NAME[CASE]`").required(),
        Key::new("requirement", Kind::ONE_OR_MORE, "the requirement that does not hold, or several").required(),
        Key::new("reason", Kind::NonEmpty, "why this is known and not mended").required(),
        Key::new(
            "verdict",
            Kind::Word(&VERDICT_WORDS),
            "`untestable` where the evidence never comes; default `fail`",
        ),
        Key::new(
            "revision",
            Kind::OneOf(&[Kind::Word(&REVISION_WORDS), Kind::List(&Kind::Word(&REVISION_WORDS))]),
            "the revision in which it does not hold, or several; default all",
        ),
        Key::new(
            "transport",
            Kind::OneOf(&[Kind::Word(&TRANSPORT_WORDS), Kind::List(&Kind::Word(&TRANSPORT_WORDS))]),
            "the transport on which it does not hold, or several; default all",
        ),
        Key::new("versions", Kind::NonEmpty, "versions of the host that have it; default all of the file"),
    ],
    includes: &[],
    choice: None,
};
