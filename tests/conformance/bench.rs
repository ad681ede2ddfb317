//! A file system on the bench, with what the assertions need beside it.

use fencelink::env::{Clock, Contents, Fs, FsError, FsResult, Op};
use fencelink::errno::Errno;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// What is found under a file's name and is none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Odd {
    Directory,
    /// A pipe that nobody writes to.
    Pipe,
    Socket,
    Device,
}

/// One file system with one fresh directory. The helpers do what [`Fs`] has no method for; one
/// that answers `false` says that this file system has no such thing.
pub(crate) trait Bench {
    type Fs: Fs + Clock + Sync;

    /// Whether the directory is on a volume with files that have no name.
    const NAMELESS: bool;

    /// Whether a path that leads through a file is told from one that leads nowhere.
    const TELLS_ENOTDIR: bool;

    fn new() -> Self;

    fn fs(&self) -> &Self::Fs;

    /// The path of the directory, which is empty at first.
    fn root(&self) -> &Path;

    /// Names that the file system must take as they are, beside those of the protocol.
    fn difficult_names(&self) -> Vec<OsString>;

    /// Makes something under `name` in the root that is not a file.
    fn odd(&self, name: &str, odd: Odd) -> bool;

    /// Makes a symbolic link under `name` in the root.
    fn symlink(&self, name: &str, target: &str) -> bool;

    /// Makes a pipe under `name` in the root with `bytes` in it, calls `meanwhile`, and answers
    /// the bytes that are left.
    fn pipe_with(&self, name: &str, bytes: &[u8], meanwhile: &dyn Fn()) -> Option<Vec<u8>>;

    /// Moves a directory in the root to another name, by path, while it may be open.
    fn move_dir(&self, from: &str, to: &str) -> bool;

    /// Removes an empty directory in the root, by path, while it may be open.
    fn remove_dir(&self, name: &str) -> bool;
}

pub(crate) type DirOf<B> = <<B as Bench>::Fs as Fs>::Dir;

/// The root, opened.
pub(crate) fn open<B: Bench>(bench: &B) -> DirOf<B> {
    bench.fs().open_dir(bench.root()).expect("the root opens")
}

/// A directory in the root, made and opened.
pub(crate) fn make<B: Bench>(bench: &B, name: &str) -> DirOf<B> {
    let path = bench.root().join(name);
    bench.fs().make_dir(&path).expect("a directory is made");
    bench.fs().open_dir(&path).expect("a directory opens")
}

/// Creates a file with these bytes.
pub(crate) fn put<F: Fs>(fs: &F, dir: &F::Dir, name: impl AsRef<OsStr>, bytes: &[u8]) {
    let mut file = fs.create(dir, name.as_ref()).expect("a file is created");
    fs.write(&mut file, bytes).expect("it takes bytes");
    fs.close(file).expect("it closes");
}

/// The bytes of a file.
pub(crate) fn get<F: Fs>(fs: &F, dir: &F::Dir, name: impl AsRef<OsStr>) -> Vec<u8> {
    match fs.read(dir, name.as_ref(), 1 << 30) {
        Ok(Contents::Bytes(bytes)) => bytes,
        other => panic!("{:?} reads as {other:?}", name.as_ref()),
    }
}

/// The names in a directory; told twice is a failure, as nothing changes it meanwhile.
pub(crate) fn names<F: Fs>(fs: &F, dir: &F::Dir) -> BTreeSet<OsString> {
    let mut names = BTreeSet::new();
    let listed = fs.list(dir, &mut |name, _| {
        assert!(names.insert(name.to_os_string()), "{name:?} is listed twice");
    });
    listed.expect("the directory lists");
    names
}

pub(crate) fn set<const N: usize>(names: [&str; N]) -> BTreeSet<OsString> {
    names.into_iter().map(OsString::from).collect()
}

pub(crate) fn exists<F: Fs>(fs: &F, dir: &F::Dir, name: &str) -> bool {
    fs.exists(dir, name.as_ref()).expect("the name can be looked for")
}

/// Asserts that a step failed as `op` with `errno`.
#[track_caller]
pub(crate) fn refused<T>(answer: FsResult<T>, op: Op, errno: Errno) {
    match answer {
        Ok(_) => panic!("{} succeeded, and should answer {errno}", op.syscall()),
        Err(error) => assert_eq!(error, FsError { op, errno }),
    }
}
