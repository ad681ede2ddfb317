//! What macOS and the BSDs have of their own: directories are read through the C library, no file
//! is without a name, and on Apple's systems `fsync` stops at the drive's cache.

use super::call::{call, last_errno, repeat};
use super::{Dir, File, fsync, open_at};
use crate::env::{FsError, FsResult, Op};
use crate::errno::Errno;
use std::ffi::{CStr, OsStr};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, IntoRawFd, OwnedFd};
use std::ptr::null_mut;

pub(super) use libc::{fstat, fstatat, openat, stat as Stat};

/// A directory stream, which owns its descriptor.
struct Stream(*mut libc::DIR);

impl Drop for Stream {
    fn drop(&mut self) {
        // SAFETY: `fdopendir` gave the stream to this value alone, and it ends here. Nothing was
        // written through it, so there is nothing that its error could tell.
        unsafe { libc::closedir(self.0) };
    }
}

/// Tells of every entry. A stream takes its descriptor over, so each listing opens the directory
/// anew through the descriptor, which also starts it at the beginning.
pub(super) fn list(
    dir: &OwnedFd,
    _from_start: bool,
    each: &mut dyn FnMut(&[u8], u8),
) -> FsResult<()> {
    let fd = open_at(Op::List, dir.as_raw_fd(), c".", libc::O_RDONLY | libc::O_DIRECTORY)?;
    // SAFETY: the descriptor is open and of a directory.
    let stream = unsafe { libc::fdopendir(fd.as_raw_fd()) };
    if stream.is_null() {
        return Err(FsError { op: Op::List, errno: last_errno() });
    }
    let _ = fd.into_raw_fd();
    let stream = Stream(stream);
    let mut entry = MaybeUninit::<libc::dirent>::uninit();
    loop {
        let mut found = null_mut();
        // `readdir` tells its end and its errors by the same null; `readdir_r` does not.
        repeat(Op::List, None, || {
            // SAFETY: the stream is open and this thread's alone; `entry` has room for the
            // longest name there is on these systems; `found` is set to it or to null.
            match unsafe { libc::readdir_r(stream.0, entry.as_mut_ptr(), &mut found) } {
                0 => Ok(0),
                raw => Err(Errno::from_raw(raw)),
            }
        })?;
        if found.is_null() {
            return Ok(());
        }
        // SAFETY: `found` is `entry`, which the call has filled in, with a name that ends in NUL.
        let (name, d_type) =
            unsafe { (CStr::from_ptr((&raw const (*found).d_name).cast()), (*found).d_type) };
        each(name.to_bytes(), d_type);
    }
}

pub(in crate::platform) fn create_nameless(_dir: &Dir) -> FsResult<File> {
    Err(FsError { op: Op::Create, errno: Errno::ENOTSUP })
}

pub(in crate::platform) fn link_nameless(_file: &File, _dir: &Dir, _to: &OsStr) -> FsResult<()> {
    Err(FsError { op: Op::Link, errno: Errno::ENOTSUP })
}

/// Volumes that do not know the call, those of a network among them, are asked for what they have.
#[cfg(target_vendor = "apple")]
pub(super) fn flush(fd: &OwnedFd) -> FsResult<()> {
    let flushed = call(Op::Sync, || {
        // SAFETY: the descriptor is open, and no memory is handed over.
        unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_FULLFSYNC) as isize }
    });
    match flushed {
        Ok(_) => Ok(()),
        Err(FsError {
            errno: Errno::ENOTSUP | Errno::EINVAL | Errno::Other(libc::ENOTTY), ..
        }) => fsync(fd),
        Err(error) => Err(error),
    }
}

#[cfg(not(target_vendor = "apple"))]
pub(super) fn flush(fd: &OwnedFd) -> FsResult<()> {
    fsync(fd)
}

/// Fills `bits` from the kernel, not from a generator in this process that a copy would share.
pub(in crate::platform) fn random(bits: &mut [u8]) -> FsResult<()> {
    call(Op::Random, || {
        // SAFETY: the kernel writes exactly `bits.len()` bytes to `bits`.
        unsafe { libc::getentropy(bits.as_mut_ptr().cast(), bits.len()) as isize }
    })?;
    Ok(())
}
