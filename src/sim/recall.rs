//! What a call is guessed to remember of the answers that it was given: which way it took, and
//! what it was told since it last began on something that needs nothing of what came before.
//!
//! The guess has to be checked by whoever uses it; see [`programs`](super::programs).

use super::programs::Next;
use super::step::{Answer, Step};
use crate::errno::Errno;

/// What is remembered.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Recall {
    /// Every step and its answer, without what they were about.
    way: Vec<(u8, u8, Option<Errno>)>,
    /// The last steps and answers, in full.
    last: Vec<(Step, Answer)>,
}

impl Recall {
    /// What is remembered after one more answer, when `next` comes next. Without `forgetful`,
    /// everything is.
    pub(super) fn after(
        &self,
        step: Step,
        answer: Answer,
        next: &Next,
        forgetful: bool,
    ) -> Recall {
        // Whoever has met a fault may remember anything.
        let forgetful = forgetful && self.way.iter().all(|(_, _, errno)| errno.is_none_or(is_usual));
        let mut recall = self.clone();
        let errno = match answer {
            Answer::Failed(errno) => Some(errno),
            _ => None,
        };
        recall.way.push((kind_of_step(step), kind_of_answer(answer), errno));
        // A listing replaces what was read before, and is done with once a body was read.
        if forgetful && matches!(step, Step::List(_) | Step::Read(..)) {
            recall.last.clear();
        }
        recall.last.push((step, answer));
        // Whoever is about to publish has a file and a name, and nothing else matters.
        let publishing = matches!(next, Next::Asks(Step::Link(..) | Step::LinkNameless(..)));
        if forgetful && publishing {
            recall.last.clear();
        }
        recall
    }
}

/// Whether steps answer so without anything being wrong.
fn is_usual(errno: Errno) -> bool {
    matches!(errno, Errno::EEXIST | Errno::ENOENT | Errno::ENOTSUP)
}

fn kind_of_step(step: Step) -> u8 {
    match step {
        Step::OpenDir(_) => 0,
        Step::MakeDir(_) => 1,
        Step::List(_) => 2,
        Step::Exists(..) => 3,
        Step::Modified(..) => 4,
        Step::Read(..) => 5,
        Step::Create(..) => 6,
        Step::CreateNameless(_) => 7,
        Step::Write(..) => 8,
        Step::Sync(_) => 9,
        Step::Close(_) => 10,
        Step::SyncDir(_) => 11,
        Step::Link(..) => 12,
        Step::LinkNameless(..) => 13,
        Step::Unlink(..) => 14,
        Step::Rename(..) => 15,
        Step::Random => 16,
        Step::Now => 17,
        Step::Pause => 18,
    }
}

fn kind_of_answer(answer: Answer) -> u8 {
    match answer {
        Answer::Done => 0,
        Answer::Opened(_) => 1,
        Answer::Names(_) => 2,
        Answer::There(there) => 3 + u8::from(there),
        Answer::Millis(_) => 5,
        Answer::Bytes(_) => 6,
        Answer::TooLarge => 7,
        Answer::NotAFile => 8,
        Answer::Failed(_) => 9,
    }
}
