//! The only door to the world: files, the clock and randomness. The protocol is written against
//! these traits, so that the same code runs over the real system (`platform/`) and over a
//! simulated one that crashes, lies and reorders within what POSIX allows.
//!
//! Every method of [`Fs`] is one step that other processes can come between, and makes no decision
//! of its own. What a method must not do is as much part of it as what it does: none retries
//! (except for a call that a signal interrupted, and then only a few times), none waits for
//! another process, none follows up an error with a weaker attempt.

use crate::errno::Errno;
use std::ffi::OsStr;
use std::fmt;
use std::path::Path;

/// The step of the file system that failed, by the name of its system call on Unix.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs, reason = "each is the system call of its name")]
pub enum Op {
    Open,
    Mkdir,
    List,
    Stat,
    Read,
    Create,
    Write,
    Sync,
    Close,
    Link,
    Unlink,
    Rename,
    Random,
}

impl Op {
    /// As Node.js names it in `error.syscall`.
    pub fn syscall(self) -> &'static str {
        match self {
            Op::Open | Op::Create => "open",
            Op::Mkdir => "mkdir",
            Op::List => "scandir",
            Op::Stat => "stat",
            Op::Read => "read",
            Op::Write => "write",
            Op::Sync => "fsync",
            Op::Close => "close",
            Op::Link => "link",
            Op::Unlink => "unlink",
            Op::Rename => "rename",
            Op::Random => "getrandom",
        }
    }
}

/// A step that failed, and how.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FsError {
    /// Which step.
    pub op: Op,
    /// What the system answered.
    pub errno: Errno,
}

impl fmt::Display for FsError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} ({})", self.errno, self.op.syscall())
    }
}

impl std::error::Error for FsError {}

/// What a step answers.
pub type FsResult<T> = Result<T, FsError>;

/// What a directory entry is, as far as the listing knew. `Unknown` is always a legal answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A link, a pipe, a socket, a device.
    Other,
    /// The volume did not say.
    Unknown,
}

/// What was found on opening a file to read it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Contents {
    /// A regular file, whole.
    Bytes(Vec<u8>),
    /// A regular file with more bytes than the caller was ready to take.
    TooLarge,
    /// A directory, a pipe, a socket, a device.
    NotAFile,
}

/// Files and directories. Names are single components, relative to an open directory, so that one
/// operation sees one directory whatever happens to its path meanwhile.
pub trait Fs {
    /// An open directory.
    type Dir;
    /// A file being written that no reader knows of yet.
    type File;

    /// Opens the directory at `path`. Creates nothing.
    fn open_dir(&self, path: &Path) -> FsResult<Self::Dir>;

    /// Makes one directory with mode 0777 less the umask. `EEXIST` is an error here.
    fn make_dir(&self, path: &Path) -> FsResult<()>;

    /// Calls `each` with every name in the directory but `.` and `..`, in as few system calls as
    /// the directory allows. May be called again on the same open directory, and starts anew.
    /// Not a snapshot: a name that comes or goes meanwhile may be missed, or told twice. `each` must
    /// not list the same directory.
    fn list(&self, dir: &Self::Dir, each: &mut dyn FnMut(&OsStr, Kind)) -> FsResult<()>;

    /// Whether the name is there, whatever it is; symbolic links are not followed.
    fn exists(&self, dir: &Self::Dir, name: &OsStr) -> FsResult<bool>;

    /// When the file was last modified, in epoch milliseconds; symbolic links are not followed.
    fn modified_ms(&self, dir: &Self::Dir, name: &OsStr) -> FsResult<f64>;

    /// Reads a file of at most `limit` bytes, following symbolic links. Never blocks on a pipe or a
    /// device, and reads nothing from one.
    fn read(&self, dir: &Self::Dir, name: &OsStr, limit: usize) -> FsResult<Contents>;

    /// Creates a file with mode 0666 less the umask, to be written; a name that is there already
    /// is `EEXIST`.
    fn create(&self, dir: &Self::Dir, name: &OsStr) -> FsResult<Self::File>;

    /// Creates a file that has no name and vanishes with its handle unless it is linked. A
    /// platform or volume that has no such thing answers an error, which says no more than that.
    fn create_nameless(&self, dir: &Self::Dir) -> FsResult<Self::File>;

    /// Appends all of `bytes`; success promises that all were taken.
    fn write(&self, file: &mut Self::File, bytes: &[u8]) -> FsResult<()>;

    /// Waits until the file's bytes would survive the loss of power.
    fn sync(&self, file: &Self::File) -> FsResult<()>;

    /// Closes the file; volumes on a network tell here of writes that failed.
    fn close(&self, file: Self::File) -> FsResult<()>;

    /// Waits until the directory's entries would survive the loss of power.
    fn sync_dir(&self, dir: &Self::Dir) -> FsResult<()>;

    /// Gives the file at `from` a second name, `to`. Of all callers that try one `to`, the kernel
    /// lets one succeed.
    fn link(&self, dir: &Self::Dir, from: &OsStr, to: &OsStr) -> FsResult<()>;

    /// Gives a nameless file the name `to`, as exclusively as [`Fs::link`].
    fn link_nameless(&self, file: &Self::File, dir: &Self::Dir, to: &OsStr) -> FsResult<()>;

    /// Removes a name; one that is not there is `ENOENT`.
    fn unlink(&self, dir: &Self::Dir, name: &OsStr) -> FsResult<()>;

    /// Moves a name from one directory to another on the same volume, replacing what is there.
    /// On Windows, where the name cannot be replaced while somebody reads it, tried again for a
    /// fraction of a second.
    fn rename(&self, from: &Self::Dir, name: &OsStr, to: &Self::Dir, new: &OsStr) -> FsResult<()>;
}

/// The wall clock that leases are compared by, and a pause.
pub trait Clock {
    /// Milliseconds since the epoch, now.
    fn now_ms(&self) -> f64;

    /// Lets `milliseconds` pass.
    fn pause_ms(&self, milliseconds: u64);
}

/// What makes a scratch name or a nonce unlike any other.
pub trait Entropy {
    /// This process, as the system numbers it.
    fn process_id(&self) -> u32;

    /// Counts up from anywhere, never the same twice in this process.
    fn count(&self) -> u64;

    /// Fresh random bits at every call, unlike those of a cloned or restored process. A system
    /// that has none to give is an error: a guessable value could make two workers' attempts look
    /// like one.
    fn random(&self) -> FsResult<u64>;
}

/// The world that one operation runs in.
pub trait World: Fs + Clock + Entropy {}

impl<W: Fs + Clock + Entropy> World for W {}
