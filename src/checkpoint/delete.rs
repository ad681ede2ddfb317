//! Deleting a checkpoint: its file and nothing else. Not fenced, as no worker of this protocol
//! presents a fence with it.

use crate::directory::Durability;
use crate::env::World;
use crate::errno::Errno;
use crate::error::WriteError;
use crate::names;
use crate::types::Id;
use std::path::Path;

/// Deletes the checkpoint of that id. One that is not there is as good as deleted.
///
/// # Errors
///
/// [`WriteError::Storage`]: the file is there and stays, or its end was not made durable.
pub fn delete<W: World>(
    world: &W,
    run_dir: &Path,
    id: &Id,
    durability: Durability,
) -> Result<(), WriteError> {
    let path = names::checkpoints_dir(run_dir);
    let file = names::checkpoint(id.as_str());
    let deleted = world.open_dir(&path).and_then(|dir| {
        match world.unlink(&dir, file.as_ref()) {
            Err(cause) if cause.errno != Errno::ENOENT => return Err(cause),
            // Gone, by this call or one before it whose sync failed.
            _ => {}
        }
        match durability {
            Durability::Process => Ok(()),
            Durability::Power => world.sync_dir(&dir),
        }
    });
    match deleted {
        Err(cause) if cause.errno != Errno::ENOENT => {
            Err(WriteError::Storage { dir: path, file: Some(file), doing: "delete", cause })
        }
        _ => Ok(()),
    }
}
