//! Links: the one decision the protocol rests on.

use crate::bench::{Bench, DirOf, exists, get, make, names, open, put, refused, set};
use fencelink::env::{Fs, FsResult, Op};
use fencelink::errno::Errno;
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};

const THREADS: usize = 64;
const ROUNDS: usize = 200;

/// Sends all threads for one name at once, again and again; `attempt` links a body that says
/// which thread it is of.
fn race<B: Bench>(bench: &B, attempt: impl Fn(&DirOf<B>, usize, &str) -> FsResult<()> + Sync) {
    let (fs, barrier) = (bench.fs(), Barrier::new(THREADS));
    let winners: Vec<AtomicUsize> = (0..ROUNDS).map(|_| AtomicUsize::new(0)).collect();
    let (barrier, winners, attempt, root) = (&barrier, &winners, &attempt, bench.root());
    std::thread::scope(|scope| {
        for thread in 1..=THREADS {
            scope.spawn(move || {
                let dir = fs.open_dir(root).expect("the root opens");
                for (round, winner) in winners.iter().enumerate() {
                    let name = format!("{round}.json");
                    barrier.wait();
                    match attempt(&dir, thread, &name) {
                        Ok(()) => assert_eq!(winner.swap(thread, Ordering::SeqCst), 0, "two won"),
                        lost => refused(lost, Op::Link, Errno::EEXIST),
                    }
                }
            });
        }
    });
    let dir = open(bench);
    for (round, winner) in winners.iter().enumerate() {
        let body = winner.load(Ordering::SeqCst).to_string();
        assert_ne!(body, "0", "nobody won round {round}");
        assert_eq!(get(fs, &dir, format!("{round}.json")), body.as_bytes());
    }
}

/// Guards the protocol itself: one fence, one holder.
pub(crate) fn one_of_many_threads_wins_each_name<B: Bench>(bench: &B) {
    let (fs, dir) = (bench.fs(), open(bench));
    for thread in 1..=THREADS {
        put(fs, &dir, format!("scratch-{thread}"), thread.to_string().as_bytes());
    }
    race(bench, |dir, thread, name| {
        fs.link(dir, format!("scratch-{thread}").as_ref(), name.as_ref())
    });
}

/// Guards a published holding: whatever stands at the name, a link leaves it as it is.
pub(crate) fn link_never_replaces<B: Bench>(bench: &B) {
    let (fs, dir) = (bench.fs(), open(bench));
    put(fs, &dir, "scratch", b"new");
    put(fs, &dir, "7.json", b"old");
    make(bench, "8.json");
    let mut taken = vec!["7.json", "8.json"];
    if bench.symlink("9.json", "nowhere") {
        taken.push("9.json");
    }
    for name in taken {
        refused(fs.link(&dir, "scratch".as_ref(), name.as_ref()), Op::Link, Errno::EEXIST);
    }
    assert_eq!(get(fs, &dir, "7.json"), b"old");
    assert!(!exists(fs, &dir, "nowhere"));
    refused(fs.link(&dir, "absent".as_ref(), "1.json".as_ref()), Op::Link, Errno::ENOENT);
}

/// Guards the removal of the scratch name, which must leave the holding whole.
pub(crate) fn a_linked_file_outlives_its_first_name<B: Bench>(bench: &B) {
    let (fs, dir) = (bench.fs(), open(bench));
    put(fs, &dir, "scratch", b"body");
    fs.link(&dir, "scratch".as_ref(), "1.json".as_ref()).expect("it links");
    fs.unlink(&dir, "scratch".as_ref()).expect("it unlinks");
    assert_eq!(names(fs, &dir), set(["1.json"]));
    assert_eq!(get(fs, &dir, "1.json"), b"body");
}

/// Guards the promise that no crash leaves scratch behind, and that a name never shows less than
/// the whole body.
pub(crate) fn a_nameless_file_appears_whole_or_not_at_all<B: Bench>(bench: &B) {
    let (fs, dir) = (bench.fs(), open(bench));
    let nameless = fs.create_nameless(&dir);
    assert_eq!(nameless.is_ok(), B::NAMELESS, "files without a name at {:?}", bench.root());
    let Ok(mut file) = nameless else { return };
    fs.write(&mut file, b"body").expect("it takes bytes");
    fs.sync(&file).expect("it syncs");
    assert_eq!(names(fs, &dir), set([]));
    fs.link_nameless(&file, &dir, "1.json".as_ref()).expect("it links");
    assert_eq!(get(fs, &dir, "1.json"), b"body");
    fs.close(file).expect("it closes");
    assert_eq!(get(fs, &dir, "1.json"), b"body");

    let mut file = fs.create_nameless(&dir).expect("a second one");
    fs.write(&mut file, b"other").expect("it takes bytes");
    refused(fs.link_nameless(&file, &dir, "1.json".as_ref()), Op::Link, Errno::EEXIST);
    drop(file);
    assert_eq!(get(fs, &dir, "1.json"), b"body");
    assert_eq!(names(fs, &dir), set(["1.json"]));
}

/// Guards the protocol on local volumes, where holdings are published so.
pub(crate) fn one_of_many_nameless_files_wins_each_name<B: Bench>(bench: &B) {
    if !B::NAMELESS {
        return;
    }
    let fs = bench.fs();
    race(bench, |dir, thread, name| {
        let mut file = fs.create_nameless(dir).expect("a file without a name");
        fs.write(&mut file, thread.to_string().as_bytes()).expect("it takes bytes");
        fs.link_nameless(&file, dir, name.as_ref())
    });
}
