//! Files on Unix, by system calls relative to an open directory's descriptor, so that an operation
//! keeps to one directory although its path is renamed or replaced meanwhile.
//!
//! Kernels differ in [`linux`] and [`bsd`] (macOS among them): how a directory is listed, whether
//! a file can be without a name, what reaches the disk, and where randomness comes from. Nothing
//! here needs a C library newer than glibc 2.17.

#![allow(unsafe_code, reason = "std has no calls relative to an open directory")]

use super::FIRST_READ;
use crate::env::{Contents, FsError, FsResult, Kind, Op};
use crate::errno::Errno;
use std::cell::RefCell;
use std::ffi::{CStr, CString, OsStr};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

mod call;

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
use linux as kernel;

#[cfg(any(
    target_vendor = "apple",
    target_os = "freebsd",
    target_os = "openbsd",
    target_os = "dragonfly"
))]
mod bsd;
#[cfg(any(
    target_vendor = "apple",
    target_os = "freebsd",
    target_os = "openbsd",
    target_os = "dragonfly"
))]
use bsd as kernel;

#[cfg(not(any(
    target_os = "linux",
    target_vendor = "apple",
    target_os = "freebsd",
    target_os = "openbsd",
    target_os = "dragonfly"
)))]
compile_error!("fencelink knows the system calls of Linux, macOS, FreeBSD, OpenBSD and DragonFly");

use call::{call, change, last_errno};
pub(super) use kernel::{create_nameless, link_nameless, random};

/// What one call to read or write is asked for at most; macOS refuses more.
const MOST_AT_ONCE: usize = i32::MAX as usize;

/// An open directory.
#[derive(Debug)]
pub struct Dir {
    fd: OwnedFd,
    /// Whether a listing has moved the descriptor's position. Two listings at once would each see
    /// a part, so one thread has the directory, and a listing borrows this while it runs.
    moved: RefCell<bool>,
}

/// A file being written.
#[derive(Debug)]
pub struct File(OwnedFd);

fn c_string(op: Op, text: &OsStr) -> FsResult<CString> {
    CString::new(text.as_bytes()).map_err(|_| FsError { op, errno: Errno::EINVAL })
}

/// A name within a directory.
fn component(op: Op, name: &OsStr) -> FsResult<CString> {
    if name.as_bytes().contains(&b'/') {
        return Err(FsError { op, errno: Errno::EINVAL });
    }
    c_string(op, name)
}

fn open_at(op: Op, at: RawFd, name: &CStr, flags: libc::c_int) -> FsResult<OwnedFd> {
    let mode: libc::c_uint = 0o666;
    let fd = change(op, Errno::EEXIST, || {
        // SAFETY: `name` is a C string that outlives the call, which keeps no pointer to it.
        unsafe { kernel::openat(at, name.as_ptr(), flags | libc::O_CLOEXEC, mode) as isize }
    })?;
    // SAFETY: the kernel has just opened this descriptor, and nothing else knows of it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as RawFd) })
}

fn stat_at(dir: &Dir, name: &CStr, flags: libc::c_int) -> FsResult<kernel::Stat> {
    let mut stat = MaybeUninit::<kernel::Stat>::uninit();
    call(Op::Stat, || {
        // SAFETY: `name` is a C string and `stat` room for what the kernel writes; both outlive
        // the call.
        unsafe {
            kernel::fstatat(dir.fd.as_raw_fd(), name.as_ptr(), stat.as_mut_ptr(), flags) as isize
        }
    })?;
    // SAFETY: the call succeeded, so the kernel has filled it in.
    Ok(unsafe { stat.assume_init() })
}

fn stat(fd: &OwnedFd) -> FsResult<kernel::Stat> {
    let mut stat = MaybeUninit::<kernel::Stat>::uninit();
    call(Op::Stat, || {
        // SAFETY: `stat` is room for what the kernel writes and outlives the call.
        unsafe { kernel::fstat(fd.as_raw_fd(), stat.as_mut_ptr()) as isize }
    })?;
    // SAFETY: the call succeeded, so the kernel has filled it in.
    Ok(unsafe { stat.assume_init() })
}

fn is_file(stat: &kernel::Stat) -> bool {
    stat.st_mode & libc::S_IFMT == libc::S_IFREG
}

/// The kind that a directory entry of type `d_type` says it is.
fn kind(d_type: u8) -> Kind {
    match d_type {
        libc::DT_REG => Kind::File,
        libc::DT_DIR => Kind::Directory,
        libc::DT_UNKNOWN => Kind::Unknown,
        _ => Kind::Other,
    }
}

pub(super) fn open_dir(path: &Path) -> FsResult<Dir> {
    let path = c_string(Op::Open, path.as_os_str())?;
    let fd = open_at(Op::Open, libc::AT_FDCWD, &path, libc::O_RDONLY | libc::O_DIRECTORY)?;
    Ok(Dir { fd, moved: RefCell::new(false) })
}

pub(super) fn make_dir(path: &Path) -> FsResult<()> {
    let path = c_string(Op::Mkdir, path.as_os_str())?;
    call(Op::Mkdir, || {
        // SAFETY: `path` is a C string that outlives the call.
        unsafe { libc::mkdir(path.as_ptr(), 0o777) as isize }
    })?;
    Ok(())
}

pub(super) fn list(dir: &Dir, each: &mut dyn FnMut(&OsStr, Kind)) -> FsResult<()> {
    let Ok(mut moved) = dir.moved.try_borrow_mut() else {
        return Err(FsError { op: Op::List, errno: Errno::EDEADLK });
    };
    let from_start = !std::mem::replace(&mut *moved, true);
    kernel::list(&dir.fd, from_start, &mut |name, d_type| {
        if name != b"." && name != b".." {
            each(OsStr::from_bytes(name), kind(d_type));
        }
    })
}

pub(super) fn exists(dir: &Dir, name: &OsStr) -> FsResult<bool> {
    let name = component(Op::Stat, name)?;
    match stat_at(dir, &name, libc::AT_SYMLINK_NOFOLLOW) {
        Ok(_) => Ok(true),
        Err(error) if error.errno == Errno::ENOENT => Ok(false),
        Err(error) => Err(error),
    }
}

pub(super) fn modified_ms(dir: &Dir, name: &OsStr) -> FsResult<f64> {
    let name = component(Op::Stat, name)?;
    let stat = stat_at(dir, &name, libc::AT_SYMLINK_NOFOLLOW)?;
    Ok(stat.st_mtime as f64 * 1e3 + stat.st_mtime_nsec as f64 / 1e6)
}

pub(super) fn read(dir: &Dir, name: &OsStr, limit: usize) -> FsResult<Contents> {
    let name = component(Op::Open, name)?;
    let flags = libc::O_RDONLY | libc::O_NONBLOCK | libc::O_NOCTTY;
    let fd = match open_at(Op::Open, dir.fd.as_raw_fd(), &name, flags) {
        Ok(fd) => fd,
        Err(error) if error.errno == Errno::ENOENT => return Err(error),
        Err(error) => return not_a_file(dir, &name).ok_or(error),
    };
    let stat = stat(&fd)?;
    if !is_file(&stat) {
        return Ok(Contents::NotAFile);
    }
    read_whole(&fd, usize::try_from(stat.st_size).unwrap_or(0), limit)
}

/// Sockets, and devices without a driver, fail to open, and so may anything whose rights are
/// denied; the same errors for a regular file are errors of the volume. Only a look can tell, and
/// when that fails too, the error of the open stands.
fn not_a_file(dir: &Dir, name: &CStr) -> Option<Contents> {
    let stat = stat_at(dir, name, 0).ok()?;
    (!is_file(&stat)).then_some(Contents::NotAFile)
}

/// Reads up to where the kernel says the file ends, by a read that gets nothing, or by one that
/// gets less than it has room for where the file's `size` is reached. The size alone is only a
/// guess: what network and FUSE volumes report may be out of date.
fn read_whole(fd: &OwnedFd, size: usize, limit: usize) -> FsResult<Contents> {
    let most = limit.saturating_add(1);
    let mut bytes = Vec::<u8>::with_capacity(size.saturating_add(1).min(most).min(FIRST_READ));
    while bytes.len() < most {
        if bytes.len() == bytes.capacity() {
            bytes.reserve(FIRST_READ.min(most - bytes.len()));
        }
        let wanted = MOST_AT_ONCE.min(most - bytes.len());
        let room = bytes.spare_capacity_mut();
        let room_len = room.len().min(wanted);
        let got = call(Op::Read, || {
            // SAFETY: `room` has at least `room_len` bytes that are the vector's own.
            unsafe { libc::read(fd.as_raw_fd(), room.as_mut_ptr().cast(), room_len) }
        })?;
        if got == 0 {
            return Ok(Contents::Bytes(bytes));
        }
        // SAFETY: the kernel has written `got` bytes, no more than `room_len`, after the last.
        unsafe { bytes.set_len(bytes.len() + got) };
        if got < room_len && bytes.len() == size {
            return Ok(Contents::Bytes(bytes));
        }
    }
    Ok(Contents::TooLarge)
}

pub(super) fn create(dir: &Dir, name: &OsStr) -> FsResult<File> {
    let name = component(Op::Create, name)?;
    let flags = libc::O_CREAT | libc::O_EXCL | libc::O_WRONLY;
    open_at(Op::Create, dir.fd.as_raw_fd(), &name, flags).map(File)
}

pub(super) fn write(file: &mut File, bytes: &[u8]) -> FsResult<()> {
    let mut rest = bytes;
    while !rest.is_empty() {
        let len = rest.len().min(MOST_AT_ONCE);
        let taken = call(Op::Write, || {
            // SAFETY: `rest` has at least `len` bytes and outlives the call.
            unsafe { libc::write(file.0.as_raw_fd(), rest.as_ptr().cast(), len) }
        })?;
        match rest.get(taken..) {
            Some(left) if taken > 0 => rest = left,
            _ => return Err(FsError { op: Op::Write, errno: Errno::EIO }),
        }
    }
    Ok(())
}

pub(super) fn sync(file: &File) -> FsResult<()> {
    kernel::flush(&file.0)
}

pub(super) fn sync_dir(dir: &Dir) -> FsResult<()> {
    kernel::flush(&dir.fd)
}

fn fsync(fd: &OwnedFd) -> FsResult<()> {
    call(Op::Sync, || {
        // SAFETY: the descriptor is open, and no memory is handed over.
        unsafe { libc::fsync(fd.as_raw_fd()) as isize }
    })?;
    Ok(())
}

pub(super) fn close(file: File) -> FsResult<()> {
    // SAFETY: the descriptor was the file's own, is given up here, and is closed once, whatever
    // the answer: after an error too it is gone, and its number may be another thread's.
    if unsafe { libc::close(file.0.into_raw_fd()) } == 0 {
        return Ok(());
    }
    match last_errno() {
        Errno::EINTR => Ok(()),
        errno => Err(FsError { op: Op::Close, errno }),
    }
}

pub(super) fn link(dir: &Dir, from: &OsStr, to: &OsStr) -> FsResult<()> {
    let (from, to) = (component(Op::Link, from)?, component(Op::Link, to)?);
    link_at(dir.fd.as_raw_fd(), &from, dir, &to, 0)
}

fn link_at(at: RawFd, from: &CStr, dir: &Dir, to: &CStr, flags: libc::c_int) -> FsResult<()> {
    change(Op::Link, Errno::EEXIST, || {
        // SAFETY: both names are C strings that outlive the call.
        unsafe { libc::linkat(at, from.as_ptr(), dir.fd.as_raw_fd(), to.as_ptr(), flags) as isize }
    })?;
    Ok(())
}

pub(super) fn unlink(dir: &Dir, name: &OsStr) -> FsResult<()> {
    let name = component(Op::Unlink, name)?;
    change(Op::Unlink, Errno::ENOENT, || {
        // SAFETY: `name` is a C string that outlives the call.
        unsafe { libc::unlinkat(dir.fd.as_raw_fd(), name.as_ptr(), 0) as isize }
    })?;
    Ok(())
}

pub(super) fn rename(from: &Dir, name: &OsStr, to: &Dir, new: &OsStr) -> FsResult<()> {
    let (name, new) = (component(Op::Rename, name)?, component(Op::Rename, new)?);
    let (from, to) = (from.fd.as_raw_fd(), to.fd.as_raw_fd());
    change(Op::Rename, Errno::ENOENT, || {
        // SAFETY: both names are C strings that outlive the call.
        unsafe { libc::renameat(from, name.as_ptr(), to, new.as_ptr()) as isize }
    })?;
    Ok(())
}
