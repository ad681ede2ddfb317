//! A run's checkpoints: one file each, the old one or the new one, whole at every instant. What a
//! file must hold to be one, and what of it a listing tells, is decided here and nowhere else.

mod delete;
mod directory;
pub mod format;
mod read;
mod scan;
mod write;

pub use delete::delete;
pub use directory::{Checkpoint, LIMIT};
pub use read::{list, read};
pub use scan::scan;
pub use write::{Write, write};

pub(crate) use directory::Checkpoints;
