//! One action being done: the step of one worker, a crash, the clock. Whatever it changes, the
//! oracle is told.

use super::apply::Around;
use super::call::Ended;
use super::check::{Promise, Violation};
use super::fault::Fault;
use super::fs::{Change, Ino};
use super::model::Model;
use super::programs::{Next, Past};
use super::schedule::{Action, Way};
use super::state::{Listing, Seen, State};
use super::step::{Answer, Step};
use super::tables::{NameId, locked};
use crate::errno::Errno;

/// The steps after which a call has gone round in circles.
const LONGEST_CALL: usize = 600;

impl Model {
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
            Action::Outage(which) => turn.outage(which),
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
}

/// Whether success of a step promises that what was done before is durable.
fn is_sync(step: Step) -> bool {
    matches!(step, Step::Sync(_) | Step::SyncDir(_))
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
            Way::Truly if self.state.workers[at].seen.outage && is_sync(step) => {
                Answer::Failed(Errno::EIO)
            }
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
        if let (Step::Read(dir, name, _), Some(past)) = (step, self.state.workers[at].running)
            && let Some(file) = self.state.files.lookup(dir, name)
        {
            let call = self.model.programs.borrow().call(past);
            self.model.has_read(&mut self.state, at, call, file);
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
                    self.state.workers[at].seen.late.clear();
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

    fn outage(&mut self, which: usize) {
        let model = self.model;
        self.state.left.outages -= 1;
        let mut found = self.state.files.without_power(&mut locked(&model.tables));
        let before = std::mem::replace(&mut self.state.files, found.swap_remove(which));
        for worker in &mut self.state.workers {
            worker.seen.outage = worker.running.is_some();
            if let Some(listing) = &mut worker.listing {
                let now = self.state.files.entries(listing.dir);
                let before = before.entries(listing.dir);
                let gone = before.iter().filter(|entry| !now.contains(entry));
                let come = now.iter().filter(|entry| !before.contains(entry));
                gone.for_each(|(name, _)| listing.changed(*name, false));
                come.for_each(|(name, _)| listing.changed(*name, true));
            }
        }
        if let Some(log) = &mut self.log {
            let tables = locked(&model.tables);
            let names = self.state.files.entries(model.claims).iter();
            let names = names.map(|(name, _)| tables.name_text(*name).to_string_lossy());
            let names = names.collect::<Vec<_>>().join(" ");
            log.push(format!("the volume loses power, and has [{names}] in its claims afterwards"));
        }
        let judged = model.after_outage(&mut self.state);
        self.breaks(judged);
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
