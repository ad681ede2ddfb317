//! Calls of the core, stopped and taken up again between any two of their steps.
//!
//! The core is deterministic in what the world answers. So a call that was stopped is a list of
//! answers: to take it up again, the call is made anew, is given these answers, and is stopped at
//! the first question that has none. The stop unwinds the call's stack. What comes next is worked
//! out once for each list of answers.
//!
//! Most of what a call was told it has forgotten again: a listing once the next one begins, all
//! that it read once it has a file to publish. Lists of answers that differ in such things only
//! are one *past* here, or a search would tell apart states that nothing can tell apart. What a
//! call remembers is a guess, made in [`Recall`], and it is checked: several of the lists that are
//! taken for one are followed through every answer that any of them is given, and must ask the
//! same and end the same. If they ever differ, the guess is wrong for this core; [`Programs`] says
//! so, and the search has to be made again without it.

use super::call::{Bound, Ended, Setting};
use super::recall::Recall;
use super::step::{Answer, Step};
use super::tables::{Shared, locked};
use super::world::{Answers, Asked, Told, World};
use std::cell::Cell;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

/// A call and what it remembers of the answers that it was given.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Past(u32);

/// A call and the answers that it was given.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct History(u32);

/// What a call does next.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Next {
    Asks(Step),
    Ends(Arc<Ended>),
}

#[derive(Debug)]
struct KnownPast {
    call: Bound,
    recall: Recall,
    next: Next,
    length: usize,
    /// Those that are followed.
    histories: Vec<History>,
    answered: Vec<(Answer, Past)>,
}

#[derive(Debug)]
struct KnownHistory {
    before: Option<(History, Answer)>,
    next: Next,
}

/// So many histories of one past are followed: those that are met first.
const FOLLOWED: usize = 8;

/// All calls and pasts that were met.
#[derive(Debug)]
pub(crate) struct Programs {
    tables: Shared,
    setting: Setting,
    /// Whether calls are taken to forget.
    forgetful: bool,
    refuted: Option<String>,
    pasts: Vec<KnownPast>,
    histories: Vec<KnownHistory>,
    begun: HashMap<Bound, Past>,
    known: HashMap<(Bound, Recall, Option<Step>), Past>,
    told: HashMap<(History, Answer), History>,
}

impl Programs {
    pub(crate) fn new(tables: Shared, setting: Setting, forgetful: bool) -> Programs {
        Programs {
            tables,
            setting,
            forgetful,
            refuted: None,
            pasts: Vec::new(),
            histories: Vec::new(),
            begun: HashMap::new(),
            known: HashMap::new(),
            told: HashMap::new(),
        }
    }

    /// The past of a call that begins.
    pub(crate) fn begin(&mut self, call: Bound) -> Past {
        if let Some(past) = self.begun.get(&call) {
            return *past;
        }
        let history = self.learn(call, None);
        let next = self.history(history).next.clone();
        let past = self.past_of(call, Recall::default(), next, 0);
        self.follow(past, history);
        self.begun.insert(call, past);
        past
    }

    /// The past after one more answer.
    pub(crate) fn answer(&mut self, past: Past, answer: Answer) -> Past {
        let known = self.past(past);
        if let Some((_, after)) = known.answered.iter().find(|(given, _)| *given == answer) {
            return *after;
        }
        let Next::Asks(step) = known.next else {
            unreachable!("a call that has ended is given an answer");
        };
        if self.refuted.is_some() {
            return past;
        }
        let (call, length, histories) = (known.call, known.length + 1, known.histories.clone());
        let told: Vec<_> =
            histories.into_iter().map(|history| self.tell(call, history, answer)).collect();
        let next = self.history(told[0]).next.clone();
        let recall = self.past(past).recall.after(step, answer, &next, self.forgetful);
        let after = self.past_of(call, recall, next, length);
        for history in told {
            self.follow(after, history);
        }
        self.pasts[past.0 as usize].answered.push((answer, after));
        after
    }

    pub(crate) fn next(&self, past: Past) -> &Next {
        &self.past(past).next
    }

    pub(crate) fn call(&self, past: Past) -> Bound {
        self.past(past).call
    }

    /// How many steps the call has done.
    pub(crate) fn length(&self, past: Past) -> usize {
        self.past(past).length
    }

    /// How many pasts were met.
    pub(crate) fn count(&self) -> usize {
        self.pasts.len()
    }

    /// Two histories that were taken for one and have differed, told step by step.
    pub(crate) fn refuted(&self) -> Option<&str> {
        self.refuted.as_deref()
    }

    fn past(&self, past: Past) -> &KnownPast {
        &self.pasts[past.0 as usize]
    }

    fn history(&self, history: History) -> &KnownHistory {
        &self.histories[history.0 as usize]
    }

    fn past_of(&mut self, call: Bound, recall: Recall, next: Next, length: usize) -> Past {
        let asked = match &next {
            Next::Asks(step) => Some(*step),
            Next::Ends(_) => None,
        };
        let key = (call, recall, asked);
        if asked.is_some()
            && let Some(past) = self.known.get(&key)
        {
            return *past;
        }
        let past = Past(u32::try_from(self.pasts.len()).expect("fewer than 2^32 pasts"));
        let recall = key.1.clone();
        let (histories, answered) = (Vec::new(), Vec::new());
        self.pasts.push(KnownPast { call, recall, next, length, histories, answered });
        self.known.insert(key, past);
        past
    }

    /// Makes a history one of a past's, and sees that it does what the past does.
    fn follow(&mut self, past: Past, history: History) {
        let known = self.past(past);
        if self.history(history).next != known.next {
            let first = known.histories.first().map(|first| self.story(*first));
            let (first, second) = (first.unwrap_or_default(), self.story(history));
            self.refuted = Some(format!("{first}\n  and\n{second}"));
            return;
        }
        let known = &mut self.pasts[past.0 as usize];
        if known.histories.contains(&history) || known.histories.len() >= FOLLOWED {
            return;
        }
        known.histories.push(history);
        let call = known.call;
        for (answer, after) in known.answered.clone() {
            let told = self.tell(call, history, answer);
            self.follow(after, told);
        }
    }

    fn story(&self, history: History) -> String {
        let tables = locked(&self.tables);
        let mut lines = Vec::new();
        let mut at = Some((history, None));
        while let Some((history, answer)) = at {
            let known = self.history(history);
            let asked = match &known.next {
                Next::Asks(step) => step.told(&tables),
                Next::Ends(ended) => format!("ends: {ended:?}"),
            };
            let answer = answer.map(|answer: Answer| format!(" -> {}", answer.told(&tables)));
            lines.push(format!("  {asked}{}", answer.unwrap_or_default()));
            at = known.before.map(|(before, answer)| (before, Some(answer)));
        }
        lines.reverse();
        lines.join("\n")
    }

    fn tell(&mut self, call: Bound, history: History, answer: Answer) -> History {
        if let Some(told) = self.told.get(&(history, answer)) {
            return *told;
        }
        let told = self.learn(call, Some((history, answer)));
        self.told.insert((history, answer), told);
        told
    }

    fn learn(&mut self, call: Bound, before: Option<(History, Answer)>) -> History {
        let mut answers = Vec::new();
        let mut at = before;
        while let Some((history, answer)) = at {
            let known = self.history(history);
            let Next::Asks(step) = known.next else {
                unreachable!("a call that has ended is given an answer");
            };
            answers.push((step, answer));
            at = known.before;
        }
        answers.reverse();
        let next = self.replay(call, &answers);
        let history = History(u32::try_from(self.histories.len()).expect("fewer than 2^32"));
        self.histories.push(KnownHistory { before, next });
        history
    }

    fn replay(&self, call: Bound, answers: &[(Step, Answer)]) -> Next {
        let world = World(Replay {
            tables: &self.tables,
            call,
            answers,
            at: Cell::new(0),
            counted: Cell::new(0),
            wanted: Cell::new(None),
        });
        let run = catch_unwind(AssertUnwindSafe(|| call.run(&world, &self.setting)));
        match (run, world.0.wanted.get()) {
            (Err(payload), Some(step)) if payload.is::<Stopped>() => Next::Asks(step),
            (Ok(ended), None) => Next::Ends(Arc::new(ended)),
            (Err(payload), _) => {
                let text = payload.downcast_ref::<String>().map(String::as_str);
                let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
                Next::Ends(Arc::new(Ended::Panicked(text.unwrap_or("a panic").into())))
            }
            (Ok(_), Some(_)) => unreachable!("a call went on after it was stopped"),
        }
    }
}

/// What the stack of a stopped call is unwound with.
struct Stopped;

/// Gives the answers of the past, then stops the call.
struct Replay<'a> {
    tables: &'a Shared,
    call: Bound,
    answers: &'a [(Step, Answer)],
    at: Cell<usize>,
    counted: Cell<u64>,
    wanted: Cell<Option<Step>>,
}

impl Answers for Replay<'_> {
    fn asked(&self, asked: Asked<'_>) -> Told {
        let step = (asked.0)(&mut locked(self.tables));
        let at = self.at.replace(self.at.get() + 1);
        let Some((asked_before, answer)) = self.answers.get(at) else {
            self.wanted.set(Some(step));
            resume_unwind(Box::new(Stopped));
        };
        assert_eq!(step, *asked_before, "the core is not deterministic in the world's answers");
        Told { step, answer: *answer, tables: Arc::clone(self.tables) }
    }

    fn process(&self) -> u32 {
        self.call.identity().0
    }

    fn counted(&self) -> u64 {
        self.call.identity().1 + self.counted.replace(self.counted.get() + 1)
    }
}
