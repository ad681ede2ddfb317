//! One instant of a simulated world: the files, the clock, where each worker is, and what the
//! oracle has to remember. Equal states have equal futures, which is what makes a search of all
//! interleavings end.

use super::fs::{Files, Ino};
use super::programs::Past;
use super::tables::{ContentId, NameId};
use crate::errno::Errno;

/// One instant.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct State {
    pub(crate) files: Files,
    pub(crate) clock_ms: i64,
    /// The latest that the clock has ever been: a lease that has ended does not begin anew when
    /// the clock is put back.
    pub(crate) latest_ms: i64,
    pub(crate) workers: Vec<Where>,
    /// All fences that were returned to callers, in ascending order.
    pub(crate) told: Vec<u64>,
    /// The highest of them that a taker was returned who seals.
    pub(crate) sealing: u64,
    /// What may still go wrong.
    pub(crate) left: Left,
    /// What readers have seen of the checkpoint since a writer was last told that it is written,
    /// `None` for none at all; where the loss of power is searched.
    pub(crate) shown: Vec<Option<ContentId>>,
}

impl State {
    /// The highest fence that was returned; 0 when none was.
    pub(crate) fn highest(&self) -> u64 {
        self.told.last().copied().unwrap_or(0)
    }

    /// All workers but one that are in a call.
    pub(crate) fn others(&mut self, than: usize) -> impl Iterator<Item = &mut Where> {
        let workers = self.workers.iter_mut().enumerate();
        workers.filter_map(move |(at, worker)| {
            (at != than && worker.running.is_some()).then_some(worker)
        })
    }
}

/// Faults that have not struck yet.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Left {
    pub(crate) crashes: u8,
    pub(crate) errors: u8,
    pub(crate) outages: u8,
    /// How many ticks are past.
    pub(crate) ticked: u8,
}

/// Where a worker is.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Where {
    /// The call that it is in.
    pub(crate) running: Option<Past>,
    /// How many calls of its program it has ended.
    pub(crate) ended: u16,
    /// How many calls it has begun, over its crashes.
    pub(crate) begun: u16,
    pub(crate) crashed: bool,
    /// How many files it has made in this call.
    pub(crate) made: u16,
    /// The listing that it is in the middle of.
    pub(crate) listing: Option<Listing>,
    /// The fence that it was told last.
    pub(crate) fence: Option<u64>,
    /// What it was told that it holds, and until when.
    pub(crate) lease: Option<(u64, i64)>,
    pub(crate) seen: Seen,
}

/// A listing that has begun. It will tell every name that stays, and of the others any.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Listing {
    pub(crate) dir: Ino,
    /// Names that were there all the time.
    pub(crate) must: Vec<NameId>,
    /// These, and the names that came or went.
    pub(crate) may: Vec<NameId>,
}

/// What has happened since a call began, as far as its answer is judged by it.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Seen {
    /// The highest fence that had been returned.
    pub(crate) highest: u64,
    /// The lease that the worker held when it began.
    pub(crate) lease: Option<(u64, i64)>,
    /// Until when the highest holding on disk was the caller's own; 0 when it was another's.
    pub(crate) own_until_ms: i64,
    /// Whether the highest holding was, at some instant, another's and live by the caller's clock.
    pub(crate) held: bool,
    /// Whether it has read such a lease in a file that never was the highest; see `late`.
    pub(crate) behind: bool,
    /// Holdings that others have linked below the highest since it last began a listing.
    pub(crate) late: Vec<Ino>,
    /// Whether others have removed a holding.
    pub(crate) pruned: bool,
    /// How many holdings others have published.
    pub(crate) overtaken: u8,
    /// Whether it made a checkpoint visible.
    pub(crate) revealed: bool,
    /// Whether it was told that this had failed.
    pub(crate) misled: bool,
    /// Whether the volume has lost something since: whoever syncs then is told so.
    pub(crate) outage: bool,
    /// Faults that struck it.
    pub(crate) faults: [Option<Errno>; 2],
}

impl Listing {
    pub(crate) fn begin(dir: Ino, names: Vec<NameId>) -> Listing {
        Listing { dir, must: names.clone(), may: names }
    }

    /// Takes note of a name that came, went or was replaced.
    pub(crate) fn changed(&mut self, name: NameId, there: bool) {
        if !there && let Ok(at) = self.must.binary_search(&name) {
            self.must.remove(at);
        }
        if let Err(at) = self.may.binary_search(&name) {
            self.may.insert(at, name);
        }
    }

    /// The names that it may tell or not.
    pub(crate) fn loose(&self) -> Vec<NameId> {
        self.may.iter().copied().filter(|name| self.must.binary_search(name).is_err()).collect()
    }
}
