//! The door of [`env`](crate::env), turned into questions and answers: every call becomes one
//! [`Step`], and whoever answers steps is a world.

use super::fs::Ino;
use super::step::{Answer, Step};
use super::tables::{Shared, Tables, locked};
use crate::env::{Clock, Contents, Entropy, Fs, FsError, FsResult, Kind};
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// Whoever answers steps.
pub trait Answers {
    #[doc(hidden)]
    fn asked(&self, asked: Asked<'_>) -> Told;
    /// The number of the process that asks.
    fn process(&self) -> u32;
    /// Counts up.
    fn counted(&self) -> u64;
}

/// A step on its way to whoever answers it.
#[doc(hidden)]
pub struct Asked<'a>(pub(super) &'a dyn Fn(&mut Tables) -> Step);

/// What came back: the step, its answer, and the tables to read the answer by.
#[doc(hidden)]
pub struct Told {
    pub(super) step: Step,
    pub(super) answer: Answer,
    pub(super) tables: Shared,
}

impl Told {
    fn failed<T>(&self) -> FsResult<T> {
        match self.answer {
            Answer::Failed(errno) => Err(FsError { op: self.step.op(errno), errno }),
            answer => unreachable!("{answer:?} is no answer to {:?}", self.step),
        }
    }

    fn done(self) -> FsResult<()> {
        if self.answer == Answer::Done { Ok(()) } else { self.failed() }
    }

    fn opened(self) -> FsResult<Handle> {
        match self.answer {
            Answer::Opened(ino) => Ok(Handle(ino)),
            _ => self.failed(),
        }
    }

    fn millis(self) -> FsResult<i64> {
        match self.answer {
            Answer::Millis(millis) => Ok(millis),
            _ => self.failed(),
        }
    }
}

/// A world of questions and answers.
#[derive(Debug)]
pub struct World<A>(pub(super) A);

/// An open directory, or a file being written.
#[derive(Debug)]
pub struct Handle(Ino);

impl<A: Answers> World<A> {
    fn ask(&self, step: impl Fn(&mut Tables) -> Step) -> Told {
        self.0.asked(Asked(&step))
    }
}

impl<A: Answers> Fs for World<A> {
    type Dir = Handle;
    type File = Handle;

    fn open_dir(&self, path: &Path) -> FsResult<Handle> {
        self.ask(|tables| Step::OpenDir(tables.path(path))).opened()
    }

    fn make_dir(&self, path: &Path) -> FsResult<()> {
        self.ask(|tables| Step::MakeDir(tables.path(path))).done()
    }

    fn list(&self, dir: &Handle, each: &mut dyn FnMut(&OsStr, Kind)) -> FsResult<()> {
        let told = self.ask(|_| Step::List(dir.0));
        let Answer::Names(list) = told.answer else {
            return told.failed();
        };
        let names: Vec<OsString> = {
            let tables = locked(&told.tables);
            let listed = tables.listed(list);
            listed.iter().map(|name| tables.name_text(*name).to_owned()).collect()
        };
        names.iter().for_each(|name| each(name, Kind::Unknown));
        Ok(())
    }

    fn exists(&self, dir: &Handle, name: &OsStr) -> FsResult<bool> {
        let told = self.ask(|tables| Step::Exists(dir.0, tables.name(name)));
        match told.answer {
            Answer::There(there) => Ok(there),
            _ => told.failed(),
        }
    }

    fn modified_ms(&self, dir: &Handle, name: &OsStr) -> FsResult<f64> {
        let told = self.ask(|tables| Step::Modified(dir.0, tables.name(name)));
        told.millis().map(|millis| millis as f64)
    }

    fn read(&self, dir: &Handle, name: &OsStr, limit: usize) -> FsResult<Contents> {
        let told = self.ask(|tables| Step::Read(dir.0, tables.name(name), limit));
        match told.answer {
            Answer::Bytes(content) => {
                Ok(Contents::Bytes(locked(&told.tables).bytes(content).to_vec()))
            }
            Answer::TooLarge => Ok(Contents::TooLarge),
            Answer::NotAFile => Ok(Contents::NotAFile),
            _ => told.failed(),
        }
    }

    fn create(&self, dir: &Handle, name: &OsStr) -> FsResult<Handle> {
        self.ask(|tables| Step::Create(dir.0, tables.name(name))).opened()
    }

    fn create_nameless(&self, dir: &Handle) -> FsResult<Handle> {
        self.ask(|_| Step::CreateNameless(dir.0)).opened()
    }

    fn write(&self, file: &mut Handle, bytes: &[u8]) -> FsResult<()> {
        self.ask(|tables| Step::Write(file.0, tables.content(bytes))).done()
    }

    fn sync(&self, file: &Handle) -> FsResult<()> {
        self.ask(|_| Step::Sync(file.0)).done()
    }

    fn close(&self, file: Handle) -> FsResult<()> {
        self.ask(|_| Step::Close(file.0)).done()
    }

    fn sync_dir(&self, dir: &Handle) -> FsResult<()> {
        self.ask(|_| Step::SyncDir(dir.0)).done()
    }

    fn link(&self, dir: &Handle, from: &OsStr, to: &OsStr) -> FsResult<()> {
        self.ask(|tables| Step::Link(dir.0, tables.name(from), tables.name(to))).done()
    }

    fn link_nameless(&self, file: &Handle, dir: &Handle, to: &OsStr) -> FsResult<()> {
        self.ask(|tables| Step::LinkNameless(file.0, dir.0, tables.name(to))).done()
    }

    fn unlink(&self, dir: &Handle, name: &OsStr) -> FsResult<()> {
        self.ask(|tables| Step::Unlink(dir.0, tables.name(name))).done()
    }

    fn rename(&self, from: &Handle, name: &OsStr, to: &Handle, new: &OsStr) -> FsResult<()> {
        self.ask(|tables| Step::Rename(from.0, tables.name(name), to.0, tables.name(new))).done()
    }
}

impl<A: Answers> Clock for World<A> {
    fn now_ms(&self) -> f64 {
        self.ask(|_| Step::Now).millis().map_or(0.0, |millis| millis as f64)
    }

    fn pause_ms(&self, _milliseconds: u64) {
        self.ask(|_| Step::Pause);
    }
}

impl<A: Answers> Entropy for World<A> {
    fn process_id(&self) -> u32 {
        self.0.process()
    }

    fn count(&self) -> u64 {
        self.0.counted()
    }

    fn random(&self) -> FsResult<u64> {
        // Process and count tell all attempts of a simulated world apart.
        self.ask(|_| Step::Random).millis().map(|_| 0)
    }
}
