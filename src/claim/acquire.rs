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
    renews: bool,
}

impl Request {
    /// A request of `holder` for `ttl` milliseconds from `now`; `None` when their sum is not
    /// finite. `now` judges whether another's lease is live, and dates the new one.
    pub fn new(holder: Holder, ttl: Millis, now: Millis, durability: Durability) -> Option<Self> {
        Some(Request { holder, now, expires_at: now.plus(ttl)?, durability, renews: true })
    }

    /// The same, for a run that nobody holds, the asking holder included.
    pub fn of_a_free_run(self) -> Request {
        Request { renews: false, ..self }
    }

    /// Whose live lease does not stand in the way.
    fn renewer(&self) -> Option<&Holder> {
        self.renews.then_some(&self.holder)
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
        let fence = match decide(current.as_ref(), request.renewer(), request.now) {
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
                // Overtaken: another round.
                Ok(false) => {
                    mutant!(OvertakenGivesUp => return Ok(None));
                    mutant!(OvertakenIsUnsettled => {
                        return Err(ClaimError::Unsettled { claims: claims.path() });
                    });
                }
                Err(refusal) => {
                    mutant!(FaultIsNull => return Ok(None));
                    mutant!(NoWithdraw => return Err(refusal));
                    mutant!(RenewalWithdrawn => drop(claims.release(fence)));
                    let held = current.filter(|lease| request.holds(lease));
                    claims.undo(fence, request.expires_at, held);
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
        let sealed = self.seal(&view, fence);
        // Also after a failure, or a caller that keeps trying would fill the directory.
        self.prune(&view, fence);
        sealed.map(|()| true)
    }

    /// Undoes what it can of a fence that was published and could not be settled, so that the run
    /// is not locked by a lease nobody was told of. When that fails too, the lease ends by itself.
    ///
    /// A holder that fails to renew goes on under the lease that it `held`, and nobody else may be
    /// let in before that ends.
    fn undo(&self, fence: Fence, expires_at: Millis, held: Option<Lease>) {
        mutant!(ShorterStays => return if held.is_none() {
            drop(self.release(fence));
        });
        match (held, fence.next()) {
            (None, _) => drop(self.release(fence)),
            (Some(held), Some(next)) if held.expires_at > expires_at => {
                drop(publish(self, next, &held.holder, held.expires_at));
            }
            (Some(_), _) => {}
        }
    }
}
