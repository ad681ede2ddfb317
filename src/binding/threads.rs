//! The addon's own threads: tokio's blocking threads, which grow with what is stuck on them.
//!
//! A job goes to the thread that became idle last, whose caches are warm, and is in its hands
//! before it is woken, so that it finds no lock held by the one that woke it. When none is idle
//! there is another. A thread that has had nothing to do for ten seconds ends.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{Thread, current, park_timeout};
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

/// How many jobs can be stuck before further ones have to wait.
const MOST_THREADS: usize = 512;

const STACK_BYTES: usize = 512 * 1024;

const IDLE: Duration = Duration::from_secs(10);

type Job = Box<dyn FnOnce() + Send>;

/// Runs a job on one of the threads. When no thread can be had, the job is dropped.
pub(super) fn run(job: impl FnOnce() + Send + 'static) {
    let Some(threads) = threads() else { return };
    let job: Job = Box::new(job);
    let idle = lock(&threads.idle).pop();
    match idle {
        Some(idle) => idle.hand(job),
        // Without any thread to run on, tokio panics, and drops the job with it.
        None => drop(catch_unwind(AssertUnwindSafe(|| {
            threads.runtime.spawn_blocking(move || threads.work(job))
        }))),
    }
}

struct Threads {
    runtime: Runtime,
    /// The one that became idle last is at the end.
    idle: Mutex<Vec<Arc<Idle>>>,
}

/// A thread that waits for a job. Whoever takes it out of the list owes it one.
struct Idle {
    thread: Thread,
    job: Mutex<Option<Job>>,
}

impl Idle {
    fn hand(&self, job: Job) {
        *lock(&self.job) = Some(job);
        self.thread.unpark();
    }
}

fn threads() -> Option<&'static Threads> {
    static THREADS: OnceLock<Option<Threads>> = OnceLock::new();
    let started = THREADS.get_or_init(|| {
        let runtime = Builder::new_current_thread()
            .thread_name("fencelink")
            .thread_stack_size(STACK_BYTES)
            .max_blocking_threads(MOST_THREADS)
            .build();
        Some(Threads { runtime: runtime.ok()?, idle: Mutex::default() })
    });
    started.as_ref()
}

impl Threads {
    fn work(&self, first: Job) {
        first();
        let idle = Arc::new(Idle { thread: current(), job: Mutex::default() });
        while let Some(job) = self.next(&idle) {
            job();
        }
    }

    /// Waits for a job; `None` when none came for as long as a thread is kept.
    fn next(&self, idle: &Arc<Idle>) -> Option<Job> {
        lock(&self.idle).push(idle.clone());
        loop {
            park_timeout(IDLE);
            if let Some(job) = lock(&idle.job).take() {
                return Some(job);
            }
            // Nothing yet: woken for no reason, or for too long. Still in the list, nobody owes
            // it a job, and it leaves; taken out, a job is on its way.
            let mut list = lock(&self.idle);
            if let Some(place) = list.iter().position(|other| Arc::ptr_eq(other, idle)) {
                list.remove(place);
                return None;
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
