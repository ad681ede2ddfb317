//! A world with one file system in which every step is done at once: what the model of the file
//! system is tested by, and what a taker finds that comes when all others have stopped.

use super::apply::Around;
use super::fs::{Files, Ino, Volume};
use super::step::{Answer, Step};
use super::tables::{NameId, Shared, Tables, locked};
use super::world::{Answers, Asked, Told, World};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Does every step at once.
#[derive(Debug)]
pub struct Direct {
    tables: Shared,
    files: Mutex<Files>,
    volume: Volume,
    clock_ms: i64,
    /// The number that files, scratch names and nonces carry.
    actor: u8,
    steps: AtomicU64,
    counted: AtomicU64,
}

impl World<Direct> {
    /// An empty root directory at `/`, and a clock that stands still.
    pub fn new(volume: Volume, clock_ms: i64) -> Self {
        let tables = Arc::new(Mutex::new(Tables::new()));
        World::over(tables, Files::new(), volume, clock_ms, u8::MAX)
    }

    /// Moves a directory in the root, by its name, as other processes can while it is open.
    pub fn move_dir(&self, from: &str, to: &str) {
        self.0.with_entry(from, |files, around, found| {
            let to = around.tables.name(to.as_ref());
            files.set(Ino::ROOT, to, Some(found), around);
        });
    }

    /// Removes an empty directory in the root, as other processes can while it is open.
    pub fn remove_dir(&self, name: &str) {
        self.0.with_entry(name, |files, _, found| {
            files.inodes.retain(|(ino, _)| *ino != found);
        });
    }

    /// Files as they are found; `actor` is like no other that made any of them.
    pub(super) fn over(
        tables: Shared,
        files: Files,
        volume: Volume,
        clock_ms: i64,
        actor: u8,
    ) -> Self {
        World(Direct {
            tables,
            files: Mutex::new(files),
            volume,
            clock_ms,
            actor,
            steps: AtomicU64::new(0),
            counted: AtomicU64::new(0),
        })
    }

    /// How many steps were done.
    pub(super) fn steps(&self) -> u64 {
        self.0.steps.load(Ordering::Relaxed)
    }

    /// The files as they are now.
    pub(super) fn files(&self) -> Files {
        self.0.files().clone()
    }
}

impl Direct {
    fn files(&self) -> MutexGuard<'_, Files> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<T>(
        &self,
        step: u64,
        tables: &mut Tables,
        act: impl FnOnce(&mut Files, &mut Around<'_>) -> T,
    ) -> T {
        let (call, nth) = ((step >> 16) as u16, step as u16);
        let mut around = Around {
            volume: self.volume,
            fresh: Ino::of_call(self.actor, call, nth),
            clock_ms: self.clock_ms,
            tables,
            changes: &mut Vec::new(),
        };
        act(&mut self.files(), &mut around)
    }

    /// Takes a name out of the root and gives what it stood for to `act`.
    fn with_entry(&self, name: &str, act: impl FnOnce(&mut Files, &mut Around<'_>, Ino)) {
        let mut tables = locked(&self.tables);
        let name: NameId = tables.name(name.as_ref());
        self.with(0, &mut tables, |files, around| {
            if let Some(found) = files.lookup(Ino::ROOT, name) {
                files.set(Ino::ROOT, name, None, around);
                act(files, around, found);
            }
        });
    }
}

impl Answers for Direct {
    fn asked(&self, asked: Asked<'_>) -> Told {
        let mut tables = locked(&self.tables);
        let step: Step = (asked.0)(&mut tables);
        let number = self.steps.fetch_add(1, Ordering::Relaxed);
        let answer: Answer =
            self.with(number, &mut tables, |files, around| files.apply(step, around));
        Told { step, answer, tables: Arc::clone(&self.tables) }
    }

    fn process(&self) -> u32 {
        u32::from(self.actor)
    }

    fn counted(&self) -> u64 {
        self.counted.fetch_add(1, Ordering::Relaxed)
    }
}
