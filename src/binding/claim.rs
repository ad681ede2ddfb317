//! The claim module: each function asynchronous, and `…Sync` for exit handlers.

use super::answer::{Answer, answer, found};
use super::argument::{self, path, request};
use super::calls::Calls;
use crate::claim;
use crate::directory::Durability;
use crate::platform::System;
use napi::bindgen_prelude::{Env, Null, Result, Utf16String};
use napi_derive::napi;

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
        let run_dir = path("runDir", &run_dir)?;
        let request = request(holder, ttl_ms, now, Durability::Process)?;
        Ok(found(claim::acquire(&System, &run_dir, &request)?))
    })
}

#[napi(ts_return_type = "null | Refusal")]
pub fn release_sync(run_dir: Utf16String, fence: f64) -> Answer {
    answer(|| {
        let run_dir = path("runDir", &run_dir)?;
        claim::release(&System, &run_dir, argument::fence(fence)?, Durability::Process)?;
        Ok(Answer::C(Null))
    })
}

#[napi(ts_return_type = "Lease | null | Refusal")]
pub fn read_sync(run_dir: Utf16String) -> Answer {
    answer(|| Ok(found(claim::read(&System, &path("runDir", &run_dir)?)?)))
}

#[napi(ts_return_type = "number | Refusal")]
pub fn current_fence_sync(run_dir: Utf16String) -> Answer {
    answer(|| {
        Ok(Answer::B(claim::current_fence(&System, &path("runDir", &run_dir)?)?.get() as f64))
    })
}
