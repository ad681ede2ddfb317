//! fencelink: a lease with a fencing token on a run, kept in plain files, so that many worker
//! processes can share one queue and no run is worked on twice at a time.
//!
//! Where things are:
//!
//! - [`types`]: checked values; [`names`]: every name on disk; [`body`]: a holding's content;
//! - [`env`](mod@env): the door to files, clock and randomness; [`platform`]: the real system behind it;
//! - [`claim`]: take, renew, release and read a run's claim; [`publish`]: the one act that decides;
//! - [`checkpoint`]: a run's checkpoints, written under a fence;
//! - [`directory`]: directories that several workers make at once; [`error`]: every refusal; [`errno`]: system errors by name;
//! - [`listing`]: the runs of a tree, a page at a time, and the next of them to be taken;
//! - `binding`: the Node.js addon (feature `node`);
//! - `sim`: this code over a simulated world, searched for violations (feature `sim`).

#[macro_use]
mod switch;

pub mod body;
pub mod checkpoint;
pub mod claim;
pub mod directory;
pub mod env;
pub mod errno;
pub mod error;
pub mod json;
pub mod listing;
pub mod names;
pub mod platform;
pub mod publish;
#[cfg(feature = "sim")]
pub mod sim;
pub mod types;

#[cfg(feature = "node")]
mod binding;
