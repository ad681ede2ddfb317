//! What is searched: which actors with which programs, on which volume, beginning with what, and
//! which faults may strike.

use super::call::Call;
use super::check::Promise;
use super::fault::Fault;
use super::fs::Volume;
use super::mutant::Mutant;
use crate::directory::Durability;
use crate::env::Op;

/// The instant at which every scenario begins, in milliseconds.
pub const BEGINNING_MS: i64 = 1_000_000;

/// One worker: its name, its clock and what it does.
#[derive(Clone, Debug)]
pub struct Worker {
    /// Two workers of one name are one worker that was started twice.
    pub holder: &'static str,
    /// What it does, in this order.
    pub calls: Vec<Call>,
    /// What it does once it has crashed and was started again; nothing: it stays dead.
    pub after_crash: Vec<Call>,
    /// By how much its clock is behind the shared one; negative: ahead of it.
    pub behind_ms: i64,
    /// The worker whose fence its writes carry, by number; unless told, its own.
    pub writes_for: Option<usize>,
}

impl Worker {
    /// A worker with a clock that is right.
    pub fn new(holder: &'static str, calls: &[Call]) -> Worker {
        let calls = calls.to_vec();
        Worker { holder, calls, after_crash: Vec::new(), behind_ms: 0, writes_for: None }
    }
}

/// What is there when a scenario begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Start {
    /// Not even the run's directory.
    Nothing,
    /// A run whose directories were made, and that nobody ever claimed.
    Free,
    /// A run that a worker took as many times as told, and was told so each time.
    Taken {
        /// The worker, by number.
        worker: usize,
        /// How long its last lease lasts from the beginning; 0: it has ended.
        ttl_ms: i64,
        /// How often it took or renewed it.
        times: u64,
    },
}

/// Which errors may be made up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Errors {
    /// For each step one of every kind that the core tells apart.
    Kinds,
    /// For each step every error that has a name.
    All,
}

/// What may go wrong, and how often.
#[derive(Clone, Debug)]
pub struct Faults {
    /// How many workers may be killed between two steps of a call.
    pub crashes: u8,
    /// How many steps may fail.
    pub errors: u8,
    /// Which errors these are.
    pub kinds: Errors,
    /// Whether a step may do its work and fail all the same.
    pub landed: bool,
    /// How often the power of the volume may be lost while the workers, on other hosts, go on.
    pub outages: u8,
    /// By how much the shared clock may move, one after the other; a negative move is a clock
    /// that was put back.
    pub ticks_ms: Vec<i64>,
    /// A fault that strikes every such step of the volume.
    pub always: Option<(Op, Fault)>,
}

impl Faults {
    /// Nothing goes wrong.
    pub fn none() -> Faults {
        Faults {
            crashes: 0,
            errors: 0,
            kinds: Errors::Kinds,
            landed: false,
            outages: 0,
            ticks_ms: Vec::new(),
            always: None,
        }
    }
}

/// One thing to search.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// By which it is told and replayed.
    pub name: &'static str,
    /// Who takes part.
    pub workers: Vec<Worker>,
    /// On which volume.
    pub volume: Volume,
    /// What claims and writes survive.
    pub durability: Durability,
    /// How many fences below the highest stay on disk.
    pub kept_fences: u64,
    /// How often an operation tries again; as many as ships is 8.
    pub rounds: usize,
    /// What is there at first.
    pub start: Start,
    /// What may go wrong.
    pub faults: Faults,
    /// The one promise that is judged; unless told, all are.
    pub judged: Option<Promise>,
    /// The line of the protocol that is broken on purpose.
    pub mutant: Option<Mutant>,
}

impl Scenario {
    /// Workers on a local volume on which nothing goes wrong, with a run that nobody has claimed.
    pub fn new(name: &'static str, workers: Vec<Worker>) -> Scenario {
        Scenario {
            name,
            workers,
            volume: Volume { nameless: true, links: true, power: false },
            durability: Durability::Process,
            kept_fences: 32,
            rounds: 8,
            start: Start::Free,
            faults: Faults::none(),
            judged: None,
            mutant: None,
        }
    }
}
