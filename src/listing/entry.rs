//! A row of a listing: what it is made of, and its text. Pure.

use super::park::{ParkState, Rank, Wait};
use crate::checkpoint::format::Park;
use crate::json::{push_number, push_str, push_units};
use crate::types::{Lease, Millis};

/// What a row needs of one checkpoint.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Glance {
    /// When the checkpoint was made.
    pub created_at: Millis,
    /// When its run was made, if it says so.
    pub run_created_at: Option<Millis>,
    /// What the run waits for, if anything.
    pub wait: Option<Wait>,
}

/// What a run's checkpoints come to, taken in one after another in the order of their files.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct Tally {
    /// How many there are.
    pub count: usize,
    /// When the latest was made: the first with the greatest time.
    pub latest_at: Option<Millis>,
    /// The smallest time that any gives for the making of the run.
    pub run_created_at: Option<Millis>,
    park: Option<Rank>,
}

/// What a checkpoint is to its run, as far as those before it tell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Standing {
    /// It is the latest.
    pub is_latest: bool,
    /// Its wait is the one that counts.
    pub is_park: bool,
}

impl Tally {
    /// Takes in the next checkpoint.
    pub fn add(&mut self, glance: Glance, now: Millis) -> Standing {
        self.count += 1;
        let is_latest = self.latest_at.is_none_or(|latest| glance.created_at > latest);
        if is_latest {
            self.latest_at = Some(glance.created_at);
        }
        let earliest = self.run_created_at;
        if earliest.is_none_or(|earliest| glance.run_created_at.is_some_and(|at| at < earliest)) {
            self.run_created_at = glance.run_created_at;
        }
        let rank = glance.wait.map(|wait| Rank::of(wait, now));
        let is_park = rank.is_some_and(|rank| self.park.is_none_or(|park| rank.beats(park)));
        if is_park {
            self.park = rank;
        }
        Standing { is_latest, is_park }
    }

    /// The state of the wait that counts.
    pub fn park_state(&self) -> Option<ParkState> {
        self.park.map(|park| park.state)
    }
}

/// A run as a listing tells of it. Strings that JavaScript made are UTF-16 units.
#[derive(Clone, PartialEq, Debug)]
pub struct Row {
    /// Its id.
    pub run: String,
    /// The id of the run that it belongs to, of a sub-run.
    pub parent: Option<String>,
    /// What its checkpoints come to: at least one.
    pub tally: Tally,
    /// The id of the latest checkpoint.
    pub latest_id: Vec<u16>,
    /// What the run waits for: the checkpoint's id, and what it says.
    pub park: Option<(Vec<u16>, Park)>,
    /// Its claim, if it ever had one.
    pub claim: Option<Claim>,
}

/// A run's claim as a listing shows it.
#[derive(Clone, PartialEq, Debug)]
pub struct Claim {
    /// The current holding.
    pub lease: Lease,
    /// Whether it had ended.
    pub expired: bool,
}

impl Row {
    /// Appends the row as a JSON object. `scope` is the text of its first members, as
    /// [`push_scope`] makes it.
    pub fn push_json(&self, out: &mut Vec<u8>, scope: &[u8]) {
        out.push(b'{');
        out.extend_from_slice(scope);
        out.extend_from_slice(b",\"runId\":");
        push_str(out, &self.run);
        if let Some(parent) = &self.parent {
            out.extend_from_slice(b",\"parentRunId\":");
            push_str(out, parent);
        }
        if let Some(at) = self.tally.run_created_at {
            push_millis(out, b",\"runCreatedAt\":", at);
        }
        out.extend_from_slice(b",\"checkpointCount\":");
        push_number(out, self.tally.count as f64);
        out.extend_from_slice(b",\"latestCheckpointId\":");
        push_units(out, &self.latest_id);
        push_millis(out, b",\"latestCheckpointAt\":", self.tally.latest_at.unwrap_or_default());
        if let (Some(state), Some((id, park))) = (self.tally.park_state(), &self.park) {
            out.extend_from_slice(b",\"park\":");
            push_park(out, state, id, park);
        }
        if let Some(claim) = &self.claim {
            out.extend_from_slice(b",\"claim\":");
            claim.push_json(out);
        }
        out.push(b'}');
    }
}

fn push_park(out: &mut Vec<u8>, state: ParkState, id: &[u16], park: &Park) {
    out.extend_from_slice(b"{\"state\":");
    push_str(out, state.as_str());
    out.extend_from_slice(b",\"checkpointId\":");
    push_units(out, id);
    out.extend_from_slice(b",\"requestType\":");
    push_units(out, &park.request_type);
    push_millis(out, b",\"parkedAt\":", park.parked_at);
    if let Some(at) = park.deadline_at {
        push_millis(out, b",\"deadlineAt\":", at);
    }
    if let Some(at) = park.resolved_at {
        push_millis(out, b",\"resolvedAt\":", at);
    }
    out.push(b'}');
}

impl Claim {
    fn push_json(&self, out: &mut Vec<u8>) {
        push_lease(out, &self.lease);
        out.pop();
        let expired: &[u8] = if self.expired { b"true" } else { b"false" };
        out.extend_from_slice(b",\"expired\":");
        out.extend_from_slice(expired);
        out.push(b'}');
    }
}

/// Appends a lease as a JSON object.
pub fn push_lease(out: &mut Vec<u8>, lease: &Lease) {
    out.extend_from_slice(b"{\"holder\":");
    push_units(out, lease.holder.units());
    out.extend_from_slice(b",\"fence\":");
    push_number(out, lease.fence.get() as f64);
    push_millis(out, b",\"expiresAt\":", lease.expires_at);
    out.push(b'}');
}

/// Appends the members that all rows of a listing begin with.
pub fn push_scope(out: &mut Vec<u8>, tenant: &[u16], project: &[u16], session: &[u16]) {
    out.extend_from_slice(b"\"tenantId\":");
    push_units(out, tenant);
    out.extend_from_slice(b",\"projectId\":");
    push_units(out, project);
    out.extend_from_slice(b",\"sessionId\":");
    push_units(out, session);
}

fn push_millis(out: &mut Vec<u8>, key: &[u8], millis: Millis) {
    out.extend_from_slice(key);
    push_number(out, millis.get());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{Fence, Holder};

    fn millis(number: f64) -> Millis {
        Millis::new(number).expect("finite")
    }

    fn units(text: &str) -> Vec<u16> {
        text.encode_utf16().collect()
    }

    /// The tally of checkpoints made at these times, of a run made at those; and which of them is
    /// the latest, and which the park.
    fn tally(checkpoints: &[Glance]) -> (Tally, Option<usize>, Option<usize>) {
        let (mut tally, mut latest, mut park) = (Tally::default(), None, None);
        for (number, glance) in checkpoints.iter().enumerate() {
            let standing = tally.add(*glance, millis(100.0));
            latest = if standing.is_latest { Some(number) } else { latest };
            park = if standing.is_park { Some(number) } else { park };
        }
        (tally, latest, park)
    }

    fn glance(created_at: f64, run_created_at: Option<f64>) -> Glance {
        let run_created_at = run_created_at.and_then(Millis::new);
        Glance { created_at: millis(created_at), run_created_at, wait: None }
    }

    /// Guards what a row tells of many checkpoints: the first of the latest, and the earliest time
    /// that any gives for the run.
    #[test]
    fn the_first_of_the_latest_and_the_earliest_making_count() {
        let (tally, latest, park) = tally(&[
            glance(1.0, None),
            glance(7.0, Some(5.0)),
            glance(7.0, Some(-2.0)),
            glance(3.0, None),
            glance(6.0, Some(3.0)),
        ]);
        assert_eq!((tally.count, tally.latest_at, latest), (5, Some(millis(7.0)), Some(1)));
        assert_eq!((tally.run_created_at, park), (Some(millis(-2.0)), None));
    }

    /// Guards the choice among waits of several checkpoints, of which the first of equals counts.
    #[test]
    fn the_wait_that_counts_is_found_wherever_it_stands() {
        let wait = |parked_at: f64, deadline: f64, resolved| {
            let deadline_at = Some(millis(deadline));
            let wait = Some(Wait { parked_at: millis(parked_at), deadline_at, resolved });
            Glance { wait, ..glance(1.0, None) }
        };
        let (resolved, expired) = (wait(9.0, 200.0, true), wait(8.0, 50.0, false));
        let (open, newer) = (wait(1.0, 200.0, false), wait(2.0, 200.0, false));
        let none = glance(1.0, None);
        for (checkpoints, wanted) in [
            (vec![none, resolved, none], Some((1, ParkState::Resolved))),
            (vec![resolved, expired, resolved], Some((1, ParkState::Expired))),
            (vec![open, resolved, expired], Some((0, ParkState::Outstanding))),
            (vec![open, newer, open], Some((1, ParkState::Outstanding))),
            (vec![expired, newer, newer], Some((1, ParkState::Outstanding))),
            (vec![none], None),
        ] {
            let (tally, _, park) = tally(&checkpoints);
            assert_eq!(park.zip(tally.park_state()), wanted);
        }
    }

    /// Guards the text of a row: the members that hosts know, in their order, absent where there is
    /// nothing to tell.
    #[test]
    fn a_row_is_written_with_what_there_is() {
        let mut scope = Vec::new();
        push_scope(&mut scope, &units("t"), &units("p\""), &[0xD800]);
        let text = |row: &Row| {
            let mut text = Vec::new();
            row.push_json(&mut text, &scope);
            String::from_utf8(text).expect("UTF-8")
        };
        let (tally, ..) = tally(&[glance(5.5, None)]);
        let bare = Row {
            run: "run_é".to_owned(),
            parent: None,
            tally: tally.clone(),
            latest_id: units("cp"),
            park: None,
            claim: None,
        };
        let start = r#"{"tenantId":"t","projectId":"p\"","sessionId":"\ud800","runId":"run_é""#;
        let counts = r#""checkpointCount":1,"latestCheckpointId":"cp","latestCheckpointAt":5.5"#;
        assert_eq!(text(&bare), format!("{start},{counts}}}"));

        let wait = Wait { parked_at: millis(1.0), deadline_at: None, resolved: true };
        let glance = Glance { wait: Some(wait), ..glance(5.5, Some(4.0)) };
        let mut tally = Tally::default();
        tally.add(glance, millis(100.0));
        let park = Park {
            request_type: units("q"),
            parked_at: millis(1.0),
            deadline_at: Some(millis(2.0)),
            resolved: true,
            resolved_at: Some(millis(3.0)),
        };
        let lease = Lease {
            holder: Holder::new(units("w")).expect("not empty"),
            fence: Fence::new(7).expect("a fence"),
            expires_at: millis(9.0),
        };
        let full = Row {
            parent: Some("run_p".to_owned()),
            tally,
            park: Some((units("cp"), park)),
            claim: Some(Claim { lease, expired: true }),
            ..bare
        };
        let park = r#""park":{"state":"resolved","checkpointId":"cp","requestType":"q","parkedAt":1,"deadlineAt":2,"resolvedAt":3}"#;
        let claim = r#""claim":{"holder":"w","fence":7,"expiresAt":9,"expired":true}"#;
        assert_eq!(
            text(&full),
            format!(r#"{start},"parentRunId":"run_p","runCreatedAt":4,{counts},{park},{claim}}}"#)
        );
    }
}
