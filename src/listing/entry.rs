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
