//! Files: created once, written whole, replaced and removed by name.

use crate::bench::{Bench, exists, get, make, names, open, put, refused, set};
use fencelink::env::{Clock, Fs, Op};
use fencelink::errno::Errno;

/// Guards scratch files: one that was there before must be noticed, or the body that gets
/// published is somebody else's.
pub(crate) fn create_is_exclusive<B: Bench>(bench: &B) {
    let (fs, dir) = (bench.fs(), open(bench));
    put(fs, &dir, "file", b"first");
    refused(fs.create(&dir, "file".as_ref()), Op::Create, Errno::EEXIST);
    assert_eq!(get(fs, &dir, "file"), b"first");
    make(bench, "sub");
    refused(fs.create(&dir, "sub".as_ref()), Op::Create, Errno::EEXIST);
    if bench.symlink("dangling", "nowhere") {
        refused(fs.create(&dir, "dangling".as_ref()), Op::Create, Errno::EEXIST);
        assert!(!exists(fs, &dir, "nowhere"), "created through a link");
    }
}

/// Guards bodies and checkpoints: success of a write promises all of its bytes, in order.
pub(crate) fn all_that_is_written_arrives<B: Bench>(bench: &B) {
    let (fs, dir) = (bench.fs(), open(bench));
    let mut file = fs.create(&dir, "file".as_ref()).expect("a file is created");
    let mut expected = Vec::new();
    for (len, byte) in [(0, 0), (1, 1), (3_000_000, 2), (0, 3), (5, 4)] {
        let part = vec![byte; len];
        fs.write(&mut file, &part).expect("it takes bytes");
        expected.extend(part);
    }
    fs.close(file).expect("it closes");
    assert_eq!(get(fs, &dir, "file"), expected);
}

/// Guards pruning and sealing, which are told by `ENOENT` that another was faster.
pub(crate) fn unlink_removes_a_name_and_no_directory<B: Bench>(bench: &B) {
    let (fs, dir) = (bench.fs(), open(bench));
    refused(fs.unlink(&dir, "file".as_ref()), Op::Unlink, Errno::ENOENT);
    put(fs, &dir, "file", b"");
    fs.unlink(&dir, "file".as_ref()).expect("a file is unlinked");
    refused(fs.unlink(&dir, "file".as_ref()), Op::Unlink, Errno::ENOENT);
    make(bench, "sub");
    assert!(fs.unlink(&dir, "sub".as_ref()).is_err(), "a directory was unlinked");
    put(fs, &dir, "target", b"");
    if bench.symlink("link", "target") {
        fs.unlink(&dir, "link".as_ref()).expect("a link is unlinked");
    }
    assert_eq!(names(fs, &dir), set(["sub", "target"]));
}

/// Guards checkpoint writes: the rename is what makes one visible, and its `ENOENT` is how a
/// stale writer learns that it was sealed off.
pub(crate) fn rename_moves_and_replaces<B: Bench>(bench: &B) {
    let fs = bench.fs();
    let (claims, checkpoints) = (make(bench, "claims"), make(bench, "checkpoints"));
    put(fs, &claims, "staged", b"new");
    put(fs, &checkpoints, "point", b"old and longer");
    fs.rename(&claims, "staged".as_ref(), &checkpoints, "point".as_ref()).expect("it replaces");
    assert_eq!(get(fs, &checkpoints, "point"), b"new");
    assert_eq!(names(fs, &claims), set([]));
    let again = fs.rename(&claims, "staged".as_ref(), &checkpoints, "point".as_ref());
    refused(again, Op::Rename, Errno::ENOENT);
    assert_eq!(get(fs, &checkpoints, "point"), b"new");
    fs.rename(&checkpoints, "point".as_ref(), &checkpoints, "other".as_ref()).expect("it moves");
    assert_eq!(names(fs, &checkpoints), set(["other"]));
}

/// Guards the sweep, which removes scratch files by their age: a wrong unit removes all or none.
pub(crate) fn modification_times_are_epoch_milliseconds<B: Bench>(bench: &B) {
    let (fs, dir) = (bench.fs(), open(bench));
    refused(fs.modified_ms(&dir, "file".as_ref()), Op::Stat, Errno::ENOENT);
    put(fs, &dir, "file", b"");
    let modified = fs.modified_ms(&dir, "file".as_ref()).expect("it has a time");
    let age = fs.now_ms() - modified;
    // Volumes keep times to two seconds at worst, and the bench may be slow.
    assert!((-2_100.0..60_000.0).contains(&age), "a file just made is {age} ms old");
    if bench.symlink("dangling", "nowhere") {
        fs.modified_ms(&dir, "dangling".as_ref()).expect("the link itself has a time");
    }
}

/// Guards `durability: 'power'`: what can be synced here must be.
pub(crate) fn syncing_succeeds<B: Bench>(bench: &B) {
    let (fs, dir) = (bench.fs(), open(bench));
    let mut file = fs.create(&dir, "file".as_ref()).expect("a file is created");
    fs.write(&mut file, b"bytes").expect("it takes bytes");
    fs.sync(&file).expect("a file syncs");
    fs.close(file).expect("it closes");
    fs.sync_dir(&dir).expect("a directory syncs");
}
