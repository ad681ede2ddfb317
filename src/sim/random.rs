//! Long runs that a seed decides: what takes part, what goes wrong, and who does the next step.
//! They go where a search of all interleavings cannot, and a violation is told by its seed, which
//! replays it.
//!
//! Whoever does the next step is drawn by weights that differ a thousandfold and are drawn anew
//! now and then. So most workers stand still for long while others pass them by, which is what the
//! protocol has to survive and what a fair choice would hardly ever do.

use super::call::Call;
use super::check::Violation;
use super::fault::Fault;
use super::fs::Volume;
use super::model::Model;
use super::mutant::Mutant;
use super::scenario::{Errors, Faults, Scenario, Start, Worker};
use super::schedule::{Action, Way};
use super::state::State;
use crate::directory::Durability;
use std::fmt;

/// After so many steps a run has gone round in circles.
const LONGEST_RUN: usize = 20_000;

/// Of so many steps, one is followed by a look at what would be left if all workers stopped.
const LOOKS: u64 = 8;

/// Numbers that a seed decides (SplitMix64).
#[derive(Debug)]
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.roll() % end
    }

    fn one_in(&mut self, odds: u64) -> bool {
        self.below(odds) == 0
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }

    /// From 1 to 1024, each power of two as often as any other.
    fn weight(&mut self) -> u64 {
        1 << self.below(11)
    }
}

/// What a run did.
#[derive(Clone, Debug)]
pub struct Run {
    /// By which it is replayed.
    pub seed: u64,
    /// How many steps were done.
    pub steps: usize,
    /// How many faults struck: crashes, errors and moves of the clock.
    pub faults: usize,
    /// The promise that was broken, if one was, and the way to it.
    pub found: Option<(Violation, Vec<String>)>,
}

impl fmt::Display for Run {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "seed {}: {} steps, {} faults", self.seed, self.steps, self.faults)?;
        let Some((violation, trace)) = &self.found else {
            return write!(out, ", no violation");
        };
        writeln!(out, "\n{:?} is broken: {}", violation.promise, violation.why)?;
        trace.iter().try_for_each(|step| writeln!(out, "  {step}"))
    }
}

/// One run, with a line of the protocol broken on purpose where one is told.
pub fn random(seed: u64, mutant: Option<Mutant>) -> Run {
    let mut dice = Dice(seed);
    let model = Model::new(Scenario { mutant, ..scenario(&mut dice) }, false);
    let mut run = Run { seed, steps: 0, faults: 0, found: None };
    let state = model.initial();
    let _switched = model.switched();
    let mut trace = vec![format!("{:#?}", model.scenario)];
    if let Err(violation) = go(&model, state, &mut dice, &mut run, &mut trace) {
        run.found = Some((violation, trace));
    }
    run
}

fn go(
    model: &Model,
    mut state: State,
    dice: &mut Dice,
    run: &mut Run,
    trace: &mut Vec<String>,
) -> Result<(), Violation> {
    let mut weights: Vec<u64> = model.scenario.workers.iter().map(|_| dice.weight()).collect();
    while run.steps < LONGEST_RUN {
        if dice.one_in(40) {
            let at = dice.below(weights.len() as u64) as usize;
            weights[at] = dice.weight();
        }
        let actions = model.actions(&state);
        let Some(action) = choose(&actions, &weights, dice) else {
            break;
        };
        let is_fault =
            !matches!(action, Action::Begin(_) | Action::Step(_, Way::Truly | Way::Telling(_)));
        run.faults += usize::from(is_fault);
        run.steps += 1;
        let (next, broken) = model.act(&state, action, Some(trace));
        if let Some(violation) = broken {
            return Err(violation);
        }
        if dice.one_in(LOOKS) {
            model.after_all_stop(&next)?;
        }
        state = next;
    }
    model.after_all_stop(&state)
}

/// What happens next: the truth to some worker, mostly.
fn choose(actions: &[Action], weights: &[u64], dice: &mut Dice) -> Option<Action> {
    let weight = |action: &Action| match action {
        Action::Begin(at) | Action::Step(at, Way::Truly) => weights[*at] * 1_000,
        // Each of many answers of one listing.
        Action::Step(at, Way::Telling(_)) => {
            let answers = actions
                .iter()
                .filter(|action| matches!(action, Action::Step(of, Way::Telling(_)) if of == at));
            (weights[*at] * 1_000 / answers.count() as u64).max(1)
        }
        Action::Step(at, Way::Failing(_)) => weights[*at] * 4,
        Action::Crash(at) => weights[*at] * 10,
        Action::Tick => 300,
        Action::Outage(_) => 10,
    };
    let all: u64 = actions.iter().map(weight).sum();
    let mut drawn = dice.below(all.max(1));
    let chosen = actions.iter().copied().find(|action| {
        let weight = weight(action);
        let is_it = drawn < weight;
        drawn = drawn.saturating_sub(weight);
        is_it
    });
    match chosen {
        // Of many names, not every set of those that came or went is among the actions.
        Some(Action::Step(at, Way::Telling(_))) if dice.one_in(2) => {
            Some(Action::Step(at, Way::Telling(dice.roll())))
        }
        chosen => chosen,
    }
}

/// What takes part in a run.
fn scenario(dice: &mut Dice) -> Scenario {
    let count = 2 + dice.below(4) as usize;
    let power = dice.one_in(8);
    // Peers sync nothing.
    let with_peers = !power && dice.one_in(4);
    let workers = (0..count).map(|at| worker(at, with_peers, dice)).collect();
    let nameless = !dice.one_in(3);
    let starts = [
        Start::Nothing,
        Start::Free,
        Start::Taken { worker: 0, ttl_ms: 0, times: 1 },
        Start::Taken { worker: 0, ttl_ms: 1_000, times: 7 },
    ];
    Scenario {
        name: "random",
        workers,
        volume: Volume { nameless, links: true, power },
        durability: if power { Durability::Power } else { Durability::Process },
        // Beside peers the window must be as wide as stalls are long.
        kept_fences: if with_peers { 1_000 } else { dice.pick(&[1, 1, 2, 3, 32]) },
        rounds: 8,
        start: dice.pick(&starts),
        faults: faults(power, dice),
        judged: None,
        mutant: None,
    }
}

fn worker(at: usize, with_peers: bool, dice: &mut Dice) -> Worker {
    let holder = ["a", "b", "c", "d", "e"][at];
    let is_peer = with_peers && at > 0 && dice.one_in(2);
    let kinds = if is_peer { 1 } else { 7 };
    let calls = |dice: &mut Dice, most: u64| -> Vec<Call> {
        let count = 1 + dice.below(most);
        (0..count).map(|_| call(dice.below(kinds), is_peer, dice)).collect()
    };
    Worker {
        holder,
        calls: calls(dice, 24),
        after_crash: if dice.one_in(2) { calls(dice, 8) } else { Vec::new() },
        behind_ms: if dice.one_in(6) { 150 } else { 0 },
        writes_for: (at > 0 && dice.one_in(6)).then(|| dice.below(at as u64) as usize),
    }
}

fn call(kind: u64, is_peer: bool, dice: &mut Dice) -> Call {
    let ttl_ms = dice.pick(&[0, 0, 100, 1_000]);
    match kind {
        0 | 1 if is_peer => Call::PeerAcquire { ttl_ms },
        0..=2 => Call::Acquire { ttl_ms },
        3 => Call::Release,
        4 => Call::WriteUnfenced,
        5 => Call::Read,
        _ => Call::Write,
    }
}

fn faults(power: bool, dice: &mut Dice) -> Faults {
    let moves = [50, 99, 1, 100, 1_000, 1_000, -80, 700_000];
    let ticks = dice.below(8);
    Faults {
        crashes: dice.below(4) as u8,
        // What a second fault may hit, the first one's cure among it, is promised nothing; and the
        // loss of power is one.
        errors: if power { 0 } else { dice.below(2) as u8 },
        kinds: dice.pick(&[Errors::Kinds, Errors::All]),
        landed: dice.one_in(2),
        outages: u8::from(power && dice.one_in(2)),
        ticks_ms: (0..ticks).map(|_| dice.pick(&moves)).collect(),
        always: None::<(crate::env::Op, Fault)>,
    }
}
