//! The search of all interleavings: breadth first over all states, each visited once, so that the
//! first violation found has the shortest way to it. The way is told step by step, and as numbers
//! that replay it.

use super::check::{Promise, Violation};
use super::fingerprint::fingerprint;
use super::model::Model;
use super::scenario::Scenario;
use super::schedule::Action;
use super::state::State;
use std::collections::{HashMap, VecDeque};
use std::fmt;

/// What a search found.
#[derive(Clone, Debug)]
pub struct Report {
    /// The scenario's name.
    pub scenario: &'static str,
    /// How many states were visited.
    pub states: usize,
    /// How many steps lead from one of them to another.
    pub steps: usize,
    /// How many ways lead from the beginning to an end: the interleavings that were searched. Of a
    /// search that was cut short, those of its part.
    pub interleavings: f64,
    /// How many pasts of single calls there were.
    pub pasts: usize,
    /// Whether there was more to search than allowed.
    pub cut_short: bool,
    /// The violation with the shortest way to it.
    pub found: Option<Found>,
}

/// A violation and the way to it.
#[derive(Clone, Debug)]
pub struct Found {
    /// What was broken.
    pub violation: Violation,
    /// Which of all possible actions was taken, at each step.
    pub way: Vec<usize>,
    /// The same in words.
    pub trace: Vec<String>,
}

impl Report {
    /// The promise that was broken, if one was.
    pub fn broken(&self) -> Option<Promise> {
        self.found.as_ref().map(|found| found.violation.promise)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "{}: {} states, {} steps, {:.3e} interleavings{}",
            self.scenario,
            self.states,
            self.steps,
            self.interleavings,
            if self.cut_short { " (cut short)" } else { "" },
        )?;
        match &self.found {
            None => write!(out, ", no violation"),
            Some(found) => write!(out, "\n{found}"),
        }
    }
}

impl fmt::Display for Found {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Violation { promise, why } = &self.violation;
        writeln!(out, "{promise:?} is broken: {why}")?;
        for step in &self.trace {
            writeln!(out, "  {step}")?;
        }
        let way: Vec<String> = self.way.iter().map(usize::to_string).collect();
        write!(out, "way: {}", way.join("."))
    }
}

/// Where a state was first reached from, and by which of the actions possible there.
#[derive(Clone, Copy)]
struct Reached {
    from: u32,
    by: u32,
}

/// Searches every interleaving of a scenario, up to so many states, or to the first violation.
pub fn search(scenario: &Scenario, most_states: usize) -> Report {
    match Search::new(scenario, true).run(most_states) {
        // What is found has to be found without any guess too.
        Some(report) if report.found.as_ref().is_none_or(|found| found.replays(scenario)) => report,
        _ => search_remembering(scenario, most_states),
    }
}

/// As [`search`], without a guess at what calls forget: every call is taken to remember all that
/// it was ever told. Far more states, and the same answer.
pub fn search_remembering(scenario: &Scenario, most_states: usize) -> Report {
    let report = Search::new(scenario, false).run(most_states);
    report.expect("what nothing was guessed of is not refuted")
}

impl Found {
    fn replays(&self, scenario: &Scenario) -> bool {
        replay(scenario, &self.way).1.as_ref() == Some(&self.violation)
    }
}

struct Search {
    model: Model,
    numbers: HashMap<u128, u32>,
    reached: Vec<Reached>,
    waiting: VecDeque<State>,
    /// For each state that was left, where the steps from it begin in `targets`.
    firsts: Vec<u32>,
    targets: Vec<u32>,
}

impl Search {
    fn new(scenario: &Scenario, forgetful: bool) -> Search {
        Search {
            model: Model::new(scenario.clone(), forgetful),
            numbers: HashMap::new(),
            reached: Vec::new(),
            waiting: VecDeque::new(),
            firsts: Vec::new(),
            targets: Vec::new(),
        }
    }

    /// `None` when calls were guessed to forget what they remember.
    fn run(mut self, most_states: usize) -> Option<Report> {
        let initial = self.model.initial();
        let _switched = self.model.switched();
        let mut broken = self.visit(initial, Reached { from: 0, by: 0 }).err();
        while broken.is_none() && self.reached.len() < most_states && !self.is_refuted() {
            let Some(state) = self.waiting.pop_front() else {
                break;
            };
            broken = self.leave(&state).err();
        }
        if self.is_refuted() {
            return None;
        }
        let found = broken.map(|(violation, last)| self.found(violation, last));
        Some(Report {
            scenario: self.model.scenario.name,
            states: self.reached.len(),
            steps: self.targets.len(),
            interleavings: self.interleavings(),
            pasts: self.model.programs.borrow().count(),
            cut_short: found.is_none() && !self.waiting.is_empty(),
            found,
        })
    }

    fn is_refuted(&self) -> bool {
        self.model.programs.borrow().refuted().is_some()
    }

    /// Follows all that can happen in a state.
    fn leave(&mut self, state: &State) -> Result<(), (Violation, Reached)> {
        let from = self.firsts.len() as u32;
        self.firsts.push(self.targets.len() as u32);
        for (by, action) in self.model.actions(state).into_iter().enumerate() {
            let reached = Reached { from, by: by as u32 };
            let (next, broken) = self.model.act(state, action, None);
            if let Some(violation) = broken {
                return Err((violation, reached));
            }
            let target = self.visit(next, reached)?;
            self.targets.push(target);
        }
        Ok(())
    }

    /// The number of a state; a new one is judged, and waits to be left.
    fn visit(&mut self, state: State, reached: Reached) -> Result<u32, (Violation, Reached)> {
        let print = fingerprint(&state);
        if let Some(number) = self.numbers.get(&print) {
            return Ok(*number);
        }
        self.model.after_all_stop(&state).map_err(|violation| (violation, reached))?;
        let number = u32::try_from(self.reached.len()).expect("fewer than 2^32 states");
        self.numbers.insert(print, number);
        self.reached.push(reached);
        self.waiting.push_back(state);
        Ok(number)
    }

    fn found(&self, violation: Violation, last: Reached) -> Found {
        let mut way = Vec::new();
        // Nothing leads to the first state, which may be all there is.
        let mut at = last;
        while !self.reached.is_empty() {
            way.push(at.by as usize);
            if at.from == 0 {
                break;
            }
            at = self.reached[at.from as usize];
        }
        way.reverse();
        let trace = follow(&self.model, &way).0;
        Found { violation, way, trace }
    }

    /// How many ways lead from the first state to one that nothing leads from.
    fn interleavings(&self) -> f64 {
        let steps = |state: usize| {
            let first = self.firsts.get(state).map_or(self.targets.len(), |first| *first as usize);
            let end = self.firsts.get(state + 1).map_or(self.targets.len(), |end| *end as usize);
            &self.targets[first..end]
        };
        let mut ways = vec![f64::NAN; self.reached.len()];
        let mut stack = vec![(0, false)];
        while let Some((state, expanded)) = stack.pop() {
            if !expanded && ways.get(state).is_some_and(|ways| ways.is_nan()) {
                stack.push((state, true));
                stack.extend(steps(state).iter().map(|target| (*target as usize, false)));
            } else if expanded {
                let on: f64 = steps(state).iter().map(|target| ways[*target as usize]).sum();
                ways[state] = if steps(state).is_empty() { 1.0 } else { on };
            }
        }
        ways.first().copied().unwrap_or(0.0)
    }
}

/// Follows a way through a scenario: what happened, and the promise that broke, if one did.
pub fn replay(scenario: &Scenario, way: &[usize]) -> (Vec<String>, Option<Violation>) {
    let model = Model::new(scenario.clone(), false);
    follow(&model, way)
}

fn follow(model: &Model, way: &[usize]) -> (Vec<String>, Option<Violation>) {
    let mut state = model.initial();
    let _switched = model.switched();
    let mut trace = Vec::new();
    for by in way {
        let actions: Vec<Action> = model.actions(&state);
        let Some(action) = actions.get(*by) else {
            trace.push("the way leads no further here".into());
            return (trace, None);
        };
        let (next, mut broken) = model.act(&state, *action, Some(&mut trace));
        if broken.is_none() {
            broken = model.after_all_stop(&next).err();
        }
        if broken.is_some() {
            return (trace, broken);
        }
        state = next;
    }
    (trace, None)
}
