//! The simulated file system: directories, names, files that may have several names or none. It
//! answers each step of [`env::Fs`](crate::env::Fs) as that trait says, at once and truthfully
//! ([`apply`](super::apply)); `tests/conformance/` holds it to what real volumes do. Listings that
//! overlap changes, errors and the loss of power are made around it, by the scheduler and the
//! faults.
//!
//! Two histories that lead to the same files lead to equal values: a file is numbered by whoever
//! made it, a directory by its path, and what nobody can reach is forgotten.

use super::apply::Around;
use super::tables::{ContentId, NameId, PathId, Tables};
use crate::errno::Errno;

/// A file or directory, whatever its names.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Ino(u64);

impl Ino {
    /// The directory that every path begins at.
    pub(crate) const ROOT: Ino = Ino(0);

    /// The directory made at a path.
    pub(crate) fn of_path(path: PathId) -> Ino {
        Ino(1 + u64::from(path.0))
    }

    /// The `nth` file that an actor made in one of its calls.
    pub(crate) fn of_call(actor: u8, call: u16, nth: u16) -> Ino {
        Ino(1 << 40 | u64::from(actor) << 32 | u64::from(call) << 16 | u64::from(nth))
    }

    /// Whether an actor made it in its present call, which is the one with this number.
    pub(crate) fn is_of_call(self, actor: u8, call: u16) -> bool {
        self.0 >> 16 == Ino::of_call(actor, call, 0).0 >> 16
    }
}

/// What kind of volume the files are on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Volume {
    /// Whether files can do without a name, which also means that the volume is local.
    pub nameless: bool,
    /// Whether a file can have a second name.
    pub links: bool,
    /// Whether to keep track of what would survive the loss of power.
    pub power: bool,
}

/// A name that came, went or now stands for another file; or bytes that were added to a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Change {
    Entry { dir: Ino, name: NameId, before: Option<Ino>, after: Option<Ino> },
    Written(Ino),
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Directory {
    /// In the order of the names' numbers.
    pub(super) entries: Vec<(NameId, Ino)>,
    /// What names stood for at some instant since the directory was last synced.
    pub(super) unsynced: Vec<(NameId, Option<Ino>)>,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Regular {
    pub(super) content: ContentId,
    pub(super) modified_ms: i64,
    /// Whether whoever made it still has it open.
    pub(super) open: bool,
    /// Whether bytes were lost that had been written to it.
    pub(super) lost: bool,
    /// The bytes when it was last synced.
    pub(super) synced: Option<ContentId>,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Inode {
    Directory(Directory),
    Regular(Regular),
}

/// All files and directories, in the order of their numbers.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Files {
    pub(super) inodes: Vec<(Ino, Inode)>,
}

impl Files {
    /// An empty root directory.
    pub(crate) fn new() -> Files {
        Files { inodes: vec![(Ino::ROOT, Inode::Directory(Directory::default()))] }
    }

    /// Makes a name stand for another file, or for none.
    pub(super) fn set(
        &mut self,
        dir: Ino,
        name: NameId,
        after: Option<Ino>,
        around: &mut Around<'_>,
    ) {
        let Ok(directory) = self.directory_mut(dir) else {
            return;
        };
        let at = directory.entries.binary_search_by_key(&name, |entry| entry.0);
        let before = at.ok().map(|at| directory.entries[at].1);
        match (at, after) {
            (Ok(at), Some(after)) => directory.entries[at].1 = after,
            (Ok(at), None) => drop(directory.entries.remove(at)),
            (Err(at), Some(after)) => directory.entries.insert(at, (name, after)),
            (Err(_), None) => {}
        }
        if around.volume.power
            && let Err(at) = directory.unsynced.binary_search(&(name, before))
        {
            directory.unsynced.insert(at, (name, before));
        }
        around.changes.push(Change::Entry { dir, name, before, after });
    }

    /// What a process that dies or ends a call lets go of.
    pub(crate) fn close_all_of_call(&mut self, actor: u8, call: u16) {
        let mut closed = false;
        for (ino, inode) in &mut self.inodes {
            if let Inode::Regular(file) = inode
                && file.open
                && ino.is_of_call(actor, call)
            {
                file.open = false;
                closed = true;
            }
        }
        if closed {
            self.forget_unreachable();
        }
    }

    /// Drops a file, if it has no name any more and is not open.
    pub(super) fn forget_if_unreachable(&mut self, file: Ino) {
        if self.regular(file).is_some_and(|file| !file.open)
            && !self.is_reachable(file)
            && let Ok(at) = self.find(file)
        {
            self.inodes.remove(at);
        }
    }

    /// Drops all files that have no name, are not open, and that no loss of power can bring back.
    pub(super) fn forget_unreachable(&mut self) {
        let closed = self
            .inodes
            .iter()
            .filter(|(_, inode)| matches!(inode, Inode::Regular(file) if !file.open));
        let gone: Vec<Ino> =
            closed.map(|(ino, _)| *ino).filter(|ino| !self.is_reachable(*ino)).collect();
        if !gone.is_empty() {
            self.inodes.retain(|(ino, _)| !gone.contains(ino));
        }
    }

    fn is_reachable(&self, file: Ino) -> bool {
        self.directories().any(|(_, dir)| {
            dir.entries.iter().any(|(_, ino)| *ino == file)
                || dir.unsynced.iter().any(|(_, ino)| *ino == Some(file))
        })
    }

    /// The directory at these components.
    pub(super) fn resolve(&self, components: &[NameId]) -> Result<Ino, Errno> {
        components.iter().try_fold(Ino::ROOT, |dir, name| {
            let found = self.lookup(dir, *name).ok_or(Errno::ENOENT)?;
            if self.regular(found).is_some() { Err(Errno::ENOTDIR) } else { Ok(found) }
        })
    }

    pub(super) fn free_name(&self, dir: Ino, name: NameId) -> Result<(), Errno> {
        self.directory(dir)?;
        if self.lookup(dir, name).is_some() { Err(Errno::EEXIST) } else { Ok(()) }
    }

    pub(super) fn find(&self, ino: Ino) -> Result<usize, usize> {
        self.inodes.binary_search_by_key(&ino, |inode| inode.0)
    }

    pub(super) fn insert(&mut self, ino: Ino, inode: Inode) {
        match self.find(ino) {
            Ok(_) => unreachable!("{ino:?} is made twice"),
            Err(at) => self.inodes.insert(at, (ino, inode)),
        }
    }

    pub(super) fn directory(&self, ino: Ino) -> Result<&Directory, Errno> {
        match self.find(ino).map(|at| &self.inodes[at].1) {
            Ok(Inode::Directory(directory)) => Ok(directory),
            _ => Err(Errno::ENOENT),
        }
    }

    pub(super) fn directory_mut(&mut self, ino: Ino) -> Result<&mut Directory, Errno> {
        match self.find(ino).map(|at| &mut self.inodes[at].1) {
            Ok(Inode::Directory(directory)) => Ok(directory),
            _ => Err(Errno::ENOENT),
        }
    }

    pub(super) fn regular(&self, ino: Ino) -> Option<&Regular> {
        match &self.inodes[self.find(ino).ok()?].1 {
            Inode::Regular(file) => Some(file),
            Inode::Directory(_) => None,
        }
    }

    pub(super) fn regular_mut(&mut self, ino: Ino) -> Option<&mut Regular> {
        let at = self.find(ino).ok()?;
        match &mut self.inodes[at].1 {
            Inode::Regular(file) => Some(file),
            Inode::Directory(_) => None,
        }
    }

    pub(super) fn directories(&self) -> impl Iterator<Item = (Ino, &Directory)> {
        self.inodes.iter().filter_map(|(ino, inode)| match inode {
            Inode::Directory(directory) => Some((*ino, directory)),
            Inode::Regular(_) => None,
        })
    }

    /// What a name stands for now.
    pub(crate) fn lookup(&self, dir: Ino, name: NameId) -> Option<Ino> {
        let entries = &self.directory(dir).ok()?.entries;
        let at = entries.binary_search_by_key(&name, |entry| entry.0).ok()?;
        Some(entries[at].1)
    }

    /// The names in a directory, in the order of their numbers.
    pub(crate) fn names(&self, dir: Ino) -> Result<Vec<NameId>, Errno> {
        Ok(self.directory(dir)?.entries.iter().map(|entry| entry.0).collect())
    }

    /// The directory at a path, if there is one.
    pub(crate) fn dir_at(&self, path: PathId, tables: &Tables) -> Option<Ino> {
        self.resolve(&tables.components(path)).ok()
    }

    /// The bytes of a file; `None` for a directory and for a file that is gone.
    pub(crate) fn content(&self, ino: Ino) -> Option<ContentId> {
        self.regular(ino).map(|file| file.content)
    }

    /// Whether a file has no name, so that only whoever made it can reach it.
    pub(crate) fn is_nameless(&self, file: Ino) -> bool {
        !self.is_reachable(file)
    }

    /// The names in a directory with the files that they stand for.
    pub(crate) fn entries(&self, dir: Ino) -> &[(NameId, Ino)] {
        self.directory(dir).map(|directory| &directory.entries[..]).unwrap_or_default()
    }
}
