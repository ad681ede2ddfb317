//! A run's claims directory, open. All steps of one operation go through the one open directory,
//! so none of them can end up in another that has taken its place.

use crate::directory::{Durability, open_or_make, sync_way};
use crate::env::{FsError, World};
use crate::errno::Errno;
use crate::error::ClaimError;
use crate::names;
use crate::types::Fence;
use std::path::{Path, PathBuf};

/// A claims directory and the world it is in.
pub(crate) struct Claims<'w, W: World> {
    pub(crate) world: &'w W,
    pub(crate) dir: W::Dir,
    pub(crate) durability: Durability,
    path: PathBuf,
}

impl<'w, W: World> Claims<'w, W> {
    /// Opens the claims of a run; `None` when it never had any. Creates nothing.
    pub(crate) fn open(
        world: &'w W,
        run_dir: &Path,
        durability: Durability,
    ) -> Result<Option<Self>, ClaimError> {
        let path = names::claims_dir(run_dir);
        match world.open_dir(&path) {
            Ok(dir) => Ok(Some(Claims { world, dir, durability, path })),
            Err(cause) if cause.errno == Errno::ENOENT => Ok(None),
            Err(cause) => Err(failed(path, None, "open the claims", cause)),
        }
    }

    /// Opens the claims of a run, and makes the directories that are missing.
    pub(crate) fn open_or_make(
        world: &'w W,
        run_dir: &Path,
        durability: Durability,
    ) -> Result<Self, ClaimError> {
        let path = names::claims_dir(run_dir);
        match open_or_make(world, &path, durability) {
            Ok(dir) => Ok(Claims { world, dir, durability, path }),
            Err(cause) => Err(failed(path, None, "make the directory of claims", cause)),
        }
    }

    /// Makes the way to the run durable, where that is asked for, before its first holding.
    pub(crate) fn sync_way(&self, run_dir: &Path) -> Result<(), ClaimError> {
        if self.durability == Durability::Process {
            return Ok(());
        }
        let synced = sync_way(self.world, run_dir);
        synced.map_err(|cause| self.failed(None, "make the way to a claim durable", cause))
    }

    /// An error of this directory.
    pub(crate) fn failed(
        &self,
        fence: Option<Fence>,
        doing: &'static str,
        cause: FsError,
    ) -> ClaimError {
        failed(self.path.clone(), fence, doing, cause)
    }

    /// The directory's path, for errors.
    pub(crate) fn path(&self) -> PathBuf {
        self.path.clone()
    }
}

fn failed(
    claims: PathBuf,
    fence: Option<Fence>,
    doing: &'static str,
    cause: FsError,
) -> ClaimError {
    ClaimError::Storage { claims, fence, doing, cause }
}
