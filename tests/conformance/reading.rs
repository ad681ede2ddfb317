//! Reading: what is no file must neither block nor pass for an empty one, and what is one must be
//! read to its end.

use crate::bench::{Bench, Odd, exists, get, open, put, refused};
use fencelink::env::{Contents, Fs, Op};
use fencelink::errno::Errno;

/// Guards the read of a holding that was pruned meanwhile: that alone is listed again.
pub(crate) fn an_absent_file_is_enoent<B: Bench>(bench: &B) {
    let (fs, dir) = (bench.fs(), open(bench));
    refused(fs.read(&dir, "7.json".as_ref(), 10), Op::Open, Errno::ENOENT);
    assert!(!exists(fs, &dir, "7.json"));
}

/// Guards every worker against one stray pipe, on which an ordinary open waits for ever.
pub(crate) fn what_is_not_a_file_is_told_without_blocking<B: Bench>(bench: &B) {
    let (fs, dir) = (bench.fs(), open(bench));
    for odd in [Odd::Directory, Odd::Pipe, Odd::Socket, Odd::Device] {
        let name = format!("{odd:?}.json");
        if bench.odd(&name, odd) {
            assert_eq!(fs.read(&dir, name.as_ref(), 10), Ok(Contents::NotAFile), "{odd:?}");
            assert!(exists(fs, &dir, &name), "{odd:?}");
        }
    }
}

/// Guards somebody else's pipe: looking at it must not take what its reader waits for.
pub(crate) fn a_pipe_keeps_its_bytes<B: Bench>(bench: &B) {
    let (fs, dir) = (bench.fs(), open(bench));
    let left = bench.pipe_with("7.json", b"{}", &|| {
        assert_eq!(fs.read(&dir, "7.json".as_ref(), 10), Ok(Contents::NotAFile));
    });
    assert!(left.is_none_or(|left| left == b"{}"));
}

/// Guards the bound on a body: one byte more is damage, one byte less is a lease.
pub(crate) fn the_limit_is_exact<B: Bench>(bench: &B) {
    let (fs, dir) = (bench.fs(), open(bench));
    // Around nothing, a small body, the first piece that is read, and several of them.
    for limit in [0, 1, 100, 65_535, 65_536, 65_537, 1 << 20] {
        for (len, fits) in [(limit, true), (limit + 1, false), (2 * limit + 2, false)] {
            let (name, bytes) = (format!("{limit}-{len}"), vec![b'x'; len]);
            put(fs, &dir, &name, &bytes);
            let expected = if fits { Contents::Bytes(bytes) } else { Contents::TooLarge };
            let read = fs.read(&dir, name.as_ref(), limit);
            assert!(read == Ok(expected), "{len} bytes with a limit of {limit}");
        }
    }
    put(fs, &dir, "empty", b"");
    assert_eq!(fs.read(&dir, "empty".as_ref(), usize::MAX), Ok(Contents::Bytes(Vec::new())));
}

/// Guards checkpoints: what takes many calls to read must come whole and in order.
pub(crate) fn large_files_are_read_whole<B: Bench>(bench: &B) {
    let (fs, dir) = (bench.fs(), open(bench));
    let bytes: Vec<u8> = (0..5_000_003u32).map(|n| (n % 251) as u8).collect();
    put(fs, &dir, "file", &bytes);
    assert!(get(fs, &dir, "file") == bytes, "five megabytes came back different");
    assert!(fs.read(&dir, "file".as_ref(), usize::MAX) == Ok(Contents::Bytes(bytes)));
}

/// Guards the rule that a name counts, whatever it leads to: a link that leads nowhere still
/// keeps its fence from being issued again.
pub(crate) fn symbolic_links_are_followed_by_read_alone<B: Bench>(bench: &B) {
    let (fs, dir) = (bench.fs(), open(bench));
    put(fs, &dir, "target", b"body");
    if bench.symlink("link", "target") {
        assert_eq!(get(fs, &dir, "link"), b"body");
    }
    if bench.symlink("dangling", "nowhere") {
        assert!(exists(fs, &dir, "dangling"));
        refused(fs.read(&dir, "dangling".as_ref(), 10), Op::Open, Errno::ENOENT);
    }
    if bench.symlink("loop", "loop") {
        assert!(exists(fs, &dir, "loop"));
        refused(fs.read(&dir, "loop".as_ref(), 10), Op::Open, Errno::ELOOP);
    }
}
