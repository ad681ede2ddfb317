//! Directories: made one at a time, opened once, and the same from then on.

use crate::bench::{Bench, Odd, exists, get, make, names, open, put, refused, set};
use fencelink::env::{Fs, Op};
use fencelink::errno::Errno;

/// Guards the making of a run's directory by many hosts at once: each step must say exactly why
/// it failed, for one reason is success and two are tried again.
pub(crate) fn make_dir_makes_one_and_says_why_not<B: Bench>(bench: &B) {
    let (fs, root) = (bench.fs(), bench.root());
    fs.make_dir(&root.join("run")).expect("a directory is made");
    refused(fs.make_dir(&root.join("run")), Op::Mkdir, Errno::EEXIST);
    refused(fs.make_dir(&root.join("absent/run")), Op::Mkdir, Errno::ENOENT);
    let dir = open(bench);
    put(fs, &dir, "file", b"");
    refused(fs.make_dir(&root.join("file")), Op::Mkdir, Errno::EEXIST);
    let through_file = if B::TELLS_ENOTDIR { Errno::ENOTDIR } else { Errno::ENOENT };
    refused(fs.make_dir(&root.join("file/run")), Op::Mkdir, through_file);
    assert_eq!(names(fs, &dir), set(["file", "run"]));
}

/// Guards the reading of a run that nobody claimed, which is told by `ENOENT` alone, and against
/// waiting for ever on a pipe.
pub(crate) fn open_dir_opens_directories_only<B: Bench>(bench: &B) {
    let (fs, root) = (bench.fs(), bench.root());
    refused(fs.open_dir(&root.join("absent")), Op::Open, Errno::ENOENT);
    put(fs, &open(bench), "file", b"");
    refused(fs.open_dir(&root.join("file")), Op::Open, Errno::ENOTDIR);
    if bench.odd("pipe", Odd::Pipe) {
        refused(fs.open_dir(&root.join("pipe")), Op::Open, Errno::ENOTDIR);
    }
    if bench.symlink("link", "sub") {
        make(bench, "sub");
        fs.open_dir(&root.join("link")).expect("a link to a directory opens");
    }
}

/// Guards against a decision made from two directories: whoever moves a run away and another to
/// its place must not have a listing of one and a link into the other.
pub(crate) fn an_open_directory_stays_itself_when_its_path_is_taken<B: Bench>(bench: &B) {
    let fs = bench.fs();
    let dir = make(bench, "here");
    put(fs, &dir, "before", b"old");
    if !bench.move_dir("here", "there") {
        // Then the path must still lead to it.
        assert_eq!(get(fs, &dir, "before"), b"old");
        return;
    }
    let impostor = make(bench, "here");
    put(fs, &impostor, "before", b"new");

    assert_eq!(get(fs, &dir, "before"), b"old");
    put(fs, &dir, "created", b"");
    fs.link(&dir, "before".as_ref(), "linked".as_ref()).expect("links within the directory");
    fs.rename(&dir, "created".as_ref(), &dir, "renamed".as_ref()).expect("renames within it");
    assert_eq!(names(fs, &dir), set(["before", "linked", "renamed"]));
    assert!(exists(fs, &dir, "linked") && !exists(fs, &impostor, "linked"));
    fs.unlink(&dir, "before".as_ref()).expect("unlinks within it");
    fs.sync_dir(&dir).expect("syncs");

    assert_eq!(names(fs, &impostor), set(["before"]));
    let found = fs.open_dir(&bench.root().join("there")).expect("the moved directory opens");
    assert_eq!(names(fs, &found), set(["linked", "renamed"]));
}

/// Guards a run that was deleted while it was being claimed: a claim must fail, not be published
/// where nobody will ever see it.
pub(crate) fn nothing_is_created_in_a_removed_directory<B: Bench>(bench: &B) {
    let fs = bench.fs();
    let dir = make(bench, "run");
    if bench.remove_dir("run") {
        refused(fs.create(&dir, "scratch".as_ref()), Op::Create, Errno::ENOENT);
        if let Ok(file) = fs.create_nameless(&dir) {
            refused(fs.link_nameless(&file, &dir, "1.json".as_ref()), Op::Link, Errno::ENOENT);
        }
        assert!(!exists(fs, &dir, "scratch"));
    }
}
