//! What can go wrong at a step, within what volumes are known to do. The protocol asks of a volume
//! that a file which is there can be found, that `link` makes a name once, and that a listing
//! misses nothing that stayed; so no fault says "not there" of what is, or "done" of what was not.

use super::scenario::Errors;
use super::step::Step;
use crate::errno::Errno;
use Errno::*;

/// A step that fails.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Fault {
    /// What the step answers.
    pub errno: Errno,
    /// Whether it did its work all the same; of a write, the half of it.
    pub landed: bool,
}

/// What a step may answer instead of the truth. `nameless`: the volume has nameless files, so it
/// is a local one, whose "exists already" is believed. `making`: the call makes directories.
pub(super) fn faults(
    step: Step,
    kinds: Errors,
    landed: bool,
    nameless: bool,
    making: bool,
) -> Vec<Fault> {
    let refused: &[Errno] = match step {
        Step::OpenDir(_) | Step::MakeDir(_) if making => &[EACCES, EMFILE, ENOENT, ENOTDIR, ESTALE],
        Step::OpenDir(_) | Step::MakeDir(_) => &[EACCES, ENOTDIR],
        Step::List(_) => &[EIO, EMFILE],
        Step::Exists(..) | Step::Modified(..) => &[EIO],
        Step::Read(..) => &[EIO, EACCES],
        Step::Create(..) => &[EROFS, ENOSPC, EEXIST],
        Step::CreateNameless(_) => &[EMFILE],
        Step::Write(..) => &[ENOSPC],
        Step::Sync(_) | Step::SyncDir(_) | Step::Close(_) => &[EIO],
        Step::Link(..) => &[EIO, EPERM, EXDEV, EEXIST, ENOENT],
        Step::LinkNameless(..) => &[EIO, EPERM, ENOENT],
        Step::Unlink(..) => &[EACCES],
        Step::Rename(..) => &[EIO, EACCES],
        Step::Random => &[EIO],
        Step::Now | Step::Pause => &[],
    };
    let mut faults: Vec<Fault> = match kinds {
        Errors::Kinds => refused.iter().map(|errno| refusal(*errno)).collect(),
        Errors::All if refused.is_empty() => Vec::new(),
        Errors::All => {
            let others = Errno::NAMED.iter().filter(|errno| !would_lie(step, **errno, making));
            others.map(|errno| refusal(*errno)).collect()
        }
    };
    // A local volume's "exists already" is the truth.
    if nameless {
        faults.retain(|fault| fault.errno != EEXIST || !matches!(step, Step::Link(..)));
    }
    if landed {
        let reported: &[Errno] = match step {
            // "Exists already": the request was repeated, and found its own work.
            Step::Link(..) | Step::LinkNameless(..) => &[EIO, ENOTCONN, EPERM, EEXIST],
            Step::Create(..) => &[EIO, EEXIST],
            Step::MakeDir(_) => &[EIO, EEXIST],
            Step::Unlink(..) => &[EIO, ENOENT],
            Step::Rename(..) => &[EIO, ENOENT],
            Step::Write(..) => &[ENOSPC],
            _ => &[],
        };
        faults.extend(reported.iter().map(|errno| Fault { errno: *errno, landed: true }));
    }
    faults
}

fn refusal(errno: Errno) -> Fault {
    Fault { errno, landed: false }
}

/// Whether a step that did nothing says by this errno that something is or is not there.
fn would_lie(step: Step, errno: Errno, making: bool) -> bool {
    match (step, errno) {
        (Step::OpenDir(_) | Step::MakeDir(_), ENOENT) => !making,
        (Step::MakeDir(_), EEXIST) => true,
        (Step::Read(..) | Step::Exists(..) | Step::Modified(..), ENOENT) => true,
        (Step::Unlink(..) | Step::Rename(..), ENOENT) => true,
        (Step::LinkNameless(..), EEXIST) => true,
        _ => false,
    }
}
