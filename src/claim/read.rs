//! Who has a run, and at which fence. Creates nothing on disk.
//!
//! A listing is no snapshot, and pruning can take the very name that it reports as the highest.
//! So every listing that decides something is followed by a look at that name, and is repeated
//! when the name is gone.

use super::scan::View;
use super::{Claims, ROUNDS};
use crate::body;
use crate::directory::Durability;
use crate::env::{Contents, FsError, World};
use crate::errno::Errno;
use crate::error::ClaimError;
use crate::switch::rounds;
use crate::types::{Fence, Holder, Lease, Millis};
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// The present lease of a run, live or not; `None` for a run never claimed. A tombstone and a
/// damaged holding read as nobody's, ended at the epoch.
///
/// # Errors
///
/// [`ClaimError::Storage`] when the directory cannot be listed or the body may not be read: that
/// is not damage, since it may be the body of a live lease.
pub fn read<W: World>(world: &W, run_dir: &Path) -> Result<Option<Lease>, ClaimError> {
    match Claims::open(world, run_dir, Durability::Process)? {
        Some(claims) => claims.current(),
        None => Ok(None),
    }
}

/// The highest fence of a run, judged by names alone; [`Fence::NONE`] for a run never claimed.
///
/// # Errors
///
/// [`ClaimError::Storage`] when the directory cannot be listed.
pub fn current_fence<W: World>(world: &W, run_dir: &Path) -> Result<Fence, ClaimError> {
    match Claims::open(world, run_dir, Durability::Process)? {
        Some(claims) => Ok(claims.top_fence()?.unwrap_or(Fence::NONE)),
        None => Ok(Fence::NONE),
    }
}

impl<W: World> Claims<'_, W> {
    /// Lists the directory once.
    pub(super) fn scan(&self) -> Result<View, ClaimError> {
        let mut view = View::default();
        let listed = self.world.list(&self.dir, &mut |name, _kind| view.add(name));
        listed.map_err(|cause| self.failed(None, "list the claims", cause))?;
        Ok(view)
    }

    /// The highest holding and its name, as a listing shows them.
    ///
    /// That there is none is believed of two listings in a row only. All that there were when one
    /// began can be pruned while it is held up, and those that came since need not be in it: btrfs
    /// ends a listing where the directory ended when it was opened.
    fn top(&self) -> Result<Option<(Fence, OsString)>, ClaimError> {
        let top = self.scan()?.top();
        mutant!(EmptyIsBelieved => return Ok(top));
        if top.is_some() { Ok(top) } else { Ok(self.scan()?.top()) }
    }

    /// The current holding, read. When it is gone each time before it can be read, it reads as a
    /// damaged one does. A stale handle, by which network volumes tell of a name that is gone, may
    /// as well mean one that is not: tried again, too, and then an error.
    pub(super) fn current(&self) -> Result<Option<Lease>, ClaimError> {
        let mut last = Ok(None);
        for _ in 0..rounds(ROUNDS) {
            let Some((fence, name)) = self.top()? else {
                return Ok(None);
            };
            last = match self.lease_at(&name, fence) {
                Err(cause) if cause.errno == Errno::ENOENT => {
                    mutant!(NoCheckOfMaximum => return Ok(Some(nobody(fence))));
                    Ok(Some(nobody(fence)))
                }
                Err(cause) if cause.errno == Errno::ESTALE => Err(cause),
                settled => {
                    mutant!(UnreadableIsDamaged => if settled.is_err() {
                        return Ok(Some(nobody(fence)));
                    });
                    last = settled.map(Some);
                    break;
                }
            };
        }
        last.map_err(|cause| self.failed(None, "read the current claim", cause))
    }

    /// The highest fence, by names alone; `None` when there is no holding. When the name is gone
    /// each time, the last one seen.
    pub(crate) fn top_fence(&self) -> Result<Option<Fence>, ClaimError> {
        Ok(self.look()?.fence)
    }

    /// As [`Claims::top_fence`], for a decision that a fence from long ago would spoil.
    pub(crate) fn settled_top_fence(&self) -> Result<Option<Fence>, ClaimError> {
        mutant!(GoneIsBelieved => return self.top_fence());
        match self.look()? {
            Look { fence, settled: true } => Ok(fence),
            Look { settled: false, .. } => Err(ClaimError::Unsettled { claims: self.path() }),
        }
    }

    fn look(&self) -> Result<Look, ClaimError> {
        let mut last = None;
        for _ in 0..rounds(ROUNDS) {
            let Some((fence, name)) = self.top()? else {
                return Ok(Look { fence: None, settled: true });
            };
            last = Some(fence);
            if self.is_there(&name)? {
                return Ok(Look { fence: last, settled: true });
            }
        }
        Ok(Look { fence: last, settled: false })
    }

    /// Whether a name that a listing reported is still there.
    pub(super) fn is_there(&self, name: &OsStr) -> Result<bool, ClaimError> {
        mutant!(NoCheckOfMaximum => return Ok(true));
        let there = self.world.exists(&self.dir, name);
        there.map_err(|cause| self.failed(None, "look at the current claim", cause))
    }

    fn lease_at(&self, name: &OsStr, fence: Fence) -> Result<Lease, FsError> {
        let body = match self.world.read(&self.dir, name, body::LIMIT)? {
            Contents::Bytes(bytes) => body::parse(&bytes),
            Contents::TooLarge | Contents::NotAFile => None,
        };
        Ok(body.map_or_else(
            || nobody(fence),
            |body| Lease { holder: body.holder, fence, expires_at: body.expires_at },
        ))
    }
}

/// What the names say.
struct Look {
    fence: Option<Fence>,
    /// Whether the name of that fence was there after the listing.
    settled: bool,
}

/// What a tombstone and a damaged holding read as.
fn nobody(fence: Fence) -> Lease {
    Lease { holder: Holder::NOBODY, fence, expires_at: Millis::ZERO }
}
