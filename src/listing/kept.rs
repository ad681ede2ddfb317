//! The names of a tree, kept from one page of a walk to the next.
//!
//! To put a page's runs in order takes the names of all, and a look into each for its sub-runs; to
//! do that again for each of a hundred pages would cost more than all the rows. So a walk that goes
//! on within a second uses the names that it read, provided that the directory at the top has not
//! changed. What it may miss are sub-runs made in that second; what was there before the walk began
//! it does not miss, since a cursor says which walk it is of.
//!
//! Calls that take the next run use each other's names in the same way. One that finds nothing in
//! them reads them anew before it says so.

use super::crew::lock;
use super::page::{Key, Order};
use super::tree::Tree;
use crate::env::World;
use crate::error::ReadError;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// For how long names are used.
const KEPT_MS: f64 = 1_000.0;

/// For how long after a change a directory's time may stay the same over another.
const GRAIN_MS: f64 = 50.0;

/// How many walks' names are kept.
const MOST: usize = 4;

/// The names that walks under way have read.
#[derive(Default, Debug)]
pub struct Kept(Mutex<Vec<Names>>);

/// The names of one tree.
#[derive(Debug)]
pub(super) struct Names {
    pub(super) tree: Tree,
    /// Whether they were read by the call that has them.
    pub(super) are_new: bool,
    base: PathBuf,
    walk: Option<String>,
    read_ms: f64,
    /// When the directory at the top had last changed before it was read.
    changed_ms: Option<f64>,
    /// The run that all of these come after.
    after: Option<(Vec<u16>, Option<Vec<u16>>)>,
}

impl Kept {
    /// No names.
    pub const fn new() -> Kept {
        Kept(Mutex::new(Vec::new()))
    }

    /// The names for a walk that goes on after `after`, kept or read anew; a walk in the order of
    /// ids needs no others.
    pub(super) fn take<W: World + Sync>(
        &self,
        world: &W,
        base: &Path,
        walk: Option<&str>,
        after: Option<&Key<'_>>,
    ) -> Result<Names, ReadError> {
        let now = world.now_ms();
        let kept = {
            let mut all = lock(&self.0);
            all.retain(|names| (0.0..KEPT_MS).contains(&(now - names.read_ms)));
            let place =
                all.iter().position(|names| names.walk.as_deref() == walk && names.base == base);
            place.map(|place| all.remove(place))
        };
        let changed_ms = last_change(world, base);
        match kept {
            Some(names) if names.changed_ms == changed_ms && names.has_all_after(after) => {
                Ok(names)
            }
            _ => Ok(Names {
                tree: Tree::read(world, base, after)?,
                are_new: true,
                base: base.to_owned(),
                walk: walk.map(str::to_owned),
                read_ms: now,
                changed_ms: changed_ms.filter(|changed| now - changed > GRAIN_MS),
                after: after.map(|key| (key.run.to_vec(), key.parent.map(<[u16]>::to_vec))),
            }),
        }
    }

    /// Keeps names for the walk's next page, if there is a way to tell the walk, and whether they
    /// have changed.
    pub(super) fn put(&self, names: Names) {
        if names.changed_ms.is_none() || names.walk.is_none() {
            return;
        }
        let mut all = lock(&self.0);
        if all.len() == MOST {
            all.remove(0);
        }
        all.push(Names { are_new: false, ..names });
    }
}

impl Names {
    fn has_all_after(&self, after: Option<&Key<'_>>) -> bool {
        let Some((run, parent)) = &self.after else {
            return true;
        };
        let first = Key { run_created_at: None, run, parent: parent.as_deref() };
        after.is_some_and(|after| !after.compare(&first, Order::RunId).is_lt())
    }
}

/// When a name was last made or removed in the directory; `None` where that cannot be told.
fn last_change<W: World>(world: &W, base: &Path) -> Option<f64> {
    let dir = world.open_dir(base).ok()?;
    world.modified_ms(&dir, OsStr::new(".")).ok()
}
