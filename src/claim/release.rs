//! Giving a run back: a tombstone above the fence that was held. Nothing is deleted, for the
//! counter must not rewind.

use super::Claims;
use crate::directory::Durability;
use crate::env::World;
use crate::error::ClaimError;
use crate::publish::{Published, publish};
#[cfg(feature = "sim")]
use crate::sim::wrong;
use crate::types::{Fence, Holder, Millis};
use std::path::Path;

/// Releases the claim of the run in `run_dir` that was taken at `fence`. Does nothing when the
/// run's current fence is another: somebody took it meanwhile, or it was given back already.
///
/// # Errors
///
/// [`ClaimError`]: the tombstone could not be published; the lease then ends by itself.
pub fn release<W: World>(
    world: &W,
    run_dir: &Path,
    fence: Fence,
    durability: Durability,
) -> Result<(), ClaimError> {
    match Claims::open(world, run_dir, durability)? {
        Some(claims) => claims.release(fence),
        None => Ok(()),
    }
}

impl<W: World> Claims<'_, W> {
    pub(super) fn release(&self, fence: Fence) -> Result<(), ClaimError> {
        mutant!(ReleaseOfAnyFence => match self.top_fence()? {
            Some(top) if top != fence => return self.release(top),
            _ => {}
        });
        if self.top_fence()? != Some(fence) {
            return Ok(());
        }
        mutant!(ReleaseDeletes => return wrong::delete(self, fence));
        let Some(tombstone) = fence.next() else {
            return Err(ClaimError::FencesUsedUp { claims: self.path() });
        };
        match publish(self, tombstone, &Holder::NOBODY, Millis::ZERO)? {
            Published::Won => match self.standing(tombstone)? {
                Some(view) => self.seal(&view, tombstone),
                None => Ok(()),
            },
            Published::Lost if self.shows_up(tombstone)? => Ok(()),
            Published::Lost => {
                Err(ClaimError::TakenButUnseen { claims: self.path(), fence: tombstone })
            }
        }
    }
}
