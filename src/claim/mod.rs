//! A run's claim: take it, renew it, give it back, ask who has it.
//!
//! What this module guarantees, on any volume that keeps the promises of `docs/design.md`:
//!
//! - at most one caller is told that it holds a run, among those whose lease has not ended;
//! - a fence that was returned is greater than every fence returned before it for that run;
//! - once a taker has its fence, no checkpoint write staged under a lower one can become visible;
//! - a fault is an error that names its cause, never "somebody else holds it".
//!
//! Each operation is one bounded attempt: it never waits for another worker.

mod acquire;
mod decide;
mod directory;
mod read;
mod release;
mod scan;
mod sweep;

pub use acquire::{Request, acquire};
pub use read::{current_fence, read};
pub use release::release;

pub(crate) use directory::Claims;
#[cfg(feature = "sim")]
pub(crate) use scan::View;

/// How often an operation lists again, when what it saw is gone, or takes again, when it lost.
const ROUNDS: usize = 8;
