//! What a call is guessed to remember of the answers that it was given: which way it took, and
//! what it was told since it last began on something that needs nothing of what came before.
//!
//! The guess has to be checked by whoever uses it; see [`programs`](super::programs).

use super::programs::Next;
use super::step::{Answer, Step};
use super::tables::ContentId;
use crate::errno::Errno;

/// What is remembered.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Recall {
    /// The way that was taken: every step and its answer, by their kinds.
    way: Vec<Kinds>,
    /// The last steps and answers, in full.
    last: Vec<(Step, Answer)>,
}

/// A step and its answer, without what they were about.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Kinds {
    step: u8,
    answer: u8,
    errno: Option<Errno>,
    /// The body that was read to find out who won.
    owner: Option<ContentId>,
}

impl Recall {
    /// What is remembered after one more answer, when `next` comes next. Without `forgetful`,
    /// everything is.
    pub(super) fn after(&self, step: Step, answer: Answer, next: &Next, forgetful: bool) -> Recall {
        let mut recall = self.clone();
        recall.way.push(self.kinds(step, answer));
        // Whoever has met a fault may remember anything.
        let forgetful =
            forgetful && recall.way.iter().all(|kinds| kinds.errno.is_none_or(is_usual));
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

    fn kinds(&self, step: Step, answer: Answer) -> Kinds {
        let errno = match answer {
            Answer::Failed(errno) => Some(errno),
            _ => None,
        };
        let doubted =
            self.way.last().is_some_and(|last| LINKS.contains(&last.step) && last.errno.is_some());
        let owner = match answer {
            Answer::Bytes(content) if doubted => Some(content),
            _ => None,
        };
        Kinds { step: kind_of_step(step), answer: kind_of_answer(answer), errno, owner }
    }
}

/// Whether steps answer so without anything being wrong.
fn is_usual(errno: Errno) -> bool {
    matches!(errno, Errno::EEXIST | Errno::ENOENT | Errno::ENOTSUP)
}

const LINKS: [u8; 2] = [12, 13];

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
        Step::Link(..) => LINKS[0],
        Step::LinkNameless(..) => LINKS[1],
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
