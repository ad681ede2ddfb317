//! What only Windows has: files that others have open in ways of theirs, deletions that are pending,
//! read-only files.

use super::error::{ERROR_ACCESS_DENIED, ERROR_SHARING_VIOLATION};
use super::remove::{PAUSES_MS, dispose_with_last_handle};
use super::*;
use std::sync::Barrier;
use std::time::{Duration, Instant};
use tempfile::TempDir;

const DELETE: u32 = 0x0001_0000;

struct Bench {
    root: TempDir,
    dir: Dir,
}

impl Bench {
    fn new() -> Bench {
        let root = TempDir::new().expect("a temporary directory");
        let dir = open_dir(root.path()).expect("it opens");
        Bench { root, dir }
    }

    fn put(&self, name: &str, bytes: &[u8]) {
        let mut file = create(&self.dir, OsStr::new(name)).expect("a file is created");
        write(&mut file, bytes).expect("it takes bytes");
        close(file).expect("it closes");
    }

    /// Opens a file as another program may, sharing it for `share` only.
    fn open(&self, name: &str, access: u32, share: u32) -> io::Result<std::fs::File> {
        let mut options = OpenOptions::new();
        options.access_mode(access).share_mode(share).open(self.root.path().join(name))
    }

    fn read_alone(&self, name: &str) -> std::fs::File {
        const GENERIC_READ: u32 = 0x8000_0000;
        self.open(name, GENERIC_READ, FILE_SHARE_READ).expect("it opens")
    }

    fn rename(&self, from: &str, to: &str) -> FsResult<()> {
        rename(&self.dir, OsStr::new(from), &self.dir, OsStr::new(to))
    }

    fn unlink(&self, name: &str) -> FsResult<()> {
        unlink(&self.dir, OsStr::new(name))
    }

    fn link(&self, from: &str, to: &str) -> FsResult<()> {
        link(&self.dir, OsStr::new(from), OsStr::new(to))
    }

    fn exists(&self, name: &str) -> FsResult<bool> {
        exists(&self.dir, OsStr::new(name))
    }
}

/// Guards the waiting: it ends with what is in the way, and what is none of it is told at once.
#[test]
fn attempts_are_repeated_while_a_file_is_in_use() {
    for in_use in [ERROR_ACCESS_DENIED, ERROR_SHARING_VIOLATION] {
        let mut codes = vec![in_use, in_use];
        let answer = patiently(|| codes.pop().map_or(Ok(()), |code| Err(error_of(code))));
        answer.expect("it is done in the end");
    }
    let mut attempts = 0;
    let refused = patiently(|| {
        attempts += 1;
        Err::<(), _>(error_of(2))
    });
    assert_eq!(refused.expect_err("it is not there").raw_os_error(), Some(2));
    assert_eq!(attempts, 1);
}

fn error_of(code: i32) -> io::Error {
    io::Error::from_raw_os_error(code)
}

/// An attempt while somebody reads the file and shares it for no deletion: it is given up only when
/// all pauses are over.
fn waits_for_a_reader(bench: &Bench, name: &str, attempt: impl Fn() -> FsResult<()>) {
    let reader = bench.read_alone(name);
    let begun = Instant::now();
    let refused = attempt().expect_err("it is in use");
    assert!(matches!(refused.errno, Errno::EBUSY | Errno::EPERM), "{refused}");
    assert!(begun.elapsed() >= Duration::from_millis(PAUSES_MS.iter().sum()), "it did not wait");
    drop(reader);
    attempt().expect("nobody reads it");
}

/// Guards checkpoints against a scanner that has the old one open for a moment, and their writer
/// against one that keeps it.
#[test]
fn a_rename_waits_for_a_reader_and_not_for_ever() {
    let bench = Bench::new();
    bench.put("new", b"");
    bench.put("point", b"");
    waits_for_a_reader(&bench, "point", || bench.rename("new", "point"));
}

/// Guards the seal against a scanner that has a staged file open: the claim would be refused for it.
#[test]
fn an_unlink_waits_for_a_reader_and_not_for_ever() {
    let bench = Bench::new();
    bench.put("staged", b"");
    waits_for_a_reader(&bench, "staged", || bench.unlink("staged"));
    assert_eq!(bench.exists("staged"), Ok(false));
}

/// Guards readers, which share their file for everything, and takers beside them: a name whose
/// deletion waits for a reader could neither be looked at nor taken anew.
#[test]
fn a_name_is_free_at_once_though_a_reader_has_the_file_open() {
    let bench = Bench::new();
    bench.put("file", b"old");
    bench.put("next", b"new");
    let mut reader = options(SHARE_ALL).read(true).open(bench.root.path().join("file"));
    bench.unlink("file").expect("it is unlinked");
    assert_eq!(bench.exists("file"), Ok(false));
    bench.link("next", "file").expect("its name is taken anew");
    let mut text = String::new();
    reader.as_mut().expect("it was opened").read_to_string(&mut text).expect("it reads on");
    assert_eq!(text, "old");
}

/// Guards the decision about a fence whose file another program is removing in the old way: until
/// that program closes it, its name is not free, and may not be said to be absent. Windows then lets
/// nobody read it; Wine does.
#[test]
fn a_deletion_that_is_pending_leaves_the_name_taken() {
    let bench = Bench::new();
    bench.put("1.json", b"");
    bench.put("scratch", b"");
    let other = bench.open("1.json", DELETE, SHARE_ALL).expect("it opens");
    dispose_with_last_handle(&other).expect("it is removed in the old way");

    let linked = bench.link("scratch", "1.json").expect_err("its name is not free");
    assert!(matches!(linked.errno, Errno::EACCES | Errno::EEXIST), "{linked}");
    match read(&bench.dir, OsStr::new("1.json"), 10) {
        Ok(contents) => assert_eq!(contents, Contents::Bytes(Vec::new())),
        Err(error) => assert_eq!(error.errno, Errno::EPERM),
    }

    drop(other);
    assert_eq!(bench.exists("1.json"), Ok(false));
    bench.link("scratch", "1.json").expect("its name is free");
}

/// Guards reads of what cannot be: a run whose path is no path must not be said to be free.
#[test]
fn what_no_file_can_be_called_is_an_error_and_not_absent() {
    let bench = Bench::new();
    for name in ["a<b", "a*b", "a|b", "a\u{1}b"] {
        let path = bench.root.path().join(name);
        let opened = open_dir(&path).map(drop).expect_err(name);
        assert_eq!(opened, FsError { op: Op::Open, errno: Errno::EINVAL }, "{name}");
        let made = make_dir(&path).expect_err(name);
        assert_eq!(made, FsError { op: Op::Mkdir, errno: Errno::EINVAL }, "{name}");
    }
}

/// Guards sealing and pruning against an attribute that on Unix does not keep a file from being
/// removed.
#[test]
fn a_read_only_file_is_removed() {
    let bench = Bench::new();
    bench.put("file", b"");
    let path = bench.root.path().join("file");
    let mut permissions = std::fs::metadata(&path).expect("it is there").permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(&path, permissions).expect("it is made read-only");
    bench.unlink("file").expect("it is unlinked");
    assert_eq!(bench.exists("file"), Ok(false));
}

/// Guards the seal: a directory that is called like a staged write is passed over by its errno.
#[test]
fn a_directory_is_told_from_a_file_that_is_in_use() {
    let bench = Bench::new();
    make_dir(&bench.root.path().join("staged")).expect("a directory is made");
    let refused = bench.unlink("staged").expect_err("it is a directory");
    assert_eq!(refused, FsError { op: Op::Unlink, errno: Errno::EISDIR });
}

/// Guards checkpoints: a writer renames what it has staged while a taker seals. One of them wins;
/// a seal that removed what was renamed already would take a checkpoint that was said to be written,
/// and the one that it had replaced.
#[test]
fn of_a_rename_and_an_unlink_one_wins() {
    let bench = Bench::new();
    let barrier = Barrier::new(2);
    let (mut renamed, mut unlinked) = (0, 0);
    for turn in 0..400 {
        bench.put("staged", b"new");
        let (rename, unlink) = std::thread::scope(|scope| {
            let taker = scope.spawn(|| {
                barrier.wait();
                bench.unlink("staged")
            });
            barrier.wait();
            (bench.rename("staged", "point"), taker.join().expect("it ends"))
        });
        assert_ne!(rename.is_ok(), unlink.is_ok(), "turn {turn}: {rename:?}, {unlink:?}");
        assert_eq!(bench.exists("point"), Ok(rename.is_ok()), "turn {turn}");
        assert_eq!(bench.exists("staged"), Ok(false), "turn {turn}");
        if rename.is_ok() {
            renamed += 1;
            bench.unlink("point").expect("it is unlinked");
        } else {
            unlinked += 1;
        }
    }
    println!("{renamed} renamed, {unlinked} unlinked");
}
