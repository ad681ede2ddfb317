//! A run's claims directory, open. All steps of one operation go through the one open directory,
//! so none of them can end up in another that has taken its place.

use super::Durability;
use crate::env::{FsError, World};
use crate::errno::Errno;
use crate::error::ClaimError;
use crate::names;
use crate::types::Fence;
use std::path::{Path, PathBuf};

/// For how long a directory that should be there by now is tried again.
const MAKING_LIMIT_MS: u64 = 2_000;

/// The longest of the growing pauses between these tries.
const LONGEST_PAUSE_MS: u64 = 100;

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
    ///
    /// Several hosts that make one run's directory at once can each be told, on a network volume,
    /// that a directory just made is not there, is none, or is stale: that is tried again.
    pub(crate) fn open_or_make(
        world: &'w W,
        run_dir: &Path,
        durability: Durability,
    ) -> Result<Self, ClaimError> {
        let path = names::claims_dir(run_dir);
        let mut opened = world.open_dir(&path);
        let mut waited_ms = 0;
        let mut pause_ms = 0;
        loop {
            match opened {
                Ok(dir) => return Ok(Claims { world, dir, durability, path }),
                Err(cause) if may_be_in_the_making(cause) && waited_ms < MAKING_LIMIT_MS => {}
                Err(cause) => return Err(failed(path, None, "make the directory of claims", cause)),
            }
            if pause_ms > 0 {
                world.pause_ms(pause_ms);
                waited_ms += pause_ms;
            }
            pause_ms = (pause_ms * 2).clamp(1, LONGEST_PAUSE_MS);
            opened = make_with_parents(world, &path, durability).and_then(|()| world.open_dir(&path));
        }
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

fn failed(claims: PathBuf, fence: Option<Fence>, doing: &'static str, cause: FsError) -> ClaimError {
    ClaimError::Storage { claims, fence, doing, cause }
}

fn may_be_in_the_making(cause: FsError) -> bool {
    matches!(cause.errno, Errno::ENOENT | Errno::ENOTDIR | Errno::ESTALE)
}

/// Makes a directory and, where they are missing, its parents, one component at a time.
fn make_with_parents<W: World>(
    world: &W,
    path: &Path,
    durability: Durability,
) -> Result<(), FsError> {
    let made = match world.make_dir(path) {
        Err(cause) if cause.errno == Errno::ENOENT => match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => {
                make_with_parents(world, parent, durability)?;
                world.make_dir(path)
            }
            _ => Err(cause),
        },
        made => made,
    };
    match made {
        Ok(()) if durability == Durability::Power => sync_parent(world, path),
        Ok(()) => Ok(()),
        Err(cause) if cause.errno == Errno::EEXIST => Ok(()),
        Err(cause) => Err(cause),
    }
}

/// Makes the entry of a new directory survive the loss of power.
fn sync_parent<W: World>(world: &W, path: &Path) -> Result<(), FsError> {
    let parent = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        Some(_) => Path::new("."),
        None => return Ok(()),
    };
    world.sync_dir(&world.open_dir(parent)?)
}
