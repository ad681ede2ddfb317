//! A run's checkpoints: one file each, the old one or the new one, whole at every instant.

mod write;

pub use write::{Write, write};
