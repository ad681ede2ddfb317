//! Work that is spread over the processors: one piece after another by whoever is free. What takes
//! a moment stays on the calling thread, since to start another takes longer.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{Builder, available_parallelism, scope, yield_now};

/// How many pieces are done alone before others are asked to help.
const ALONE: usize = 16;

/// After how many pieces a thread lets others have its processor: some two milliseconds' work. With
/// a thread at work on each processor, the host's own would otherwise wait for a whole time slice.
const A_TURN: usize = 32;

/// The fewest pieces that are worth a thread.
const WORTH_A_THREAD: usize = 32;

const STACK_BYTES: usize = 512 * 1024;

/// Does pieces until `piece` answers that there are no more: on this thread, and on others where it
/// is worth it. `pieces` is how many there are at most. However many do so at once, there are no
/// more other threads than processors; one that cannot be had is done without. Returns when every
/// thread has ended.
pub(super) fn each(pieces: usize, piece: impl Fn() -> bool + Sync) {
    for _ in 0..ALONE {
        if !piece() {
            return;
        }
    }
    let work = || {
        while (0..A_TURN).all(|_| piece()) {
            yield_now();
        }
    };
    scope(|scope| {
        for _ in 0..pieces.saturating_sub(ALONE) / WORTH_A_THREAD {
            let Some(helper) = Helper::new() else { break };
            let builder = Builder::new().name("fencelink".to_owned()).stack_size(STACK_BYTES);
            let helping = builder.spawn_scoped(scope, move || {
                let _helper = helper;
                work();
            });
            if helping.is_err() {
                break;
            }
        }
        work();
    });
}

/// One of the threads that help, from before it is started until it ends.
struct Helper;

static HELPERS: AtomicUsize = AtomicUsize::new(0);

impl Helper {
    /// `None` when there are enough.
    fn new() -> Option<Helper> {
        let most = processors() - 1;
        let more = |helpers: usize| (helpers < most).then_some(helpers + 1);
        HELPERS.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).ok()?;
        Some(Helper)
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        HELPERS.fetch_sub(1, Ordering::Relaxed);
    }
}

fn processors() -> usize {
    static PROCESSORS: OnceLock<usize> = OnceLock::new();
    *PROCESSORS.get_or_init(|| available_parallelism().map_or(1, NonZero::get))
}

/// Locks what threads share. One that panicked leaves the work to be abandoned by its scope.
pub(super) fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Guards that no piece is left out or done twice, however many threads there are.
    #[test]
    fn every_piece_is_done_once() {
        for pieces in [0, 1, ALONE, ALONE + 1, 10_000] {
            let next = AtomicUsize::new(0);
            let done = Mutex::new(vec![0; pieces]);
            each(pieces, || {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let mut done = lock(&done);
                done.get_mut(at).map(|count| *count += 1).is_some()
            });
            assert!(lock(&done).iter().all(|count| *count == 1), "{pieces}");
        }
    }

    /// Guards a host that lists many times at once against threads by the hundred.
    #[test]
    fn there_are_never_more_helpers_than_processors() {
        let (next, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        scope(|scope| {
            for _ in 0..20 {
                scope.spawn(|| {
                    each(1_000, || {
                        most.fetch_max(HELPERS.load(Ordering::Relaxed), Ordering::Relaxed);
                        yield_now();
                        next.fetch_add(1, Ordering::Relaxed) < 5_000
                    });
                });
            }
        });
        assert!(most.into_inner() < processors());
        // Those that ended are counted off; other tests may have some at work.
        while processors() > 1 && Helper::new().is_none() {
            yield_now();
        }
    }
}
