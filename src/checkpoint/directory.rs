//! A run's checkpoints directory, open. Reading one checkpoint, reading all and listing runs go
//! through it, so that what is a checkpoint, and whether it can be used, has one answer.

use super::format::{Summary, Unusable};
use super::scan;
use crate::env::{Contents, FsError, World};
use crate::errno::Errno;
use crate::error::ReadError;
use crate::names;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The most bytes that a checkpoint's file can have: as many as the longest string of V8 has
/// characters, since JavaScript has to hold it in one.
pub const LIMIT: usize = (1 << 29) - 24;

/// How often a directory is listed that tells of more each time, and a file is looked for that is
/// said to be gone and is there.
const ROUNDS: usize = 8;

/// A checkpoints directory and the world it is in.
pub(crate) struct Checkpoints<'w, W: World> {
    pub(crate) world: &'w W,
    pub(crate) dir: W::Dir,
    path: PathBuf,
}

/// A checkpoint that can be used.
#[derive(Clone, PartialEq, Debug)]
pub struct Checkpoint {
    /// The file, whole.
    pub bytes: Vec<u8>,
    /// What it says.
    pub summary: Summary,
}

impl<'w, W: World> Checkpoints<'w, W> {
    /// Opens the checkpoints of a run; `None` when it never had any. Creates nothing.
    pub(crate) fn open(world: &'w W, run_dir: &Path) -> Result<Option<Self>, ReadError> {
        let path = names::checkpoints_dir(run_dir);
        match world.open_dir(&path) {
            Ok(dir) => Ok(Some(Checkpoints { world, dir, path })),
            Err(cause) if cause.errno == Errno::ENOENT => Ok(None),
            Err(cause) => Err(ReadError::Storage {
                dir: path,
                file: None,
                doing: "open the checkpoints",
                cause,
            }),
        }
    }

    /// The names of all checkpoint files, in the order of their bytes: the one in which Node.js
    /// lists a directory, and so the one in which other workers of it meet checkpoints made at the
    /// same time.
    ///
    /// A checkpoint that is written anew is one that comes and goes to a listing: btrfs ends a
    /// listing where the directory ended when it was opened, and has what was renamed behind that.
    /// So it is listed until a listing tells of nothing new.
    pub(crate) fn names(&self) -> Result<BTreeSet<OsString>, ReadError> {
        let mut names = BTreeSet::new();
        let mut known = usize::MAX;
        for _ in 0..ROUNDS {
            let listed = self.world.list(&self.dir, &mut |name, _kind| {
                if names::is_checkpoint(name.as_encoded_bytes()) {
                    names.insert(name.to_owned());
                }
            });
            listed.map_err(|cause| ReadError::Storage {
                dir: self.path.clone(),
                file: None,
                doing: "list the checkpoints",
                cause,
            })?;
            if names.len() == known {
                break;
            }
            known = names.len();
        }
        Ok(names)
    }

    /// The checkpoint in the file of that name; `None` when there is no such file.
    ///
    /// A file that is replaced while it is opened or read can seem gone, or stale on a network
    /// volume: it is looked for again.
    pub(crate) fn read(&self, name: &OsStr) -> Result<Option<Checkpoint>, ReadError> {
        let mut seemed = None;
        for _ in 0..ROUNDS {
            match self.world.read(&self.dir, name, LIMIT) {
                Ok(Contents::Bytes(bytes)) => {
                    let summary = scan(&bytes).map_err(|why| self.unusable(name, why))?;
                    return Ok(Some(Checkpoint { bytes, summary }));
                }
                Ok(Contents::NotAFile) => return Err(self.not_a(name, "it is not a file")),
                Ok(Contents::TooLarge) => {
                    return Err(self.not_a(name, "it is larger than JavaScript can read"));
                }
                Err(cause) if matches!(cause.errno, Errno::ENOENT | Errno::ESTALE) => {
                    let there = self.world.exists(&self.dir, name);
                    if !there.map_err(|cause| self.unread(name, cause))? {
                        return Ok(None);
                    }
                    seemed = Some(cause);
                }
                Err(cause) => return Err(self.unread(name, cause)),
            }
        }
        match seemed {
            Some(stale) if stale.errno == Errno::ESTALE => Err(self.unread(name, stale)),
            _ => Err(self.not_a(name, "it is a link that leads nowhere")),
        }
    }

    fn unread(&self, name: &OsStr, cause: FsError) -> ReadError {
        ReadError::Storage {
            dir: self.path.clone(),
            file: Some(name.to_string_lossy().into_owned()),
            doing: "read",
            cause,
        }
    }

    fn not_a(&self, name: &OsStr, why: &'static str) -> ReadError {
        self.unusable(name, Unusable::NotACheckpoint(why))
    }

    pub(crate) fn unusable(&self, name: &OsStr, why: Unusable) -> ReadError {
        let file = name.to_string_lossy().into_owned();
        ReadError::Unusable { dir: self.path.clone(), file, why }
    }
}
