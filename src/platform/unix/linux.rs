//! What Linux has of its own: a directory read straight from the kernel, files without a name,
//! and `getrandom`.

use super::call::call;
use super::{Dir, File, component, link_at, open_at, stat};
use crate::env::{FsError, FsResult, Op};
use crate::errno::Errno;
use std::ffi::{CString, OsStr};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd};

pub(super) use super::fsync as flush;
pub(super) use libc::{fstat64 as fstat, fstatat64 as fstatat, openat64 as openat, stat64 as Stat};

/// Room for what one call tells of a directory: about a thousand names.
#[repr(C, align(8))]
struct Buffer([MaybeUninit<u8>; 32 * 1024]);

/// Where the parts of an entry are: `d_ino`, `d_off`, then these.
const RECORD_LEN_AT: usize = 16;
const TYPE_AT: usize = 18;
const NAME_AT: usize = 19;

/// Tells of every entry, from the start whatever was read before. The listing is over when the
/// kernel says so with 0, and not when a buffer is left half empty.
pub(super) fn list(
    dir: &OwnedFd,
    from_start: bool,
    each: &mut dyn FnMut(&[u8], u8),
) -> FsResult<()> {
    // A further listing opens the directory anew. To go back to the start of the descriptor is not
    // enough: sshfs then answers that the directory is empty.
    let anew = match from_start {
        true => None,
        false => {
            Some(open_at(Op::List, dir.as_raw_fd(), c".", libc::O_RDONLY | libc::O_DIRECTORY)?)
        }
    };
    let fd = anew.as_ref().unwrap_or(dir).as_raw_fd();
    let mut buffer = Buffer([MaybeUninit::uninit(); 32 * 1024]);
    loop {
        let room = &mut buffer.0;
        let got = call(Op::List, || {
            // SAFETY: the kernel writes at most `room.len()` bytes to `room`.
            unsafe {
                libc::syscall(libc::SYS_getdents64, fd, room.as_mut_ptr(), room.len()) as isize
            }
        })?;
        if got == 0 {
            return Ok(());
        }
        // SAFETY: the kernel has written `got` bytes from the start of `room` on, no more than
        // it has.
        let entries = unsafe { std::slice::from_raw_parts(room.as_ptr().cast::<u8>(), got) };
        tell(entries, each).ok_or(FsError { op: Op::List, errno: Errno::EIO })?;
    }
}

/// Takes a filled buffer apart; `None` when its lengths do not fit together.
fn tell(entries: &[u8], each: &mut dyn FnMut(&[u8], u8)) -> Option<()> {
    let mut rest = entries;
    while !rest.is_empty() {
        let length = rest.get(RECORD_LEN_AT..TYPE_AT)?.try_into().ok()?;
        let length = u16::from_ne_bytes(length);
        let (entry, after) = rest.split_at_checked(usize::from(length))?;
        let name = entry.get(NAME_AT..)?.split(|byte| *byte == 0).next()?;
        each(name, *entry.get(TYPE_AT)?);
        rest = after;
    }
    Some(())
}

pub(in crate::platform) fn create_nameless(dir: &Dir) -> FsResult<File> {
    let flags = libc::O_TMPFILE | libc::O_WRONLY;
    open_at(Op::Create, dir.fd.as_raw_fd(), c".", flags).map(File)
}

/// By the descriptor itself, which kernels before 6.10 grant to the privileged alone and answer
/// `ENOENT` to others; for them, by the name that `/proc` has for it.
pub(in crate::platform) fn link_nameless(file: &File, dir: &Dir, to: &OsStr) -> FsResult<()> {
    let (fd, to) = (file.0.as_raw_fd(), component(Op::Link, to)?);
    match link_at(fd, c"", dir, &to, libc::AT_EMPTY_PATH) {
        Err(FsError { errno: Errno::ENOENT, .. }) => {}
        settled => return settled,
    }
    let from = CString::new(format!("/proc/self/fd/{fd}"))
        .map_err(|_| FsError { op: Op::Link, errno: Errno::EINVAL })?;
    link_at(libc::AT_FDCWD, &from, dir, &to, libc::AT_SYMLINK_FOLLOW)
}

/// Fills `bits` by `getrandom`, or where the kernel has none or a filter forbids it, from the
/// device it stands for.
pub(in crate::platform) fn random(bits: &mut [u8]) -> FsResult<()> {
    let got = call(Op::Random, || {
        // SAFETY: the kernel writes at most `bits.len()` bytes to `bits`. As a bare system call,
        // for C libraries before glibc 2.25 have no function for it.
        unsafe { libc::syscall(libc::SYS_getrandom, bits.as_mut_ptr(), bits.len(), 0) as isize }
    });
    if got == Ok(bits.len()) {
        return Ok(());
    }
    let device = open_at(Op::Random, libc::AT_FDCWD, c"/dev/urandom", libc::O_RDONLY)?;
    // A plain file in its place, as in a carelessly built chroot, would give the same each time.
    if stat(&device)?.st_mode & libc::S_IFMT != libc::S_IFCHR {
        return Err(FsError { op: Op::Random, errno: Errno::ENODEV });
    }
    let got = call(Op::Random, || {
        // SAFETY: the kernel writes at most `bits.len()` bytes to `bits`.
        unsafe { libc::read(device.as_raw_fd(), bits.as_mut_ptr().cast(), bits.len()) }
    })?;
    if got == bits.len() { Ok(()) } else { Err(FsError { op: Op::Random, errno: Errno::EIO }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An entry as the kernel lays it out, padded to eight bytes.
    fn entry(name: &[u8], d_type: u8) -> Vec<u8> {
        let length = (NAME_AT + name.len() + 1).next_multiple_of(8);
        let mut entry = vec![0; length];
        entry[RECORD_LEN_AT..TYPE_AT].copy_from_slice(&(length as u16).to_ne_bytes());
        entry[TYPE_AT] = d_type;
        entry[NAME_AT..NAME_AT + name.len()].copy_from_slice(name);
        entry
    }

    fn told(entries: &[u8]) -> (Option<()>, Vec<(Vec<u8>, u8)>) {
        let mut told = Vec::new();
        let whole = tell(entries, &mut |name, d_type| told.push((name.to_vec(), d_type)));
        (whole, told)
    }

    /// Guards the highest fence: an entry must not be skipped, and a buffer that does not add up
    /// must be an error, not the end of the listing or an endless one.
    #[test]
    fn entries_are_told_to_the_last_or_not_believed() {
        let both = [entry(b"7.json", libc::DT_REG), entry(b"1234567890123.json", 0)].concat();
        let expected =
            vec![(b"7.json".to_vec(), libc::DT_REG), (b"1234567890123.json".to_vec(), 0)];
        assert_eq!(told(&both), (Some(()), expected));
        assert_eq!(told(&[]), (Some(()), vec![]));
        for cut in 1..both.len() {
            let whole = cut == entry(b"7.json", 0).len();
            assert_eq!(told(&both[..cut]).0.is_some(), whole, "cut at {cut}");
        }
        for length in [0, 1, 18, 19, 4_000, u16::MAX] {
            let mut wrong = entry(b"7.json", libc::DT_REG);
            wrong[RECORD_LEN_AT..TYPE_AT].copy_from_slice(&length.to_ne_bytes());
            assert_eq!(told(&wrong).0, None, "a length of {length}");
        }
    }
}
