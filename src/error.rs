//! Refusals, with what is needed to act on them: which run directory, which fence, which step of
//! the file system and which errno. The code a host switches on and whether trying again can help
//! are derived here and nowhere else. Losing a race is not an error and does not appear.

use crate::env::{FsError, Op};
use crate::errno::Errno;
use crate::types::{Fence, LAST_FENCE};
use std::fmt;
use std::path::{Path, PathBuf};

mod checkpoint;
mod listing;

pub use checkpoint::{ReadError, WriteError};
pub use listing::ListError;

/// The kinds of refusal that hosts tell apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Code {
    /// The request itself is wrong; no disk was touched.
    InvalidConfig,
    /// This volume or store cannot do what was asked, now or later.
    CapabilityUnavailable,
    /// The storage failed, or says something that cannot be.
    StorageError,
    /// A defect of this library, or a system that has no thread to give.
    Unknown,
}

impl Code {
    /// The code as hosts match it.
    pub fn as_str(self) -> &'static str {
        match self {
            Code::InvalidConfig => "invalid_config",
            Code::CapabilityUnavailable => "capability_unavailable",
            Code::StorageError => "storage_error",
            Code::Unknown => "unknown",
        }
    }
}

/// Why an operation on a run's claims was refused.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ClaimError {
    /// A step failed and the protocol has no way around it.
    Storage {
        /// The run's claims directory.
        claims: PathBuf,
        /// The fence that was to be published, where one was.
        fence: Option<Fence>,
        /// What could not be done, as a phrase that follows "cannot".
        doing: &'static str,
        /// The step, and what the system answered.
        cause: FsError,
    },
    /// The volume cannot make a second name for a file, so nothing can decide a race on it.
    NoHardLinks {
        /// The run's claims directory.
        claims: PathBuf,
        /// The fence that was to be published.
        fence: Fence,
        /// What `link` answered.
        cause: FsError,
    },
    /// A scratch name made of process, count and randomness was there already.
    ScratchTaken {
        /// The run's claims directory.
        claims: PathBuf,
        /// The fence that was to be published.
        fence: Fence,
    },
    /// The highest fence that a name can carry is taken.
    FencesUsedUp {
        /// The run's claims directory.
        claims: PathBuf,
    },
    /// The highest holding was gone, each time, before it could be looked at.
    Unsettled {
        /// The run's claims directory.
        claims: PathBuf,
    },
    /// `link` says again and again that a name exists which no listing shows.
    TakenButUnseen {
        /// The run's claims directory.
        claims: PathBuf,
        /// The fence that was to be published.
        fence: Fence,
    },
}

impl ClaimError {
    /// The kind of refusal.
    pub fn code(&self) -> Code {
        match self {
            ClaimError::NoHardLinks { .. } => Code::CapabilityUnavailable,
            _ => Code::StorageError,
        }
    }

    /// Whether the same request can succeed later with nothing repaired.
    pub fn is_retryable(&self) -> bool {
        match self {
            ClaimError::Storage { cause, .. } => cause.errno.is_passing(),
            ClaimError::Unsettled { .. } => true,
            _ => false,
        }
    }

    /// The run's claims directory.
    pub fn claims(&self) -> &Path {
        match self {
            ClaimError::Storage { claims, .. }
            | ClaimError::NoHardLinks { claims, .. }
            | ClaimError::ScratchTaken { claims, .. }
            | ClaimError::FencesUsedUp { claims }
            | ClaimError::Unsettled { claims }
            | ClaimError::TakenButUnseen { claims, .. } => claims,
        }
    }

    /// The fence that was to be published, where one was.
    pub fn fence(&self) -> Option<Fence> {
        match self {
            ClaimError::Storage { fence, .. } => *fence,
            ClaimError::NoHardLinks { fence, .. }
            | ClaimError::ScratchTaken { fence, .. }
            | ClaimError::TakenButUnseen { fence, .. } => Some(*fence),
            ClaimError::FencesUsedUp { .. } | ClaimError::Unsettled { .. } => None,
        }
    }

    /// The step that failed, where one did.
    pub fn cause(&self) -> Option<FsError> {
        match self {
            ClaimError::Storage { cause, .. } | ClaimError::NoHardLinks { cause, .. } => {
                Some(*cause)
            }
            _ => None,
        }
    }
}

/// What the user can do about it, as a sentence.
fn advice(cause: FsError) -> &'static str {
    use Errno::*;
    match cause.errno {
        _ if cause.op == Op::Random => "This system has no randomness to give.",
        EACCES | EPERM => "Give this process the right to it, or run it as the owner.",
        EROFS => "The volume is mounted read-only; put the runs on one that can be written.",
        ENOSPC | EDQUOT => "Free space or inodes on the volume, then try again.",
        EMFILE | ENFILE => "Too many files are open; try again, or raise the limit.",
        ENOTDIR => "Something on the path is not a directory; check the run directory.",
        ENOENT => "Something on the path is gone; check the run directory.",
        ENAMETOOLONG => "A name, or the whole path, is too long; use a shorter id or directory.",
        errno if errno.is_passing() => "Try again.",
        _ => "Check the volume.",
    }
}

impl fmt::Display for ClaimError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let claims = self.claims().display();
        match self {
            ClaimError::Storage { doing, cause, .. } => {
                let advice = advice(*cause);
                let (errno, step) = (cause.errno, cause.op.syscall());
                write!(out, "cannot {doing} in {claims}: {step} answered {errno}. {advice}")
            }
            ClaimError::NoHardLinks { cause, .. } => write!(
                out,
                "cannot publish a run claim in {claims}: {} answered {}. Workers can share a queue \
                 only on a volume with hard-link support; move the runs to one, or keep to a \
                 single writer per run and do not claim.",
                cause.op.syscall(),
                cause.errno,
            ),
            ClaimError::ScratchTaken { fence, .. } => write!(
                out,
                "the scratch name chosen for fence {fence} in {claims} already exists. Scratch \
                 names never repeat, so something else makes them here; find out what writes to \
                 this directory.",
            ),
            ClaimError::FencesUsedUp { .. } => write!(
                out,
                "no fence is left in {claims}: {LAST_FENCE}.json, the highest fence a name can \
                 carry, exists. No worker of this protocol gets that far, so something else wrote \
                 the file; start the run anew under another id.",
            ),
            ClaimError::Unsettled { .. } => write!(
                out,
                "the claims in {claims} change faster than they can be listed. Try again.",
            ),
            ClaimError::TakenButUnseen { fence, .. } => write!(
                out,
                "the volume says that fence {fence} in {claims} is taken (EEXIST) while no listing \
                 shows it. A full volume or a stale directory cache does this; free space or \
                 switch the cache off, then try again.",
            ),
        }
    }
}

impl std::error::Error for ClaimError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ClaimError::Storage { cause, .. } | ClaimError::NoHardLinks { cause, .. } => {
                Some(cause)
            }
            _ => None,
        }
    }
}
