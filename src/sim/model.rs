//! One scenario, ready to be searched: its beginning, what all its states have in common, and what
//! was worked out so far.

use super::aftermath::Aftermath;
use super::apply::Around;
use super::call::{Bound, Setting, holder, request};
use super::direct::Direct;
use super::fs::{Files, Ino};
use super::mutant::{Mutant, Switched, Switches};
use super::programs::Programs;
use super::scenario::{BEGINNING_MS, Scenario, Start};
use super::state::{Left, Seen, State, Where};
use super::step::{Answer, Step};
use super::tables::{ContentId, NameId, Shared, Tables, locked};
use super::world::World;
use crate::body::Body;
use crate::checkpoint::{self, Write};
use crate::claim;
use crate::names;
use crate::types::Holder;
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// The actor by which the files are made that are there at first.
const FOUNDER: u8 = u8::MAX - 1;

/// The run that all workers want.
const RUN: &str = "/runs/run";

/// What was written before the first worker came.
const FIRST_CHECKPOINT: &str = "checkpoint of the beginning";

/// One scenario and what is known of it.
#[derive(Debug)]
pub(crate) struct Model {
    pub(crate) scenario: Scenario,
    pub(super) tables: Shared,
    pub(super) programs: RefCell<Programs>,
    pub(super) aftermath: RefCell<Aftermath>,
    pub(super) setting: Setting,
    pub(super) holders: Vec<Holder>,
    pub(super) claims: Ino,
    pub(super) checkpoints: Ino,
    /// The checkpoint's name.
    pub(super) point: NameId,
}

impl Model {
    pub(crate) fn new(scenario: Scenario, forgetful: bool) -> Model {
        let holders: Vec<Holder> =
            scenario.workers.iter().map(|worker| holder(worker.holder)).collect();
        let setting = Setting {
            run_dir: PathBuf::from(RUN),
            durability: scenario.durability,
            holders: holders.clone(),
        };
        let mut tables = Tables::new();
        let claims = Ino::of_path(tables.path(&names::claims_dir(&setting.run_dir)));
        let checkpoints = Ino::of_path(tables.path(&names::checkpoints_dir(&setting.run_dir)));
        let point = tables.name(names::checkpoint(super::call::CHECKPOINT).as_ref());
        let tables = Arc::new(Mutex::new(tables));
        let programs = Programs::new(Arc::clone(&tables), setting.clone(), forgetful);
        Model {
            scenario,
            tables,
            programs: RefCell::new(programs),
            aftermath: RefCell::default(),
            setting,
            holders,
            claims,
            checkpoints,
            point,
        }
    }

    /// Puts the core's switches for this thread as the scenario says, until what is returned is
    /// dropped.
    pub(crate) fn switched(&self) -> Switched {
        Switched::to(self.switches(self.scenario.mutant))
    }

    fn switches(&self, mutant: Option<Mutant>) -> Switches {
        let Scenario { kept_fences, rounds, .. } = self.scenario;
        Switches { mutant, kept_fences: Some(kept_fences), rounds: Some(rounds) }
    }

    /// How the scenario begins.
    pub(crate) fn initial(&self) -> State {
        let mut state = State {
            files: self.founded(),
            clock_ms: BEGINNING_MS,
            latest_ms: BEGINNING_MS,
            workers: self.scenario.workers.iter().map(|_| Where::at_first()).collect(),
            told: Vec::new(),
            sealing: 0,
            left: Left {
                crashes: self.scenario.faults.crashes,
                errors: self.scenario.faults.errors,
                outages: self.scenario.faults.outages,
                ticked: 0,
            },
            shown: Vec::new(),
        };
        if let Start::Taken { worker, ttl_ms, times } = self.scenario.start {
            state.told = (1..=times).collect();
            state.sealing = times;
            state.workers[worker].fence = Some(times);
            state.workers[worker].lease = (ttl_ms > 0).then_some((times, BEGINNING_MS + ttl_ms));
        }
        for at in 0..state.workers.len() {
            self.pass_over(&mut state, at);
        }
        if self.scenario.volume.power {
            state.shown.push(self.shown(&state.files));
        }
        state
    }

    /// The files that are there at first, made by the core itself where it makes them.
    fn founded(&self) -> Files {
        // Whatever is broken on purpose, the beginning is as it should be.
        let _switched = Switched::to(self.switches(None));
        let mut files = Files::new();
        let run = Path::new(RUN);
        let mut dirs = vec![run.parent().map(PathBuf::from).unwrap_or_default()];
        if self.scenario.start != Start::Nothing {
            dirs.extend([run.into(), names::claims_dir(run), names::checkpoints_dir(run)]);
        }
        for dir in dirs {
            let mut tables = locked(&self.tables);
            let step = Step::MakeDir(tables.path(&dir));
            let mut around = Around {
                volume: self.scenario.volume,
                fresh: Ino::of_call(FOUNDER, 0, 0),
                clock_ms: BEGINNING_MS,
                tables: &mut tables,
                changes: &mut Vec::new(),
            };
            let answer = files.apply(step, &mut around);
            assert_eq!(answer, Answer::Done, "{} cannot be made", dir.display());
        }
        if let Start::Taken { worker, ttl_ms, times } = self.scenario.start {
            files = self.taken(files, worker, ttl_ms, times);
        }
        files.all_synced();
        files
    }

    fn taken(&self, files: Files, worker: usize, ttl_ms: i64, times: u64) -> Files {
        let world = self.direct(files, BEGINNING_MS, FOUNDER);
        let durability = self.scenario.durability;
        for time in 1..=times {
            let holder = self.holders[worker].clone();
            let request = request(holder, ttl_ms, BEGINNING_MS, durability);
            let taken = claim::acquire(&world, &self.setting.run_dir, &request);
            let fence = taken.map(|lease| lease.map(|lease| lease.fence.get()));
            assert_eq!(fence, Ok(Some(time)), "the beginning cannot be made");
        }
        let first = Write {
            run_dir: &self.setting.run_dir,
            id: super::call::CHECKPOINT,
            bytes: FIRST_CHECKPOINT.as_bytes(),
            fence: None,
            durability,
        };
        assert_eq!(checkpoint::write(&world, &first), Ok(()), "the beginning cannot be made");
        world.files()
    }

    /// A world in which every step is done at once, with these files.
    pub(super) fn direct(&self, files: Files, clock_ms: i64, actor: u8) -> World<Direct> {
        let tables = Arc::clone(&self.tables);
        World::over(tables, files, self.scenario.volume, clock_ms, actor)
    }

    /// What a step does that fails half-way.
    pub(super) fn part(&self, step: Step) -> Step {
        let Step::Write(file, content) = step else {
            return step;
        };
        let mut tables = locked(&self.tables);
        let bytes = tables.bytes(content);
        Step::Write(file, tables.content(&bytes[..bytes.len() / 2]))
    }

    pub(super) fn text(&self, name: NameId) -> String {
        locked(&self.tables).name_text(name).to_string_lossy().into_owned()
    }

    /// What a file says as a holding; `None` when it is damaged or no file.
    pub(super) fn body_of(&self, files: &Files, file: Ino) -> Option<Arc<Body>> {
        let content = files.content(file)?;
        locked(&self.tables).body(content).cloned()
    }

    /// What readers of the checkpoint see.
    pub(super) fn shown(&self, files: &Files) -> Option<ContentId> {
        files.content(files.lookup(self.checkpoints, self.point)?)
    }

    /// Whether these bytes are the whole of a checkpoint that somebody wrote.
    pub(super) fn is_checkpoint(&self, text: &str) -> bool {
        let of_call = |text: &str| {
            let (number, actor) = text.strip_prefix("checkpoint ")?.split_once(" of ")?;
            let (number, actor) = (number.parse().ok()?, actor.parse().ok()?);
            Some(Bound { actor, number, act: super::call::Act::Read }.checkpoint())
        };
        text == FIRST_CHECKPOINT || of_call(text).is_some_and(|whole| whole == text)
    }
}

impl Where {
    fn at_first() -> Where {
        Where {
            running: None,
            ended: 0,
            begun: 0,
            crashed: false,
            made: 0,
            listing: None,
            fence: None,
            lease: None,
            seen: Seen::default(),
        }
    }
}
