//! Taking a name away. By Windows' own ways a file is removed, or renamed, through a handle that was
//! opened by its name: between the two somebody else may rename it, and then what is removed is the
//! file under the name that it has by now. So the handle is one beside which nobody can have another
//! that renames or removes, and what somebody else has open in that way is waited for.

use super::error::{ERROR_ACCESS_DENIED, ERROR_SHARING_VIOLATION, failed};
use super::{FILE_FLAG_BACKUP_SEMANTICS, SHARE_IN_PLACE};
use crate::env::{FsError, FsResult, Op};
use crate::errno::Errno;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::windows::fs::OpenOptionsExt;
use std::os::windows::io::{AsRawHandle, RawHandle};
use std::path::Path;
use std::time::Duration;

const DELETE: u32 = 0x0001_0000;
const FILE_READ_ATTRIBUTES: u32 = 0x80;
/// A link is opened, and not what it leads to.
const FILE_FLAG_OPEN_REPARSE_POINT: u32 = 0x0020_0000;

const FILE_DISPOSITION_INFO: i32 = 4;
const FILE_DISPOSITION_INFO_EX: i32 = 21;
const FILE_DISPOSITION_FLAG_DELETE: u32 = 1;
/// The name is free at once, whoever has the file open.
const FILE_DISPOSITION_FLAG_POSIX_SEMANTICS: u32 = 2;
const FILE_DISPOSITION_FLAG_IGNORE_READONLY_ATTRIBUTE: u32 = 0x10;

const ERROR_INVALID_FUNCTION: i32 = 1;
const ERROR_NOT_SUPPORTED: i32 = 50;
const ERROR_INVALID_PARAMETER: i32 = 87;

/// How long to wait between attempts at what somebody else has open, 288 ms in all.
pub(super) const PAUSES_MS: [u64; 10] = [1, 2, 5, 10, 20, 50, 50, 50, 50, 50];

#[link(name = "kernel32")]
unsafe extern "system" {
    fn SetFileInformationByHandle(file: RawHandle, class: i32, info: *const u8, len: u32) -> i32;
}

/// Makes attempts for as long as what is in the way can be somebody who has the file open, a virus
/// scanner for one, and will be done with it soon.
pub(super) fn patiently<T>(mut attempt: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    for pause in PAUSES_MS {
        match attempt() {
            Err(error) if is_in_use(&error) => std::thread::sleep(Duration::from_millis(pause)),
            answer => return answer,
        }
    }
    attempt()
}

fn is_in_use(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(ERROR_ACCESS_DENIED | ERROR_SHARING_VIOLATION))
}

/// Removes the name of a file.
pub(super) fn remove(path: &Path) -> FsResult<()> {
    let mut options = OpenOptions::new();
    options
        .access_mode(DELETE | FILE_READ_ATTRIBUTES)
        .share_mode(SHARE_IN_PLACE)
        .custom_flags(FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT);
    let file = patiently(|| options.open(path)).map_err(failed(Op::Unlink))?;
    if file.metadata().map_err(failed(Op::Unlink))?.is_dir() {
        return Err(FsError { op: Op::Unlink, errno: Errno::EISDIR });
    }
    dispose(&file).map_err(failed(Op::Unlink))
}

fn dispose(file: &File) -> io::Result<()> {
    let flags = FILE_DISPOSITION_FLAG_DELETE
        | FILE_DISPOSITION_FLAG_POSIX_SEMANTICS
        | FILE_DISPOSITION_FLAG_IGNORE_READONLY_ATTRIBUTE;
    match set(file, FILE_DISPOSITION_INFO_EX, &flags.to_ne_bytes()) {
        // A volume of a server may know the old way only, by which the name goes with the last
        // handle. It cannot be opened by then, nor renamed.
        Err(error)
            if matches!(
                error.raw_os_error(),
                Some(ERROR_INVALID_FUNCTION | ERROR_NOT_SUPPORTED | ERROR_INVALID_PARAMETER)
            ) =>
        {
            dispose_with_last_handle(file)
        }
        answer => answer,
    }
}

pub(super) fn dispose_with_last_handle(file: &File) -> io::Result<()> {
    set(file, FILE_DISPOSITION_INFO, &[1])
}

fn set(file: &File, class: i32, info: &[u8]) -> io::Result<()> {
    let len = u32::try_from(info.len()).map_err(io::Error::other)?;
    // SAFETY: the handle is open for as long as `file` is borrowed, and of `info` as many bytes are
    // read as it has.
    match unsafe { SetFileInformationByHandle(file.as_raw_handle(), class, info.as_ptr(), len) } {
        0 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}
