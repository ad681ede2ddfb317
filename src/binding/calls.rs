//! Calls under way: each runs on a thread of the addon's own, and its answer is handed back to the
//! JavaScript thread that asked, under the ticket that it asked with.
//!
//! Claims must not wait behind the host's file and crypto work, so none of it runs on libuv's
//! pool; and a volume that hangs must not stop claims on a healthy one, so a thread that is stuck
//! in a call is not waited for: the next call gets another. The first call starts the first
//! thread; a thread that finds nothing to do for ten seconds ends.
//!
//! To put the JavaScript thread to sleep and to wake it again takes as long as a claim does. So it
//! stays awake for a moment when it has nothing else to wait for.

#![allow(clippy::disallowed_types, reason = "how long an answer takes judges no lease")]

use super::answer::{Answer, Refusal};
use super::threads;
use napi::bindgen_prelude::{Env, FnArgs, Function, Result};
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};
use napi_derive::napi;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::yield_now;
use std::time::{Duration, Instant};

/// How long a JavaScript thread stays awake for an answer: two claims on a local volume, and
/// little beside what an event loop does anyway.
const MOMENT: Duration = Duration::from_micros(100);

/// How many calls are unanswered, of all JavaScript threads.
static UNANSWERED: AtomicUsize = AtomicUsize::new(0);

/// Whether the last answer took less than a moment. Where volumes are slower, nobody stays awake.
static PROMPT: AtomicBool = AtomicBool::new(false);

type Handed = FnArgs<(f64, Answer)>;
type Hand = ThreadsafeFunction<Handed, (), Handed, napi::Status, false>;

/// The calls of one JavaScript thread. While any is under way the process is kept alive; when the
/// thread ends first, their answers are dropped.
#[napi]
pub struct Calls {
    hand: Arc<Mutex<Hand>>,
    under_way: u32,
}

#[napi]
impl Calls {
    /// `settle` is called with a ticket and the answer to the call that it was given to.
    #[napi(constructor)]
    pub fn new(env: &Env, settle: Function<Handed, ()>) -> Result<Calls> {
        let hand =
            settle.build_threadsafe_function::<Handed>().callee_handled::<false>().build()?;
        let mut calls = Calls { hand: Arc::new(Mutex::new(hand)), under_way: 1 };
        calls.settled(env)?;
        Ok(calls)
    }

    /// To be told of every answer that came.
    #[napi]
    pub fn settled(&mut self, env: &Env) -> Result<()> {
        self.under_way -= 1;
        if self.under_way == 0 { self.keep_alive(env, false) } else { Ok(()) }
    }

    /// Starts a call. What it answers is handed back under `ticket`, also when it could not start.
    pub(super) fn start<J>(&mut self, env: &Env, ticket: f64, job: J) -> Result<()>
    where
        J: FnOnce() -> Answer + Send + 'static,
    {
        if self.under_way == 0 {
            self.keep_alive(env, true)?;
        }
        self.under_way += 1;
        let others = UNANSWERED.fetch_add(1, Ordering::Relaxed);
        let stays_awake = self.under_way == 1 && others == 0 && PROMPT.load(Ordering::Relaxed);
        let started = Instant::now();
        let answered = Arc::new(AtomicBool::new(false));
        let errand = Errand {
            hand: self.hand.clone(),
            ticket,
            started,
            answer: None,
            answered: answered.clone(),
        };
        threads::run(move || errand.answer(run(job)));
        while stays_awake && !answered.load(Ordering::Relaxed) && started.elapsed() < MOMENT {
            yield_now();
        }
        Ok(())
    }

    #[allow(deprecated, reason = "what replaces it keeps the process alive always or never")]
    fn keep_alive(&mut self, env: &Env, alive: bool) -> Result<()> {
        let mut hand = self.hand.lock().unwrap_or_else(PoisonError::into_inner);
        if alive { hand.refer(env) } else { hand.unref(env) }
    }
}

/// One call: it hands back an answer exactly once, even if it is dropped before it ran.
struct Errand {
    hand: Arc<Mutex<Hand>>,
    ticket: f64,
    started: Instant,
    answer: Option<Answer>,
    /// Set once the answer has been handed back.
    answered: Arc<AtomicBool>,
}

impl Errand {
    fn answer(mut self, answer: Answer) {
        self.answer = Some(answer);
    }
}

impl Drop for Errand {
    fn drop(&mut self) {
        let answer = self.answer.take().unwrap_or_else(|| Refusal::no_thread("none to be had"));
        PROMPT.store(self.started.elapsed() < MOMENT, Ordering::Relaxed);
        UNANSWERED.fetch_sub(1, Ordering::Relaxed);
        let hand = self.hand.lock().unwrap_or_else(PoisonError::into_inner);
        // A status other than success says that the JavaScript thread has ended.
        hand.call((self.ticket, answer).into(), ThreadsafeFunctionCallMode::NonBlocking);
        drop(hand);
        self.answered.store(true, Ordering::Relaxed);
    }
}

/// Runs a job on this thread. A panic is a defect of this library, and an answer like any other.
pub(super) fn run(job: impl FnOnce() -> Answer) -> Answer {
    catch_unwind(AssertUnwindSafe(job)).unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<&str>().map(ToString::to_string);
        let said = said.or_else(|| panic.downcast_ref::<String>().cloned());
        Refusal::defect(said.as_deref().unwrap_or("no message"))
    })
}
