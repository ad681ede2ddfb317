//! The addon's own threads: tokio's blocking threads, which grow with what is stuck on them.
//!
//! A job goes to the thread that became idle last, whose caches are warm, and is in its hands
//! before it is woken, so that it finds no lock held by the one that woke it. When none is idle
//! the job waits for a further thread, or for the first that gets done. A thread that has had
//! nothing to do for ten seconds ends.

use std::collections::VecDeque;
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

/// Runs a job on one of the threads. When no thread can be had, the job is dropped, here and now.
pub(super) fn run(job: impl FnOnce() + Send + 'static) {
    if let Some(threads) = threads() {
        threads.run(Box::new(job));
    }
}

struct Threads {
    runtime: Runtime,
    work: Mutex<Work>,
}

/// Either jobs wait, or threads do.
#[derive(Default)]
struct Work {
    waiting: VecDeque<Job>,
    /// The one that became idle last is at the end.
    idle: Vec<Arc<Idle>>,
    /// How many threads there are.
    threads: usize,
}

/// A thread that waits for a job. Whoever takes it out of the list owes it one.
struct Idle {
    thread: Thread,
    job: Mutex<Option<Job>>,
}

fn threads() -> Option<&'static Threads> {
    static THREADS: OnceLock<Option<Threads>> = OnceLock::new();
    let started = THREADS.get_or_init(|| {
        let runtime = Builder::new_current_thread()
            .thread_name("fencelink")
            .thread_stack_size(STACK_BYTES)
            .max_blocking_threads(MOST_THREADS)
            .build();
        Some(Threads { runtime: runtime.ok()?, work: Mutex::default() })
    });
    started.as_ref()
}

impl Threads {
    fn run(&'static self, job: Job) {
        let mut work = lock(&self.work);
        if let Some(idle) = work.idle.pop() {
            drop(work);
            *lock(&idle.job) = Some(job);
            idle.thread.unpark();
            return;
        }
        work.waiting.push_back(job);
        drop(work);
        // Tokio panics when it has no thread and gets none. What it was given it keeps, and starts
        // once it gets one; so it is given no job, only the order to look for one.
        let started = catch_unwind(AssertUnwindSafe(|| {
            self.runtime.spawn_blocking(|| self.work());
        }));
        if started.is_err() {
            let mut work = lock(&self.work);
            let abandoned =
                if work.threads == 0 { std::mem::take(&mut work.waiting) } else { VecDeque::new() };
            drop(work);
            drop(abandoned);
        }
    }

    fn work(&self) {
        lock(&self.work).threads += 1;
        let idle = Arc::new(Idle { thread: current(), job: Mutex::default() });
        while let Some(job) = self.next(&idle) {
            job();
        }
    }

    /// The next job; `None`, and the thread does not count any more, when there was none for as
    /// long as a thread is kept.
    fn next(&self, idle: &Arc<Idle>) -> Option<Job> {
        let mut work = lock(&self.work);
        if let Some(job) = work.waiting.pop_front() {
            return Some(job);
        }
        work.idle.push(idle.clone());
        drop(work);
        loop {
            park_timeout(IDLE);
            if let Some(job) = lock(&idle.job).take() {
                return Some(job);
            }
            // Woken for no reason, or for too long. Still in the list, nobody owes it a job, and
            // it leaves; taken out, a job is on its way.
            let mut work = lock(&self.work);
            if let Some(place) = work.idle.iter().position(|other| Arc::ptr_eq(other, idle)) {
                work.idle.remove(place);
                work.threads -= 1;
                return None;
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
