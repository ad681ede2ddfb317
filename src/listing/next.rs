//! Taking the next run that nobody holds: the walk of a listing and the claim, in one call.
//!
//! A caller takes the first run in order that is free and matches. If another wins it, the two are
//! on the same way, and so may be many: the loser goes on with the next [`SPREAD`] such runs in an
//! order by chance, and so on. Each run is tried once at most, none is left out, and since every
//! caller begins with the first, none waits for ever behind later ones.
//!
//! What matched may not do so any more when it is won. So the run is judged again under its new
//! claim, by which its checkpoints stand still, and is given back when it no longer matches.

use super::cursor::Cursor;
use super::entry::Row;
use super::judge::{is_gone, judge_checkpoints, shown};
use super::kept::Kept;
use super::page::{Filter, Order};
use super::tree::{RunId, Tree};
use super::untold;
use super::walk::{Terms, place_of, walk};
use crate::claim::{self, Request};
use crate::directory::Durability;
use crate::env::World;
use crate::error::ListError;
use crate::names;
use crate::types::{Holder, Lease, Millis};
use std::path::Path;

/// Among how many free runs those are spread that lost one.
const SPREAD: usize = 32;

/// What names for these calls are kept under. No walk of a listing is called so.
const WALK: &str = "next";

/// Who asks for a run, of which kind.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Which run is next.
    pub order: Order,
    /// Which runs at all. What it says of claims is passed over: free ones.
    pub filter: Filter,
    /// Whether runs that cannot be judged are passed over, instead of refusing those after them.
    pub report: bool,
    /// Who asks. A run that it holds is not free.
    pub holder: Holder,
    /// For how long.
    pub ttl: Millis,
    /// The present; the wall clock when it is not given. `now` and `ttl` have a finite sum.
    pub now: Option<Millis>,
    /// What the claim survives.
    pub durability: Durability,
}

/// A run that was taken.
#[derive(Clone, PartialEq, Debug)]
pub struct Next {
    /// The run, as it is under the claim.
    pub row: Row,
    /// The claim.
    pub lease: Lease,
    /// How many runs were tried before and lost: to others, or because they matched no more.
    pub lost: usize,
}

/// Takes the first run below `base` that is free, matches, and that this caller wins. `None` means
/// that there was none.
///
/// # Errors
///
/// [`ListError`]: a directory cannot be listed, a run that would be reached cannot be judged, or a
/// claim failed. Nothing is held then.
pub fn claim_next<W: World + Sync>(
    world: &W,
    base: &Path,
    wanted: &Wanted,
    kept: &Kept,
) -> Result<Option<Next>, ListError> {
    loop {
        let mut names = kept.take(world, base, Some(WALK), None)?;
        let next = take_one(world, base, &mut names.tree, wanted)?;
        if next.is_none() && !names.are_new {
            continue;
        }
        if next.is_some() {
            kept.put(names);
        }
        return Ok(next);
    }
}

/// Takes the first run of these that is free, matches, and is won.
fn take_one<W: World + Sync>(
    world: &W,
    base: &Path,
    tree: &mut Tree,
    wanted: &Wanted,
) -> Result<Option<Next>, ListError> {
    let mut terms = Terms {
        order: wanted.order,
        filter: wanted.filter.of_free_runs(),
        now: wanted.now(world),
        report: wanted.report,
        limit: 1,
        look_ahead: false,
    };
    untold(tree, terms)?;
    let (mut after, mut lost) = (None, 0);
    loop {
        let key = after.as_ref().map(Cursor::key);
        let mut found = walk(world, base, tree, key.as_ref(), terms);
        let Some(last) = found.rows.last() else {
            return found.refused.map_or(Ok(None), Err);
        };
        after = Some(place_of(last, terms.order));
        while !found.rows.is_empty() {
            let row = found.rows.swap_remove(by_chance(world, found.rows.len()));
            if let Some((row, lease)) = take(world, base, row, wanted)? {
                return Ok(Some(Next { row, lease, lost }));
            }
            lost += 1;
        }
        terms.limit = SPREAD;
        terms.now = wanted.now(world);
    }
}

fn by_chance<W: World>(world: &W, below: usize) -> usize {
    let chance = world.random().unwrap_or_else(|_| world.count());
    (chance % below as u64) as usize
}

/// Claims a run that was free and matched. `None` when that is no longer so.
fn take<W: World>(
    world: &W,
    base: &Path,
    row: Row,
    wanted: &Wanted,
) -> Result<Option<(Row, Lease)>, ListError> {
    let id = RunId { run: row.run, parent: row.parent };
    let run_dir = names::run_dir(base, id.parent.as_deref(), &id.run);
    let now = wanted.now(world);
    let request = Request::new(wanted.holder.clone(), wanted.ttl, now, wanted.durability);
    let Some(request) = request.map(Request::of_a_free_run) else {
        return Ok(None);
    };
    let lease = match claim::acquire(world, &run_dir, &request) {
        Ok(Some(lease)) => lease,
        Ok(None) => return Ok(None),
        Err(error) if error.cause().is_some_and(is_gone) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let judged = judge_checkpoints(world, base, &id, wanted.filter, now);
    if let Ok(Some(row)) = judged {
        return Ok(Some((Row { claim: Some(shown(lease.clone(), now)), ..row }, lease)));
    }
    let released = claim::release(world, &run_dir, lease.fence, wanted.durability);
    match judged {
        Err(error) if error.is_retryable() || !wanted.report => Err(error.into()),
        _ => Ok(released.map(|()| None)?),
    }
}

impl Wanted {
    fn now<W: World>(&self, world: &W) -> Millis {
        self.now.or_else(|| Millis::new(world.now_ms())).unwrap_or_default()
    }
}
