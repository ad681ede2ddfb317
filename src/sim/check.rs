//! The oracle: the promises of `docs/testing.md`, judged at every step of every worker. It knows
//! what every caller was told, which no worker does, and it trusts nothing that the core says.

use super::call::{Act, Bound, Taker};
use super::fs::{Change, Files, Ino};
use super::model::Model;
use super::state::State;
use super::tables::{NameId, locked};
use crate::body::Body;
use crate::names::Name;
use std::sync::Arc;

/// What the protocol promises.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Promise {
    /// At any instant at most one caller has been told that it holds the run, among those whose
    /// lease has not ended by the clock they share.
    P1,
    /// A fence that is returned is above every fence that was returned before the call began, and
    /// none is returned twice.
    P2,
    /// Once a claim has returned a fence, no checkpoint fenced below it becomes visible.
    P3,
    /// A holding has a whole body from its first instant and is never rewritten, and a lease that
    /// is returned is the one on disk.
    P4,
    /// After any crash the next claim needs nobody's help, and what crashes leave is cleaned up.
    P5,
    /// A fault is an error that names its cause; "somebody else holds it" means just that, and
    /// "done" means done.
    P6,
    /// A checkpoint is the old one or the new one, whole.
    P7,
    /// When faults stop and leases end, a claim succeeds at once.
    P8,
}

/// A promise that was broken.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    /// Which.
    pub promise: Promise,
    /// How.
    pub why: String,
}

impl Model {
    /// A promise that must hold, where the scenario judges it.
    pub(super) fn judge(
        &self,
        promise: Promise,
        holds: bool,
        why: impl FnOnce() -> String,
    ) -> Result<(), Violation> {
        if holds || self.scenario.judged.is_some_and(|judged| judged != promise) {
            return Ok(());
        }
        Err(Violation { promise, why: why() })
    }

    /// A worker has made a call.
    pub(super) fn called(&self, state: &mut State, at: usize, call: Bound) {
        let own_until_ms = self.own_until_ms(state, at);
        let worker = &mut state.workers[at];
        match call.act {
            Act::Acquire { now_ms, ttl_ms, taker } => {
                worker.seen.own_until_ms = own_until_ms;
                worker.seen.lease = worker.lease;
                // Whoever renews for a shorter time is bound by it at once, until told otherwise.
                let asked_ms = if taker == Taker::Free { i64::MAX } else { now_ms + ttl_ms };
                let latest_ms = state.latest_ms;
                let shorter = |(fence, until_ms): (u64, i64)| (fence, until_ms.min(asked_ms));
                let live = |(_, until_ms): &(u64, i64)| *until_ms > latest_ms;
                worker.lease = worker.lease.map(shorter).filter(live);
                self.see_holder(state, at, call);
            }
            // Whoever gives the run back has stopped working on it.
            Act::Release { .. } => worker.lease = None,
            Act::Write { .. } | Act::Read => {}
        }
    }

    /// Until when the highest holding is a worker's own; 0 when it is another's.
    fn own_until_ms(&self, state: &State, at: usize) -> i64 {
        let top = self.top(state).and_then(|(_, body)| body);
        let own = top.filter(|body| body.holder == self.holders[at]);
        own.map_or(0, |body| body.expires_at.get() as i64)
    }

    /// A worker has changed a file or directory.
    pub(super) fn changed(
        &self,
        state: &mut State,
        at: usize,
        change: Change,
    ) -> Result<(), Violation> {
        match change {
            Change::Entry { dir, name, before, after } if dir == self.claims => {
                let meaning = locked(&self.tables).meaning(name);
                if let (Name::Holding(fence), Some(after)) = (meaning, after) {
                    self.judge(Promise::P4, before.is_none(), || {
                        format!("{} stands for another file now", self.text(name))
                    })?;
                    let whole = self.body_of(&state.files, after).is_some();
                    self.judge(Promise::P4, whole, || {
                        format!("{} appears with a damaged body", self.text(name))
                    })?;
                    self.published(state, at, fence.get(), after);
                }
                if let (Name::Holding(_), None) = (meaning, after) {
                    state.others(at).for_each(|worker| worker.seen.pruned = true);
                }
                self.see_holders(state);
                Ok(())
            }
            Change::Entry { dir, name, after: Some(_), .. } if dir == self.checkpoints => {
                self.revealed(state, at, name)
            }
            Change::Written(file) => {
                let entries = state.files.entries(self.claims);
                let tables = locked(&self.tables);
                let published = entries.iter().any(|(name, ino)| {
                    *ino == file && matches!(tables.meaning(*name), Name::Holding(_))
                });
                self.judge(Promise::P4, !published, || "a published holding is written to".into())
            }
            Change::Entry { .. } => Ok(()),
        }
    }

    /// How often the core takes again when it lost. Less often it may not answer "somebody else".
    pub(super) fn rounds(&self) -> u8 {
        u8::try_from(self.scenario.rounds).expect("fewer than 256 rounds")
    }

    fn published(&self, state: &mut State, by: usize, fence: u64, file: Ino) {
        let is_late = self.top(state).is_some_and(|(top, _)| top > fence);
        for (at, worker) in state.workers.iter_mut().enumerate() {
            if at == by {
                continue;
            }
            let Some(past) = worker.running else {
                continue;
            };
            if matches!(self.programs.borrow().call(past).act, Act::Acquire { .. }) {
                worker.seen.overtaken = (worker.seen.overtaken + 1).min(self.rounds());
                if is_late {
                    worker.seen.late.push(file);
                }
            }
        }
    }

    /// A worker has read a file.
    pub(super) fn has_read(&self, state: &mut State, at: usize, call: Bound, file: Ino) {
        let is_late = state.workers[at].seen.late.contains(&file);
        let body = self.body_of(&state.files, file).filter(|_| is_late);
        let is_held = body.is_some_and(|body| self.is_held(at, call, &body));
        state.workers[at].seen.behind = is_held;
    }

    /// A name in the checkpoints directory came to stand for another file.
    fn revealed(&self, state: &mut State, at: usize, name: NameId) -> Result<(), Violation> {
        if name != self.point {
            return Ok(());
        }
        let call = state.workers[at].running.map(|past| self.programs.borrow().call(past));
        state.workers[at].seen.revealed = true;
        if self.scenario.volume.power {
            state.shown.push(self.shown(&state.files));
        }
        if let Some(Bound { act: Act::Write { fence: Some(fence) }, .. }) = call {
            self.judge(Promise::P3, state.sealing <= fence, || {
                let highest = state.sealing;
                format!("a checkpoint fenced {fence} appears after {highest} was returned")
            })?;
        }
        self.checkpoint_is_whole(&state.files)
    }

    /// Whether the checkpoint that readers see is one that somebody wrote, whole.
    pub(super) fn checkpoint_is_whole(&self, files: &Files) -> Result<(), Violation> {
        let Some(content) = self.shown(files) else {
            return Ok(());
        };
        let bytes = locked(&self.tables).bytes(content);
        let text = String::from_utf8_lossy(&bytes);
        self.judge(Promise::P7, self.is_checkpoint(&text), || format!("readers see {text:?}"))
    }

    /// The volume has lost its power, and the workers go on.
    pub(super) fn after_outage(&self, state: &mut State) -> Result<(), Violation> {
        self.see_holders(state);
        // What was answered and not synced is lost, and its writer cannot know.
        state.shown = vec![self.shown(&state.files)];
        self.holdings_are_whole(&state.files)?;
        self.checkpoint_is_whole(&state.files)
    }

    /// Whether no published holding is damaged.
    pub(super) fn holdings_are_whole(&self, files: &Files) -> Result<(), Violation> {
        let damaged = {
            let tables = locked(&self.tables);
            files.entries(self.claims).iter().find(|(name, file)| {
                let body = files.content(*file).and_then(|content| tables.body(content));
                matches!(tables.meaning(*name), Name::Holding(_)) && body.is_none()
            })
        };
        match damaged {
            None => Ok(()),
            Some((name, _)) => {
                self.judge(Promise::P4, false, || format!("{} is damaged", self.text(*name)))
            }
        }
    }

    /// The clock has moved.
    pub(super) fn ticked(&self, state: &mut State) {
        state.latest_ms = state.latest_ms.max(state.clock_ms);
        let latest_ms = state.latest_ms;
        for worker in &mut state.workers {
            worker.lease = worker.lease.filter(|(_, until_ms)| *until_ms > latest_ms);
        }
    }

    fn see_holders(&self, state: &mut State) {
        for at in 0..state.workers.len() {
            if let Some(past) = state.workers[at].running {
                let call = self.programs.borrow().call(past);
                self.see_holder(state, at, call);
            }
        }
    }

    /// Notes when somebody else holds the run by the clock of a caller.
    fn see_holder(&self, state: &mut State, at: usize, call: Bound) {
        if let Some((_, Some(body))) = self.top(state) {
            state.workers[at].seen.held |= self.is_held(at, call, &body);
        }
    }

    /// Whether a body says to a caller that somebody else holds the run.
    fn is_held(&self, at: usize, call: Bound, body: &Body) -> bool {
        let Act::Acquire { now_ms, taker, .. } = call.act else {
            return false;
        };
        let live = (now_ms as f64) < body.expires_at.get();
        let own = taker != Taker::Free && body.holder == self.holders[at];
        live && !own
    }

    /// The highest fence on disk, and its body unless it is damaged.
    pub(super) fn top(&self, state: &State) -> Option<(u64, Option<Arc<Body>>)> {
        let tables = locked(&self.tables);
        let holdings =
            state.files.entries(self.claims).iter().filter_map(|(name, ino)| {
                match tables.meaning(*name) {
                    Name::Holding(fence) => Some((fence.get(), *ino)),
                    _ => None,
                }
            });
        let (fence, ino) = holdings.max_by_key(|(fence, _)| *fence)?;
        let content = state.files.content(ino)?;
        Some((fence, tables.body(content).cloned()))
    }
}
