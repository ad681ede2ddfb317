//! Which of the waits of a run's checkpoints counts, and in which state it is. Pure.

use crate::types::Millis;

/// What has become of a decision that a run was stopped for. In order of what counts: a run that
/// waits is not told as one that has its answer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum ParkState {
    /// It is waited for.
    Outstanding,
    /// It was not taken before its deadline.
    Expired,
    /// It was taken.
    Resolved,
}

impl ParkState {
    /// All of them.
    pub const ALL: [ParkState; 3] =
        [ParkState::Outstanding, ParkState::Expired, ParkState::Resolved];

    /// As JavaScript has it.
    pub fn as_str(self) -> &'static str {
        match self {
            ParkState::Outstanding => "outstanding",
            ParkState::Expired => "expired",
            ParkState::Resolved => "resolved",
        }
    }
}

/// What a park's state and rank depend on.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Wait {
    /// Since when the run waits.
    pub parked_at: Millis,
    /// The first instant at which the decision comes too late; `None` for never.
    pub deadline_at: Option<Millis>,
    /// Whether it was taken, which counts even after the deadline.
    pub resolved: bool,
}

impl Wait {
    /// Its state at `now`.
    pub fn state(self, now: Millis) -> ParkState {
        if self.resolved {
            ParkState::Resolved
        } else if self.deadline_at.is_some_and(|deadline| now >= deadline) {
            ParkState::Expired
        } else {
            ParkState::Outstanding
        }
    }
}

/// What ranks a wait among those of one run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Rank {
    pub(super) state: ParkState,
    parked_at: Millis,
}

impl Rank {
    pub(super) fn of(wait: Wait, now: Millis) -> Rank {
        Rank { state: wait.state(now), parked_at: wait.parked_at }
    }

    /// Whether this one counts rather than `other`: the state decides, then which is newer. Of
    /// equals neither does, so that whoever keeps the first it meets keeps it.
    pub(super) fn beats(self, other: Rank) -> bool {
        self.state < other.state || (self.state == other.state && self.parked_at > other.parked_at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(number: f64) -> Millis {
        Millis::new(number).expect("finite")
    }

    fn wait(parked_at: f64, deadline_at: Option<f64>, resolved: bool) -> Wait {
        Wait { parked_at: millis(parked_at), deadline_at: deadline_at.map(millis), resolved }
    }

    /// Guards the boundary of a deadline, that none never expires, and that an answer after the
    /// deadline is an answer.
    #[test]
    fn a_wait_ends_with_its_answer_or_at_its_deadline() {
        let state = |wait: Wait| wait.state(millis(100.0));
        assert_eq!(state(wait(1.0, Some(100.5), false)), ParkState::Outstanding);
        assert_eq!(state(wait(1.0, Some(100.0), false)), ParkState::Expired);
        assert_eq!(state(wait(1.0, Some(99.0), false)), ParkState::Expired);
        assert_eq!(state(wait(1.0, None, false)), ParkState::Outstanding);
        assert_eq!(state(wait(1.0, Some(99.0), true)), ParkState::Resolved);
        assert_eq!(state(wait(1.0, None, true)), ParkState::Resolved);
    }

    /// Guards the choice among a run's waits: its state comes before its age, and of two that are
    /// alike neither displaces the other.
    #[test]
    fn what_is_still_waited_for_counts_first_then_the_newer() {
        let rank = |wait: Wait| Rank::of(wait, millis(100.0));
        let outstanding = |at| rank(wait(at, None, false));
        let expired = |at| rank(wait(at, Some(50.0), false));
        let resolved = |at| rank(wait(at, Some(50.0), true));
        assert!(outstanding(1.0).beats(expired(9.0)));
        assert!(expired(1.0).beats(resolved(9.0)));
        assert!(outstanding(1.0).beats(resolved(9.0)));
        assert!(!resolved(9.0).beats(outstanding(1.0)));
        for (older, newer) in [(outstanding(1.0), outstanding(2.0)), (expired(1.0), expired(2.0))] {
            assert!(newer.beats(older) && !older.beats(newer) && !newer.beats(newer));
        }
    }
}
