//! What a listing makes of one run: a row, nothing, or a refusal.

use super::entry::{Claim, Glance, Row, Tally};
use super::page::Filter;
use super::park::Wait;
use super::tree::RunId;
use crate::checkpoint::Checkpoints;
use crate::claim;
use crate::env::{FsError, World};
use crate::errno::Errno;
use crate::error::{ClaimError, ListError, ReadError};
use crate::names;
use crate::types::{Lease, Millis};
use std::path::Path;

/// Whether a run was deleted while it was looked at, or claimed: it is not there then, and no fault.
pub(super) fn is_gone(cause: FsError) -> bool {
    cause.errno == Errno::ENOENT
}

/// The row of the run, or `None` when it has no checkpoint or the filter drops it. A run that is
/// dropped for its claim has its checkpoints left unread.
///
/// # Errors
///
/// [`ListError`]: its claim cannot be read, or one of its checkpoints cannot be used.
pub(super) fn judge<W: World>(
    world: &W,
    base: &Path,
    id: &RunId,
    filter: Filter,
    now: Millis,
) -> Result<Option<Row>, ListError> {
    let run_dir = names::run_dir(base, id.parent.as_deref(), &id.run);
    let read_claim = || match claim::read(world, &run_dir) {
        Err(error) if error.cause().is_some_and(is_gone) => Ok(None),
        settled => Ok::<_, ClaimError>(settled?.map(|lease| shown(lease, now))),
    };
    let early = filter.claimed.map(|_| read_claim());
    if let Some(Ok(claim)) = &early
        && !filter.keeps_claim(claim.as_ref().is_some_and(|claim| !claim.expired))
    {
        return Ok(None);
    }
    let Some(row) = judge_checkpoints(world, base, id, filter, now)? else {
        return Ok(None);
    };
    Ok(Some(Row { claim: early.unwrap_or_else(read_claim)?, ..row }))
}

/// As [`judge`], by the checkpoints alone: a row without a claim.
pub(super) fn judge_checkpoints<W: World>(
    world: &W,
    base: &Path,
    id: &RunId,
    filter: Filter,
    now: Millis,
) -> Result<Option<Row>, ReadError> {
    let run_dir = names::run_dir(base, id.parent.as_deref(), &id.run);
    let row = match read_checkpoints(world, &run_dir, id, now) {
        Err(ReadError::Storage { cause, .. }) if is_gone(cause) => None,
        settled => settled?,
    };
    Ok(row.filter(|row| filter.keeps_park(row.tally.park_state())))
}

/// A lease as a row shows it at `now`.
pub(super) fn shown(lease: Lease, now: Millis) -> Claim {
    Claim { expired: !lease.is_live(now), lease }
}

/// A row without its claim; `None` for a run without checkpoints.
fn read_checkpoints<W: World>(
    world: &W,
    run_dir: &Path,
    id: &RunId,
    now: Millis,
) -> Result<Option<Row>, ReadError> {
    let checkpoints = match Checkpoints::open(world, run_dir) {
        Ok(Some(checkpoints)) => checkpoints,
        Ok(None) => return Ok(None),
        // A file where a run or its checkpoints would be.
        Err(ReadError::Storage { cause, .. }) if cause.errno == Errno::ENOTDIR => return Ok(None),
        Err(error) => return Err(error),
    };
    let (mut tally, mut latest_id, mut park) = (Tally::default(), Vec::new(), None);
    for name in checkpoints.names()? {
        let Some(summary) = checkpoints.read(&name)?.map(|checkpoint| checkpoint.summary) else {
            continue;
        };
        let pending = summary.pending.judged().map_err(|why| checkpoints.unusable(&name, why))?;
        let glance = Glance {
            created_at: summary.created_at,
            run_created_at: summary.run_created_at,
            wait: pending.as_ref().map(|pending| Wait {
                parked_at: pending.parked_at,
                deadline_at: pending.deadline_at,
                resolved: pending.resolved,
            }),
        };
        let standing = tally.add(glance, now);
        if let (true, Some(pending)) = (standing.is_park, pending) {
            park = Some((summary.id.clone(), pending));
        }
        if standing.is_latest {
            latest_id = summary.id;
        }
    }
    let RunId { run, parent } = id.clone();
    Ok((tally.count > 0).then_some(Row { run, parent, tally, latest_id, park, claim: None }))
}
