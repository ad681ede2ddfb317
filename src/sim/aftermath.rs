//! What becomes of a run when all its workers stop at one instant, whatever they were in the
//! middle of: when they are killed, or when the power is lost. A taker that comes later, when all
//! leases have ended, must succeed at once and leave the directory clean. As every instant of
//! every interleaving is looked at, this is a crash of all workers between any two steps.

use super::call::{CHECKPOINT, Call, holder, request};
use super::check::{Promise, Violation};
use super::fingerprint::fingerprint;
use super::fs::Files;
use super::model::Model;
use super::scenario::Scenario;
use super::state::State;
use super::tables::locked;
use crate::checkpoint::{self, Write};
use crate::claim;
use crate::directory::Durability;
use crate::names::{self, Name};
use crate::types::Fence;
use std::collections::HashSet;

/// An instant at which every lease has ended and every scratch file is old.
const LATER_MS: i64 = 1_000_000_000;

/// The actor that comes later.
const LATECOMER: u8 = u8::MAX;

/// How many steps a claim, a write and another write may take, beside one for each name.
const MOST_STEPS: u64 = 80;

/// Instants that were looked at already.
#[derive(Default, Debug)]
pub(crate) struct Aftermath {
    known: HashSet<u128>,
}

impl Model {
    /// Whether all is well when every worker stops now.
    pub(crate) fn after_all_stop(&self, state: &State) -> Result<(), Violation> {
        let leases: Vec<_> = state.workers.iter().map(|worker| worker.lease).collect();
        let seen = fingerprint(&(&state.files, state.highest(), leases, &state.shown));
        if !self.aftermath.borrow_mut().known.insert(seen) {
            return Ok(());
        }
        self.litter_is_bounded(state)?;
        self.latecomer(&state.files, state.highest())?;
        if !self.scenario.volume.power {
            return Ok(());
        }
        let cuts = state.files.without_power(&mut locked(&self.tables));
        cuts.iter().try_for_each(|files| self.after_power_loss(state, files))
    }

    /// Whether there are no more unfinished files than workers and faults that can have left them:
    /// one each, and no scratch at all where files can do without a name.
    fn litter_is_bounded(&self, state: &State) -> Result<(), Violation> {
        let (mut scratch, mut staged) = (0, 0);
        {
            let tables = locked(&self.tables);
            for (name, _) in state.files.entries(self.claims) {
                scratch += usize::from(tables.meaning(*name) == Name::Scratch);
                staged += usize::from(matches!(tables.meaning(*name), Name::Staged(_)));
            }
        }
        let Scenario { faults, volume, workers, kept_fences, .. } = &self.scenario;
        let struck = (faults.crashes - state.left.crashes) + (faults.errors - state.left.errors);
        let running = state.workers.iter().filter(|worker| worker.running.is_some()).count();
        let most = running + usize::from(struck);
        // An outage can bring back what was removed.
        let bounded = scratch + staged <= most || faults.outages > state.left.outages;
        self.judge(Promise::P5, bounded, || {
            format!("{scratch} scratch and {staged} staged files, where at most {most} can be")
        })?;
        let peers = workers.iter().flat_map(|worker| &worker.calls);
        let named = peers.into_iter().any(|call| matches!(call, Call::PeerAcquire { .. }))
            || faults.errors > state.left.errors
            || faults.outages > state.left.outages
            || !(volume.nameless && volume.links)
            // The name that was lost can be free again when the loser looks who has it.
            || *kept_fences < 32;
        self.judge(Promise::P5, scratch == 0 || named, || {
            "a scratch file has a name, where it could do without".into()
        })
    }

    /// A taker that comes when all leases have ended.
    fn latecomer(&self, files: &Files, highest: u64) -> Result<(), Violation> {
        let world = self.direct(files.clone(), LATER_MS, LATECOMER);
        let run_dir = &self.setting.run_dir;
        let durability = self.scenario.durability;
        let fault = self.scenario.faults.always.is_some() || !self.scenario.volume.links;
        if fault {
            return Ok(());
        }
        let request = request(holder("latecomer"), 1_000, LATER_MS, durability);
        let taken = claim::acquire(&world, run_dir, &request);
        let Ok(Some(lease)) = &taken else {
            return self.judge(Promise::P5, false, || format!("the next taker is told {taken:?}"));
        };
        let fence = lease.fence.get();
        self.judge(Promise::P2, fence > highest, || {
            format!("the next taker gets {fence}, and {highest} had been returned")
        })?;
        self.is_clean(&world.files(), lease.fence)?;
        self.writes(&world, lease.fence)?;
        let names = files.entries(self.claims).len() as u64;
        let (steps, most) = (world.steps(), MOST_STEPS + 4 * names);
        self.judge(Promise::P8, steps <= most, || format!("the next taker needs {steps} steps"))
    }

    /// Whether a claim has left nothing in the directory that is of no use any more.
    fn is_clean(&self, files: &Files, fence: Fence) -> Result<(), Violation> {
        let floor = fence.get().saturating_sub(self.scenario.kept_fences);
        let tables = locked(&self.tables);
        let mut litter =
            files.entries(self.claims).iter().filter(|(name, _)| match tables.meaning(*name) {
                Name::Holding(fence) => fence.get() < floor,
                Name::Staged(_) | Name::Scratch => true,
                Name::Foreign => false,
            });
        match litter.next() {
            None => Ok(()),
            Some((name, _)) => self.judge(Promise::P5, false, || {
                format!("{:?} stays after a claim of {fence}", tables.name_text(*name))
            }),
        }
    }

    /// Whether checkpoints can be written afterwards, and scratch files go when they are.
    fn writes(
        &self,
        world: &super::world::World<super::direct::Direct>,
        fence: Fence,
    ) -> Result<(), Violation> {
        for fence in [Some(fence), None] {
            let write = Write {
                run_dir: &self.setting.run_dir,
                id: CHECKPOINT,
                bytes: b"checkpoint 0 of 255",
                fence,
                durability: Durability::Process,
            };
            let written = checkpoint::write(world, &write);
            self.judge(Promise::P5, written.is_ok(), || {
                format!("the next writer is told {written:?}")
            })?;
        }
        let files = world.files();
        self.checkpoint_is_whole(&files)?;
        let tables = locked(&self.tables);
        let mut scratch = files
            .entries(self.checkpoints)
            .iter()
            .filter(|(name, _)| names::is_scratch(tables.name_text(*name).as_encoded_bytes()));
        match scratch.next() {
            None => Ok(()),
            Some((name, _)) => self.judge(Promise::P5, false, || {
                format!("{:?} stays in the checkpoints", tables.name_text(*name))
            }),
        }
    }

    /// What the loss of power has left.
    fn after_power_loss(&self, state: &State, files: &Files) -> Result<(), Violation> {
        if self.scenario.durability != Durability::Power {
            return Ok(());
        }
        self.latecomer(files, state.highest()).map_err(lost_power)?;
        self.holdings_are_whole(files).map_err(lost_power)?;
        self.checkpoint_is_whole(files).map_err(lost_power)?;
        let kept = state.shown.contains(&self.shown(files));
        self.judge(Promise::P7, kept, || "a written checkpoint is gone".into())
            .map_err(lost_power)?;
        self.still_held(state, files).map_err(lost_power)
    }

    /// A lease that somebody was told of is still respected.
    fn still_held(&self, state: &State, files: &Files) -> Result<(), Violation> {
        if state.workers.iter().all(|worker| worker.lease.is_none()) {
            return Ok(());
        }
        let world = self.direct(files.clone(), state.clock_ms, LATECOMER);
        let durability = self.scenario.durability;
        let request = request(holder("latecomer"), 1_000, state.clock_ms, durability);
        let taken = claim::acquire(&world, &self.setting.run_dir, &request);
        self.judge(Promise::P1, taken == Ok(None), || {
            format!("a lease is live, and the next taker is told {taken:?}")
        })
    }
}

fn lost_power(violation: Violation) -> Violation {
    Violation { why: format!("after the loss of power: {}", violation.why), ..violation }
}
