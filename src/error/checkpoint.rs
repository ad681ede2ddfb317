//! Refusals of a run's checkpoints.

use super::{ClaimError, Code, advice};
use crate::checkpoint::format::Unusable;
use crate::env::{FsError, Op};
use crate::errno::Errno;
use crate::types::Fence;
use std::fmt;
use std::path::PathBuf;

/// Why a checkpoint was not written or not deleted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum WriteError {
    /// Somebody took the run at a higher fence.
    Overtaken {
        /// The run's id.
        run: String,
        /// The fence that the writer presented.
        presented: Fence,
        /// The run's current fence.
        current: Fence,
    },
    /// A step failed.
    Storage {
        /// The directory in which it failed: the run's checkpoints, or the claims, where a fenced
        /// write is staged.
        dir: PathBuf,
        /// The checkpoint's file, where one was at stake.
        file: Option<String>,
        /// What could not be done, as a phrase that follows "cannot".
        doing: &'static str,
        /// The step, and what the system answered.
        cause: FsError,
    },
    /// The run's claims could not be looked at.
    Claim(ClaimError),
}

impl From<ClaimError> for WriteError {
    fn from(error: ClaimError) -> WriteError {
        WriteError::Claim(error)
    }
}

impl WriteError {
    /// The kind of refusal.
    pub fn code(&self) -> Code {
        match self {
            WriteError::Claim(error) => error.code(),
            WriteError::Overtaken { .. } | WriteError::Storage { .. } => Code::StorageError,
        }
    }

    /// Whether the same request can succeed later with nothing repaired.
    pub fn is_retryable(&self) -> bool {
        match self {
            WriteError::Overtaken { .. } => false,
            WriteError::Storage { cause, .. } => cause.errno.is_passing(),
            WriteError::Claim(error) => error.is_retryable(),
        }
    }
}

impl fmt::Display for WriteError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WriteError::Overtaken { run, presented, current } => write!(
                out,
                "run {run}: a checkpoint was presented under fence {presented}, but the run's \
                 current fence is {current}; its writer no longer holds it. If it has \
                 renewed since, write under the newest fence; otherwise stop working on the run. \
                 What was written before stands.",
            ),
            WriteError::Storage { dir, file, cause, .. }
                if *cause == (FsError { op: Op::Create, errno: Errno::EEXIST }) =>
            {
                let (dir, file) = (dir.display(), file.as_deref().unwrap_or("a checkpoint"));
                write!(
                    out,
                    "the scratch name chosen for {file} in {dir} already exists. Scratch names \
                     never repeat, so something else makes them here; find out what writes to \
                     this directory.",
                )
            }
            WriteError::Storage { dir, file, doing, cause } => {
                failed(out, doing, file.as_deref(), dir, *cause)
            }
            WriteError::Claim(error) => error.fmt(out),
        }
    }
}

impl std::error::Error for WriteError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            WriteError::Overtaken { .. } => None,
            WriteError::Storage { cause, .. } => Some(cause),
            WriteError::Claim(error) => Some(error),
        }
    }
}

/// Why checkpoints were not read.
#[derive(Clone, PartialEq, Debug)]
pub enum ReadError {
    /// A step failed.
    Storage {
        /// The run's checkpoints directory.
        dir: PathBuf,
        /// The checkpoint's file, where one was at stake.
        file: Option<String>,
        /// What could not be done, as a phrase that follows "cannot".
        doing: &'static str,
        /// The step, and what the system answered.
        cause: FsError,
    },
    /// A file was read, and is not a checkpoint that this version can give out.
    Unusable {
        /// The run's checkpoints directory.
        dir: PathBuf,
        /// The checkpoint's file.
        file: String,
        /// What is wrong with it.
        why: Unusable,
    },
}

impl ReadError {
    /// The kind of refusal.
    pub fn code(&self) -> Code {
        Code::StorageError
    }

    /// Whether the same request can succeed later with nothing repaired.
    pub fn is_retryable(&self) -> bool {
        match self {
            ReadError::Storage { cause, .. } => cause.errno.is_passing(),
            ReadError::Unusable { .. } => false,
        }
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::Storage { dir, file, doing, cause } => {
                failed(out, doing, file.as_deref(), dir, *cause)
            }
            ReadError::Unusable { dir, file, why: why @ Unusable::Schema { .. } } => write!(
                out,
                "{file} in {dir}: {why}. Read it with the version that wrote it, or a later one.",
                dir = dir.display(),
            ),
            ReadError::Unusable { dir, file, why } => write!(
                out,
                "{file} in {dir}: {why}. Restore the file, or delete the checkpoint and go on \
                 from an earlier one.",
                dir = dir.display(),
            ),
        }
    }
}

impl std::error::Error for ReadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ReadError::Storage { cause, .. } => Some(cause),
            ReadError::Unusable { why, .. } => Some(why),
        }
    }
}

/// One sentence for a step that failed, and one for what to do about it.
fn failed(
    out: &mut fmt::Formatter<'_>,
    doing: &str,
    file: Option<&str>,
    dir: &std::path::Path,
    cause: FsError,
) -> fmt::Result {
    let file = file.map(|file| format!(" {file}")).unwrap_or_default();
    let (step, errno, dir) = (cause.op.syscall(), cause.errno, dir.display());
    write!(out, "cannot {doing}{file} in {dir}: {step} answered {errno}. {}", advice(cause))
}
