//! Windows errors by the names that the protocol knows.

use crate::env::{FsError, Op};
use crate::errno::Errno::{self, *};
use std::io;

pub(super) const ERROR_ACCESS_DENIED: i32 = 5;
pub(super) const ERROR_SHARING_VIOLATION: i32 = 32;

pub(super) fn failed(op: Op) -> impl Fn(io::Error) -> FsError {
    // Without a number it is std that refuses, and what it refuses is a NUL in a path.
    move |error| FsError { op, errno: error.raw_os_error().map_or(EINVAL, errno) }
}

fn errno(code: i32) -> Errno {
    let found = NAMES.binary_search_by_key(&code, |(code, _)| *code);
    found.ok().and_then(|at| NAMES.get(at)).map_or(Other(code), |(_, errno)| *errno)
}

/// Errors of files by number, in order, with the errnos that Node.js gives them, where it gives
/// any. Three differ: by `INVALID_FUNCTION` a volume says that it has no hard links, by `DIRECTORY`
/// the system says that something is none, and what `INVALID_NAME` is about cannot be there, which
/// is more than that it is not.
const NAMES: &[(i32, Errno)] = &[
    (1, ENOTSUP),         // INVALID_FUNCTION
    (2, ENOENT),          // FILE_NOT_FOUND
    (3, ENOENT),          // PATH_NOT_FOUND
    (4, EMFILE),          // TOO_MANY_OPEN_FILES
    (5, EPERM),           // ACCESS_DENIED
    (6, EBADF),           // INVALID_HANDLE
    (8, ENOMEM),          // NOT_ENOUGH_MEMORY
    (13, EINVAL),         // INVALID_DATA
    (14, ENOMEM),         // OUTOFMEMORY
    (15, ENOENT),         // INVALID_DRIVE
    (17, EXDEV),          // NOT_SAME_DEVICE
    (19, EROFS),          // WRITE_PROTECT
    (23, EIO),            // CRC
    (31, EIO),            // GEN_FAILURE
    (32, EBUSY),          // SHARING_VIOLATION
    (33, EBUSY),          // LOCK_VIOLATION
    (39, ENOSPC),         // HANDLE_DISK_FULL
    (50, ENOTSUP),        // NOT_SUPPORTED
    (53, ENOENT),         // BAD_NETPATH
    (59, EIO),            // UNEXP_NET_ERR
    (64, ECONNRESET),     // NETNAME_DELETED
    (67, ENOENT),         // BAD_NET_NAME
    (80, EEXIST),         // FILE_EXISTS
    (82, ENOSPC),         // CANNOT_MAKE
    (87, EINVAL),         // INVALID_PARAMETER
    (110, EIO),           // OPEN_FAILED
    (112, ENOSPC),        // DISK_FULL
    (121, ETIMEDOUT),     // SEM_TIMEOUT
    (122, EINVAL),        // INSUFFICIENT_BUFFER
    (123, EINVAL),        // INVALID_NAME
    (145, ENOTEMPTY),     // DIR_NOT_EMPTY
    (161, ENOENT),        // BAD_PATHNAME
    (170, EBUSY),         // BUSY
    (183, EEXIST),        // ALREADY_EXISTS
    (206, ENAMETOOLONG),  // FILENAME_EXCED_RANGE
    (223, EFBIG),         // FILE_TOO_LARGE
    (267, ENOTDIR),       // DIRECTORY
    (277, ENOSPC),        // EA_TABLE_FULL
    (303, EBUSY),         // DELETE_PENDING
    (740, EACCES),        // ELEVATION_REQUIRED
    (998, EACCES),        // NOACCESS
    (1111, EIO),          // BUS_RESET
    (1117, EIO),          // IO_DEVICE
    (1142, EMLINK),       // TOO_MANY_LINKS
    (1225, ECONNREFUSED), // CONNECTION_REFUSED
    (1231, ENETUNREACH),  // NETWORK_UNREACHABLE
    (1232, EHOSTUNREACH), // HOST_UNREACHABLE
    (1236, ECONNABORTED), // CONNECTION_ABORTED
    (1295, EDQUOT),       // DISK_QUOTA_EXCEEDED
    (1314, EPERM),        // PRIVILEGE_NOT_HELD
    (1392, EIO),          // FILE_CORRUPT
    (1393, EIO),          // DISK_CORRUPT
    (1460, ETIMEDOUT),    // TIMEOUT
    (1816, ENOMEM),       // NOT_ENOUGH_QUOTA
    (1920, EACCES),       // CANT_ACCESS_FILE
    (1921, ELOOP),        // CANT_RESOLVE_FILENAME
    (2250, ENOTCONN),     // NOT_CONNECTED
    (4392, ENOENT),       // INVALID_REPARSE_DATA
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Guards what the protocol reads from errors, and the order that the search relies on.
    #[test]
    fn errors_are_told_by_the_names_that_unix_has() {
        assert!(NAMES.is_sorted_by(|(one, _), (next, _)| one < next));
        for (code, name) in
            [(2, ENOENT), (123, EINVAL), (183, EEXIST), (1, ENOTSUP), (2250, ENOTCONN)]
        {
            assert_eq!(errno(code), name, "{code}");
        }
        assert_eq!(errno(ERROR_ACCESS_DENIED), EPERM);
        assert_eq!(errno(ERROR_SHARING_VIOLATION), EBUSY);
        assert_eq!(errno(99_999), Other(99_999));
    }
}
