//! The wrong designs that take more than a line, written as plausibly as each of them once was
//! somewhere. See [`Mutant`](super::Mutant) for where they are switched on.

use crate::body;
use crate::claim::{Claims, View};
use crate::env::{FsError, FsResult, World};
use crate::errno::Errno;
use crate::error::ClaimError;
use crate::names;
use crate::publish::Published;
use crate::types::Fence;
use std::cell::Cell;
use std::ffi::{OsStr, OsString};

/// From when on a lock is taken to be left behind.
const LOCK_AGE_MS: f64 = 400.0;

type Outcome = Result<Published, ClaimError>;

thread_local! {
    /// The caller's clock and the end of the lease that it asks for, in milliseconds.
    static CALLER: Cell<(f64, f64)> = const { Cell::new((0.0, 0.0)) };
}

/// Tells the wrong designs what a caller asked for.
pub(super) fn called(now_ms: i64, expires_at_ms: i64) {
    CALLER.set((now_ms as f64, expires_at_ms as f64));
}

fn failed<W: World>(claims: &Claims<'_, W>, fence: Fence, cause: FsError) -> ClaimError {
    claims.failed(Some(fence), "publish a run claim", cause)
}

fn fill<W: World>(claims: &Claims<'_, W>, name: &OsStr, body: &[u8]) -> FsResult<()> {
    let mut file = claims.world.create(&claims.dir, name)?;
    claims.world.write(&mut file, body)?;
    claims.world.close(file)
}

pub(crate) fn create_then_write<W: World>(
    claims: &Claims<'_, W>,
    fence: Fence,
    body: &[u8],
) -> Outcome {
    match fill(claims, names::holding(fence).as_ref(), body) {
        Ok(()) => Ok(Published::Won),
        Err(cause) if cause.errno == Errno::EEXIST => Ok(Published::Lost),
        Err(cause) => Err(failed(claims, fence, cause)),
    }
}

pub(crate) fn rename_over<W: World>(claims: &Claims<'_, W>, fence: Fence, body: &[u8]) -> Outcome {
    let unique = names::unique(claims.world).map_err(|cause| failed(claims, fence, cause))?;
    let scratch = OsString::from(names::scratch(&unique));
    fill(claims, &scratch, body).map_err(|cause| failed(claims, fence, cause))?;
    rename_scratch(claims, &scratch, fence)
}

pub(crate) fn rename_scratch<W: World>(
    claims: &Claims<'_, W>,
    scratch: &OsStr,
    fence: Fence,
) -> Outcome {
    let (dir, name) = (&claims.dir, names::holding(fence));
    match claims.world.rename(dir, scratch, dir, name.as_ref()) {
        Ok(()) => Ok(Published::Won),
        Err(cause) => Err(failed(claims, fence, cause)),
    }
}

pub(crate) fn under_a_lock<W: World>(claims: &Claims<'_, W>, fence: Fence, body: &[u8]) -> Outcome {
    let (world, dir, lock) = (claims.world, &claims.dir, OsStr::new("lock"));
    if fill(claims, lock, b"").is_err() {
        let modified = world.modified_ms(dir, lock);
        let is_left_behind = modified.is_ok_and(|at| world.now_ms() - at > LOCK_AGE_MS);
        if !is_left_behind {
            return Ok(Published::Lost);
        }
        let _ = world.unlink(dir, lock);
        if fill(claims, lock, b"").is_err() {
            return Ok(Published::Lost);
        }
    }
    let is_taken = world.exists(dir, names::holding(fence).as_ref());
    let published = match is_taken {
        Ok(true) => Ok(Published::Lost),
        Ok(false) => rename_over(claims, fence, body),
        Err(cause) => Err(failed(claims, fence, cause)),
    };
    let _ = world.unlink(dir, lock);
    published
}

pub(crate) fn share_scratch<W: World>(
    claims: &Claims<'_, W>,
    fence: Fence,
    body: &[u8],
) -> Outcome {
    let scratch = OsString::from(names::scratch(&fence.to_string()));
    let (world, dir) = (claims.world, &claims.dir);
    let mut filled = fill(claims, &scratch, body);
    if filled.is_err_and(|cause| cause.errno == Errno::EEXIST) {
        // Left behind, it seems.
        let _ = world.unlink(dir, &scratch);
        filled = fill(claims, &scratch, body);
    }
    filled.map_err(|cause| failed(claims, fence, cause))?;
    let linked = world.link(dir, &scratch, names::holding(fence).as_ref());
    let _ = world.unlink(dir, &scratch);
    match linked {
        Ok(()) => Ok(Published::Won),
        Err(cause) if cause.errno == Errno::EEXIST => Ok(Published::Lost),
        Err(cause) => Err(failed(claims, fence, cause)),
    }
}

/// A name with as many zeros in front as the expiry says, which is a legal one.
pub(crate) fn name_with_expiry(fence: Fence) -> String {
    let zeros = CALLER.get().1 as usize % 5;
    format!("{}{fence}.json", "0".repeat(zeros))
}

pub(crate) fn same_holder(ours: &[u8], theirs: &[u8]) -> bool {
    let holder = |bytes| body::parse(bytes).map(|body| body.holder);
    holder(ours) == holder(theirs)
}

pub(crate) fn delete<W: World>(claims: &Claims<'_, W>, fence: Fence) -> Result<(), ClaimError> {
    let deleted = claims.world.unlink(&claims.dir, names::holding(fence).as_ref());
    deleted.map_err(|cause| failed(claims, fence, cause))
}

pub(crate) fn remove_own<W: World>(
    claims: &Claims<'_, W>,
    fence: Fence,
) -> Result<Option<View>, ClaimError> {
    let _ = claims.world.unlink(&claims.dir, names::holding(fence).as_ref());
    Ok(None)
}

pub(crate) fn prune_all<W: World>(claims: &Claims<'_, W>, view: &View) {
    for name in view.holdings_below(u64::MAX) {
        let _ = claims.world.unlink(&claims.dir, &name);
    }
}

pub(crate) fn prune_descending<W: World>(claims: &Claims<'_, W>, view: &View, floor: u64) {
    for name in view.holdings_below(floor).iter().rev() {
        let _ = claims.world.unlink(&claims.dir, name);
    }
}

pub(crate) fn old_by_caller(modified: &FsResult<f64>, age_ms: f64) -> bool {
    modified.is_ok_and(|modified| CALLER.get().0 - modified > age_ms)
}
