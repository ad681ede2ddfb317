//! Opening a directory that may have to be made first, by this host or another at the same time.

use crate::env::{FsError, FsResult, World};
use crate::errno::Errno;
use crate::names;
use std::path::Path;

/// What is promised of a file or directory that was written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Durability {
    /// It survives the crash of every process.
    #[default]
    Process,
    /// It survives the loss of power as well: files and directories are synced before the
    /// operation returns.
    Power,
}

/// For how long a directory that should be there by now is tried again.
const MAKING_LIMIT_MS: u64 = 2_000;

/// The longest of the growing pauses between these tries.
const LONGEST_PAUSE_MS: u64 = 100;

/// Opens the directory at `path`, making it and its parents where they are missing, one component
/// at a time.
///
/// Several hosts that make one directory at once can each be told, on a network volume, that a
/// directory just made is not there, is none, or is stale: that is tried again.
pub(crate) fn open_or_make<W: World>(
    world: &W,
    path: &Path,
    durability: Durability,
) -> FsResult<W::Dir> {
    let mut opened = world.open_dir(path);
    let mut waited_ms = 0;
    let mut pause_ms = 0;
    loop {
        mutant!(MakingNotRetried => if pause_ms > 0 {
            return opened;
        });
        match opened {
            Err(cause) if may_be_in_the_making(cause) && waited_ms < MAKING_LIMIT_MS => {}
            settled => return settled,
        }
        if pause_ms > 0 {
            world.pause_ms(pause_ms);
            waited_ms += pause_ms;
        }
        pause_ms = (pause_ms * 2).clamp(1, LONGEST_PAUSE_MS);
        opened = make_with_parents(world, path, durability).and_then(|()| world.open_dir(path));
    }
}

/// Waits until the way to a run would survive the loss of power, whoever made the directories on
/// it: another worker may have made one this instant, and not come to sync it.
///
/// Needed before the first thing is published in one of the run's directories. What is published
/// there later need not ask again: that something stands there proves that this was done.
pub(crate) fn sync_way<W: World>(world: &W, run_dir: &Path) -> FsResult<()> {
    mutant!(WayNotSynced => return Ok(()));
    for dir in names::way_to(run_dir) {
        world.sync_dir(&world.open_dir(dir)?)?;
    }
    Ok(())
}

fn may_be_in_the_making(cause: FsError) -> bool {
    matches!(cause.errno, Errno::ENOENT | Errno::ENOTDIR | Errno::ESTALE)
}

/// Makes a directory and, where they are missing, its parents.
fn make_with_parents<W: World>(world: &W, path: &Path, durability: Durability) -> FsResult<()> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let made = match (world.make_dir(path), parent) {
        (Err(cause), Some(parent)) if cause.errno == Errno::ENOENT => {
            make_with_parents(world, parent, durability)?;
            world.make_dir(path)
        }
        (made, _) => made,
    };
    mutant!(MadeByAnotherIsError => made?);
    match made {
        Ok(()) if durability == Durability::Power => {
            world.sync_dir(&world.open_dir(parent.unwrap_or(Path::new(".")))?)
        }
        Err(cause) if cause.errno != Errno::EEXIST => Err(cause),
        _ => Ok(()),
    }
}
