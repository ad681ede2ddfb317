//! Files on Windows, mostly by what std has: there are no calls relative to an open directory, so
//! a [`Dir`] is a path and a handle that keeps the directory at that path while it is open.
//!
//! Paths are handed over in their verbatim form (`\\?\`), as Node.js does, so that neither their
//! length nor a name like `nul` or `run.` changes which file is meant. Every file is opened so
//! that others may read, write, replace and remove it meanwhile, as on Unix.

#![allow(unsafe_code, reason = "std cannot tell how a close ended, and offers no randomness")]

use super::{FIRST_READ, epoch_ms};
use crate::env::{Contents, FsError, FsResult, Kind, Op};
use crate::errno::Errno;
use error::failed;
use path::verbatim;
use remove::{patiently, remove};
use std::ffi::OsStr;
use std::fs::{FileType, OpenOptions};
use std::io::{self, Read, Write};
use std::os::windows::fs::OpenOptionsExt;
use std::os::windows::io::{IntoRawHandle, RawHandle};
use std::path::{Path, PathBuf};

mod error;
mod path;
mod remove;

const FILE_SHARE_READ: u32 = 1;
const FILE_SHARE_WRITE: u32 = 2;
const FILE_SHARE_DELETE: u32 = 4;
const SHARE_IN_PLACE: u32 = FILE_SHARE_READ | FILE_SHARE_WRITE;
const SHARE_ALL: u32 = SHARE_IN_PLACE | FILE_SHARE_DELETE;
/// Without it, a directory does not open.
const FILE_FLAG_BACKUP_SEMANTICS: u32 = 0x0200_0000;
const BCRYPT_USE_SYSTEM_PREFERRED_RNG: u32 = 2;

#[link(name = "kernel32")]
unsafe extern "system" {
    fn CloseHandle(handle: RawHandle) -> i32;
}

#[link(name = "bcrypt")]
unsafe extern "system" {
    fn BCryptGenRandom(algorithm: RawHandle, bits: *mut u8, len: u32, flags: u32) -> i32;
}

/// An open directory.
#[derive(Debug)]
pub struct Dir {
    path: PathBuf,
    /// Not shared for deletion: while it is open, the directory can be neither renamed nor
    /// removed, and no directory above it renamed, so the path leads to it.
    _held: std::fs::File,
}

/// A file being written.
#[derive(Debug)]
pub struct File(std::fs::File);

/// The path of a name in a directory. A separator would lead elsewhere, a colon to another stream
/// of the file.
fn at(op: Op, dir: &Dir, name: &OsStr) -> FsResult<PathBuf> {
    let bytes = name.as_encoded_bytes();
    let leads_elsewhere = |byte: &u8| matches!(byte, b'/' | b'\\' | b':' | 0);
    if matches!(bytes, b"" | b"." | b"..") || bytes.iter().any(leads_elsewhere) {
        return Err(FsError { op, errno: Errno::EINVAL });
    }
    Ok(dir.path.join(name))
}

fn options(share: u32) -> OpenOptions {
    let mut options = OpenOptions::new();
    options.share_mode(share).custom_flags(FILE_FLAG_BACKUP_SEMANTICS);
    options
}

fn kind(kind: FileType) -> Kind {
    if kind.is_file() {
        Kind::File
    } else if kind.is_dir() {
        Kind::Directory
    } else {
        Kind::Other
    }
}

pub(super) fn open_dir(path: &Path) -> FsResult<Dir> {
    let path = verbatim(Op::Open, path)?;
    let held = options(SHARE_IN_PLACE).read(true).open(&path).map_err(failed(Op::Open))?;
    if !held.metadata().map_err(failed(Op::Open))?.is_dir() {
        return Err(FsError { op: Op::Open, errno: Errno::ENOTDIR });
    }
    Ok(Dir { path, _held: held })
}

pub(super) fn make_dir(path: &Path) -> FsResult<()> {
    std::fs::create_dir(verbatim(Op::Mkdir, path)?).map_err(failed(Op::Mkdir))
}

pub(super) fn list(dir: &Dir, each: &mut dyn FnMut(&OsStr, Kind)) -> FsResult<()> {
    for entry in std::fs::read_dir(&dir.path).map_err(failed(Op::List))? {
        let entry = entry.map_err(failed(Op::List))?;
        each(&entry.file_name(), entry.file_type().map_or(Kind::Unknown, kind));
    }
    Ok(())
}

pub(super) fn exists(dir: &Dir, name: &OsStr) -> FsResult<bool> {
    match std::fs::symlink_metadata(at(Op::Stat, dir, name)?).map_err(failed(Op::Stat)) {
        Ok(_) => Ok(true),
        Err(error) if error.errno == Errno::ENOENT => Ok(false),
        Err(error) => Err(error),
    }
}

pub(super) fn modified_ms(dir: &Dir, name: &OsStr) -> FsResult<f64> {
    let found = std::fs::symlink_metadata(at(Op::Stat, dir, name)?);
    found.and_then(|found| found.modified()).map(epoch_ms).map_err(failed(Op::Stat))
}

pub(super) fn read(dir: &Dir, name: &OsStr, limit: usize) -> FsResult<Contents> {
    let path = at(Op::Open, dir, name)?;
    let mut file = match options(SHARE_ALL).read(true).open(&path) {
        Ok(file) => file,
        // What is not a file may fail to open; only a look tells it from one that cannot be read.
        Err(error) => {
            return match std::fs::metadata(&path) {
                Ok(found) if !found.is_file() => Ok(Contents::NotAFile),
                _ => Err(failed(Op::Open)(error)),
            };
        }
    };
    let found = file.metadata().map_err(failed(Op::Stat))?;
    if !found.is_file() {
        return Ok(Contents::NotAFile);
    }
    let most = limit.saturating_add(1);
    let size = usize::try_from(found.len()).unwrap_or(usize::MAX);
    let mut bytes = Vec::with_capacity(size.saturating_add(1).min(most).min(FIRST_READ));
    let mut part = (&mut file).take(most.try_into().unwrap_or(u64::MAX));
    part.read_to_end(&mut bytes).map_err(failed(Op::Read))?;
    Ok(if bytes.len() > limit { Contents::TooLarge } else { Contents::Bytes(bytes) })
}

pub(super) fn create(dir: &Dir, name: &OsStr) -> FsResult<File> {
    let path = at(Op::Create, dir, name)?;
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).share_mode(SHARE_ALL);
    options.open(path).map(File).map_err(failed(Op::Create))
}

pub(super) fn create_nameless(_dir: &Dir) -> FsResult<File> {
    Err(FsError { op: Op::Create, errno: Errno::ENOTSUP })
}

pub(super) fn link_nameless(_file: &File, _dir: &Dir, _to: &OsStr) -> FsResult<()> {
    Err(FsError { op: Op::Link, errno: Errno::ENOTSUP })
}

pub(super) fn write(file: &mut File, bytes: &[u8]) -> FsResult<()> {
    let mut rest = bytes;
    while !rest.is_empty() {
        let taken = file.0.write(rest).map_err(failed(Op::Write))?;
        match rest.get(taken..) {
            Some(left) if taken > 0 => rest = left,
            _ => return Err(FsError { op: Op::Write, errno: Errno::EIO }),
        }
    }
    Ok(())
}

pub(super) fn sync(file: &File) -> FsResult<()> {
    file.0.sync_all().map_err(failed(Op::Sync))
}

/// The system flushes only what may be written to, so this opens the directory once more.
pub(super) fn sync_dir(dir: &Dir) -> FsResult<()> {
    let handle = options(SHARE_ALL).write(true).open(&dir.path).map_err(failed(Op::Sync))?;
    handle.sync_all().map_err(failed(Op::Sync))
}

pub(super) fn close(file: File) -> FsResult<()> {
    let handle = file.0.into_raw_handle();
    // SAFETY: the handle was the file's own, is given up here, and is closed once.
    if unsafe { CloseHandle(handle) } != 0 {
        Ok(())
    } else {
        Err(failed(Op::Close)(io::Error::last_os_error()))
    }
}

pub(super) fn link(dir: &Dir, from: &OsStr, to: &OsStr) -> FsResult<()> {
    let (from, to) = (at(Op::Link, dir, from)?, at(Op::Link, dir, to)?);
    std::fs::hard_link(from, to).map_err(|error| match failed(Op::Link)(error) {
        // Denied, or a name whose deletion is pending. A volume without hard links says so
        // otherwise, and `EPERM` would say it here.
        FsError { op, errno: Errno::EPERM } => FsError { op, errno: Errno::EACCES },
        other => other,
    })
}

pub(super) fn unlink(dir: &Dir, name: &OsStr) -> FsResult<()> {
    remove(&at(Op::Unlink, dir, name)?)
}

/// A reader that did not share its file for deletion keeps the name from being replaced for as long
/// as it reads.
pub(super) fn rename(from: &Dir, name: &OsStr, to: &Dir, new: &OsStr) -> FsResult<()> {
    let (from, to) = (at(Op::Rename, from, name)?, at(Op::Rename, to, new)?);
    patiently(|| std::fs::rename(&from, &to)).map_err(failed(Op::Rename))
}

pub(super) fn random(bits: &mut [u8]) -> FsResult<()> {
    let unavailable = |raw| FsError { op: Op::Random, errno: Errno::Other(raw) };
    let len = u32::try_from(bits.len()).map_err(|_| unavailable(0))?;
    // SAFETY: the system writes `len` bytes to `bits`, which has as many; the flag stands in for
    // an algorithm.
    let status = unsafe {
        BCryptGenRandom(
            std::ptr::null_mut(),
            bits.as_mut_ptr(),
            len,
            BCRYPT_USE_SYSTEM_PREFERRED_RNG,
        )
    };
    if status == 0 { Ok(()) } else { Err(unavailable(status)) }
}

#[cfg(test)]
mod tests;
