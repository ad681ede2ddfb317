//! A run's checkpoints: one file each, the old one or the new one, whole at every instant. What a
//! file must hold to be one, and what of it a listing tells, is decided here and nowhere else.

pub mod format;
mod scan;
mod write;

pub use scan::scan;
pub use write::{Write, write};
