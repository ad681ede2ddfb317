//! What becomes of a step that fails, or of one before which another worker acts, on the real file
//! system: where the simulation has no such fault, or does not search it together with another.

#![allow(
    clippy::disallowed_methods,
    reason = "a test looks at the disk past the door it is testing"
)]

mod meddling;
mod sample;

use fencelink::checkpoint::{self, Write};
use fencelink::claim::{self, Request};
use fencelink::directory::Durability;
use fencelink::env::{FsError, FsResult, Op, World};
use fencelink::errno::Errno;
use fencelink::error::ClaimError;
use fencelink::platform::System;
use fencelink::types::{Fence, Id, Lease};
use meddling::Meddling;
use sample::millis;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use tempfile::TempDir;

fn temporary() -> TempDir {
    tempfile::tempdir().expect("a temporary directory")
}

fn request(holder: &str, durability: Durability) -> Request {
    Request::new(sample::holder(holder), millis(1000.0), millis(0.0), durability).expect("finite")
}

fn acquire<W: World>(
    world: &W,
    run_dir: &Path,
    holder: &str,
    durability: Durability,
) -> Result<Option<Lease>, ClaimError> {
    claim::acquire(world, run_dir, &request(holder, durability))
}

fn text(id: &str) -> Vec<u8> {
    sample::text(id, 1.0, "")
}

fn put(run_dir: &Path, id: &str) {
    let dir = run_dir.join("checkpoints");
    fs::create_dir_all(&dir).expect("directories");
    fs::write(dir.join(format!("{id}.json")), text(id)).expect("a file");
}

/// Runs `act` in a run's directory that `make` has prepared, with each of its syncs failing in
/// turn; every one must be told. Answers how many there were.
fn syncs_that_are_told(
    make: impl Fn(&Path),
    act: impl Fn(&Meddling<'_>, &Path) -> Result<(), String>,
) -> usize {
    for failing in 1.. {
        let base = temporary();
        let run_dir = base.path().join("run_1");
        make(&run_dir);
        let synced = AtomicUsize::new(0);
        let sync = |step: &'static str| -> FsResult<()> {
            let refused = match step {
                // A file without a name is given up for one that has one: no sync may hide in that.
                "create_nameless" => Some(FsError { op: Op::Create, errno: Errno::EMFILE }),
                "sync" | "sync_dir" => (synced.fetch_add(1, Ordering::Relaxed) + 1 == failing)
                    .then_some(FsError { op: Op::Sync, errno: Errno::EIO }),
                _ => None,
            };
            refused.map_or(Ok(()), Err)
        };
        let answer = act(&Meddling::before_each_step(sync), &run_dir);
        let count = synced.into_inner();
        if count < failing {
            assert_eq!(answer, Ok(()), "nothing failed");
            return count;
        }
        let told = answer.expect_err(&format!("sync {failing} failed"));
        assert!(told.contains("EIO"), "sync {failing}: {told}");
    }
    unreachable!("no call syncs for ever")
}

/// Guards the promise that what was answered survives the loss of power: a sync that failed, of
/// whichever file or directory, must be told and not be passed over.
#[test]
fn a_sync_that_fails_is_told() {
    let power = Durability::Power;
    let fence = |number| Fence::new(number).expect("a safe integer");
    let id = Id::new("cp_1".into()).expect("one component");
    let nothing = |_: &Path| {};
    let taken = |run_dir: &Path| {
        acquire(&System, run_dir, "b", Durability::Process).expect("a claim").expect("a free run");
        fs::write(run_dir.join("claims/.tmp-w1-x"), "").expect("a staged write");
        put(run_dir, "cp_1");
    };
    let claim = |world: &Meddling<'_>, run_dir: &Path| {
        acquire(world, run_dir, "b", power).map(drop).map_err(|error| error.to_string())
    };
    let unsynced = |world: &Meddling<'_>, run_dir: &Path| {
        let claimed = acquire(world, run_dir, "b", Durability::Process);
        claimed.map(drop).map_err(|error| error.to_string())
    };
    let release = |world: &Meddling<'_>, run_dir: &Path| {
        claim::release(world, run_dir, fence(1), power).map_err(|error| error.to_string())
    };
    let write = |fence: Option<Fence>| {
        move |world: &Meddling<'_>, run_dir: &Path| {
            let bytes = &text("cp_1");
            let write = Write { run_dir, id: "cp_1", bytes, fence, durability: power };
            checkpoint::write(world, &write).map_err(|error| error.to_string())
        }
    };
    let delete = |world: &Meddling<'_>, run_dir: &Path| {
        checkpoint::delete(world, run_dir, &id, power).map_err(|error| error.to_string())
    };
    let deleted = |run_dir: &Path| put(run_dir, "cp_2");
    // Two directories made, two on the way, the file, and the one that it is in; of a fenced write
    // both directories are made and synced.
    assert_eq!(syncs_that_are_told(nothing, claim), 6);
    assert_eq!(syncs_that_are_told(nothing, write(None)), 6);
    assert_eq!(syncs_that_are_told(nothing, write(Some(fence(1)))), 8);
    // The file, its directory, and that once more for what was sealed.
    assert_eq!(syncs_that_are_told(taken, claim), 3);
    assert_eq!(syncs_that_are_told(taken, release), 3);
    assert_eq!(syncs_that_are_told(taken, write(None)), 2);
    assert_eq!(syncs_that_are_told(taken, write(Some(fence(1)))), 3);
    assert_eq!(syncs_that_are_told(taken, delete), 1);
    // An earlier call may have deleted it, and failed to sync.
    assert_eq!(syncs_that_are_told(deleted, delete), 1);
    // And nothing is waited for where nobody asked for it.
    assert_eq!(syncs_that_are_told(nothing, unsynced), 0);
    assert_eq!(syncs_that_are_told(taken, unsynced), 0);
}

/// Guards a run against a handle that is stale for a moment, as on network volumes: that says
/// neither that nobody holds it, nor that it cannot be read.
#[test]
fn a_claim_that_is_stale_once_is_looked_for_again() {
    let base = temporary();
    let held = acquire(&System, base.path(), "b", Durability::Process).expect("a claim");
    for stale in 1..=2 {
        let reads = AtomicUsize::new(0);
        let world = Meddling::before_each_step(|step| {
            let is_stale = step == "read" && reads.fetch_add(1, Ordering::Relaxed) < stale;
            let error = FsError { op: Op::Open, errno: Errno::ESTALE };
            if is_stale { Err(error) } else { Ok(()) }
        });
        assert_eq!(claim::read(&world, base.path()), Ok(held.clone()));
        assert_eq!(reads.load(Ordering::Relaxed), stale + 1);
    }
}

/// Guards the one holder: a name that another created first is lost, whatever is found there; also a
/// body of a worker that knows of no nonces, and what is no body at all.
#[test]
fn a_name_that_another_has_created_is_lost() {
    let live = br#"{"holder":"b","expiresAt":5}"#.to_vec();
    let found = [(Some(live), None), (Some(vec![b' '; (1 << 20) + 1]), Some(2)), (None, Some(2))];
    for (content, fence) in found {
        for refused in ["", "create_nameless"] {
            let base = temporary();
            let name = base.path().join("claims/1.json");
            let links = AtomicUsize::new(0);
            let world = Meddling::before_each_step(|step| {
                let is_link = matches!(step, "link" | "link_nameless");
                if is_link && links.fetch_add(1, Ordering::Relaxed) == 0 {
                    match &content {
                        Some(bytes) => fs::write(&name, bytes).expect("a file"),
                        None => fs::create_dir(&name).expect("a directory"),
                    }
                }
                let error = FsError { op: Op::Create, errno: Errno::EMFILE };
                if step == refused { Err(error) } else { Ok(()) }
            });
            let claimed = acquire(&world, base.path(), "a", Durability::Process).expect("a claim");
            let told = claimed.map(|lease| lease.fence.get());
            assert_eq!(told, fence, "{:?}, {refused}", content.as_ref().map(Vec::len));
        }
    }
}

/// Guards a run against being locked by a lease that nobody was told of: a network volume can make a
/// link and answer that it failed, or that the name exists already.
#[test]
fn a_link_that_was_made_is_won_whatever_it_answers() {
    for errno in [Errno::EEXIST, Errno::EIO, Errno::ENOTCONN] {
        for refused in ["", "create_nameless"] {
            let base = temporary();
            let world = Meddling::before_each_step(|step| match step {
                "linked" => Err(FsError { op: Op::Link, errno }),
                _ if step == refused => Err(FsError { op: Op::Create, errno: Errno::EMFILE }),
                _ => Ok(()),
            });
            let request = request("a", Durability::Process).of_a_free_run();
            let claimed = claim::acquire(&world, base.path(), &request).expect("a claim");
            let told = claimed.map(|lease| lease.fence.get());
            assert_eq!(told, Some(1), "{errno}, {refused}");
        }
    }
}

/// Guards whoever gives a run back that another takes at this instant: that is no failure.
#[test]
fn a_release_whose_name_another_has_created_is_done() {
    let base = temporary();
    let lease = acquire(&System, base.path(), "a", Durability::Process).expect("a claim");
    let taken = base.path().join("claims/2.json");
    let world = Meddling::before_the_first_link(|| {
        fs::write(&taken, br#"{"holder":"b","expiresAt":5}"#).expect("a file");
    });
    let fence = lease.expect("a free run").fence;
    assert_eq!(claim::release(&world, base.path(), fence, Durability::Process), Ok(()));
    let top = claim::current_fence(&System, base.path()).expect("readable");
    assert_eq!(top.get(), 2);
}

/// Guards against a run that cannot be looked at being taken for one that nobody ever claimed.
#[test]
fn claims_that_do_not_open_are_not_absent() {
    let base = temporary();
    acquire(&System, base.path(), "b", Durability::Process).expect("a claim").expect("a free run");
    let refusal = FsError { op: Op::Open, errno: Errno::EACCES };
    let world = Meddling::before_each_step(
        move |step| {
            if step == "open_dir" { Err(refusal) } else { Ok(()) }
        },
    );
    let answers = [
        claim::read(&world, base.path()).map(drop),
        claim::current_fence(&world, base.path()).map(drop),
        claim::release(&world, base.path(), Fence::NONE, Durability::Process),
    ];
    for answer in answers {
        assert_eq!(answer.expect_err("not opened").cause(), Some(refusal));
    }
}

/// Guards the seal: a taker that was not shown its own holding was not shown what is staged either,
/// and must not say that it holds the run.
#[test]
fn a_listing_that_lacks_the_own_holding_settles_nothing() {
    let base = temporary();
    let (claims, aside) = (base.path().join("claims"), base.path().join("aside"));
    let (linked, hidden) = (claims.join("2.json"), aside.join("2.json"));
    fs::create_dir(&aside).expect("a directory");
    acquire(&System, base.path(), "a", Durability::Process).expect("a claim").expect("a free run");
    let moved = |from: &Path, to: &Path| drop(fs::rename(from, to));
    let world = Meddling::before_each_step(|step| {
        match step {
            "list" => moved(&linked, &hidden),
            "exists" => moved(&hidden, &linked),
            _ => {}
        }
        Ok(())
    });
    let refused = acquire(&world, base.path(), "a", Durability::Process);
    assert!(matches!(refused, Err(ClaimError::Unsettled { .. })), "{refused:?}");
}

/// Guards a run against being restored from less than is there: a checkpoint that is written anew
/// can be missing from one listing, so it is listed until nothing new is told.
#[test]
fn checkpoints_are_listed_until_a_listing_tells_of_nothing_new() {
    let base = temporary();
    put(base.path(), "cp_1");
    let listings = AtomicUsize::new(0);
    let world = Meddling::before_each_step(|step| {
        if step == "list" {
            match listings.fetch_add(1, Ordering::Relaxed) {
                1 => put(base.path(), "cp_2"),
                2 => put(base.path(), "cp_3"),
                _ => {}
            }
        }
        Ok(())
    });
    let found = checkpoint::list(&world, base.path()).expect("a listing");
    let ids: Vec<String> =
        found.iter().map(|found| String::from_utf16_lossy(&found.summary.id)).collect();
    assert_eq!(ids, ["cp_1", "cp_2", "cp_3"]);
}

/// Guards what another is writing: a name that is there already is its own, and removing it would
/// take it from under its hands.
#[test]
fn a_scratch_name_that_is_taken_is_not_removed() {
    let base = temporary();
    let unlinked = AtomicUsize::new(0);
    let world = Meddling::before_each_step(|step| {
        unlinked.fetch_add(usize::from(step == "unlink"), Ordering::Relaxed);
        let is_refused = matches!(step, "create_nameless" | "create");
        let error = FsError { op: Op::Create, errno: Errno::EEXIST };
        if is_refused { Err(error) } else { Ok(()) }
    });
    let claimed = acquire(&world, base.path(), "a", Durability::Process);
    assert!(matches!(claimed, Err(ClaimError::ScratchTaken { .. })), "{claimed:?}");
    for fence in [None, Fence::new(1)] {
        let bytes = &text("cp_1");
        let durability = Durability::Process;
        let write = Write { run_dir: base.path(), id: "cp_1", bytes, fence, durability };
        assert!(checkpoint::write(&world, &write).is_err(), "{fence:?}");
    }
    assert_eq!(unlinked.load(Ordering::Relaxed), 0);
}

/// Guards the caller's time: only what another may be making this instant is waited for.
#[test]
fn a_directory_that_may_not_be_made_is_told_at_once() {
    let base = temporary();
    let made = AtomicUsize::new(0);
    let refusal = FsError { op: Op::Mkdir, errno: Errno::EACCES };
    let world = Meddling::before_each_step(|step| {
        if step == "make_dir" {
            made.fetch_add(1, Ordering::Relaxed);
            return Err(refusal);
        }
        Ok(())
    });
    let claimed = acquire(&world, base.path(), "a", Durability::Process);
    assert_eq!(claimed.expect_err("no directory").cause(), Some(refusal));
    assert_eq!(made.load(Ordering::Relaxed), 1);
}

/// Guards the body against being published without its bytes: volumes on a network tell of a write
/// that failed when the file is closed.
#[test]
fn a_close_that_fails_publishes_nothing() {
    let base = temporary();
    let world = Meddling::before_each_step(|step| match step {
        "create_nameless" => Err(FsError { op: Op::Create, errno: Errno::EMFILE }),
        "close" => Err(FsError { op: Op::Close, errno: Errno::EIO }),
        _ => Ok(()),
    });
    let claimed = acquire(&world, base.path(), "a", Durability::Process);
    let told = claimed.expect_err("the close failed").cause();
    assert_eq!(told, Some(FsError { op: Op::Close, errno: Errno::EIO }));
    assert_eq!(fs::read_dir(base.path().join("claims")).expect("a directory").count(), 0);
}

/// Guards the size from which a body is damaged, which all workers of a directory share: what one
/// of them takes for live must not be free to another.
#[test]
fn a_body_of_one_mebibyte_is_read_and_a_larger_one_is_not() {
    let base = temporary();
    fs::create_dir(base.path().join("claims")).expect("a directory");
    for (size, holder) in [(1 << 20, "b"), ((1 << 20) + 1, "")] {
        let mut body = br#"{"holder":"b","expiresAt":5}"#.to_vec();
        body.resize(size, b' ');
        fs::write(base.path().join("claims/1.json"), body).expect("a file");
        let lease = claim::read(&System, base.path()).expect("readable").expect("claimed");
        assert_eq!(String::from_utf16_lossy(lease.holder.units()), holder, "{size} bytes");
    }
}
