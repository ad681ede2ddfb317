//! Who may take a run: pure, over what was read.

use crate::types::{Fence, Holder, Lease, Millis};

/// What a worker that asks for a run may do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Decision {
    /// Nothing: somebody else's lease is live.
    Held,
    /// Publish this fence.
    Take(Fence),
    /// Nothing ever again: no name is left for a higher fence.
    UsedUp,
}

/// Judges the current holding, `None` for a run never claimed. The same rule serves a first claim,
/// a reclaim and a renewal; each takes the next fence. `renewer` is whose live lease does not hold
/// the run against the caller, if anybody's.
pub(crate) fn decide(current: Option<&Lease>, renewer: Option<&Holder>, now: Millis) -> Decision {
    let Some(lease) = current else {
        return Fence::NONE.next().map_or(Decision::UsedUp, Decision::Take);
    };
    mutant!(EndIsLive => if now == lease.expires_at && renewer != Some(&lease.holder) {
        return Decision::Held;
    });
    match lease.fence.next() {
        None => Decision::UsedUp,
        Some(_) if lease.is_live(now) && renewer != Some(&lease.holder) => Decision::Held,
        Some(next) => Decision::Take(next),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::LAST_FENCE;

    fn lease(holder: &str, fence: u64, expires_at: f64) -> Lease {
        Lease {
            holder: Holder::from_body(holder.encode_utf16().collect()),
            fence: Fence::new(fence).expect("a safe integer"),
            expires_at: Millis::new(expires_at).expect("finite"),
        }
    }

    fn asked(current: Option<&Lease>, now: f64) -> Decision {
        let holder = Holder::new("a".encode_utf16().collect()).expect("not empty");
        decide(current, Some(&holder), Millis::new(now).expect("finite"))
    }

    fn take(fence: u64) -> Decision {
        Decision::Take(Fence::new(fence).expect("a safe integer"))
    }

    /// Guards the one promise: a live lease of another is never taken, and its end frees the run
    /// at the very instant.
    #[test]
    fn a_live_lease_of_another_holds_until_its_very_end() {
        let theirs = lease("b", 4, 100.5);
        assert_eq!(asked(Some(&theirs), 100.0), Decision::Held);
        assert_eq!(asked(Some(&theirs), 100.5), take(5));
        assert_eq!(asked(Some(&lease("", 4, 100.5)), 100.0), Decision::Held);
    }

    #[test]
    fn ones_own_lease_is_renewed_under_the_next_fence() {
        assert_eq!(asked(Some(&lease("a", 4, 100.0)), 0.0), take(5));
        assert_eq!(asked(None, 0.0), take(1));
        assert_eq!(asked(Some(&lease("", 4, 0.0)), 0.0), take(5));
    }

    /// Guards workers that share a holder's name and take whatever is free: one would be told that
    /// it holds a run which another of them was just given.
    #[test]
    fn who_does_not_renew_is_held_by_its_own_lease_too() {
        let now = |now| Millis::new(now).expect("finite");
        let own = lease("a", 4, 100.0);
        assert_eq!(decide(Some(&own), None, now(99.0)), Decision::Held);
        assert_eq!(decide(Some(&own), None, now(100.0)), take(5));
        assert_eq!(decide(None, None, now(0.0)), take(1));
    }

    /// Guards that a used-up fence space is never told as "somebody holds it", live or not.
    #[test]
    fn the_last_fence_ends_it() {
        assert_eq!(asked(Some(&lease("b", LAST_FENCE, 1e300)), 0.0), Decision::UsedUp);
        assert_eq!(asked(Some(&lease("b", LAST_FENCE - 1, 0.0)), 0.0), take(LAST_FENCE));
    }
}
