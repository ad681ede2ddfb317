//! The real system behind [`crate::env`]: one file a platform, with the same functions in each,
//! and [`System`], which hands every call on to them. All of the crate's unsafe code is in these
//! files, and every choice by platform.
//!
//! What holds on each of them:
//!
//! - Every function makes one system call, or as few as the platform has it in. None goes on to
//!   something weaker after an error, except to sync a volume of macOS that knows no stronger way;
//!   and an error is never turned into an empty answer.
//! - A name that is not a single component, or cannot be handed to the system, is `EINVAL`; it
//!   never reaches another directory.
//! - A call that signals keep interrupting is given up after nine attempts with `EINTR`.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "this is the door that everything else has to go through"
)]

use crate::env::{Clock, Contents, Entropy, Fs, FsResult, Kind};
use std::ffi::OsStr;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

#[cfg(unix)]
mod unix;
#[cfg(unix)]
use unix as system;

#[cfg(windows)]
mod windows;
#[cfg(windows)]
use windows as system;

#[cfg(not(any(unix, windows)))]
compile_error!("fencelink knows the file systems of Unix and of Windows only");

pub use system::{Dir, File};

/// The most that is set aside for a file before any of it has been read, in bytes.
const FIRST_READ: usize = 64 * 1024;

/// The system this process runs on.
#[derive(Clone, Copy, Default, Debug)]
pub struct System;

impl Fs for System {
    type Dir = Dir;
    type File = File;

    fn open_dir(&self, path: &Path) -> FsResult<Dir> {
        system::open_dir(path)
    }

    fn make_dir(&self, path: &Path) -> FsResult<()> {
        system::make_dir(path)
    }

    fn list(&self, dir: &Dir, each: &mut dyn FnMut(&OsStr, Kind)) -> FsResult<()> {
        system::list(dir, each)
    }

    fn exists(&self, dir: &Dir, name: &OsStr) -> FsResult<bool> {
        system::exists(dir, name)
    }

    fn modified_ms(&self, dir: &Dir, name: &OsStr) -> FsResult<f64> {
        system::modified_ms(dir, name)
    }

    fn read(&self, dir: &Dir, name: &OsStr, limit: usize) -> FsResult<Contents> {
        system::read(dir, name, limit)
    }

    fn create(&self, dir: &Dir, name: &OsStr) -> FsResult<File> {
        system::create(dir, name)
    }

    fn create_nameless(&self, dir: &Dir) -> FsResult<File> {
        system::create_nameless(dir)
    }

    fn write(&self, file: &mut File, bytes: &[u8]) -> FsResult<()> {
        system::write(file, bytes)
    }

    fn sync(&self, file: &File) -> FsResult<()> {
        system::sync(file)
    }

    fn close(&self, file: File) -> FsResult<()> {
        system::close(file)
    }

    fn sync_dir(&self, dir: &Dir) -> FsResult<()> {
        system::sync_dir(dir)
    }

    fn link(&self, dir: &Dir, from: &OsStr, to: &OsStr) -> FsResult<()> {
        system::link(dir, from, to)
    }

    fn link_nameless(&self, file: &File, dir: &Dir, to: &OsStr) -> FsResult<()> {
        system::link_nameless(file, dir, to)
    }

    fn unlink(&self, dir: &Dir, name: &OsStr) -> FsResult<()> {
        system::unlink(dir, name)
    }

    fn rename(&self, from: &Dir, name: &OsStr, to: &Dir, new: &OsStr) -> FsResult<()> {
        system::rename(from, name, to, new)
    }
}

/// Whole milliseconds, cut off downwards as JavaScript's `Date.now()` has them, so that two
/// workers of one host never see times that differ by a fraction.
fn epoch_ms(time: SystemTime) -> f64 {
    const NANOS_A_MS: u128 = 1_000_000;
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => after.as_millis() as f64,
        Err(before) => -(before.duration().as_nanos().div_ceil(NANOS_A_MS) as f64),
    }
}

impl Clock for System {
    fn now_ms(&self) -> f64 {
        epoch_ms(SystemTime::now())
    }

    fn pause_ms(&self, milliseconds: u64) {
        std::thread::sleep(Duration::from_millis(milliseconds));
    }
}

static COUNT: AtomicU64 = AtomicU64::new(0);

impl Entropy for System {
    fn process_id(&self) -> u32 {
        // Asked once: the system call is not free, and a process that was copied meanwhile still
        // has randomness of its own.
        static ID: OnceLock<u32> = OnceLock::new();
        *ID.get_or_init(std::process::id)
    }

    fn count(&self) -> u64 {
        COUNT.fetch_add(1, Ordering::Relaxed)
    }

    fn random(&self) -> FsResult<u64> {
        let mut bits = [0; 8];
        system::random(&mut bits)?;
        Ok(u64::from_ne_bytes(bits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Guards leases near a boundary: a time cut off towards zero would be a millisecond late
    /// before the epoch, and a rounded one early after it.
    #[test]
    fn times_are_cut_off_downwards() {
        let ns = Duration::from_nanos;
        assert_eq!(epoch_ms(UNIX_EPOCH), 0.0);
        assert_eq!(epoch_ms(UNIX_EPOCH + ns(1_999_999)), 1.0);
        assert_eq!(epoch_ms(UNIX_EPOCH + ns(2_000_000)), 2.0);
        assert_eq!(epoch_ms(UNIX_EPOCH - ns(1_000_000)), -1.0);
        assert_eq!(epoch_ms(UNIX_EPOCH - ns(1_000_100)), -2.0);
    }

    /// Guards scratch names and nonces: a repeated one lets a worker take another's holding for
    /// its own.
    #[test]
    fn no_two_counts_and_no_two_random_values_are_alike() {
        let system = System;
        let mut counts = std::collections::HashSet::new();
        let mut randoms = std::collections::HashSet::new();
        for _ in 0..1_000 {
            assert!(counts.insert(system.count()));
            assert!(randoms.insert(system.random().expect("randomness")));
        }
    }

    /// Guards the unit: leases are in milliseconds of the wall clock.
    #[test]
    fn the_clock_counts_whole_milliseconds_and_a_pause_lets_them_pass() {
        let (system, begun) = (System, System.now_ms());
        assert_eq!(begun.fract(), 0.0);
        assert!(begun > 1.7e12, "{begun} is before 2023");
        system.pause_ms(20);
        let passed = system.now_ms() - begun;
        assert!((19.0..10_000.0).contains(&passed), "{passed} ms for a pause of 20");
    }
}
