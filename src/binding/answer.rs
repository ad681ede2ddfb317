//! What crosses to JavaScript: leases as they are, refusals as records that `errors.js` turns into
//! errors.

use crate::error::{ClaimError, Code};
use crate::types;
use napi::bindgen_prelude::Either4;
use napi::bindgen_prelude::{Null, Utf16String};
use napi_derive::napi;

/// What a call answers: a lease, a fence, nothing, or why it was refused.
pub(super) type Answer = Either4<Lease, f64, Null, Refusal>;

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

/// Why a call was refused. `path`, `errno` and `fence` are what hosts find in `details`.
#[napi(object)]
pub struct Refusal {
    /// One of the codes that hosts switch on.
    pub refused: String,
    pub message: String,
    pub retryable: bool,
    pub path: Option<String>,
    pub errno: Option<String>,
    pub syscall: Option<String>,
    pub fence: Option<f64>,
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

    fn bare(code: Code, message: String, retryable: bool) -> Refusal {
        Refusal {
            refused: code.as_str().to_owned(),
            message,
            retryable,
            path: None,
            errno: None,
            syscall: None,
            fence: None,
        }
    }
}

impl From<ClaimError> for Box<Refusal> {
    fn from(error: ClaimError) -> Self {
        let cause = error.cause();
        Box::new(Refusal {
            refused: error.code().as_str().to_owned(),
            message: error.to_string(),
            retryable: error.is_retryable(),
            path: Some(error.claims().to_string_lossy().into_owned()),
            errno: cause.map(|cause| cause.errno.to_string()),
            syscall: cause.map(|cause| cause.op.syscall().to_owned()),
            fence: error.fence().map(|fence| fence.get() as f64),
        })
    }
}
