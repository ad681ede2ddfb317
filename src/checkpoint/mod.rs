//! Checkpoint files: what they must hold to be read, and what a listing takes from them.

pub mod format;
pub mod scan;
