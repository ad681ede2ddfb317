//! What can happen next, and what it makes of the world. Any worker may do its next step, with the
//! answer that is true or with one of a fault; or be killed; or the clock may move.
//!
//! Two things keep the number of states small, and neither hides anything. A step that no other
//! worker and no promise can tell from a later one (making a file without a name, say) is done as
//! soon as it can be, as nothing that happens in between could change it. And a listing begins as
//! soon as it can: the earlier it begins, the more names may come and go while it lasts, and a
//! listing that began later could tell nothing that this one cannot.

use super::call::{Act, Bound, Call, Ended};
use super::check::{Promise, Violation};
use super::fault::{Fault, faults};
use super::fs::{Around, Change, Ino};
use super::model::Model;
use super::programs::{Next, Past};
use super::state::{Listing, Seen, State};
use super::step::{Answer, Step};
use super::tables::{NameId, locked};

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

/// The steps after which a call has gone round in circles.
const LONGEST_CALL: usize = 600;

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
        actions
    }

    /// What an action makes of the world, and the first promise that it breaks. `log` is told
    /// every step.
    pub(crate) fn act(
        &self,
        state: &State,
        action: Action,
        log: Option<&mut Vec<String>>,
    ) -> (State, Option<Violation>) {
        let mut turn = Turn { model: self, state: state.clone(), broken: None, log };
        match action {
            Action::Begin(worker) => turn.begin(worker),
            Action::Step(worker, way) => turn.step(worker, way),
            Action::Crash(worker) => turn.crash(worker),
            Action::Tick => turn.tick(),
        }
        while turn.broken.is_none()
            && let Some((worker, step)) = self.local_step(&turn.state)
        {
            let mut ways = self.ways(&turn.state, worker, step);
            match (ways.next(), ways.next()) {
                (Some(way), None) => {
                    drop(ways);
                    turn.step(worker, way);
                }
                _ => break,
            }
        }
        (turn.state, turn.broken)
    }

    fn asked(&self, past: Past) -> Step {
        match self.programs.borrow().next(past) {
            Next::Asks(step) => *step,
            Next::Ends(_) => unreachable!("a call that has ended is taken off at once"),
        }
    }

    /// A step that is done as soon as it can be.
    fn local_step(&self, state: &State) -> Option<(usize, Step)> {
        let steps = state
            .workers
            .iter()
            .enumerate()
            .filter_map(|(at, worker)| worker.running.map(|past| (at, self.asked(past))));
        steps.into_iter().find(|(_, step)| self.is_local(state, *step))
    }

    fn is_local(&self, state: &State, step: Step) -> bool {
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
    fn ways(&self, state: &State, worker: usize, step: Step) -> impl Iterator<Item = Way> + use<> {
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
        let act = match *call {
            Call::Acquire { ttl_ms } | Call::PeerAcquire { ttl_ms } => Act::Acquire {
                now_ms: state.clock_ms - spec.behind_ms,
                ttl_ms,
                peer: matches!(call, Call::PeerAcquire { .. }),
            },
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

    fn tick(&self, state: &State) -> Option<i64> {
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

/// One action being done.
struct Turn<'m, 'l> {
    model: &'m Model,
    state: State,
    broken: Option<Violation>,
    log: Option<&'l mut Vec<String>>,
}

impl Turn<'_, '_> {
    fn breaks(&mut self, broken: Result<(), Violation>) {
        if let (None, Err(violation)) = (&self.broken, broken) {
            self.broken = Some(violation);
        }
    }

    fn say(&mut self, worker: usize, text: impl FnOnce() -> String) {
        let holder = self.model.scenario.workers[worker].holder;
        if let Some(log) = &mut self.log {
            log.push(format!("{worker} {holder}: {}", text()));
        }
    }

    fn begin(&mut self, at: usize) {
        let Some(call) = self.model.bound(&self.state, at) else {
            unreachable!("only a worker with a next call begins one");
        };
        self.say(at, || format!("begins {:?}", call.act));
        let highest = self.state.highest();
        let worker = &mut self.state.workers[at];
        worker.begun += 1;
        worker.made = 0;
        worker.seen = Seen { highest, ..Seen::default() };
        self.model.called(&mut self.state, at, call);
        let past = self.model.programs.borrow_mut().begin(call);
        self.go_on(at, past);
    }

    fn step(&mut self, at: usize, way: Way) {
        let Some(past) = self.state.workers[at].running else {
            unreachable!("only a worker in a call does a step");
        };
        let step = self.model.asked(past);
        let answer = match way {
            Way::Truly | Way::Telling(_) => match self.state.workers[at].listing.take() {
                Some(listing) => self.told(&listing, way),
                None => self.apply(at, step),
            },
            Way::Failing(fault) => {
                self.state.workers[at].listing = None;
                if fault.landed {
                    self.apply(at, self.model.part(step));
                    let moved = matches!(step, Step::Rename(..));
                    self.state.workers[at].seen.misled |= moved;
                }
                self.strike(at, fault);
                Answer::Failed(fault.errno)
            }
        };
        self.say(at, || {
            let tables = locked(&self.model.tables);
            let landed = matches!(way, Way::Failing(Fault { landed: true, .. }));
            let made_up = match way {
                Way::Failing(_) if landed => " (a fault: it was done)",
                Way::Failing(_) => " (a fault: it was not done)",
                _ => "",
            };
            format!("{} -> {}{made_up}", step.told(&tables), answer.told(&tables))
        });
        let past = self.model.programs.borrow_mut().answer(past, answer);
        self.go_on(at, past);
    }

    /// What a listing tells.
    fn told(&self, listing: &Listing, way: Way) -> Answer {
        let mut tables = locked(&self.model.tables);
        let mut loose = listing.loose();
        // By bytes, so that the bits mean the same in every search.
        tables.sort(&mut loose);
        let bits = if let Way::Telling(bits) = way { bits } else { 0 };
        let all = bits == u64::MAX;
        let chosen =
            loose.iter().enumerate().filter(|(at, _)| all || *at < 64 && bits >> at & 1 == 1);
        let chosen: Vec<NameId> = chosen.map(|(_, name)| *name).collect();
        // A name that came or went meanwhile may be told twice.
        let names = [&listing.must[..], &chosen[..], &chosen[..]].concat();
        Answer::Names(tables.list(names))
    }

    fn apply(&mut self, at: usize, step: Step) -> Answer {
        let worker = &mut self.state.workers[at];
        let fresh = Ino::of_call(at as u8, worker.begun, worker.made);
        worker.made += u16::from(matches!(step, Step::Create(..) | Step::CreateNameless(_)));
        let mut changes = Vec::new();
        let answer = {
            let mut tables = locked(&self.model.tables);
            let mut around = Around {
                volume: self.model.scenario.volume,
                fresh,
                clock_ms: self.state.clock_ms,
                tables: &mut tables,
                changes: &mut changes,
            };
            self.state.files.apply(step, &mut around)
        };
        for change in changes {
            if let Change::Entry { dir, name, after, .. } = change {
                for worker in &mut self.state.workers {
                    if let Some(listing) = &mut worker.listing
                        && listing.dir == dir
                    {
                        listing.changed(name, after.is_some());
                    }
                }
            }
            let changed = self.model.changed(&mut self.state, at, change);
            self.breaks(changed);
        }
        answer
    }

    fn strike(&mut self, at: usize, fault: Fault) {
        if self.model.scenario.faults.always.is_none_or(|(_, always)| always != fault) {
            self.state.left.errors -= 1;
        }
        let struck = &mut self.state.workers[at].seen.faults;
        // Of a fault that always strikes, the first two times are told.
        if let Some(free) = struck.iter_mut().find(|fault| fault.is_none()) {
            *free = Some(fault.errno);
        }
    }

    /// Notes what a worker does next, or what became of its call.
    fn go_on(&mut self, at: usize, past: Past) {
        let next = {
            let programs = self.model.programs.borrow();
            if programs.length(past) > LONGEST_CALL {
                // Whatever is judged, this must not go on.
                let why = format!("a call is not done after {LONGEST_CALL} steps");
                self.broken = Some(Violation { promise: Promise::P8, why });
            }
            programs.next(past).clone()
        };
        match next {
            Next::Asks(step) => {
                self.state.workers[at].running = Some(past);
                if let Step::List(dir) = step
                    && let Ok(names) = self.state.files.names(dir)
                {
                    self.state.workers[at].listing = Some(Listing::begin(dir, names));
                }
            }
            Next::Ends(ended) => self.end(at, past, &ended),
        }
    }

    fn end(&mut self, at: usize, past: Past, ended: &Ended) {
        self.say(at, || format!("is told {ended:?}"));
        let call = self.model.programs.borrow().call(past);
        self.leave(at);
        self.state.workers[at].ended += 1;
        let judged = self.model.ended(&mut self.state, at, call, ended);
        self.breaks(judged);
        self.state.workers[at].seen = Seen::default();
        self.model.pass_over(&mut self.state, at);
    }

    /// Ends a worker's call for the file system.
    fn leave(&mut self, at: usize) {
        let worker = &mut self.state.workers[at];
        worker.running = None;
        worker.listing = None;
        worker.made = 0;
        self.state.files.close_all_of_call(at as u8, worker.begun);
    }

    fn crash(&mut self, at: usize) {
        self.say(at, || "is killed".into());
        self.leave(at);
        let worker = &mut self.state.workers[at];
        worker.seen = Seen::default();
        worker.ended = 0;
        worker.crashed = true;
        self.state.left.crashes -= 1;
        self.model.pass_over(&mut self.state, at);
    }

    fn tick(&mut self) {
        let by_ms = self.model.tick(&self.state).unwrap_or(0);
        self.state.left.ticked += 1;
        self.state.clock_ms += by_ms;
        if let Some(log) = &mut self.log {
            log.push(format!("the clock moves by {by_ms} ms"));
        }
        self.model.ticked(&mut self.state);
    }
}
