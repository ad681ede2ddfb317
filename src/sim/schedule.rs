//! What can happen next, and what it makes of the world. Any worker may do its next step, with the
//! answer that is true or with one of a fault; or be killed; or the clock may move.
//!
//! Two things keep the number of states small, and neither hides anything. A step that no other
//! worker and no promise can tell from a later one (making a file without a name, say) is done as
//! soon as it can be, as nothing that happens in between could change it. And a listing begins as
//! soon as it can: the earlier it begins, the more names may come and go while it lasts, and a
//! listing that began later could tell nothing that this one cannot.

use super::call::{Act, Bound, Call, Taker};
use super::fault::{Fault, faults};
use super::model::Model;
use super::programs::{Next, Past};
use super::state::State;
use super::step::Step;
use super::tables::locked;

/// One thing that can happen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Action {
    /// A worker makes its next call.
    Begin(usize),
    /// A worker does its next step.
    Step(usize, Way),
    /// A worker is killed.
    Crash(usize),
    /// The clock moves.
    Tick,
    /// The volume loses its power and comes back, in this one of the states that it may be in.
    Outage(usize),
}

/// How a step goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Way {
    Truly,
    /// A listing that tells these of the names that came or went meanwhile, as bits.
    Telling(u64),
    Failing(Fault),
}

/// More names than this that came or went during one listing are not told in every combination.
const LOOSE_IN_FULL: usize = 5;

impl Model {
    /// All that can happen next.
    pub(crate) fn actions(&self, state: &State) -> Vec<Action> {
        if let Some((worker, step)) = self.local_step(state) {
            return self.ways(state, worker, step).map(|way| Action::Step(worker, way)).collect();
        }
        let mut actions = Vec::new();
        for (at, worker) in state.workers.iter().enumerate() {
            if let Some(past) = worker.running {
                let step = self.asked(past);
                actions.extend(self.ways(state, at, step).map(|way| Action::Step(at, way)));
                if state.left.crashes > 0 {
                    actions.push(Action::Crash(at));
                }
            } else if self.bound(state, at).is_some() {
                actions.push(Action::Begin(at));
            }
        }
        if self.tick(state).is_some() {
            actions.push(Action::Tick);
        }
        if state.left.outages > 0 {
            let found = state.files.without_power(&mut locked(&self.tables));
            actions.extend((0..found.len()).map(Action::Outage));
        }
        actions
    }

    pub(super) fn asked(&self, past: Past) -> Step {
        match self.programs.borrow().next(past) {
            Next::Asks(step) => *step,
            Next::Ends(_) => unreachable!("a call that has ended is taken off at once"),
        }
    }

    /// A step that is done as soon as it can be.
    pub(super) fn local_step(&self, state: &State) -> Option<(usize, Step)> {
        let steps = state
            .workers
            .iter()
            .enumerate()
            .filter_map(|(at, worker)| worker.running.map(|past| (at, self.asked(past))));
        steps.into_iter().find(|(_, step)| self.is_local(state, *step))
    }

    fn is_local(&self, state: &State, step: Step) -> bool {
        if state.left.outages > 0 {
            // Anything may be gone a moment later.
            return matches!(step, Step::Random | Step::Now | Step::Pause);
        }
        let power = self.scenario.volume.power;
        match step {
            Step::Random | Step::Now | Step::Pause | Step::CreateNameless(_) => true,
            Step::Write(file, _) => state.files.is_nameless(file),
            Step::Sync(file) => !power || state.files.is_nameless(file),
            Step::Close(_) => true,
            Step::SyncDir(_) => !power,
            // Nothing here removes a directory.
            Step::OpenDir(path) => state.files.dir_at(path, &locked(&self.tables)).is_some(),
            _ => false,
        }
    }

    /// How a worker's next step can go.
    pub(super) fn ways(
        &self,
        state: &State,
        worker: usize,
        step: Step,
    ) -> impl Iterator<Item = Way> + use<> {
        let volume = self.scenario.volume;
        let always = self.scenario.faults.always;
        let truly = match (always, &state.workers[worker].listing) {
            (Some((op, fault)), _) if op == step.op(fault.errno) => vec![Way::Failing(fault)],
            (_, Some(listing)) => tellings(listing.loose().len()),
            _ => vec![Way::Truly],
        };
        let mut failing = Vec::new();
        if state.left.errors > 0 {
            let faulty = &self.scenario.faults;
            let making = state.workers[worker].running.is_some_and(|past| {
                matches!(self.programs.borrow().call(past).act, Act::Acquire { .. })
            });
            failing = faults(step, faulty.kinds, faulty.landed, volume.nameless, making);
        }
        truly.into_iter().chain(failing.into_iter().map(Way::Failing))
    }

    fn next_call(&self, state: &State, at: usize) -> Option<&Call> {
        let worker = &state.workers[at];
        let spec = &self.scenario.workers[at];
        let calls = if worker.crashed { &spec.after_crash } else { &spec.calls };
        calls.get(usize::from(worker.ended))
    }

    /// Passes over calls that need a fence of their own, of a worker that was told none.
    pub(super) fn pass_over(&self, state: &mut State, at: usize) {
        let own = self.scenario.workers[at].writes_for.is_none();
        while state.workers[at].fence.is_none()
            && match self.next_call(state, at) {
                Some(Call::Release) => true,
                Some(Call::Write) => own,
                _ => false,
            }
        {
            state.workers[at].ended += 1;
        }
    }

    /// The next call of a worker that is in none.
    pub(super) fn bound(&self, state: &State, at: usize) -> Option<Bound> {
        let worker = &state.workers[at];
        let spec = &self.scenario.workers[at];
        let call = self.next_call(state, at)?;
        let now_ms = state.clock_ms - spec.behind_ms;
        let act = match *call {
            Call::Acquire { ttl_ms } => Act::Acquire { now_ms, ttl_ms, taker: Taker::Renews },
            Call::AcquireFree { ttl_ms } => Act::Acquire { now_ms, ttl_ms, taker: Taker::Free },
            Call::PeerAcquire { ttl_ms } => Act::Acquire { now_ms, ttl_ms, taker: Taker::Peer },
            Call::Release => Act::Release { fence: worker.fence? },
            Call::Write => {
                let fence = state.workers[spec.writes_for.unwrap_or(at)].fence?;
                Act::Write { fence: Some(fence) }
            }
            Call::WriteUnfenced => Act::Write { fence: None },
            Call::Read => Act::Read,
        };
        Some(Bound { actor: at as u8, number: worker.begun, act })
    }

    pub(super) fn tick(&self, state: &State) -> Option<i64> {
        self.scenario.faults.ticks_ms.get(usize::from(state.left.ticked)).copied()
    }
}

/// Every subset of so many names, as bits; of many names only the extremes.
fn tellings(loose: usize) -> Vec<Way> {
    if loose == 0 {
        return vec![Way::Truly];
    }
    let all = u64::MAX >> (64 - loose.min(64));
    if loose <= LOOSE_IN_FULL {
        return (0..=all).map(Way::Telling).collect();
    }
    let ones = (0..loose.min(64)).map(|at| 1 << at);
    let subsets = [0, all].into_iter().chain(ones.flat_map(|one| [one, all & !one]));
    subsets.map(Way::Telling).collect()
}
