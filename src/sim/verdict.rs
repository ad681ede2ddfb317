//! The oracle's second half: what callers are told, judged by what was so.

use super::call::{Act, Bound, Ended, Taker};
use super::check::{Promise, Violation};
use super::model::Model;
use super::state::State;
use super::tables::locked;
use crate::error::WriteError;
use crate::names::Name;
use crate::types::Lease;

impl Model {
    /// A call has answered.
    pub(super) fn ended(
        &self,
        state: &mut State,
        at: usize,
        call: Bound,
        ended: &Ended,
    ) -> Result<(), Violation> {
        self.tidied(state, at)?;
        let before = state.workers[at].seen.highest;
        match (ended, call.act) {
            (Ended::Acquired(Ok(Some(lease))), Act::Acquire { now_ms, ttl_ms, taker }) => {
                if taker != Taker::Peer {
                    state.sealing = state.sealing.max(lease.fence.get());
                }
                self.one_holder(state, at, lease, now_ms + ttl_ms, taker)?;
                self.granted(state, at, lease, now_ms + ttl_ms)
            }
            (Ended::Acquired(Ok(None)), _) => {
                state.workers[at].lease = None;
                self.judge(Promise::P6, self.was_held(&state.workers[at].seen), || {
                    "a caller is told that somebody else holds the run, and nobody did".into()
                })
            }
            (Ended::Acquired(Err(error)), act) => {
                // A peer does not make good what an error of its own has published.
                if !matches!(act, Act::Acquire { taker: Taker::Peer, .. }) {
                    self.runs_on(state, at);
                }
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
            (Ended::Read(Ok(lease)), _) => {
                let (read, told) = (lease.as_ref().map_or(0, |lease| lease.fence.get()), before);
                // All holdings can be replaced during one listing only where few are kept.
                let few = self.scenario.kept_fences < 32;
                self.judge(Promise::P6, read >= told || few, || {
                    format!("a reader is told of {read}, and {told} had been returned before")
                })
            }
            (Ended::Panicked(text), _) => self.judge(Promise::P6, false, || text.clone()),
            (ended, act) => unreachable!("{ended:?} is no answer to {act:?}"),
        }
    }

    /// A call that no fault has struck leaves nothing behind that it made for itself.
    fn tidied(&self, state: &State, at: usize) -> Result<(), Violation> {
        let worker = &state.workers[at];
        let outage = state.left.outages < self.scenario.faults.outages;
        if worker.seen.faults[0].is_some() || outage {
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
        Ok(())
    }

    /// Whether nobody holds a live lease beside a worker that is given one.
    fn one_holder(
        &self,
        state: &State,
        at: usize,
        lease: &Lease,
        until_ms: i64,
        taker: Taker,
    ) -> Result<(), Violation> {
        // Whose clock is ahead takes what has not ended for the others: no promise covers it.
        let ahead = |at: usize| self.scenario.workers[at].behind_ms < 0;
        if until_ms <= state.latest_ms || ahead(at) {
            return Ok(());
        }
        let beside = state.workers.iter().enumerate().find_map(|(other, worker)| {
            let theirs = worker.lease.filter(|_| !ahead(other))?;
            let renewed = taker != Taker::Free && self.holders[other] == self.holders[at];
            (!renewed).then_some((other, theirs))
        });
        self.judge(Promise::P1, beside.is_none(), || {
            let fence = lease.fence;
            format!("{at} is told {fence} until {until_ms}, beside {beside:?} (who, fence, until)")
        })
    }

    /// After a claim that failed, a lease that the caller had before runs on: unless somebody got in
    /// while the caller was bound by a shorter one that it had asked for, or a second fault hit the
    /// making good.
    fn runs_on(&self, state: &mut State, at: usize) {
        let top = self.top(state).and_then(|(_, body)| body);
        let Some(body) = top.filter(|body| body.holder == self.holders[at]) else {
            return;
        };
        let latest_ms = state.latest_ms;
        let worker = &mut state.workers[at];
        let twice = worker.seen.faults[1].is_some() || worker.seen.outage;
        worker.lease = worker.seen.lease.filter(|(_, until_ms)| {
            let is_on_disk = body.expires_at.get() >= *until_ms as f64;
            *until_ms > latest_ms && (is_on_disk || !twice)
        });
    }

    /// A claim that failed leaves no lease that locks others out and that nobody was told of.
    fn nothing_left(&self, state: &State, at: usize, call: Bound) -> Result<(), Violation> {
        // Of two faults the second can hit the giving back, and then the lease has to end.
        let worker = &state.workers[at];
        let second = worker.seen.faults[1].is_some()
            || self.scenario.faults.always.is_some()
            || worker.seen.outage;
        // A holder that could not renew, by its own clock, keeps the run until the lease ends that
        // it asked for; also one that has crashed, and forgotten that it holds it.
        let held =
            matches!(call.act, Act::Acquire { now_ms, .. } if worker.seen.own_until_ms > now_ms);
        let alike = self.holders.iter().filter(|holder| **holder == self.holders[at]).count() > 1;
        if second || held || alike {
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
                // An outage can take back the fence that was seen.
                let outage = state.left.outages < self.scenario.faults.outages;
                let true_to_fact = presented.get() == fence && (top > fence || outage);
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
            (WriteError::Storage { cause, .. }, Act::Write { fence: Some(fence) })
                if self.is_sealed_unseen(state, *cause, fence) =>
            {
                Ok(())
            }
            (WriteError::Storage { doing, cause, .. }, _) => {
                self.making_was_retried(doing, *cause)?;
                self.caused(state, at, Some(*cause))
            }
            (WriteError::Claim(error), _) => self.excused(state, at, error),
        }
    }
}
