//! Arguments as the core takes them. The face has checked them and told the caller more; what is
//! refused here it has let pass.

use super::answer::{Checked, Refusal};
use crate::claim::Request;
use crate::directory::Durability;
use crate::env::Clock;
use crate::platform::System;
use crate::types::{Fence, Holder, Id, Millis};
use napi::bindgen_prelude::Utf16String;
use std::path::PathBuf;

pub(super) fn request(
    holder: Utf16String,
    ttl_ms: f64,
    now: Option<f64>,
    durability: Durability,
) -> Checked<Request> {
    let holder = Holder::new(holder.to_vec())
        .ok_or_else(|| Refusal::bad_argument("holder", "a string of 1 to 100,000 characters"))?;
    let ttl = millis("ttlMs", ttl_ms)?;
    let now = millis("now", now.unwrap_or_else(|| System.now_ms()))?;
    Request::new(holder, ttl, now, durability)
        .ok_or_else(|| Refusal::bad_argument("now + ttlMs", "a finite number"))
}

pub(super) fn millis(name: &str, number: f64) -> Checked<Millis> {
    Millis::new(number).ok_or_else(|| Refusal::bad_argument(name, "a finite number"))
}

pub(super) fn fence(number: f64) -> Checked<Fence> {
    Fence::from_f64(number)
        .ok_or_else(|| Refusal::bad_argument("fence", "a non-negative safe integer"))
}

/// A path that names the same file here as it does for the host: one with lone surrogates has no
/// name on disk that is its alone, and one with NUL has none.
pub(super) fn path(name: &str, units: &[u16]) -> Checked<PathBuf> {
    match String::from_utf16(units) {
        Ok(path) if !path.is_empty() && !path.contains('\0') => Ok(PathBuf::from(path)),
        _ => Err(Refusal::bad_argument(name, "a path without NUL or lone surrogates")),
    }
}

pub(super) fn id(name: &str, units: &[u16]) -> Checked<Id> {
    let id = String::from_utf16(units).ok().and_then(Id::new);
    id.ok_or_else(|| Refusal::bad_argument(name, "one component of a path"))
}
