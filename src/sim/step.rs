//! What a program can ask of the world, and what the world can answer: one value each, so that a
//! program's past is a list of answers and its present is one question.

use super::fs::Ino;
use super::tables::{ContentId, ListId, NameId, PathId, Tables};
use crate::env::Op;
use crate::errno::Errno;

/// One call of [`Fs`](crate::env::Fs), [`Clock`](crate::env::Clock) or
/// [`Entropy`](crate::env::Entropy) whose answer the program cannot know.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Step {
    OpenDir(PathId),
    MakeDir(PathId),
    List(Ino),
    Exists(Ino, NameId),
    Modified(Ino, NameId),
    /// At most so many bytes.
    Read(Ino, NameId, usize),
    Create(Ino, NameId),
    CreateNameless(Ino),
    Write(Ino, ContentId),
    Sync(Ino),
    Close(Ino),
    SyncDir(Ino),
    Link(Ino, NameId, NameId),
    LinkNameless(Ino, Ino, NameId),
    Unlink(Ino, NameId),
    Rename(Ino, NameId, Ino, NameId),
    Random,
    Now,
    Pause,
}

impl Step {
    /// The step of the file system, by which an error of it names it.
    pub(crate) fn op(self, errno: Errno) -> Op {
        match self {
            // A file is opened first.
            Step::Read(..) if errno != Errno::EIO => Op::Open,
            Step::OpenDir(_) => Op::Open,
            Step::MakeDir(_) => Op::Mkdir,
            Step::List(_) => Op::List,
            Step::Exists(..) | Step::Modified(..) => Op::Stat,
            Step::Read(..) => Op::Read,
            Step::Create(..) | Step::CreateNameless(_) => Op::Create,
            Step::Write(..) => Op::Write,
            Step::Sync(_) | Step::SyncDir(_) => Op::Sync,
            Step::Close(_) => Op::Close,
            Step::Link(..) | Step::LinkNameless(..) => Op::Link,
            Step::Unlink(..) => Op::Unlink,
            Step::Rename(..) => Op::Rename,
            Step::Random | Step::Now | Step::Pause => Op::Random,
        }
    }

    /// The step as a reader of a trace wants it.
    pub(crate) fn told(self, tables: &Tables) -> String {
        let name = |name: NameId| tables.name_text(name).to_string_lossy().into_owned();
        match self {
            Step::OpenDir(path) => format!("open {}", tables.path_text(path).display()),
            Step::MakeDir(path) => format!("mkdir {}", tables.path_text(path).display()),
            Step::List(_) => "list".into(),
            Step::Exists(_, at) => format!("exists {}", name(at)),
            Step::Modified(_, at) => format!("stat {}", name(at)),
            Step::Read(_, at, _) => format!("read {}", name(at)),
            Step::Create(_, at) => format!("create {}", name(at)),
            Step::CreateNameless(_) => "create a nameless file".into(),
            Step::Write(_, content) => {
                format!("write {}", String::from_utf8_lossy(&tables.bytes(content)))
            }
            Step::Sync(_) => "sync the file".into(),
            Step::Close(_) => "close the file".into(),
            Step::SyncDir(_) => "sync the directory".into(),
            Step::Link(_, from, to) => format!("link {} to {}", name(from), name(to)),
            Step::LinkNameless(_, _, to) => format!("link the nameless file to {}", name(to)),
            Step::Unlink(_, at) => format!("unlink {}", name(at)),
            Step::Rename(_, from, _, to) => format!("rename {} to {}", name(from), name(to)),
            Step::Random => "random".into(),
            Step::Now => "now".into(),
            Step::Pause => "pause".into(),
        }
    }
}

/// What the world said to a [`Step`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Answer {
    Done,
    /// A directory or a file that is open now.
    Opened(Ino),
    Names(ListId),
    There(bool),
    Millis(i64),
    Bytes(ContentId),
    TooLarge,
    NotAFile,
    Failed(Errno),
}

impl Answer {
    /// The answer as a reader of a trace wants it.
    pub(crate) fn told(self, tables: &Tables) -> String {
        match self {
            Answer::Done | Answer::Opened(_) => "done".into(),
            Answer::Names(list) => {
                let listed = tables.listed(list);
                let names = listed.iter().map(|name| tables.name_text(*name).to_string_lossy());
                format!("[{}]", names.collect::<Vec<_>>().join(" "))
            }
            Answer::There(there) => if there { "there" } else { "not there" }.into(),
            Answer::Millis(millis) => format!("{millis} ms"),
            Answer::Bytes(content) => String::from_utf8_lossy(&tables.bytes(content)).into_owned(),
            Answer::TooLarge => "too large".into(),
            Answer::NotAFile => "not a file".into(),
            Answer::Failed(errno) => errno.to_string(),
        }
    }
}
