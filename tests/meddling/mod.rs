//! The real system with somebody else in it: a test says what happens right before a holding is
//! linked, which is where another process does most harm.

use fencelink::env::{Clock, Contents, Entropy, Fs, FsResult, Kind};
use fencelink::platform::{Dir, File, System};
use std::ffi::OsStr;
use std::path::Path;
use std::sync::Mutex;

/// The real system, and what happens before each link.
pub(crate) struct Meddling<'m> {
    before_link: Box<dyn Fn() + Send + Sync + 'm>,
}

impl<'m> Meddling<'m> {
    pub(crate) fn before_each_link(meddler: impl Fn() + Send + Sync + 'm) -> Meddling<'m> {
        Meddling { before_link: Box::new(meddler) }
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
        System.open_dir(path)
    }

    fn make_dir(&self, path: &Path) -> FsResult<()> {
        System.make_dir(path)
    }

    fn list(&self, dir: &Dir, each: &mut dyn FnMut(&OsStr, Kind)) -> FsResult<()> {
        System.list(dir, each)
    }

    fn exists(&self, dir: &Dir, name: &OsStr) -> FsResult<bool> {
        System.exists(dir, name)
    }

    fn modified_ms(&self, dir: &Dir, name: &OsStr) -> FsResult<f64> {
        System.modified_ms(dir, name)
    }

    fn read(&self, dir: &Dir, name: &OsStr, limit: usize) -> FsResult<Contents> {
        System.read(dir, name, limit)
    }

    fn create(&self, dir: &Dir, name: &OsStr) -> FsResult<File> {
        System.create(dir, name)
    }

    fn create_nameless(&self, dir: &Dir) -> FsResult<File> {
        System.create_nameless(dir)
    }

    fn write(&self, file: &mut File, bytes: &[u8]) -> FsResult<()> {
        System.write(file, bytes)
    }

    fn sync(&self, file: &File) -> FsResult<()> {
        System.sync(file)
    }

    fn close(&self, file: File) -> FsResult<()> {
        System.close(file)
    }

    fn sync_dir(&self, dir: &Dir) -> FsResult<()> {
        System.sync_dir(dir)
    }

    fn link(&self, dir: &Dir, from: &OsStr, to: &OsStr) -> FsResult<()> {
        (self.before_link)();
        System.link(dir, from, to)
    }

    fn link_nameless(&self, file: &File, dir: &Dir, to: &OsStr) -> FsResult<()> {
        (self.before_link)();
        System.link_nameless(file, dir, to)
    }

    fn unlink(&self, dir: &Dir, name: &OsStr) -> FsResult<()> {
        System.unlink(dir, name)
    }

    fn rename(&self, from: &Dir, name: &OsStr, to: &Dir, new: &OsStr) -> FsResult<()> {
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
