//! Listings: the order of holdings is read from names alone, so none may be lost or altered.

use crate::bench::{Bench, Odd, make, names, open, put, set};
use fencelink::env::{Fs, Kind};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;

/// Guards the order of holdings and the seal: a name altered on its way, by trimming, folding or
/// normalising, would move the counter or hide a staged write.
pub(crate) fn names_are_listed_as_given<B: Bench>(bench: &B) {
    let (fs, dir) = (bench.fs(), open(bench));
    let protocol = ["1.json", "007.json", "999999999999999.json", ".tmp-w12-1-0-ab", ".tmp-1-0-ab"];
    let mut expected: BTreeMap<OsString, Kind> = BTreeMap::new();
    for name in protocol.into_iter().map(OsString::from).chain(bench.difficult_names()) {
        put(fs, &dir, &name, b"");
        expected.insert(name, Kind::File);
    }
    make(bench, "children");
    expected.insert("children".into(), Kind::Directory);
    for odd in [Odd::Pipe, Odd::Socket, Odd::Device] {
        let name = format!("{odd:?}");
        if bench.odd(&name, odd) {
            expected.insert(name.into(), Kind::Other);
        }
    }
    if bench.symlink("dangling", "nowhere") {
        expected.insert("dangling".into(), Kind::Other);
    }
    let mut listed = BTreeMap::new();
    let answer = fs.list(&dir, &mut |name, kind| {
        let known = expected.get(name).copied();
        let kind = if kind == Kind::Unknown { known.unwrap_or(kind) } else { kind };
        assert_eq!(listed.insert(name.to_os_string(), kind), None, "{name:?} is listed twice");
    });
    answer.expect("the directory lists");
    assert_eq!(listed, expected);
}

/// Guards the first claim: a directory's own `.` and `..` are no names in it.
pub(crate) fn an_empty_directory_lists_nothing<B: Bench>(bench: &B) {
    assert_eq!(names(bench.fs(), &open(bench)), set([]));
}

/// Guards the second listing after a link: it must start anew, and show what has come and gone
/// since the first.
pub(crate) fn a_repeated_listing_shows_the_present<B: Bench>(bench: &B) {
    let (fs, dir) = (bench.fs(), open(bench));
    put(fs, &dir, "1.json", b"");
    for round in 1..=50 {
        assert_eq!(names(fs, &dir), set([&format!("{round}.json")]));
        let (old, new) = (format!("{round}.json"), format!("{}.json", round + 1));
        fs.link(&dir, old.as_ref(), new.as_ref()).expect("it links");
        assert_eq!(names(fs, &dir), set([&old, &new]));
        fs.unlink(&dir, old.as_ref()).expect("it unlinks");
    }
}

/// Guards directories that take more than one system call to list: what is cut off may be the
/// current holding.
pub(crate) fn ten_thousand_names_are_listed_once_each<B: Bench>(bench: &B) {
    let (fs, dir) = (bench.fs(), open(bench));
    let expected: BTreeSet<OsString> = (0..10_000).map(|n| format!("{n}.json").into()).collect();
    for name in &expected {
        put(fs, &dir, name, b"");
    }
    for _ in 0..2 {
        let listed = names(fs, &dir);
        assert_eq!(listed.len(), expected.len());
        assert_eq!(listed, expected);
    }
}

/// Guards against a short listing that nobody notices: one that would disturb another on the same
/// open directory is refused, or does not disturb it.
pub(crate) fn a_listing_within_a_listing_cuts_neither_short<B: Bench>(bench: &B) {
    const NAMES: usize = 3_000;
    let (fs, dir) = (bench.fs(), open(bench));
    for number in 0..NAMES {
        put(fs, &dir, format!("{number}.json"), b"");
    }
    let mut outer = 0;
    let answer = fs.list(&dir, &mut |_, _| {
        outer += 1;
        if outer == NAMES / 2 {
            let mut inner = 0;
            if fs.list(&dir, &mut |_, _| inner += 1).is_ok() {
                assert_eq!(inner, NAMES);
            }
        }
    });
    assert!(answer.is_err() || outer == NAMES, "{outer} of {NAMES} names");
}
