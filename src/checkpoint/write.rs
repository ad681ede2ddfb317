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
use crate::directory::{Durability, open_or_make};
use crate::env::{FsError, World};
use crate::errno::Errno;
use crate::error::WriteError;
use crate::names;
use crate::types::Fence;
use std::ffi::{OsStr, OsString};
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
    /// The file, whole.
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
/// checkpoint then stands. [`WriteError::Storage`] when a step failed; the old one stands then
/// too, unless it was a network volume's error about a rename that was made.
pub fn write<W: World>(world: &W, write: &Write<'_>) -> Result<(), WriteError> {
    let path = names::checkpoints_dir(write.run_dir);
    let dir = open_or_make(world, &path, write.durability).map_err(|cause| {
        let doing = "make the directory of checkpoints";
        WriteError::Storage { dir: path.clone(), file: None, doing, cause }
    })?;
    let name = names::checkpoint(write.id).into();
    let target = Target { world, dir, path, name, write };
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

impl<W: World> Target<'_, W> {
    fn write_fenced(&self, fence: Fence) -> Result<(), WriteError> {
        let claims = Claims::open_or_make(self.world, self.write.run_dir, self.write.durability)?;
        let staged = OsString::from(names::staged(fence, &self.unique()?));
        mutant!(LooksBeforeStaging => refuse_below(&claims, fence, self.write.run_dir)?);
        mutant!(StagedOutOfReach => {
            self.stage(&self.dir, &staged)?;
            refuse_below(&claims, fence, self.write.run_dir)?;
            return self.reveal(&self.dir, &staged).map_err(|cause| self.failed("", cause));
        });
        let written = self.stage(&claims.dir, &staged).and_then(|()| {
            mutant!(NoLook => return self.reveal(&claims.dir, &staged)
                .or_else(|_| refuse_below(&claims, fence, self.write.run_dir)));
            mutant!(LooksBeforeStaging => return self.reveal(&claims.dir, &staged)
                .or_else(|_| refuse_below(&claims, fence, self.write.run_dir)));
            // The look comes after the staging: a taker that this look misses will see the file.
            refuse_below(&claims, fence, self.write.run_dir)?;
            match self.reveal(&claims.dir, &staged) {
                // Removed by a taker, which then stands above.
                Err(cause) if cause.errno == Errno::ENOENT => {
                    mutant!(SealedIsSuccess => return Ok(()));
                    refuse_below(&claims, fence, self.write.run_dir)?;
                    Err(self.failed("find the staged checkpoint", cause))
                }
                revealed => revealed.map_err(|cause| self.failed("replace a checkpoint", cause)),
            }
        });
        if written.is_err() {
            // What stays is sealed by the next taker, or removed by its age.
            let _ = self.world.unlink(&claims.dir, &staged);
        }
        written?;
        self.make_durable(&claims.dir)
    }

    fn write_unfenced(&self) -> Result<(), WriteError> {
        mutant!(WrittenInPlace => {
            let _ = self.world.unlink(&self.dir, &self.name);
            return self.stage(&self.dir, &self.name);
        });
        let scratch = OsString::from(names::scratch(&self.unique()?));
        let written = self.stage(&self.dir, &scratch).and_then(|()| {
            let revealed = self.reveal(&self.dir, &scratch);
            revealed.map_err(|cause| self.failed("replace a checkpoint", cause))
        });
        if written.is_err() {
            let _ = self.world.unlink(&self.dir, &scratch);
        }
        written?;
        self.make_durable(&self.dir)?;
        self.sweep();
        Ok(())
    }

    fn unique(&self) -> Result<String, WriteError> {
        let unique = names::unique(self.world);
        unique.map_err(|cause| self.failed("tell this write from others", cause))
    }

    /// Writes the whole file under a name that no reader takes for a checkpoint.
    fn stage(&self, dir: &W::Dir, scratch: &OsStr) -> Result<(), WriteError> {
        let created = self.world.create(dir, scratch);
        let mut file = created.map_err(|cause| self.failed("write a checkpoint", cause))?;
        let filled = self.world.write(&mut file, self.write.bytes);
        let synced = match self.write.durability {
            Durability::Process => filled,
            Durability::Power => filled.and_then(|()| self.world.sync(&file)),
        };
        let closed = synced.and_then(|()| self.world.close(file));
        closed.map_err(|cause| self.failed("write a checkpoint", cause))
    }

    /// Moves a staged file to where readers find it.
    fn reveal(&self, from: &W::Dir, scratch: &OsStr) -> Result<(), FsError> {
        self.world.rename(from, scratch, &self.dir, &self.name)
    }

    fn make_durable(&self, from: &W::Dir) -> Result<(), WriteError> {
        if self.write.durability == Durability::Process {
            return Ok(());
        }
        let synced = self.world.sync_dir(&self.dir).and_then(|()| self.world.sync_dir(from));
        synced.map_err(|cause| self.failed("make a checkpoint durable", cause))
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

    fn failed(&self, doing: &'static str, cause: FsError) -> WriteError {
        WriteError::Storage {
            dir: self.path.clone(),
            file: Some(self.name.to_string_lossy().into_owned()),
            doing,
            cause,
        }
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
