//! The addon's own threads: tokio's blocking threads, which grow with what is stuck on them.
//!
//! Waking a sleeping thread can cost more than a whole claim. So one thread at most, after its
//! job, watches for the next job for as long as a wake would take, and takes it without being
//! woken. On a machine with one processor, where it would only keep the others from running, it
//! does not.

use std::hint::spin_loop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::available_parallelism;
#[allow(clippy::disallowed_types, reason = "bounds a busy wait; no lease is judged by it")]
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};

/// How many jobs can be stuck before further ones have to wait.
const MOST_THREADS: usize = 512;

const STACK_BYTES: usize = 512 * 1024;

/// About what it takes to wake a thread on another processor.
const WATCH: Duration = Duration::from_micros(50);

type Job = Box<dyn FnOnce() + Send>;

/// Runs a job on one of the threads. When no thread can be had, the job is dropped.
pub(super) fn run(job: impl FnOnce() + Send + 'static) {
    let Some(threads) = threads() else { return };
    let job: Job = Box::new(job);
    if let Some(job) = threads.hand_to_watcher(job) {
        // Without any thread to run on, tokio panics, and drops the job with it.
        let _ = catch_unwind(AssertUnwindSafe(|| {
            threads.runtime.spawn_blocking(move || threads.work(job));
        }));
    }
}

struct Threads {
    runtime: Runtime,
    may_watch: bool,
    watch: Mutex<Watch>,
    /// A copy of `watch.next.is_some()`, to look at without the lock.
    handed: AtomicBool,
}

/// Whether a thread watches, and what it was handed.
#[derive(Default)]
struct Watch {
    watched: bool,
    next: Option<Job>,
}

fn threads() -> Option<&'static Threads> {
    static THREADS: OnceLock<Option<Threads>> = OnceLock::new();
    let started = THREADS.get_or_init(|| {
        let runtime = Builder::new_current_thread()
            .thread_name("fencelink")
            .thread_stack_size(STACK_BYTES)
            .max_blocking_threads(MOST_THREADS)
            .build();
        Some(Threads {
            runtime: runtime.ok()?,
            may_watch: available_parallelism().is_ok_and(|processors| processors.get() > 1),
            watch: Mutex::default(),
            handed: AtomicBool::new(false),
        })
    });
    started.as_ref()
}

impl Threads {
    /// Gives the job back when nobody watches.
    fn hand_to_watcher(&self, job: Job) -> Option<Job> {
        let mut watch = self.lock();
        if !watch.watched || watch.next.is_some() {
            return Some(job);
        }
        watch.next = Some(job);
        self.handed.store(true, Ordering::Release);
        None
    }

    fn work(&self, job: Job) {
        let mut next = Some(job);
        while let Some(job) = next {
            job();
            next = self.watch();
        }
    }

    /// Waits a moment for a further job, unless another thread does so already.
    #[allow(clippy::disallowed_types, reason = "bounds a busy wait; no lease is judged by it")]
    fn watch(&self) -> Option<Job> {
        if !self.may_watch || std::mem::replace(&mut self.lock().watched, true) {
            return None;
        }
        let until = Instant::now() + WATCH;
        while !self.handed.load(Ordering::Acquire) && Instant::now() < until {
            spin_loop();
        }
        let mut watch = self.lock();
        watch.watched = false;
        self.handed.store(false, Ordering::Release);
        watch.next.take()
    }

    fn lock(&self) -> MutexGuard<'_, Watch> {
        self.watch.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
