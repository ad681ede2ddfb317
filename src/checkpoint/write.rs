//! Writing a checkpoint, under a fence or without one.
//!
//! A fenced write stages its file in the run's claims directory, under a name that carries its
//! fence, then looks whether a higher fence stands, and only then moves the file to where readers
//! find it. A taker removes every file staged below its own fence before it returns. The move and
//! the removal of one file have one winner, so once a taker has its fence, no write below it can
//! become visible; and nobody waits for anybody. `docs/design.md` has the argument.
//!
//! An unfenced write is accepted always, claimed or not: a plain write and rename.

use crate::claim::Claims;
use crate::directory::{Durability, open_or_make, sync_way};
use crate::env::{FsError, World};
use crate::errno::Errno;
use crate::error::WriteError;
use crate::names;
use crate::types::Fence;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The age from which a scratch file is litter, by the wall clock.
const SCRATCH_AGE_MS: f64 = 600_000.0;

/// One checkpoint to be written.
#[derive(Clone, Copy, Debug)]
pub struct Write<'a> {
    /// The run's directory.
    pub run_dir: &'a Path,
    /// The checkpoint's id: one path component.
    pub id: &'a str,
    /// The file, whole. Whether it would read back is for [`super::scan`] to say beforehand.
    pub bytes: &'a [u8],
    /// The fence under which the caller works, if it has one.
    pub fence: Option<Fence>,
    /// What the write survives.
    pub durability: Durability,
}

/// Writes a checkpoint, replacing one of the same id.
///
/// # Errors
///
/// [`WriteError::Overtaken`] when the presented fence is below the run's current one; the old
/// checkpoint then stands, unless a network volume repeated a rename that it had made. [`WriteError::Storage`] when a step failed; the old one stands then
/// too, unless the step was the last one, of making the new one durable, or the error was a network
/// volume's about a rename that was made.
pub fn write<W: World>(world: &W, write: &Write<'_>) -> Result<(), WriteError> {
    let path = names::checkpoints_dir(write.run_dir);
    let dir = open_or_make(world, &path, write.durability).map_err(|cause| {
        let doing = "make the directory of checkpoints";
        WriteError::Storage { dir: path.clone(), file: None, doing, cause }
    })?;
    let name = names::checkpoint(write.id).into();
    let target = Target { world, dir, path, name, write };
    if write.durability == Durability::Power {
        target.sync_way()?;
    }
    match write.fence {
        Some(fence) => target.write_fenced(fence),
        None => target.write_unfenced(),
    }
}

/// The checkpoints directory and the name that the write is for.
struct Target<'a, W: World> {
    world: &'a W,
    dir: W::Dir,
    path: PathBuf,
    name: OsString,
    write: &'a Write<'a>,
}

/// A file that is being written, where no reader takes it for a checkpoint.
struct Staged<'a, W: World> {
    dir: &'a W::Dir,
    /// The directory's path, for errors.
    path: PathBuf,
    name: OsString,
}

impl<W: World> Target<'_, W> {
    fn write_fenced(&self, fence: Fence) -> Result<(), WriteError> {
        let claims = Claims::open_or_make(self.world, self.write.run_dir, self.write.durability)?;
        let name = names::staged(fence, &self.unique()?).into();
        let staged = Staged { dir: &claims.dir, path: claims.path(), name };
        mutant!(StagedOutOfReach => return self.stage_out_of_reach(&claims, &staged, fence));
        mutant!(LooksBeforeStaging => refuse_below(&claims, fence, self.write.run_dir)?);
        self.stage(&staged)?;
        mutant!(NoLook | LooksBeforeStaging => {
            let renamed = self.rename(&staged);
            let refused = renamed.or_else(|_| refuse_below(&claims, fence, self.write.run_dir));
            return self.finish(&staged, refused);
        });
        // The look comes after the staging: a taker that this look misses will see the file.
        let revealed = refuse_below(&claims, fence, self.write.run_dir).and_then(|()| {
            match self.rename(&staged) {
                // Removed by a taker, which then stands above.
                Err(cause) if cause.errno == Errno::ENOENT => {
                    mutant!(SealedIsSuccess => return Ok(()));
                    refuse_below(&claims, fence, self.write.run_dir)?;
                    Err(self.unrevealed(cause))
                }
                renamed => renamed.map_err(|cause| self.unrevealed(cause)),
            }
        });
        self.finish(&staged, revealed)
    }

    fn write_unfenced(&self) -> Result<(), WriteError> {
        mutant!(WrittenInPlace => return self.write_in_place());
        let name = names::scratch(&self.unique()?).into();
        let staged = Staged { dir: &self.dir, path: self.path.clone(), name };
        self.stage(&staged)?;
        let revealed = self.rename(&staged).map_err(|cause| self.unrevealed(cause));
        self.finish(&staged, revealed)?;
        self.sweep();
        Ok(())
    }

    /// Makes the way to the run durable before its first checkpoint.
    fn sync_way(&self) -> Result<(), WriteError> {
        let mut has_checkpoints = false;
        let listed = self.world.list(&self.dir, &mut |name, _kind| {
            has_checkpoints |= names::is_checkpoint(name.as_encoded_bytes());
        });
        let synced = listed.and_then(|()| {
            if has_checkpoints { Ok(()) } else { sync_way(self.world, self.write.run_dir) }
        });
        synced.map_err(|cause| self.failed(&self.path, "make the way durable to", cause))
    }

    fn unique(&self) -> Result<String, WriteError> {
        let unique = names::unique(self.world);
        unique.map_err(|cause| self.failed(&self.path, "tell apart from others a write of", cause))
    }

    /// Writes the whole file; after a failure it is gone again.
    fn stage(&self, staged: &Staged<'_, W>) -> Result<(), WriteError> {
        let created = self.world.create(staged.dir, &staged.name);
        // A name that is there already is another's: it is not removed.
        let file = created.map_err(|cause| self.failed(&staged.path, "write", cause))?;
        self.fill(file).map_err(|cause| {
            self.discard(staged);
            self.failed(&staged.path, "write", cause)
        })
    }

    fn fill(&self, mut file: W::File) -> Result<(), FsError> {
        self.world.write(&mut file, self.write.bytes)?;
        mutant!(CheckpointNotSynced => return self.world.close(file));
        if self.write.durability == Durability::Power {
            self.world.sync(&file)?;
        }
        self.world.close(file)
    }

    /// Moves a staged file to where readers find it.
    fn rename(&self, staged: &Staged<'_, W>) -> Result<(), FsError> {
        self.world.rename(staged.dir, &staged.name, &self.dir, &self.name)
    }

    fn unrevealed(&self, cause: FsError) -> WriteError {
        self.failed(&self.path, "put in place", cause)
    }

    fn finish(
        &self,
        staged: &Staged<'_, W>,
        revealed: Result<(), WriteError>,
    ) -> Result<(), WriteError> {
        if revealed.is_err() {
            self.discard(staged);
        }
        revealed?;
        mutant!(RenameNotSynced => return Ok(()));
        if self.write.durability == Durability::Process {
            return Ok(());
        }
        let synced = self.world.sync_dir(&self.dir).and_then(|()| {
            if std::ptr::eq(staged.dir, &self.dir) {
                return Ok(());
            }
            self.world.sync_dir(staged.dir)
        });
        synced.map_err(|cause| self.failed(&self.path, "make durable", cause))
    }

    /// Removes a file that will not be revealed. One that stays is removed by the next taker, as
    /// overtaken, or by its age.
    fn discard(&self, staged: &Staged<'_, W>) {
        let _ = self.world.unlink(staged.dir, &staged.name);
    }

    /// Removes what crashed writers left here. Failures are left for the next writer.
    fn sweep(&self) {
        let mut scratch = Vec::new();
        let listed = self.world.list(&self.dir, &mut |name, _kind| {
            if names::is_scratch(name.as_encoded_bytes()) {
                scratch.push(name.to_owned());
            }
        });
        if listed.is_err() {
            return;
        }
        for name in scratch {
            let modified = self.world.modified_ms(&self.dir, &name);
            if modified.is_ok_and(|modified| self.world.now_ms() - modified > SCRATCH_AGE_MS) {
                let _ = self.world.unlink(&self.dir, &name);
            }
        }
    }

    fn failed(&self, dir: &Path, doing: &'static str, cause: FsError) -> WriteError {
        WriteError::Storage {
            dir: dir.to_owned(),
            file: Some(self.name.to_string_lossy().into_owned()),
            doing,
            cause,
        }
    }
}

/// Wrong on purpose; see [`Mutant`](crate::sim::Mutant).
#[cfg(feature = "sim")]
impl<W: World> Target<'_, W> {
    fn stage_out_of_reach(
        &self,
        claims: &Claims<'_, W>,
        staged: &Staged<'_, W>,
        fence: Fence,
    ) -> Result<(), WriteError> {
        let staged = Staged { dir: &self.dir, path: self.path.clone(), name: staged.name.clone() };
        self.stage(&staged)?;
        let revealed = refuse_below(claims, fence, self.write.run_dir)
            .and_then(|()| self.rename(&staged).map_err(|cause| self.unrevealed(cause)));
        self.finish(&staged, revealed)
    }

    fn write_in_place(&self) -> Result<(), WriteError> {
        let own = Staged { dir: &self.dir, path: self.path.clone(), name: self.name.clone() };
        self.discard(&own);
        self.stage(&own)
    }
}

/// Refuses a fence that is below the run's current one, judged by names alone.
fn refuse_below<W: World>(
    claims: &Claims<'_, W>,
    presented: Fence,
    run_dir: &Path,
) -> Result<(), WriteError> {
    let current = claims.settled_top_fence()?.unwrap_or(Fence::NONE);
    if presented >= current {
        return Ok(());
    }
    let run = run_dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Err(WriteError::Overtaken { run, presented, current })
}
