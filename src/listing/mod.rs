//! Runs as a listing tells of them.

pub mod cursor;
pub mod entry;
pub mod page;
pub mod park;
