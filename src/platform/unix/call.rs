//! The one loop around every system call that a signal can interrupt: again while it is
//! interrupted, but not for ever.

use crate::env::{FsError, FsResult, Op};
use crate::errno::Errno;
use std::io;

/// How often a call is made that signals keep interrupting.
const ATTEMPTS: u32 = 9;

pub(super) fn last_errno() -> Errno {
    Errno::from_raw(io::Error::last_os_error().raw_os_error().unwrap_or_default())
}

/// A system call that answers -1 and an errno, or else a number.
pub(super) fn call(op: Op, mut system: impl FnMut() -> isize) -> FsResult<usize> {
    repeat(op, None, || usize::try_from(system()).map_err(|_| last_errno()))
}

/// A call that changes a directory, and would meet its own work as `trace` if made again.
pub(super) fn change(op: Op, trace: Errno, mut system: impl FnMut() -> isize) -> FsResult<usize> {
    repeat(op, Some(trace), || usize::try_from(system()).map_err(|_| last_errno()))
}

/// Makes attempts until one is not interrupted. An interrupted attempt may have done its work, so
/// `trace` after one is answered with `EINTR`: whose work it is cannot be known here, and must not
/// be taken for another's.
pub(super) fn repeat(
    op: Op,
    trace: Option<Errno>,
    mut attempt: impl FnMut() -> Result<usize, Errno>,
) -> FsResult<usize> {
    for attempts in 0..ATTEMPTS {
        match attempt() {
            Ok(answer) => return Ok(answer),
            Err(Errno::EINTR) => {}
            Err(errno) if attempts > 0 && Some(errno) == trace => break,
            Err(errno) => return Err(FsError { op, errno }),
        }
    }
    Err(FsError { op, errno: Errno::EINTR })
}

#[cfg(test)]
mod tests {
    use super::*;
    use Errno::{EEXIST, EINTR, ENOENT, ENOTSUP};

    /// What becomes of a link whose attempts answer these in turn, and the attempts it took.
    fn linked(answers: &[Result<usize, Errno>]) -> (FsResult<usize>, usize) {
        let mut made = 0;
        let answer = repeat(Op::Link, Some(EEXIST), || {
            made += 1;
            answers[(made - 1).min(answers.len() - 1)]
        });
        (answer, made)
    }

    fn refused(errno: Errno) -> FsResult<usize> {
        Err(FsError { op: Op::Link, errno })
    }

    /// Guards against a call that spins for ever, and against a claim that fails for one signal.
    #[test]
    fn an_interrupted_call_is_made_again_and_not_for_ever() {
        assert_eq!(linked(&[Ok(7)]), (Ok(7), 1));
        assert_eq!(linked(&[Err(EINTR), Err(EINTR), Ok(7)]), (Ok(7), 3));
        assert_eq!(linked(&[Err(ENOENT)]), (refused(ENOENT), 1));
        assert_eq!(linked(&[Err(EINTR), Err(ENOENT)]), (refused(ENOENT), 2));
        assert_eq!(linked(&[Err(EINTR)]), (refused(EINTR), 9));
    }

    /// Guards a fence that its winner would take for lost: `EEXIST` says that somebody else won
    /// only if no earlier attempt can have.
    #[test]
    fn the_trace_of_an_interrupted_attempt_is_not_anothers() {
        assert_eq!(linked(&[Err(EEXIST)]), (refused(EEXIST), 1));
        assert_eq!(linked(&[Err(EINTR), Err(EEXIST)]), (refused(EINTR), 2));
    }

    /// Guards what the protocol reads from errnos where systems have two numbers for one thing.
    #[test]
    fn errnos_of_one_meaning_have_one_name() {
        assert_eq!(Errno::from_raw(libc::EOPNOTSUPP), ENOTSUP);
        assert_eq!(Errno::from_raw(libc::ENOTSUP), ENOTSUP);
        assert_eq!(Errno::from_raw(libc::EWOULDBLOCK), Errno::EAGAIN);
        assert_eq!(Errno::from_raw(0), Errno::Other(0));
    }
}
