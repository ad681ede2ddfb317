//! The claim module: each function asynchronous, and `…Sync` for exit handlers.

use super::answer::{Answer, Refusal};
use super::calls::{Calls, run};
use crate::claim::{self, Request};
use crate::directory::Durability;
use crate::env::Clock;
use crate::platform::System;
use crate::types::{Fence, Holder, Lease, Millis};
use napi::bindgen_prelude::{Env, Null, Result, Utf16String};
use napi_derive::napi;
use std::path::PathBuf;

type Checked<T> = std::result::Result<T, Box<Refusal>>;

#[napi]
impl Calls {
    /// Answers a lease, or `null` when somebody else holds the run.
    #[napi]
    pub fn acquire(
        &mut self,
        env: &Env,
        ticket: f64,
        run_dir: Utf16String,
        holder: Utf16String,
        ttl_ms: f64,
        now: Option<f64>,
    ) -> Result<()> {
        self.start(env, ticket, move || acquire_sync(run_dir, holder, ttl_ms, now))
    }

    /// Answers `null`.
    #[napi]
    pub fn release(
        &mut self,
        env: &Env,
        ticket: f64,
        run_dir: Utf16String,
        fence: f64,
    ) -> Result<()> {
        self.start(env, ticket, move || release_sync(run_dir, fence))
    }

    /// Answers the present lease, or `null` for a run never claimed.
    #[napi]
    pub fn read(&mut self, env: &Env, ticket: f64, run_dir: Utf16String) -> Result<()> {
        self.start(env, ticket, move || read_sync(run_dir))
    }

    /// Answers the highest fence.
    #[napi]
    pub fn current_fence(&mut self, env: &Env, ticket: f64, run_dir: Utf16String) -> Result<()> {
        self.start(env, ticket, move || current_fence_sync(run_dir))
    }
}

#[napi(ts_return_type = "Lease | null | Refusal")]
pub fn acquire_sync(
    run_dir: Utf16String,
    holder: Utf16String,
    ttl_ms: f64,
    now: Option<f64>,
) -> Answer {
    answer(|| {
        let run_dir = path(&run_dir)?;
        let holder = Holder::new(holder.to_vec())
            .ok_or_else(|| Refusal::bad_argument("holder", "a string that is not empty"))?;
        let ttl = millis("ttlMs", ttl_ms)?;
        let now = millis("now", now.unwrap_or_else(|| System.now_ms()))?;
        let request = Request::new(holder, ttl, now, Durability::Process)
            .ok_or_else(|| Refusal::bad_argument("now + ttlMs", "a finite number"))?;
        Ok(found(claim::acquire(&System, &run_dir, &request)?))
    })
}

#[napi(ts_return_type = "null | Refusal")]
pub fn release_sync(run_dir: Utf16String, fence: f64) -> Answer {
    answer(|| {
        let fence = Fence::from_f64(fence)
            .ok_or_else(|| Refusal::bad_argument("fence", "a non-negative safe integer"))?;
        claim::release(&System, &path(&run_dir)?, fence, Durability::Process)?;
        Ok(Answer::C(Null))
    })
}

#[napi(ts_return_type = "Lease | null | Refusal")]
pub fn read_sync(run_dir: Utf16String) -> Answer {
    answer(|| Ok(found(claim::read(&System, &path(&run_dir)?)?)))
}

#[napi(ts_return_type = "number | Refusal")]
pub fn current_fence_sync(run_dir: Utf16String) -> Answer {
    answer(|| Ok(Answer::B(claim::current_fence(&System, &path(&run_dir)?)?.get() as f64)))
}

fn answer(call: impl FnOnce() -> Checked<Answer>) -> Answer {
    run(|| call().unwrap_or_else(|refusal| Answer::D(*refusal)))
}

fn found(lease: Option<Lease>) -> Answer {
    lease.map_or(Answer::C(Null), |lease| Answer::A(lease.into()))
}

fn millis(name: &str, number: f64) -> Checked<Millis> {
    Millis::new(number).ok_or_else(|| Refusal::bad_argument(name, "a finite number"))
}

/// A path that names the same file here as it does for the host: one with lone surrogates has no
/// name on disk that is its alone, and one with NUL has none.
fn path(units: &[u16]) -> Checked<PathBuf> {
    match String::from_utf16(units) {
        Ok(path) if !path.is_empty() && !path.contains('\0') => Ok(PathBuf::from(path)),
        _ => Err(Refusal::bad_argument("runDir", "a path without NUL or lone surrogates")),
    }
}
