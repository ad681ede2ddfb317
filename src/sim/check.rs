//! The oracle: the promises of `docs/testing.md`, judged at every step of every worker. It knows
//! what every caller was told, which no worker does, and it trusts nothing that the core says.

use super::call::{Act, Bound, Ended};
use super::fs::{Change, Files};
use super::model::Model;
use super::state::{Seen, State};
use super::tables::{NameId, locked};
use crate::body::Body;
use crate::env::FsError;
use crate::errno::Errno;
use crate::error::{ClaimError, WriteError};
use crate::names::Name;
use crate::types::Lease;
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
        let worker = &mut state.workers[at];
        match call.act {
            // Whoever asks for a shorter lease is bound by it from that instant, answered or not.
            Act::Acquire { now_ms, ttl_ms, .. } => {
                let shorter =
                    |(fence, until_ms): (u64, i64)| (fence, until_ms.min(now_ms + ttl_ms));
                let latest_ms = state.latest_ms;
                worker.lease =
                    worker.lease.map(shorter).filter(|(_, until_ms)| *until_ms > latest_ms);
                self.see_holder(state, at, call);
            }
            // Whoever gives the run back has stopped working on it.
            Act::Release { .. } => worker.lease = None,
            Act::Write { .. } | Act::Read => {}
        }
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
                if let (Name::Holding(_), Some(after)) = (meaning, after) {
                    self.judge(Promise::P4, before.is_none(), || {
                        format!("{} stands for another file now", self.text(name))
                    })?;
                    let whole = self.body_of(&state.files, after).is_some();
                    self.judge(Promise::P4, whole, || {
                        format!("{} appears with a damaged body", self.text(name))
                    })?;
                    self.published(state, at);
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
    fn rounds(&self) -> u8 {
        u8::try_from(self.scenario.rounds).expect("fewer than 256 rounds")
    }

    /// Whether somebody else held the run, or won it each time that the caller tried.
    fn was_held(&self, seen: &Seen) -> bool {
        // A volume that says "taken" of a free name costs a round in which nobody won.
        let false_losses =
            seen.faults.iter().filter(|fault| **fault == Some(Errno::EEXIST)).count();
        let lost = usize::from(seen.overtaken) + false_losses;
        seen.held || seen.overtaken > 0 && lost >= self.scenario.rounds
    }

    fn published(&self, state: &mut State, by: usize) {
        for (at, worker) in state.workers.iter_mut().enumerate() {
            if at == by {
                continue;
            }
            let Some(past) = worker.running else {
                continue;
            };
            if matches!(self.programs.borrow().call(past).act, Act::Acquire { .. }) {
                worker.seen.overtaken = (worker.seen.overtaken + 1).min(self.rounds());
            }
        }
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

    /// A call has answered.
    pub(super) fn ended(
        &self,
        state: &mut State,
        at: usize,
        call: Bound,
        ended: &Ended,
    ) -> Result<(), Violation> {
        self.tidied(state, at)?;
        match (ended, call.act) {
            (Ended::Acquired(Ok(Some(lease))), Act::Acquire { now_ms, ttl_ms, peer }) => {
                if !peer {
                    state.sealing = state.sealing.max(lease.fence.get());
                }
                self.granted(state, at, lease, now_ms + ttl_ms)
            }
            (Ended::Acquired(Ok(None)), _) => {
                state.workers[at].lease = None;
                self.judge(Promise::P6, self.was_held(&state.workers[at].seen), || {
                    "a caller is told that somebody else holds the run, and nobody did".into()
                })
            }
            (Ended::Acquired(Err(error)), _) => {
                // A lease that the caller had before runs on.
                self.excused(state, at, error)?;
                self.nothing_left(state, at, call)
            }
            (Ended::Released(Ok(())), Act::Release { fence }) => {
                let top = self.top(state).map_or(0, |(top, _)| top);
                self.judge(Promise::P6, top != fence, || {
                    format!("{fence} was given back and is still the highest")
                })
            }
            (Ended::Released(Err(error)) | Ended::Read(Err(error)), _) => {
                self.excused(state, at, error)
            }
            (Ended::Written(Ok(())), _) => {
                let own = locked(&self.tables).content(call.checkpoint().as_bytes());
                if let Some(at) = state.shown.iter().rposition(|shown| *shown == Some(own)) {
                    state.shown.drain(..at);
                }
                self.judge(Promise::P7, state.workers[at].seen.revealed, || {
                    "a checkpoint is said to be written and never appeared".into()
                })
            }
            (Ended::Written(Err(error)), act) => self.refused(state, at, act, error),
            (Ended::Read(Ok(_)), _) => Ok(()),
            (Ended::Panicked(text), _) => self.judge(Promise::P6, false, || text.clone()),
            (ended, act) => unreachable!("{ended:?} is no answer to {act:?}"),
        }
    }

    /// A call that no fault has struck leaves nothing behind that it made for itself.
    fn tidied(&self, state: &State, at: usize) -> Result<(), Violation> {
        let worker = &state.workers[at];
        if worker.seen.faults[0].is_some() {
            return Ok(());
        }
        let tables = locked(&self.tables);
        let mut left = state.files.entries(self.claims).iter().filter(|(name, ino)| {
            ino.is_of_call(at as u8, worker.begun)
                && matches!(tables.meaning(*name), Name::Scratch | Name::Staged(_))
        });
        match left.next() {
            None => Ok(()),
            Some((name, _)) => self.judge(Promise::P5, false, || {
                format!("a call has ended and left {:?}", tables.name_text(*name))
            }),
        }
    }

    /// A caller is told that it holds the run.
    fn granted(
        &self,
        state: &mut State,
        at: usize,
        lease: &Lease,
        until_ms: i64,
    ) -> Result<(), Violation> {
        let (fence, holder) = (lease.fence.get(), &self.holders[at]);
        let asked = lease.holder == *holder && lease.expires_at.get() == until_ms as f64;
        self.judge(Promise::P4, asked, || format!("{lease:?} is not what was asked for"))?;
        let before = state.workers[at].seen.highest;
        self.judge(Promise::P2, fence > before, || {
            format!("{fence} is returned, and {before} had been before the call")
        })?;
        let place = state.told.binary_search(&fence);
        self.judge(Promise::P2, place.is_err(), || format!("{fence} is returned twice"))?;
        if let Err(place) = place {
            state.told.insert(place, fence);
        }
        // Once others stand above, the name may be pruned, and linked anew by one who will lose.
        let own = match self.top(state) {
            Some((top, body)) if top == fence => body.is_some_and(|body| {
                body.holder == lease.holder && body.expires_at == lease.expires_at
            }),
            top => top.is_some_and(|(top, _)| top > fence),
        };
        self.judge(Promise::P4, own, || format!("{fence} is returned and is not what is on disk"))?;
        let told = (until_ms > state.latest_ms).then_some((fence, until_ms));
        state.workers[at].fence = Some(fence);
        state.workers[at].lease = told;
        self.one_holder(state, at)
    }

    /// Whether nobody else holds a live lease beside a worker that was given one.
    fn one_holder(&self, state: &State, at: usize) -> Result<(), Violation> {
        // Whose clock is ahead takes what has not ended for the others: no promise covers it.
        let ahead = |at: usize| self.scenario.workers[at].behind_ms < 0;
        if state.workers[at].lease.is_none() || ahead(at) {
            return Ok(());
        }
        let others = state.workers.iter().enumerate().filter(|(other, worker)| {
            worker.lease.is_some() && self.holders[*other] != self.holders[at] && !ahead(*other)
        });
        match others.into_iter().next() {
            None => Ok(()),
            Some((other, worker)) => self.judge(Promise::P1, false, || {
                let (own, theirs) = (state.workers[at].lease, worker.lease);
                format!("{at} is told {own:?} at {} while {other} has {theirs:?}", state.clock_ms)
            }),
        }
    }

    /// A claim that failed leaves no lease that locks others out and that nobody was told of.
    fn nothing_left(&self, state: &State, at: usize, call: Bound) -> Result<(), Violation> {
        // Of two faults the second can hit the giving back, and then the lease has to end.
        let worker = &state.workers[at];
        let second = worker.seen.faults[1].is_some() || self.scenario.faults.always.is_some();
        // A holder that could not renew keeps the run until its lease ends.
        let alike = self.holders.iter().filter(|holder| **holder == self.holders[at]).count() > 1;
        if second || alike || worker.lease.is_some() {
            return Ok(());
        }
        let left = self.top(state).and_then(|(_, body)| body).filter(|body| {
            let is_own = body.nonce.as_deref().is_some_and(|nonce| call.made_nonce(nonce));
            is_own && body.expires_at.get() > state.latest_ms as f64
        });
        self.judge(Promise::P8, left.is_none(), || {
            "a claim failed, and its lease locks the run though nobody was told of it".into()
        })
    }

    /// A write was refused.
    fn refused(
        &self,
        state: &State,
        at: usize,
        act: Act,
        error: &WriteError,
    ) -> Result<(), Violation> {
        match (error, act) {
            (WriteError::Overtaken { presented, .. }, Act::Write { fence: Some(fence) }) => {
                let top = self.top(state).map_or(0, |(top, _)| top);
                let true_to_fact = presented.get() == fence && top > fence;
                self.judge(Promise::P6, true_to_fact, || {
                    format!("a write fenced {fence} is told it was overtaken, and {top} is highest")
                })?;
                let seen = &state.workers[at].seen;
                self.judge(Promise::P7, !seen.revealed || seen.misled, || {
                    "a checkpoint is said to be refused and has appeared".into()
                })
            }
            (WriteError::Overtaken { .. }, _) => {
                self.judge(Promise::P6, false, || "an unfenced write was overtaken".into())
            }
            (WriteError::Storage { cause, .. }, _) => self.caused(state, at, Some(*cause)),
            (WriteError::Claim(error), _) => self.excused(state, at, error),
        }
    }

    /// Whether an error names a fault that struck the call.
    fn excused(&self, state: &State, at: usize, error: &ClaimError) -> Result<(), Violation> {
        let struck = |errno| state.workers[at].seen.faults.contains(&Some(errno));
        match error {
            ClaimError::ScratchTaken { .. } | ClaimError::TakenButUnseen { .. } => {
                self.judge(Promise::P6, struck(Errno::EEXIST), || {
                    format!("{error:?} without a cause")
                })
            }
            ClaimError::Unsettled { .. } => {
                // Only others make holdings vanish.
                self.judge(Promise::P6, self.scenario.workers.len() > 1, || {
                    "the claims are said to change too fast, and nobody changed them".into()
                })
            }
            error => self.caused(state, at, error.cause()),
        }
    }

    fn caused(&self, state: &State, at: usize, cause: Option<FsError>) -> Result<(), Violation> {
        let struck = state.workers[at].seen.faults;
        let named = cause.is_some_and(|cause| {
            struck.contains(&Some(cause.errno)) || self.is_natural(cause.errno)
        });
        self.judge(Promise::P6, named, || {
            format!("an error tells {cause:?}, and {struck:?} struck")
        })
    }

    /// Whether a step can fail so on this volume with no fault at all.
    fn is_natural(&self, errno: Errno) -> bool {
        match errno {
            Errno::EPERM => !self.scenario.volume.links,
            // A worker that is stalled for longer than scratch files live.
            Errno::ENOENT => self.scenario.faults.ticks_ms.iter().sum::<i64>() > 600_000,
            _ => false,
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
        let Act::Acquire { now_ms, .. } = call.act else {
            return;
        };
        let Some((_, Some(body))) = self.top(state) else {
            return;
        };
        let live = (now_ms as f64) < body.expires_at.get();
        state.workers[at].seen.held |= live && body.holder != self.holders[at];
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
