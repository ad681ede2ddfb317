//! What crosses to JavaScript: leases as they are, refusals as records that `errors.js` turns into
//! errors.

use super::calls::run;
use super::text::Texts;
use crate::checkpoint::format::{SCHEMA_VERSION, Unusable};
use crate::env::FsError;
use crate::error::{ClaimError, Code, ListError, ReadError, WriteError};
use crate::types::{self, Id};
use napi::bindgen_prelude::{Either5, Null, Utf16String};
use napi_derive::napi;
use std::path::Path;

/// What a call answers: a lease, a fence, nothing, why it was refused, or checkpoints.
pub(super) type Answer = Either5<Lease, f64, Null, Refusal, Texts>;

/// A value, or why a call was refused.
pub(super) type Checked<T> = Result<T, Box<Refusal>>;

/// Makes a call on this thread.
pub(super) fn answer(call: impl FnOnce() -> Checked<Answer>) -> Answer {
    run(|| call().unwrap_or_else(|refusal| Answer::D(*refusal)))
}

pub(super) fn found(lease: Option<types::Lease>) -> Answer {
    lease.map_or(Answer::C(Null), |lease| Answer::A(lease.into()))
}

/// A lease as JavaScript has it.
#[napi(object)]
pub struct Lease {
    pub holder: Utf16String,
    pub fence: f64,
    pub expires_at: f64,
}

impl From<types::Lease> for Lease {
    fn from(lease: types::Lease) -> Lease {
        Lease {
            holder: lease.holder.units().to_vec().into(),
            fence: lease.fence.get() as f64,
            expires_at: lease.expires_at.get(),
        }
    }
}

/// Why a call was refused.
#[napi(object)]
#[derive(Default)]
pub struct Refusal {
    /// One of the codes that hosts switch on.
    pub refused: String,
    pub message: String,
    pub retryable: bool,
    /// The directory that it is about, and the file in it.
    pub path: Option<String>,
    pub file: Option<String>,
    /// What the system answered, and to which call.
    pub errno: Option<String>,
    pub syscall: Option<String>,
    /// The fence that was to be published.
    pub fence: Option<f64>,
    /// What is wrong with a checkpoint.
    pub reason: Option<String>,
    /// The schema that a checkpoint was written for, when it is another than `supported`.
    pub found: Option<f64>,
    pub supported: Option<f64>,
    /// The fence that a write presented, when `current` is above it.
    pub presented: Option<f64>,
    pub current: Option<f64>,
}

impl Refusal {
    /// A defect of this library, caught.
    pub(super) fn defect(said: &str) -> Answer {
        let message = format!(
            "fencelink failed in a way it should not: {said}. Nothing is known of the call's \
             outcome; please report this."
        );
        Answer::D(Refusal::bare(Code::Unknown, message, false))
    }

    /// The call never ran, for want of a thread.
    pub(super) fn no_thread(said: &str) -> Answer {
        let message = format!(
            "no thread could be had to run this call on ({said}). Nothing was done; try again, \
             or raise the limit on threads."
        );
        Answer::D(Refusal::bare(Code::Unknown, message, true))
    }

    /// An argument that the face should have refused.
    pub(super) fn bad_argument(name: &str, expected: &str) -> Box<Refusal> {
        let message = format!("{name} must be {expected}.");
        Box::new(Refusal::bare(Code::InvalidConfig, message, false))
    }

    /// A checkpoint that was to be written and that no reader would accept.
    pub(super) fn would_not_read_back(id: &Id, why: Unusable) -> Box<Refusal> {
        let message = format!("checkpoint {id} would not read back: {why}. Nothing was written.");
        Box::new(Refusal {
            reason: Some(why.to_string()),
            ..Refusal::bare(Code::InvalidConfig, message, false)
        })
    }

    fn bare(code: Code, message: String, retryable: bool) -> Refusal {
        Refusal { refused: code.as_str().to_owned(), message, retryable, ..Refusal::default() }
    }

    /// A step that failed in a directory.
    fn storage(self, dir: &Path, file: Option<String>, cause: Option<FsError>) -> Refusal {
        Refusal {
            path: Some(dir.to_string_lossy().into_owned()),
            file,
            errno: cause.map(|cause| cause.errno.to_string()),
            syscall: cause.map(|cause| cause.op.syscall().to_owned()),
            ..self
        }
    }
}

impl From<ClaimError> for Box<Refusal> {
    fn from(error: ClaimError) -> Box<Refusal> {
        let bare = Refusal::bare(error.code(), error.to_string(), error.is_retryable());
        Box::new(Refusal {
            fence: error.fence().map(|fence| fence.get() as f64),
            ..bare.storage(error.claims(), None, error.cause())
        })
    }
}

impl From<WriteError> for Box<Refusal> {
    fn from(error: WriteError) -> Box<Refusal> {
        let bare = Refusal::bare(error.code(), error.to_string(), error.is_retryable());
        Box::new(match error {
            WriteError::Claim(error) => return error.into(),
            WriteError::Storage { dir, file, cause, .. } => bare.storage(&dir, file, Some(cause)),
            WriteError::Overtaken { presented, current, .. } => Refusal {
                presented: Some(presented.get() as f64),
                current: Some(current.get() as f64),
                ..bare
            },
        })
    }
}

impl From<ReadError> for Box<Refusal> {
    fn from(error: ReadError) -> Box<Refusal> {
        let bare = Refusal::bare(error.code(), error.to_string(), error.is_retryable());
        Box::new(match error {
            ReadError::Storage { dir, file, cause, .. } => bare.storage(&dir, file, Some(cause)),
            ReadError::Unusable { dir, file, why } => {
                let found = match why {
                    Unusable::Schema { found } => Some(found),
                    _ => None,
                };
                Refusal {
                    reason: Some(why.to_string()),
                    found,
                    supported: found.map(|_| SCHEMA_VERSION.into()),
                    ..bare.storage(&dir, Some(file), None)
                }
            }
        })
    }
}

impl From<ListError> for Box<Refusal> {
    fn from(error: ListError) -> Box<Refusal> {
        match error {
            ListError::Read(error) => error.into(),
            ListError::Claim(error) => error.into(),
        }
    }
}
