//! The claim module: each function asynchronous, and `…Sync` for exit handlers.

use super::answer::{Lease, Refusal};
use super::threads::{Answer, run, run_here};
use crate::claim::{self, Request};
use crate::directory::Durability;
use crate::env::Clock;
use crate::platform::System;
use crate::types::{Fence, Holder, Millis};
use napi::Either;
use napi::bindgen_prelude::{Env, Null, Object, Result, Utf16String};
use napi_derive::napi;
use std::path::PathBuf;

type Found = Either<Lease, Null>;

#[napi(ts_return_type = "Promise<Lease | null | Refusal>")]
pub fn acquire(
    env: &Env,
    run_dir: Utf16String,
    holder: Utf16String,
    ttl_ms: f64,
    now: Option<f64>,
) -> Result<Object<'_>> {
    run(env, move || acquire_now(&run_dir, &holder, ttl_ms, now))
}

#[napi]
pub fn acquire_sync(
    run_dir: Utf16String,
    holder: Utf16String,
    ttl_ms: f64,
    now: Option<f64>,
) -> Answer<Found> {
    run_here(|| acquire_now(&run_dir, &holder, ttl_ms, now))
}

#[napi(ts_return_type = "Promise<null | Refusal>")]
pub fn release(env: &Env, run_dir: Utf16String, fence: f64) -> Result<Object<'_>> {
    run(env, move || release_now(&run_dir, fence))
}

#[napi]
pub fn release_sync(run_dir: Utf16String, fence: f64) -> Answer<Null> {
    run_here(|| release_now(&run_dir, fence))
}

#[napi(ts_return_type = "Promise<Lease | null | Refusal>")]
pub fn read(env: &Env, run_dir: Utf16String) -> Result<Object<'_>> {
    run(env, move || read_now(&run_dir))
}

#[napi]
pub fn read_sync(run_dir: Utf16String) -> Answer<Found> {
    run_here(|| read_now(&run_dir))
}

#[napi(ts_return_type = "Promise<number | Refusal>")]
pub fn current_fence(env: &Env, run_dir: Utf16String) -> Result<Object<'_>> {
    run(env, move || current_fence_now(&run_dir))
}

#[napi]
pub fn current_fence_sync(run_dir: Utf16String) -> Answer<f64> {
    run_here(|| current_fence_now(&run_dir))
}

fn acquire_now(run_dir: &[u16], holder: &[u16], ttl_ms: f64, now: Option<f64>) -> Answer<Found> {
    answer(|| {
        let run_dir = path(run_dir)?;
        let holder = Holder::new(holder.to_vec())
            .ok_or_else(|| Refusal::bad_argument("holder", "a string that is not empty"))?;
        let ttl = millis("ttlMs", ttl_ms)?;
        let now = millis("now", now.unwrap_or_else(|| System.now_ms()))?;
        let request = Request::new(holder, ttl, now, Durability::Process)
            .ok_or_else(|| Refusal::bad_argument("now + ttlMs", "a finite number"))?;
        Ok(found(claim::acquire(&System, &run_dir, &request)?))
    })
}

fn release_now(run_dir: &[u16], fence: f64) -> Answer<Null> {
    answer(|| {
        let fence = Fence::from_f64(fence)
            .ok_or_else(|| Refusal::bad_argument("fence", "a non-negative safe integer"))?;
        claim::release(&System, &path(run_dir)?, fence, Durability::Process)?;
        Ok(Null)
    })
}

fn read_now(run_dir: &[u16]) -> Answer<Found> {
    answer(|| Ok(found(claim::read(&System, &path(run_dir)?)?)))
}

fn current_fence_now(run_dir: &[u16]) -> Answer<f64> {
    answer(|| Ok(claim::current_fence(&System, &path(run_dir)?)?.get() as f64))
}

fn answer<T>(call: impl FnOnce() -> std::result::Result<T, Refusal>) -> Answer<T> {
    call().map_or_else(Either::B, Either::A)
}

fn found(lease: Option<crate::types::Lease>) -> Found {
    lease.map_or(Either::B(Null), |lease| Either::A(lease.into()))
}

fn millis(name: &str, number: f64) -> std::result::Result<Millis, Refusal> {
    Millis::new(number).ok_or_else(|| Refusal::bad_argument(name, "a finite number"))
}

/// A path that names the same file here as it does for the host: one with lone surrogates has no
/// name on disk that is its alone, and one with NUL has none.
fn path(units: &[u16]) -> std::result::Result<PathBuf, Refusal> {
    match String::from_utf16(units) {
        Ok(path) if !path.is_empty() && !path.contains('\0') => Ok(PathBuf::from(path)),
        _ => Err(Refusal::bad_argument("runDir", "a path without NUL or lone surrogates")),
    }
}
