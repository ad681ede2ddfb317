//! The names of all runs below a directory, in the order of their ids. Nothing but directories is
//! read: a run that has no checkpoint is among the names.
//!
//! Sub-runs stand among all others by their own ids, so the first page already needs the name of
//! every one of them, and only a look into a run tells whether it has any: one system call a run,
//! spread over the processors. Names are put in order as far as they are asked for, no further.

use super::crew::{each, lock};
use super::page::{Key, Order};
use crate::env::{FsError, Kind, World};
use crate::errno::Errno;
use crate::error::ReadError;
use crate::names;
use std::ffi::OsStr;
use std::mem;
use std::ops::Range;
use std::path::Path;
use std::sync::Mutex;

/// How many names are put in order at first; each further time as many again as there are by then.
const FIRST_SORTED: usize = 256;

/// How many runs one thread looks into before it asks for more.
const A_SHARE: usize = 16;

/// Names of runs. Ids are UTF-16 units, one after another in one piece of memory.
#[derive(Default, Debug)]
pub(super) struct Tree {
    units: Vec<u16>,
    /// Runs at the top, in the order in which the directory has them.
    top: Vec<Range<usize>>,
    places: Vec<Place>,
    /// How many of the places, from the first on, are in their order and before all others.
    sorted: usize,
    /// Runs whose sub-runs cannot be told: the run's id, and why.
    pub(super) troubles: Vec<(String, ReadError)>,
}

/// Where a run is.
#[derive(Clone, Debug)]
struct Place {
    id: Range<usize>,
    /// The run that it belongs to, by its number among those at the top.
    parent: Option<usize>,
}

/// A run's ids.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct RunId {
    pub(super) run: String,
    pub(super) parent: Option<String>,
}

impl Tree {
    /// Reads the names of all runs below `base` that come after `after` in the order of ids, or of
    /// all. A directory that is not there has none.
    pub(super) fn read<W: World + Sync>(
        world: &W,
        base: &Path,
        after: Option<&Key<'_>>,
    ) -> Result<Tree, ReadError> {
        let mut tree = Tree::default();
        match list_runs(world, base, |id| tree.push_top(id)) {
            Err(cause) if cause.errno == Errno::ENOENT => return Ok(tree),
            listed => listed.map_err(|cause| unlisted(base, "list the runs", cause))?,
        }
        tree.look_into_all(world, base)?;
        if let Some(after) = after {
            let mut places = mem::take(&mut tree.places);
            places.retain(|place| tree.key(place).compare(after, Order::RunId).is_gt());
            tree.places = places;
        }
        Ok(tree)
    }

    /// How many runs there are.
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// The number of the first run after `after` in the order of ids.
    pub(super) fn first_after(&mut self, after: &Key<'_>) -> usize {
        loop {
            let sorted = &self.places[..self.sorted];
            let is_before = |place: &Place| !self.key(place).compare(after, Order::RunId).is_gt();
            let at = sorted.partition_point(is_before);
            if at < self.sorted || self.sorted == self.len() {
                return at;
            }
            self.sort_further();
        }
    }

    /// The run of that number in the order of ids, or the next one: a listing may tell one name
    /// twice. `next` is moved past it.
    pub(super) fn take(&mut self, next: &mut usize) -> Option<RunId> {
        loop {
            let at = *next;
            while at >= self.sorted && self.sorted < self.len() {
                self.sort_further();
            }
            let place = self.places.get(at)?;
            *next += 1;
            if at > 0 && self.key(place) == self.key(&self.places[at - 1]) {
                continue;
            }
            let parent = place.parent.map(|parent| self.text(&self.top[parent]));
            return Some(RunId { run: self.text(&place.id), parent });
        }
    }

    fn sort_further(&mut self) {
        let mut places = mem::take(&mut self.places);
        let rest = &mut places[self.sorted..];
        let count = self.sorted.max(FIRST_SORTED).min(rest.len());
        let by_id = |a: &Place, b: &Place| self.key(a).compare(&self.key(b), Order::RunId);
        if count < rest.len() {
            rest.select_nth_unstable_by(count, by_id);
        }
        rest[..count].sort_unstable_by(by_id);
        self.places = places;
        self.sorted += count;
    }

    fn key(&self, place: &Place) -> Key<'_> {
        let parent = place.parent.map(|parent| &self.units[self.top[parent].clone()]);
        Key { run_created_at: None, run: &self.units[place.id.clone()], parent }
    }

    /// Ids are kept from names that are text, so nothing is lost on the way back.
    fn text(&self, id: &Range<usize>) -> String {
        String::from_utf16_lossy(&self.units[id.clone()])
    }

    fn push_top(&mut self, id: &str) {
        let id = self.keep(id);
        self.top.push(id.clone());
        self.places.push(Place { id, parent: None });
    }

    fn keep(&mut self, id: &str) -> Range<usize> {
        let start = self.units.len();
        self.units.extend(id.encode_utf16());
        start..self.units.len()
    }

    /// Adds the sub-runs of every run at the top.
    fn look_into_all<W: World + Sync>(&mut self, world: &W, base: &Path) -> Result<(), ReadError> {
        let found = Mutex::new(Found::default());
        each(self.top.len().div_ceil(A_SHARE), || {
            let mut share = {
                let mut found = lock(&found);
                if found.refused.is_some() {
                    return false;
                }
                let first = found.taken;
                found.taken = self.top.len().min(first + A_SHARE);
                first..found.taken
            };
            if share.is_empty() {
                return false;
            }
            share.all(|parent| self.look_into(world, base, parent, &found))
        });
        let found = found.into_inner().unwrap_or_default();
        for (parent, id) in found.children {
            let id = self.keep(&id);
            self.places.push(Place { id, parent: Some(parent) });
        }
        self.troubles = found.troubles;
        found.refused.map_or(Ok(()), Err)
    }

    /// Answers `false` when the whole listing is to be given up.
    fn look_into<W: World>(
        &self,
        world: &W,
        base: &Path,
        parent: usize,
        found: &Mutex<Found>,
    ) -> bool {
        let run = self.text(&self.top[parent]);
        let path = names::children_dir(&base.join(&run));
        let mut children = Vec::new();
        let listed = list_runs(world, &path, |id| children.push((parent, id.to_owned())));
        match listed {
            Ok(()) => lock(found).children.append(&mut children),
            Err(cause) if matches!(cause.errno, Errno::ENOENT | Errno::ENOTDIR) => {}
            Err(cause) => {
                let error = unlisted(&path, "list the sub-runs", cause);
                let found = &mut *lock(found);
                if error.is_retryable() {
                    found.refused = Some(error);
                    return false;
                }
                found.troubles.push((run, error));
            }
        }
        true
    }
}

/// What threads found that looked into runs.
#[derive(Default)]
struct Found {
    taken: usize,
    children: Vec<(usize, String)>,
    troubles: Vec<(String, ReadError)>,
    refused: Option<ReadError>,
}

/// Tells of every directory in `path` that may be a run's. A name that is not text is none: no id
/// can be written down for it.
fn list_runs<W: World>(world: &W, path: &Path, mut each: impl FnMut(&str)) -> Result<(), FsError> {
    let dir = world.open_dir(path)?;
    world.list(&dir, &mut |name: &OsStr, kind| {
        // Where the volume does not tell, what is no directory turns out to have no checkpoints.
        let may_be = matches!(kind, Kind::Directory | Kind::Unknown);
        if let (true, Some(id)) = (may_be && names::is_run(name.as_encoded_bytes()), name.to_str())
        {
            each(id);
        }
    })
}

fn unlisted(dir: &Path, doing: &'static str, cause: FsError) -> ReadError {
    ReadError::Storage { dir: dir.to_owned(), file: None, doing, cause }
}

#[cfg(test)]
impl Tree {
    /// Runs at the top, in the order in which a directory might have them.
    pub(super) fn of(ids: impl IntoIterator<Item = String>) -> Tree {
        let mut tree = Tree::default();
        ids.into_iter().for_each(|id| tree.push_top(&id));
        tree
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(tree: &mut Tree, mut next: usize) -> Vec<String> {
        std::iter::from_fn(|| tree.take(&mut next).map(|id| id.run)).collect()
    }

    /// Guards the order piece by piece: names are sorted in several steps, and each must end where
    /// the next begins.
    #[test]
    fn names_come_in_order_however_far_they_are_asked_for() {
        for count in [0, 1, FIRST_SORTED - 1, FIRST_SORTED, FIRST_SORTED + 1, 5_000] {
            let ids = |number: usize| format!("run_{:05}", (number * 7_919) % count);
            let mut tree = Tree::of((0..count).map(ids));
            let mut wanted: Vec<_> = (0..count).map(ids).collect();
            wanted.sort();
            let mut next = 0;
            if count > 0 {
                assert_eq!(tree.take(&mut next).map(|id| id.run), wanted.first().cloned());
                assert_eq!((next, tree.sorted), (1, FIRST_SORTED.min(count)));
            }
            assert_eq!(all(&mut tree, 0), wanted);
            for start in [0, 1, 300, 4_999] {
                let Some(after) = wanted.get(start) else { continue };
                let units: Vec<_> = after.encode_utf16().collect();
                let key = Key { run_created_at: None, run: &units, parent: None };
                let mut anew = Tree::of((0..count).map(ids));
                assert_eq!(anew.first_after(&key), start + 1);
                assert_eq!(all(&mut anew, start + 1), wanted[start + 1..]);
            }
        }
    }

    /// Guards against a row twice: a directory that changes while it is listed may tell a name
    /// again.
    #[test]
    fn a_name_that_is_told_twice_is_one_run() {
        let ids = ["run_b", "run_a", "run_b", "run_c", "run_a", "run_a"].map(str::to_owned);
        assert_eq!(all(&mut Tree::of(ids), 0), ["run_a", "run_b", "run_c"]);
    }
}
