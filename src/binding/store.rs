//! The checkpoint store: claims and checkpoints of a run that is told by its ids.

use super::answer::{Answer, Checked, Refusal, answer, found};
use super::argument::{self, request};
use super::calls::Calls;
use super::text::{Draft, Text, Texts};
use crate::checkpoint::{self, Checkpoint, Write};
use crate::claim;
use crate::directory::Durability;
use crate::names;
use crate::platform::System;
use crate::types::Id;
use napi::bindgen_prelude::{Env, Null, Result, Utf16String};
use napi_derive::napi;
use std::path::PathBuf;

/// A run of a store.
#[napi(object)]
pub struct Run {
    /// The directory that all runs of the store are under.
    pub base_dir: Utf16String,
    pub run_id: Utf16String,
    /// The run that it belongs to, of a sub-run.
    pub parent_run_id: Option<Utf16String>,
    /// Whether what is written must outlive the loss of power.
    pub power: bool,
}

#[napi]
impl Calls {
    /// Answers a lease, or `null` when somebody else holds the run.
    #[napi]
    pub fn claim_run(
        &mut self,
        env: &Env,
        ticket: f64,
        run: Run,
        holder: Utf16String,
        ttl_ms: f64,
        now: Option<f64>,
    ) -> Result<()> {
        self.start(env, ticket, move || {
            answer(|| {
                let request = request(holder, ttl_ms, now, run.durability())?;
                Ok(found(claim::acquire(&System, &run.dir()?, &request)?))
            })
        })
    }

    /// Answers `null`.
    #[napi]
    pub fn release_run(&mut self, env: &Env, ticket: f64, run: Run, fence: f64) -> Result<()> {
        self.start(env, ticket, move || {
            answer(|| {
                claim::release(&System, &run.dir()?, argument::fence(fence)?, run.durability())?;
                Ok(Answer::C(Null))
            })
        })
    }

    /// Writes `text`, the checkpoint as JSON, or the last part of it, when a draft has the rest.
    /// Answers `null`.
    #[napi]
    #[allow(clippy::too_many_arguments, reason = "they are JavaScript's, in order")]
    pub fn write_checkpoint(
        &mut self,
        env: &Env,
        ticket: f64,
        run: Run,
        id: Utf16String,
        fence: Option<f64>,
        text: String,
        draft: Option<&mut Draft>,
    ) -> Result<()> {
        let text = match draft {
            Some(draft) => draft.complete(&text),
            None => text,
        };
        self.start(env, ticket, move || {
            answer(|| {
                let (run_dir, id) = (run.dir()?, argument::id("checkpoint.id", &id)?);
                let fence = fence.map(argument::fence).transpose()?;
                let bytes = text.as_bytes();
                // What only a listing would refuse would stop every worker that drains the queue.
                checkpoint::scan(bytes)
                    .and_then(|summary| summary.pending.judged())
                    .map_err(|why| Refusal::would_not_read_back(&id, why))?;
                let durability = run.durability();
                let (run_dir, id) = (&run_dir, id.as_str());
                checkpoint::write(&System, &Write { run_dir, id, bytes, fence, durability })?;
                Ok(Answer::C(Null))
            })
        })
    }

    /// Answers the checkpoint's text, or `null` when there is none.
    #[napi]
    pub fn read_checkpoint(
        &mut self,
        env: &Env,
        ticket: f64,
        run: Run,
        id: Utf16String,
    ) -> Result<()> {
        self.start(env, ticket, move || {
            answer(|| {
                let read = checkpoint::read(&System, &run.dir()?, &argument::id("id", &id)?)?;
                Ok(read.map_or(Answer::C(Null), |checkpoint| texts(vec![checkpoint])))
            })
        })
    }

    /// Answers the texts of all checkpoints, oldest first.
    #[napi]
    pub fn list_checkpoints(&mut self, env: &Env, ticket: f64, run: Run) -> Result<()> {
        self.start(env, ticket, move || {
            answer(|| Ok(texts(checkpoint::list(&System, &run.dir()?)?)))
        })
    }

    /// Answers `null`.
    #[napi]
    pub fn delete_checkpoint(
        &mut self,
        env: &Env,
        ticket: f64,
        run: Run,
        id: Utf16String,
    ) -> Result<()> {
        self.start(env, ticket, move || {
            answer(|| {
                let id = argument::id("id", &id)?;
                checkpoint::delete(&System, &run.dir()?, &id, run.durability())?;
                Ok(Answer::C(Null))
            })
        })
    }
}

impl Run {
    fn dir(&self) -> Checked<PathBuf> {
        let base = argument::path("baseDir", &self.base_dir)?;
        let run = argument::id("runId", &self.run_id)?;
        let parent = self.parent_run_id.as_ref().map(|parent| argument::id("parentRunId", parent));
        let parent = parent.transpose()?;
        Ok(names::run_dir(&base, parent.as_ref().map(Id::as_str), run.as_str()))
    }

    fn durability(&self) -> Durability {
        if self.power { Durability::Power } else { Durability::Process }
    }
}

fn texts(checkpoints: Vec<Checkpoint>) -> Answer {
    let texts = checkpoints.into_iter().map(|checkpoint| Text::new(checkpoint.bytes));
    Answer::E(Texts::new(texts.collect()))
}
