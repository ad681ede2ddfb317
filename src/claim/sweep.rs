//! What a taker does after its link and before it returns: make sure that it is the latest, seal
//! what writers below it have staged, and keep house.
//!
//! The order is the guarantee. A taker that stalls before its link can find its number free again,
//! because pruning has removed the name long after others passed it; only a listing after the
//! link tells. And a writer that has not seen the link has staged its file before it, so the same
//! listing shows the file, unless it was renamed already: a staged file below the taker's fence
//! and its rename have one winner.

use super::scan::View;
use super::{Claims, ROUNDS};
use crate::directory::Durability;
use crate::env::World;
use crate::errno::Errno;
use crate::error::ClaimError;
use crate::names;
#[cfg(feature = "sim")]
use crate::sim::wrong;
use crate::switch::{kept_fences, rounds};
use crate::types::Fence;
use std::ffi::OsStr;

/// How many fences below the highest stay on disk.
const KEPT_FENCES: u64 = 32;

/// The age from which a scratch file is litter, by the wall clock.
const SCRATCH_AGE_MS: f64 = 600_000.0;

/// The lowest fence that stays on disk while `top` is the highest.
fn oldest_kept(top: Fence) -> u64 {
    top.get().saturating_sub(kept_fences(KEPT_FENCES))
}

impl<W: World> Claims<'_, W> {
    /// After a link that succeeded: what a listing shows now, or `None` when a higher holding
    /// stands and the fence is worth nothing.
    ///
    /// The own file then stays, unless pruning would take it too: a worker that does not list
    /// after its link could otherwise link the name anew and believe that it holds the run.
    pub(super) fn standing(&self, fence: Fence) -> Result<Option<View>, ClaimError> {
        if self.durability == Durability::Power {
            mutant!(DirNotSynced => return Ok(Some(self.scan()?)));
            let synced = self.world.sync_dir(&self.dir);
            synced.map_err(|cause| self.failed(Some(fence), "make a claim durable", cause))?;
        }
        let own = names::holding(fence);
        let view = self.scan()?;
        mutant!(NoSecondListing => return Ok(Some(view)));
        match view.top() {
            Some((top, _)) if top > fence => {
                mutant!(OvertakenRemovesOwn => return wrong::remove_own(self, fence));
                if fence.get() < oldest_kept(top) {
                    // A file that stays is taken by the next pruning.
                    let _ = self.world.unlink(&self.dir, OsStr::new(&own));
                }
                Ok(None)
            }
            top => {
                mutant!(OwnNameNotChecked => return Ok(Some(view)));
                if !self.is_there(OsStr::new(&own))? {
                    // Pruned by somebody more than a window above.
                    return Ok(None);
                }
                // The own name was there all the while, so a listing without it shows nothing.
                match top {
                    Some((top, _)) if top == fence => Ok(Some(view)),
                    _ => Err(ClaimError::Unsettled { claims: self.path() }),
                }
            }
        }
    }

    /// Removes every checkpoint write that was staged below `fence`, so that it can never become
    /// visible. A failure must reach the caller: with it the promise to the new holder is void.
    pub(super) fn seal(&self, view: &View, fence: Fence) -> Result<(), ClaimError> {
        mutant!(NoSeal => return Ok(()));
        let failed = |cause| self.failed(Some(fence), "remove an overtaken write", cause);
        let mut sealed = false;
        for (_, name) in view.staged.iter().filter(|(staged, _)| *staged < fence) {
            match self.world.unlink(&self.dir, name) {
                Ok(()) => sealed = true,
                // Gone already; or a directory, which no writer makes and no rename reveals.
                Err(cause) if matches!(cause.errno, Errno::ENOENT | Errno::EISDIR) => {}
                Err(cause) => {
                    mutant!(SealFailureIgnored => continue);
                    return Err(failed(cause));
                }
            }
        }
        // A writer on another host outlives the loss of power of the volume's, and must not find
        // its file again after it.
        mutant!(SealNotSynced => return Ok(()));
        if sealed && self.durability == Durability::Power {
            self.world.sync_dir(&self.dir).map_err(failed)?;
        }
        Ok(())
    }

    /// Removes holdings below the window, lowest first, and old scratch files. Only ever below
    /// `fence`, the highest, so no number can be issued twice. Failures are left for the next
    /// taker: housekeeping must not fail a claim.
    pub(super) fn prune(&self, view: &View, fence: Fence) {
        mutant!(NoPrune => return);
        mutant!(PruneTakesMaximum => wrong::prune_all(self, view));
        mutant!(PruneDescending => wrong::prune_descending(self, view, oldest_kept(fence)));
        for name in view.holdings_below(oldest_kept(fence)) {
            let _ = self.world.unlink(&self.dir, &name);
        }
        mutant!(NoSweep => return);
        let staged = view.staged.iter().filter(|(staged, _)| *staged >= fence);
        let scratch = staged.map(|(_, name)| name).chain(&view.scratch);
        for name in scratch {
            let modified = self.world.modified_ms(&self.dir, name);
            mutant!(AgeByCaller => if wrong::old_by_caller(&modified, SCRATCH_AGE_MS) {
                let _ = self.world.unlink(&self.dir, name);
            });
            if modified.is_ok_and(|modified| self.world.now_ms() - modified > SCRATCH_AGE_MS) {
                let _ = self.world.unlink(&self.dir, name);
            }
        }
    }

    /// Whether a name that the volume called taken is one that listings show.
    pub(super) fn shows_up(&self, fence: Fence) -> Result<bool, ClaimError> {
        for _ in 0..rounds(ROUNDS) {
            if self.top_fence()?.is_some_and(|top| top >= fence) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
