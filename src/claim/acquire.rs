//! Taking a run: a first claim, the reclaim of one whose lease has ended, and a renewal are the
//! same steps. See `docs/design.md` for a crash at each of them.

use super::decide::{Decision, decide};
use super::{Claims, ROUNDS};
use crate::directory::Durability;
use crate::env::World;
use crate::error::ClaimError;
use crate::publish::{Published, publish};
use crate::switch::rounds;
use crate::types::{Fence, Holder, Lease, Millis};
use std::path::Path;

/// Who asks for a run, from when until when.
#[derive(Clone, Debug)]
pub struct Request {
    holder: Holder,
    now: Millis,
    expires_at: Millis,
    durability: Durability,
}

impl Request {
    /// A request of `holder` for `ttl` milliseconds from `now`; `None` when their sum is not
    /// finite. `now` judges whether another's lease is live, and dates the new one.
    pub fn new(holder: Holder, ttl: Millis, now: Millis, durability: Durability) -> Option<Self> {
        Some(Request { holder, now, expires_at: now.plus(ttl)?, durability })
    }
}

/// Takes or renews the claim of the run in `run_dir`, making the directories it needs.
///
/// `None` means that somebody else holds the run, or kept winning it for as many rounds as this
/// attempt has. The lease returned carries a fence above every one returned before.
///
/// # Errors
///
/// [`ClaimError`]: the storage failed, or this volume cannot decide a race. The call has taken
/// nothing then; a lease that the holder had before runs on, under a fence that may be a higher one.
pub fn acquire<W: World>(
    world: &W,
    run_dir: &Path,
    request: &Request,
) -> Result<Option<Lease>, ClaimError> {
    let claims = Claims::open_or_make(world, run_dir, request.durability)?;
    let mut lost = Fence::NONE;
    for _ in 0..rounds(ROUNDS) {
        let current = claims.current()?;
        let fence = match decide(current.as_ref(), &request.holder, request.now) {
            Decision::Held => return Ok(None),
            Decision::UsedUp => return Err(ClaimError::FencesUsedUp { claims: claims.path() }),
            Decision::Take(fence) => fence,
        };
        if current.is_none() {
            claims.sync_way(run_dir)?;
        }
        mutant!(SealBeforeLink => claims.seal(&claims.scan()?, fence)?);
        match publish(&claims, fence, &request.holder, request.expires_at)? {
            Published::Lost => lost = fence,
            Published::Won => match claims.settle(fence) {
                Ok(true) => return Ok(Some(request.lease(fence))),
                Ok(false) => lost = Fence::NONE,
                Err(refusal) => {
                    mutant!(FaultIsNull => return Ok(None));
                    mutant!(NoWithdraw => return Err(refusal));
                    mutant!(RenewalWithdrawn => claims.withdraw(fence));
                    // A holder that fails to renew goes on under the lease it knows, and nobody
                    // else may be let in before it ends.
                    if !current.is_some_and(|lease| request.holds(&lease)) {
                        claims.withdraw(fence);
                    }
                    return Err(refusal);
                }
            },
        }
    }
    mutant!(UnseenIsNull => return Ok(None));
    if lost == Fence::NONE || claims.shows_up(lost)? {
        Ok(None)
    } else {
        Err(ClaimError::TakenButUnseen { claims: claims.path(), fence: lost })
    }
}

impl Request {
    /// Whether a lease is the live one of the holder that asks.
    fn holds(&self, lease: &Lease) -> bool {
        lease.is_live(self.now) && lease.holder == self.holder
    }

    fn lease(&self, fence: Fence) -> Lease {
        Lease { holder: self.holder.clone(), fence, expires_at: self.expires_at }
    }
}

impl<W: World> Claims<'_, W> {
    /// After the link at `fence`: whether it stands. If so, no write below it can appear any more.
    fn settle(&self, fence: Fence) -> Result<bool, ClaimError> {
        let Some(view) = self.standing(fence)? else {
            return Ok(false);
        };
        mutant!(SealBeforeLink => return Ok(true));
        self.seal(&view, fence)?;
        self.prune(&view, fence);
        Ok(true)
    }

    /// Gives back a fence that was published and could not be settled, so that the run is not
    /// locked by a lease nobody was told of. When that fails too, the lease ends by itself.
    fn withdraw(&self, fence: Fence) {
        let _ = self.release(fence);
    }
}
