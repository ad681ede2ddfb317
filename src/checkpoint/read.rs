//! Reading a run's checkpoints, strictly: a file that cannot be used refuses the read that needs
//! it, and is never passed over, for a run must not be resumed from less than is there. Creates
//! nothing on disk.

use super::directory::{Checkpoint, Checkpoints};
use crate::env::World;
use crate::error::ReadError;
use crate::names;
use crate::types::Id;
use std::cmp::Ordering;
use std::path::Path;

/// The checkpoint of that id; `None` when there is none.
///
/// # Errors
///
/// [`ReadError`]: it cannot be read or used.
pub fn read<W: World>(world: &W, run_dir: &Path, id: &Id) -> Result<Option<Checkpoint>, ReadError> {
    match Checkpoints::open(world, run_dir)? {
        Some(checkpoints) => checkpoints.read(names::checkpoint(id.as_str()).as_ref()),
        None => Ok(None),
    }
}

/// All checkpoints of a run, oldest first; those made at the same time in the order of their
/// files' names. One that is deleted meanwhile is not among them.
///
/// # Errors
///
/// [`ReadError`]: the directory cannot be listed, or one of them cannot be read or used.
pub fn list<W: World>(world: &W, run_dir: &Path) -> Result<Vec<Checkpoint>, ReadError> {
    let Some(checkpoints) = Checkpoints::open(world, run_dir)? else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    for name in checkpoints.names()? {
        found.extend(checkpoints.read(&name)?);
    }
    // Stable, and -0 is no earlier than 0, as when JavaScript sorts by a difference.
    found.sort_by(|one, other| {
        let times = (one.summary.created_at, other.summary.created_at);
        times.0.partial_cmp(&times.1).unwrap_or(Ordering::Equal)
    });
    Ok(found)
}
