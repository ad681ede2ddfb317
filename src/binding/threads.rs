//! The addon's own threads. Claims must not wait behind the host's file and crypto work, so none
//! of it runs on libuv's pool; and a volume that hangs must not stop claims on a healthy one, so a
//! thread that is stuck in a call is not waited for: the next call gets another.
//!
//! The first call starts the first thread; a thread that finds nothing to do for ten seconds ends.

use super::answer::Refusal;
use napi::bindgen_prelude::{Env, Object, Result, ToNapiValue};
use napi::{Either, JsDeferred};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;
use tokio::runtime::{Builder, Runtime};

/// How many calls can be stuck before further ones have to wait.
const MOST_THREADS: usize = 512;

const STACK_BYTES: usize = 512 * 1024;

/// What a call answers: its value, or why it was refused.
pub(super) type Answer<T> = Either<T, Refusal>;

/// Runs `job` on a thread of the addon's own and settles the promise with its answer. The call
/// keeps the process alive until then; when its worker thread ends first, the answer is dropped.
pub(super) fn run<T, J>(env: &Env, job: J) -> Result<Object<'_>>
where
    T: ToNapiValue + Send + 'static,
    J: FnOnce() -> Answer<T> + Send + 'static,
{
    let (deferred, promise) = env.create_deferred()?;
    let settlement = Settlement { deferred: Some(deferred) };
    match runtime() {
        Ok(runtime) => {
            let spawned = catch_unwind(AssertUnwindSafe(|| {
                runtime.spawn_blocking(move || settlement.settle(run_here(job)));
            }));
            // When no thread could be had, the settlement was dropped, and has said so.
            drop(spawned);
        }
        Err(refusal) => settlement.settle(Either::B(refusal)),
    }
    Ok(promise)
}

/// Runs `job` on this thread. A panic is a defect of this library, and an answer like any other.
pub(super) fn run_here<T>(job: impl FnOnce() -> Answer<T>) -> Answer<T> {
    catch_unwind(AssertUnwindSafe(job)).unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<&str>().map(ToString::to_string);
        let said = said.or_else(|| panic.downcast_ref::<String>().cloned());
        Either::B(Refusal::defect(said.as_deref().unwrap_or("no message")))
    })
}

fn runtime() -> std::result::Result<&'static Runtime, Refusal> {
    static RUNTIME: OnceLock<std::io::Result<Runtime>> = OnceLock::new();
    let runtime = RUNTIME.get_or_init(|| {
        Builder::new_current_thread()
            .thread_name("fencelink")
            .thread_stack_size(STACK_BYTES)
            .max_blocking_threads(MOST_THREADS)
            .build()
    });
    runtime.as_ref().map_err(|error| Refusal::no_thread(&error.to_string()))
}

type Resolver<T> = Box<dyn FnOnce(Env) -> Result<Answer<T>> + Send>;

/// A promise that is settled exactly once: with an answer, or, when the job could not be started,
/// with a refusal that says so.
struct Settlement<T: ToNapiValue + Send + 'static> {
    deferred: Option<JsDeferred<Answer<T>, Resolver<T>>>,
}

impl<T: ToNapiValue + Send + 'static> Settlement<T> {
    fn settle(mut self, answer: Answer<T>) {
        if let Some(deferred) = self.deferred.take() {
            deferred.resolve(Box::new(move |_| Ok(answer)));
        }
    }
}

impl<T: ToNapiValue + Send + 'static> Drop for Settlement<T> {
    fn drop(&mut self) {
        if let Some(deferred) = self.deferred.take() {
            let refusal = Refusal::no_thread("the system gave none");
            deferred.resolve(Box::new(move |_| Ok(Either::B(refusal))));
        }
    }
}
