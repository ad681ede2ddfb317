//! What the oracle lets pass: errors that name what struck the call, and answers that cannot be
//! better on a volume that goes wrong so.

use super::check::{Promise, Violation};
use super::model::Model;
use super::state::{Seen, State};
use crate::env::{FsError, Op};
use crate::errno::Errno;
use crate::error::ClaimError;

impl Model {
    /// Whether a write tells that its staged file is gone, which a taker has removed that it does
    /// not see: all holdings can be replaced during one listing only where few are kept.
    pub(super) fn is_sealed_unseen(&self, state: &State, cause: FsError, fence: u64) -> bool {
        let gone = FsError { op: Op::Rename, errno: Errno::ENOENT };
        self.scenario.kept_fences < 32
            && cause == gone
            && self.top(state).is_some_and(|(top, _)| top > fence)
    }

    /// Whether an error names a fault that struck the call.
    pub(super) fn excused(
        &self,
        state: &State,
        at: usize,
        error: &ClaimError,
    ) -> Result<(), Violation> {
        let struck = |errno| state.workers[at].seen.faults.contains(&Some(errno));
        match error {
            ClaimError::ScratchTaken { .. } | ClaimError::TakenButUnseen { .. } => {
                self.judge(Promise::P6, struck(Errno::EEXIST), || {
                    format!("{error:?} without a cause")
                })
            }
            ClaimError::Unsettled { .. } => {
                // Only others make holdings vanish, or the loss of power.
                let seen = &state.workers[at].seen;
                self.judge(Promise::P6, seen.pruned || seen.outage, || {
                    "the claims are said to change too fast, and nobody removed one".into()
                })
            }
            ClaimError::Storage { doing, cause, .. } => {
                self.making_was_retried(doing, *cause)?;
                self.caused(state, at, Some(*cause))
            }
            error => self.caused(state, at, error.cause()),
        }
    }

    /// What volumes say of a directory that several hosts are making passes, and is no refusal.
    pub(super) fn making_was_retried(&self, doing: &str, cause: FsError) -> Result<(), Violation> {
        let passes = matches!(cause.errno, Errno::ENOENT | Errno::ENOTDIR | Errno::ESTALE);
        let refused = doing.starts_with("make the directory") && passes;
        self.judge(Promise::P8, !refused, || format!("cannot {doing}: {}", cause.errno))
    }

    pub(super) fn caused(
        &self,
        state: &State,
        at: usize,
        cause: Option<FsError>,
    ) -> Result<(), Violation> {
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
            Errno::ENOENT => {
                let faults = &self.scenario.faults;
                faults.outages > 0 || faults.ticks_ms.iter().sum::<i64>() > 600_000
            }
            // What a worker has open can be gone after an outage.
            Errno::ESTALE | Errno::EIO => self.scenario.faults.outages > 0,
            _ => false,
        }
    }

    /// Whether somebody else held the run, or won it each time that the caller tried.
    pub(super) fn was_held(&self, seen: &Seen) -> bool {
        // A volume that says "taken" of a free name costs a round in which nobody won.
        let false_losses =
            seen.faults.iter().filter(|fault| **fault == Some(Errno::EEXIST)).count();
        let lost = usize::from(seen.overtaken) + false_losses;
        // A name that was pruned since it was listed, and linked anew by a taker that is too late,
        // reads as a lease that it is not. That is known, and nothing is lost by it: `docs/design.md`.
        seen.held || seen.behind || seen.overtaken > 0 && lost >= self.scenario.rounds
    }
}
