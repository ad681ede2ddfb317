//! A worker of another implementation, which speaks what every worker agrees on and nothing that
//! this crate adds to it: no second listing, no seal, no nonce, no look at the highest name. It
//! shares the directory with ours in some scenarios, so that neither takes anything from the
//! other. The same in JavaScript is `__test__/peer/claims.mjs`.

use crate::body;
use crate::claim::Claims;
use crate::directory::Durability;
use crate::env::{Contents, FsResult, World};
use crate::errno::Errno;
use crate::error::ClaimError;
use crate::names::{self, Name};
use crate::switch::{kept_fences, rounds};
use crate::types::{Fence, Holder, Lease, Millis};
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// Takes or renews the run.
pub(super) fn acquire<W: World>(
    world: &W,
    run_dir: &Path,
    holder: &Holder,
    now: Millis,
    expires_at: Millis,
) -> Result<Option<Lease>, ClaimError> {
    let claims = Claims::open_or_make(world, run_dir, Durability::Process)?;
    for _ in 0..rounds(8) {
        let names = list(&claims).map_err(|cause| claims.failed(None, "list", cause))?;
        let current = holdings(&names).into_iter().max();
        if let Some((_, name)) = &current {
            let read = read(&claims, name).map_err(|cause| claims.failed(None, "read", cause))?;
            if read.is_some_and(|body| now < body.expires_at && body.holder != *holder) {
                return Ok(None);
            }
        }
        let fence = current.map_or(Some(1), |(fence, _)| fence.checked_add(1));
        let Some(fence) = fence.and_then(Fence::new) else {
            return Err(ClaimError::FencesUsedUp { claims: claims.path() });
        };
        let published = publish(&claims, fence, holder, expires_at);
        if published.map_err(|cause| claims.failed(Some(fence), "publish", cause))? {
            prune(&claims, fence);
            return Ok(Some(Lease { holder: holder.clone(), fence, expires_at }));
        }
    }
    Ok(None)
}

fn list<W: World>(claims: &Claims<'_, W>) -> FsResult<Vec<OsString>> {
    let mut names = Vec::new();
    claims.world.list(&claims.dir, &mut |name, _| names.push(name.to_owned()))?;
    Ok(names)
}

fn holdings(names: &[OsString]) -> Vec<(u64, OsString)> {
    let fences = names.iter().filter_map(|name| match Name::parse(name.as_encoded_bytes()) {
        Name::Holding(fence) => Some((fence.get(), name.clone())),
        _ => None,
    });
    fences.collect()
}

/// What a holding says; `None` when it is damaged or gone.
fn read<W: World>(claims: &Claims<'_, W>, name: &OsStr) -> FsResult<Option<body::Body>> {
    match claims.world.read(&claims.dir, name, body::LIMIT) {
        Ok(Contents::Bytes(bytes)) => Ok(body::parse(&bytes)),
        Ok(Contents::TooLarge | Contents::NotAFile) => Ok(None),
        Err(cause) if cause.errno == Errno::ENOENT => Ok(None),
        Err(cause) => Err(cause),
    }
}

/// Whether it was this worker that created the fence's name.
fn publish<W: World>(
    claims: &Claims<'_, W>,
    fence: Fence,
    holder: &Holder,
    expires_at: Millis,
) -> FsResult<bool> {
    let (world, dir) = (claims.world, &claims.dir);
    let unique = names::unique(world)?;
    let scratch = OsString::from(names::scratch(&unique));
    let mut file = world.create(dir, &scratch)?;
    let written = world.write(&mut file, &body::write(holder, expires_at, ""));
    let filled = written.and_then(|()| world.close(file));
    let linked = filled.and_then(|()| world.link(dir, &scratch, names::holding(fence).as_ref()));
    let _ = world.unlink(dir, &scratch);
    match linked {
        Ok(()) => Ok(true),
        Err(cause) if cause.errno == Errno::EEXIST => Ok(false),
        Err(cause) => Err(cause),
    }
}

/// Removes what is far below the newest, lowest first.
fn prune<W: World>(claims: &Claims<'_, W>, fence: Fence) {
    let floor = fence.get().saturating_sub(kept_fences(32));
    let mut old = list(claims).map(|names| holdings(&names)).unwrap_or_default();
    old.retain(|(fence, _)| *fence < floor);
    old.sort();
    for (_, name) in old {
        let _ = claims.world.unlink(&claims.dir, &name);
    }
}
