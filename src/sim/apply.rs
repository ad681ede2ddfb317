//! The steps of the simulated file system, each done at once and answered truthfully.

use super::fs::{Change, Directory, Files, Ino, Inode, Regular, Volume};
use super::step::{Answer, Step};
use super::tables::{NameId, PathId, Tables};
use crate::errno::Errno;

/// What a step needs beside the files.
pub(crate) struct Around<'a> {
    pub(crate) volume: Volume,
    /// The number of a file that this step may make.
    pub(crate) fresh: Ino,
    pub(crate) clock_ms: i64,
    pub(crate) tables: &'a mut Tables,
    pub(crate) changes: &'a mut Vec<Change>,
}

type Outcome = Result<Answer, Errno>;

impl Files {
    /// Does one step.
    pub(crate) fn apply(&mut self, step: Step, around: &mut Around<'_>) -> Answer {
        self.try_apply(step, around).unwrap_or_else(Answer::Failed)
    }

    fn try_apply(&mut self, step: Step, around: &mut Around<'_>) -> Outcome {
        match step {
            Step::OpenDir(path) => {
                self.resolve(&around.tables.components(path)).map(Answer::Opened)
            }
            Step::MakeDir(path) => self.make_dir(path, around),
            Step::List(dir) => {
                let names = self.names(dir)?;
                Ok(Answer::Names(around.tables.list(names)))
            }
            Step::Exists(dir, name) => Ok(Answer::There(self.lookup(dir, name).is_some())),
            Step::Modified(dir, name) => {
                let found = self.lookup(dir, name).ok_or(Errno::ENOENT)?;
                let modified_ms = self.regular(found).map_or(0, |file| file.modified_ms);
                Ok(Answer::Millis(modified_ms))
            }
            Step::Read(dir, name, limit) => {
                let found = self.lookup(dir, name).ok_or(Errno::ENOENT)?;
                Ok(match self.regular(found) {
                    None => Answer::NotAFile,
                    Some(file) if around.tables.bytes(file.content).len() > limit => {
                        Answer::TooLarge
                    }
                    Some(file) => Answer::Bytes(file.content),
                })
            }
            Step::Create(dir, name) => {
                self.free_name(dir, name)?;
                let made = self.make_file(around);
                self.set(dir, name, Some(made), around);
                Ok(Answer::Opened(made))
            }
            Step::CreateNameless(dir) => {
                self.directory(dir)?;
                if !around.volume.nameless {
                    return Err(Errno::ENOTSUP);
                }
                Ok(Answer::Opened(self.make_file(around)))
            }
            Step::Write(file, bytes) => {
                let clock_ms = around.clock_ms;
                let found = self.written(file)?;
                found.content = around.tables.joined(found.content, bytes);
                found.modified_ms = clock_ms;
                around.changes.push(Change::Written(file));
                Ok(Answer::Done)
            }
            Step::Sync(file) => {
                let found = self.written(file)?;
                found.synced = Some(found.content);
                Ok(Answer::Done)
            }
            Step::Close(file) => {
                self.written(file)?.open = false;
                self.forget_if_unreachable(file);
                Ok(Answer::Done)
            }
            Step::SyncDir(dir) => {
                self.directory_mut(dir)?.unsynced.clear();
                self.forget_unreachable();
                Ok(Answer::Done)
            }
            Step::Link(dir, from, to) => {
                let from = self.lookup(dir, from).ok_or(Errno::ENOENT)?;
                self.link(from, dir, to, around)
            }
            Step::LinkNameless(file, dir, to) => self.link(file, dir, to, around),
            Step::Unlink(dir, name) => {
                let found = self.lookup(dir, name).ok_or(Errno::ENOENT)?;
                self.regular(found).ok_or(Errno::EISDIR)?;
                self.set(dir, name, None, around);
                self.forget_if_unreachable(found);
                Ok(Answer::Done)
            }
            Step::Rename(from, name, to, new) => self.rename((from, name), (to, new), around),
            Step::Random => Ok(Answer::Millis(0)),
            Step::Now => Ok(Answer::Millis(around.clock_ms)),
            Step::Pause => Ok(Answer::Done),
        }
    }

    /// A file that is being written, unless the volume has lost some of it.
    fn written(&mut self, file: Ino) -> Result<&mut Regular, Errno> {
        let found = self.regular_mut(file).ok_or(Errno::ESTALE)?;
        if found.lost { Err(Errno::EIO) } else { Ok(found) }
    }

    fn make_dir(&mut self, path: PathId, around: &mut Around<'_>) -> Outcome {
        let components = around.tables.components(path);
        let (name, parents) = components.split_last().ok_or(Errno::EEXIST)?;
        let parent = self.resolve(parents)?;
        self.free_name(parent, *name)?;
        // Where the path was taken before and moved away, by its maker.
        let usual = Ino::of_path(path);
        let made = if self.find(usual).is_ok() { around.fresh } else { usual };
        self.insert(made, Inode::Directory(Directory::default()));
        self.set(parent, *name, Some(made), around);
        Ok(Answer::Done)
    }

    fn make_file(&mut self, around: &mut Around<'_>) -> Ino {
        let content = around.tables.content(b"");
        let modified_ms = around.clock_ms;
        let file = Regular { content, modified_ms, open: true, lost: false, synced: None };
        self.insert(around.fresh, Inode::Regular(file));
        around.fresh
    }

    fn link(&mut self, file: Ino, dir: Ino, to: NameId, around: &mut Around<'_>) -> Outcome {
        self.free_name(dir, to)?;
        self.find(file).map_err(|_| Errno::ESTALE)?;
        self.regular(file).ok_or(Errno::EPERM)?;
        if !around.volume.links {
            return Err(Errno::EPERM);
        }
        self.set(dir, to, Some(file), around);
        Ok(Answer::Done)
    }

    fn rename(
        &mut self,
        from: (Ino, NameId),
        to: (Ino, NameId),
        around: &mut Around<'_>,
    ) -> Outcome {
        let moved = self.lookup(from.0, from.1).ok_or(Errno::ENOENT)?;
        self.directory(to.0)?;
        let replaced = self.lookup(to.0, to.1);
        match replaced {
            // Two names of one file: nothing is done, says POSIX.
            Some(replaced) if replaced == moved => return Ok(Answer::Done),
            Some(replaced) if self.regular(replaced).is_none() => return Err(Errno::EISDIR),
            _ => {}
        }
        self.set(from.0, from.1, None, around);
        self.set(to.0, to.1, Some(moved), around);
        if let Some(replaced) = replaced {
            self.forget_if_unreachable(replaced);
        }
        Ok(Answer::Done)
    }
}
