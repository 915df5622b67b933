//! `expect.model-api`: the real model API accepts every request of the host.

use crate::check::sheet::Sheet;
use crate::check::view::View;

pub(super) fn check(_view: &View<'_>, _sheet: &mut Sheet<'_>) {}
