//! The real system with somebody else in it: a test says what happens right before a step. Before a
//! holding is linked is where another process does most harm; and any step may be refused.

#![allow(dead_code, reason = "no test has use for all of it")]

use fencelink::env::{Clock, Contents, Entropy, Fs, FsResult, Kind};
use fencelink::platform::{Dir, File, System};
use std::ffi::OsStr;
use std::path::Path;
use std::sync::Mutex;

/// A step, by the name of its method of [`Fs`]; or `linked`: the answer of a link that was made.
type Step = &'static str;

/// The real system, and what happens before each step.
pub(crate) struct Meddling<'m> {
    before: Box<dyn Fn(Step) -> FsResult<()> + Send + Sync + 'm>,
}

impl<'m> Meddling<'m> {
    /// `meddler` may refuse the step.
    pub(crate) fn before_each_step(
        meddler: impl Fn(Step) -> FsResult<()> + Send + Sync + 'm,
    ) -> Meddling<'m> {
        Meddling { before: Box::new(meddler) }
    }

    pub(crate) fn before_each_link(meddler: impl Fn() + Send + Sync + 'm) -> Meddling<'m> {
        Meddling::before_each_step(move |step| {
            if matches!(step, "link" | "link_nameless") {
                meddler();
            }
            Ok(())
        })
    }

    pub(crate) fn before_the_first_link(meddler: impl FnOnce() + Send + 'm) -> Meddling<'m> {
        let meddler = Mutex::new(Some(meddler));
        Meddling::before_each_link(move || {
            let meddler = meddler.lock().expect("not poisoned").take();
            if let Some(meddler) = meddler {
                meddler();
            }
        })
    }
}

impl Fs for Meddling<'_> {
    type Dir = Dir;
    type File = File;

    fn open_dir(&self, path: &Path) -> FsResult<Dir> {
        (self.before)("open_dir")?;
        System.open_dir(path)
    }

    fn make_dir(&self, path: &Path) -> FsResult<()> {
        (self.before)("make_dir")?;
        System.make_dir(path)
    }

    fn list(&self, dir: &Dir, each: &mut dyn FnMut(&OsStr, Kind)) -> FsResult<()> {
        (self.before)("list")?;
        System.list(dir, each)
    }

    fn exists(&self, dir: &Dir, name: &OsStr) -> FsResult<bool> {
        (self.before)("exists")?;
        System.exists(dir, name)
    }

    fn modified_ms(&self, dir: &Dir, name: &OsStr) -> FsResult<f64> {
        (self.before)("modified_ms")?;
        System.modified_ms(dir, name)
    }

    fn read(&self, dir: &Dir, name: &OsStr, limit: usize) -> FsResult<Contents> {
        (self.before)("read")?;
        System.read(dir, name, limit)
    }

    fn create(&self, dir: &Dir, name: &OsStr) -> FsResult<File> {
        (self.before)("create")?;
        System.create(dir, name)
    }

    fn create_nameless(&self, dir: &Dir) -> FsResult<File> {
        (self.before)("create_nameless")?;
        System.create_nameless(dir)
    }

    fn write(&self, file: &mut File, bytes: &[u8]) -> FsResult<()> {
        (self.before)("write")?;
        System.write(file, bytes)
    }

    fn sync(&self, file: &File) -> FsResult<()> {
        (self.before)("sync")?;
        System.sync(file)
    }

    fn close(&self, file: File) -> FsResult<()> {
        (self.before)("close")?;
        System.close(file)
    }

    fn sync_dir(&self, dir: &Dir) -> FsResult<()> {
        (self.before)("sync_dir")?;
        System.sync_dir(dir)
    }

    fn link(&self, dir: &Dir, from: &OsStr, to: &OsStr) -> FsResult<()> {
        (self.before)("link")?;
        System.link(dir, from, to)?;
        (self.before)("linked")
    }

    fn link_nameless(&self, file: &File, dir: &Dir, to: &OsStr) -> FsResult<()> {
        (self.before)("link_nameless")?;
        System.link_nameless(file, dir, to)?;
        (self.before)("linked")
    }

    fn unlink(&self, dir: &Dir, name: &OsStr) -> FsResult<()> {
        (self.before)("unlink")?;
        System.unlink(dir, name)
    }

    fn rename(&self, from: &Dir, name: &OsStr, to: &Dir, new: &OsStr) -> FsResult<()> {
        (self.before)("rename")?;
        System.rename(from, name, to, new)
    }
}

impl Clock for Meddling<'_> {
    fn now_ms(&self) -> f64 {
        System.now_ms()
    }

    fn pause_ms(&self, milliseconds: u64) {
        System.pause_ms(milliseconds);
    }
}

impl Entropy for Meddling<'_> {
    fn process_id(&self) -> u32 {
        System.process_id()
    }

    fn count(&self) -> u64 {
        System.count()
    }

    fn random(&self) -> FsResult<u64> {
        System.random()
    }
}
