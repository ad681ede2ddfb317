//! Taking the next run, on the real file system: in order, each run once, spread when there are
//! many, and judged again under the claim.

#![allow(clippy::panic, reason = "that is how a test fails")]

mod meddling;
mod sample;

use fencelink::checkpoint::{self, Write};
use fencelink::claim::{self, Request};
use fencelink::directory::Durability::Process;
use fencelink::env::{Clock, Fs, World};
use fencelink::error::ListError;
use fencelink::listing::{Filter, Kept, Order, ParkState, Wanted, claim_next};
use fencelink::names;
use fencelink::platform::System;
use fencelink::types::{Fence, Holder, Lease};
use meddling::Meddling;
use sample::{holder, millis, text};
use std::collections::HashSet;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Barrier, Mutex};
use tempfile::{TempDir, tempdir_in};

const HOUR_MS: f64 = 3_600_000.0;

/// On memory where the system has it.
fn tree() -> TempDir {
    let memory = Path::new("/dev/shm");
    let base = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
    tempdir_in(base).expect("a directory")
}

const RESOLVED: &str = r#","pending":{"request":{"type":"question"},"parkedAt":1,"resolvedAt":2}"#;
const OUTSTANDING: &str = r#","pending":{"request":{"type":"question"},"parkedAt":1}"#;

fn put(base: &Path, run: &str, more: &str) {
    let (run_dir, bytes) = (base.join(run), &text("cp_1", 1.0, more));
    let write = Write { run_dir: &run_dir, id: "cp_1", bytes, fence: None, durability: Process };
    checkpoint::write(&System, &write).expect("written");
}

fn wanted(name: &str) -> Wanted {
    Wanted {
        order: Order::RunId,
        filter: Filter::default(),
        report: false,
        holder: holder(name),
        ttl: millis(HOUR_MS),
        now: None,
        durability: Process,
    }
}

fn next<W: World + Sync>(world: &W, base: &Path, wanted: &Wanted) -> Option<(String, Lease)> {
    let next = claim_next(world, base, wanted, &Kept::new()).expect("an answer")?;
    let claim = next.row.claim.expect("the claim");
    assert_eq!((&claim.lease, claim.expired), (&next.lease, false));
    Some((next.row.run, next.lease))
}

fn run_of<W: World + Sync>(world: &W, base: &Path, wanted: &Wanted) -> Option<String> {
    next(world, base, wanted).map(|(run, _)| run)
}

fn read(base: &Path, run: &str) -> Option<Lease> {
    claim::read(&System, &base.join(run)).expect("readable")
}

/// Guards the order for a caller without rivals, and that a run which it holds itself is not given
/// to it again.
#[test]
fn a_caller_alone_takes_the_runs_in_order() {
    let base = tree();
    for run in ["run_c", "run_a", "run_b"] {
        put(base.path(), run, "");
    }
    put(base.path(), "run_a/children/run_aa", "");
    for run in ["run_a", "run_aa", "run_b", "run_c"] {
        assert_eq!(run_of(&System, base.path(), &wanted("a")).as_deref(), Some(run));
    }
    assert_eq!(run_of(&System, base.path(), &wanted("a")), None);
}

/// Guards the present: leases that end, and lease times, are by the one that is given.
#[test]
fn a_run_is_free_again_at_its_lease_s_end() {
    let base = tree();
    put(base.path(), "run_a", "");
    let at = |now: f64| Wanted { ttl: millis(10.0), now: Some(millis(now)), ..wanted("a") };
    let (_, first) = next(&System, base.path(), &at(100.5)).expect("free");
    assert_eq!((first.fence.get(), first.expires_at), (1, millis(110.5)));
    assert_eq!(next(&System, base.path(), &at(110.0)), None);
    let (_, second) = next(&System, base.path(), &at(110.5)).expect("free again");
    assert_eq!(second.fence.get(), 2);
}

/// Guards the re-check: what has changed between the look and the claim is seen under the claim,
/// and the run is given back.
#[test]
fn a_run_that_stopped_matching_is_given_back_and_passed_over() {
    let resolved = Wanted { filter: Filter::new([ParkState::Resolved], None), ..wanted("a") };
    for gone in [false, true] {
        let base = tree();
        put(base.path(), "run_a", RESOLVED);
        put(base.path(), "run_b", RESOLVED);
        let meddling = Meddling::before_the_first_link(|| {
            if gone {
                let checkpoints = names::checkpoints_dir(&base.path().join("run_a"));
                let dir = System.open_dir(&checkpoints).expect("there");
                System.unlink(&dir, "cp_1.json".as_ref()).expect("removed");
            } else {
                put(base.path(), "run_a", OUTSTANDING);
            }
        });
        let (run, lease) = next(&meddling, base.path(), &resolved).expect("the other one");
        assert_eq!((run.as_str(), lease.fence.get()), ("run_b", 1));
        let given_back = read(base.path(), "run_a").expect("it was claimed");
        assert_eq!((given_back.holder, given_back.fence.get()), (Holder::NOBODY, 2));
    }
}

/// Guards a call's end: a run that matches whenever it is looked at, and never when it is won, is
/// tried once, and the next one is taken.
#[test]
fn a_run_is_tried_once_in_a_call() {
    let resolved = Wanted { filter: Filter::new([ParkState::Resolved], None), ..wanted("a") };
    let base = tree();
    put(base.path(), "run_a", RESOLVED);
    put(base.path(), "run_b", RESOLVED);
    let links = AtomicUsize::new(0);
    let meddling = Meddling::before_each_link(|| {
        // The claim of it is followed by the tombstone that gives it back.
        let before = links.fetch_add(1, Ordering::Relaxed);
        assert!(before < 20, "there is no end to it");
        put(base.path(), "run_a", if before.is_multiple_of(2) { OUTSTANDING } else { RESOLVED });
    });
    assert_eq!(run_of(&meddling, base.path(), &resolved).as_deref(), Some("run_b"));
    assert_eq!(links.load(Ordering::Relaxed), 3);
}

/// Guards callers that share a name: one of them must not take another's claim for its own, which
/// it could renew.
#[test]
fn a_run_that_the_same_holder_takes_first_is_lost() {
    let base = tree();
    put(base.path(), "run_a", "");
    put(base.path(), "run_b", "");
    let meddling = Meddling::before_the_first_link(|| {
        let request = Request::new(holder("a"), millis(HOUR_MS), millis(System.now_ms()), Process);
        let taken = claim::acquire(&System, &base.path().join("run_a"), &request.expect("finite"));
        assert!(taken.expect("an answer").is_some());
    });
    assert_eq!(run_of(&meddling, base.path(), &wanted("a")).as_deref(), Some("run_b"));
    assert_eq!(read(base.path(), "run_a").map(|lease| lease.fence), Fence::new(1));
}

/// Guards the queue against one bad file, by either choice, before the claim and under it.
#[test]
fn a_run_that_cannot_be_judged_refuses_or_is_passed_over() {
    let base = tree();
    for run in ["run_a", "run_b", "run_c"] {
        put(base.path(), run, "");
    }
    put(base.path(), "run_b", r#","pending":5"#);
    assert_eq!(run_of(&System, base.path(), &wanted("a")).as_deref(), Some("run_a"));
    let refused = claim_next(&System, base.path(), &wanted("a"), &Kept::new());
    assert!(matches!(refused, Err(ListError::Read(_))), "{refused:?}");
    assert_eq!(read(base.path(), "run_b"), None);
    let passing = Wanted { report: true, ..wanted("a") };
    assert_eq!(run_of(&System, base.path(), &passing).as_deref(), Some("run_c"));

    for report in [false, true] {
        let base = tree();
        put(base.path(), "run_a", "");
        put(base.path(), "run_b", "");
        let meddling =
            Meddling::before_the_first_link(|| put(base.path(), "run_a", r#","pending":5"#));
        let taken =
            claim_next(&meddling, base.path(), &Wanted { report, ..wanted("a") }, &Kept::new());
        match taken {
            Err(ListError::Read(_)) if !report => {}
            Ok(Some(next)) if report => assert_eq!(next.row.run, "run_b"),
            other => panic!("{other:?}"),
        }
        assert_eq!(read(base.path(), "run_a").map(|lease| lease.holder), Some(Holder::NOBODY));
    }
}

/// Guards the order by making, in which what was lost must be looked for further on too.
#[test]
fn the_order_by_making_is_kept() {
    let base = tree();
    for (run, at) in [("run_a", 3), ("run_b", 1), ("run_c", 2)] {
        put(base.path(), run, &format!(r#","runCreatedAt":{at}"#));
    }
    put(base.path(), "run_d", "");
    let wanted = Wanted { order: Order::CreatedAt, ..wanted("a") };
    for run in ["run_d", "run_b", "run_c", "run_a"] {
        assert_eq!(run_of(&System, base.path(), &wanted).as_deref(), Some(run));
    }
    assert_eq!(run_of(&System, base.path(), &wanted), None);
}

/// Takes runs with as many callers, each of which makes `calls`, or goes on until there are none.
/// Answers how many were taken, each once, and how many were lost on the way.
fn drain<W: World + Sync>(
    world: &W,
    base: &Path,
    callers: usize,
    calls: Option<usize>,
) -> (usize, usize) {
    let (taken, lost) = (Mutex::new(HashSet::new()), AtomicUsize::new(0));
    let (start, kept) = (Barrier::new(callers), Kept::new());
    std::thread::scope(|scope| {
        for number in 0..callers {
            let (taken, lost, start, kept) = (&taken, &lost, &start, &kept);
            scope.spawn(move || {
                // Half of them share their names with another.
                let wanted = wanted(&format!("w{}", number / 2));
                start.wait();
                for _ in 0..calls.unwrap_or(usize::MAX) {
                    let next = claim_next(world, base, &wanted, kept).expect("an answer");
                    let Some(next) = next else { break };
                    lost.fetch_add(next.lost, Ordering::Relaxed);
                    assert_eq!(next.lease.fence.get(), 1, "{}", next.row.run);
                    assert!(taken.lock().expect("unpoisoned").insert(next.row.run));
                }
            });
        }
    });
    (taken.into_inner().expect("unpoisoned").len(), lost.into_inner())
}

/// Guards a queue that many drain at once: each run is taken once, and all of them are.
#[test]
fn many_callers_drain_a_queue() {
    let base = tree();
    for number in 0..150 {
        put(base.path(), &format!("run_{number}"), "");
    }
    let (taken, lost) = drain(&System, base.path(), 20, None);
    assert_eq!(taken, 150);
    assert!(lost <= 3 * taken, "{lost} races lost");
}

/// Guards against callers that fight over one run after another: held up between its look and its
/// claim, each of them would lose to all that come before it.
#[test]
fn callers_that_lost_a_run_are_spread() {
    let base = tree();
    for number in 100..200 {
        put(base.path(), &format!("run_{number}"), "");
    }
    let meddling = Meddling::before_each_link(|| System.pause_ms(20));
    let (taken, lost) = drain(&meddling, base.path(), 20, Some(1));
    assert_eq!(taken, 20);
    assert!(lost <= 3 * taken, "{lost} races lost");
    // The first ones are among those that were taken.
    assert!(read(base.path(), "run_100").is_some());
}
