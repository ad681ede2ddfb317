//! What actors do: calls of the core's public functions, and what became of them.

use super::{peer, wrong};
use crate::checkpoint::{self, Write};
use crate::claim::{self, Request};
use crate::directory::Durability;
use crate::env::World;
use crate::error::{ClaimError, WriteError};
use crate::types::{Fence, Holder, Lease, Millis};
use std::path::{Path, PathBuf};

/// One call in an actor's program.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Call {
    /// Takes or renews the run for so many milliseconds.
    Acquire {
        /// From the caller's clock on.
        ttl_ms: i64,
    },
    /// As `Acquire`, of a run that nobody may hold, the worker itself included.
    AcquireFree {
        /// From the caller's clock on.
        ttl_ms: i64,
    },
    /// As `Acquire`, by a worker of another implementation, which lists once and seals nothing.
    PeerAcquire {
        /// From the caller's clock on.
        ttl_ms: i64,
    },
    /// Gives back the fence that the actor was told last; nothing when it holds none.
    Release,
    /// Writes a checkpoint under the fence that the actor was told last; nothing when it was told
    /// none.
    Write,
    /// Writes a checkpoint under no fence.
    WriteUnfenced,
    /// Asks who has the run.
    Read,
}

/// A call with all that it depends on but the world's answers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Bound {
    pub(crate) actor: u8,
    /// Counts the calls of an actor, over its crashes.
    pub(crate) number: u16,
    pub(crate) act: Act,
}

/// How a run is taken.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Taker {
    /// From nobody, or from oneself.
    Renews,
    /// From nobody.
    Free,
    /// As another implementation does it.
    Peer,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Act {
    Acquire { now_ms: i64, ttl_ms: i64, taker: Taker },
    Release { fence: u64 },
    Write { fence: Option<u64> },
    Read,
}

/// What became of a call.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Ended {
    Acquired(Result<Option<Lease>, ClaimError>),
    Released(Result<(), ClaimError>),
    Written(Result<(), WriteError>),
    Read(Result<Option<Lease>, ClaimError>),
    /// The core gave up in a way that it never should.
    Panicked(String),
}

/// What the calls of all actors have in common.
#[derive(Clone, Debug)]
pub(crate) struct Setting {
    pub(crate) run_dir: PathBuf,
    pub(crate) durability: Durability,
    /// The name of each actor.
    pub(crate) holders: Vec<Holder>,
}

/// The checkpoint that all writes are of.
pub(crate) const CHECKPOINT: &str = "point";

impl Bound {
    /// Makes the call.
    pub(crate) fn run(&self, world: &impl World, setting: &Setting) -> Ended {
        let run_dir: &Path = &setting.run_dir;
        let durability = setting.durability;
        wrong::called(0, 0);
        match self.act {
            Act::Acquire { now_ms, ttl_ms, taker } => {
                wrong::called(now_ms, now_ms + ttl_ms);
                let holder = setting.holders[usize::from(self.actor)].clone();
                if taker == Taker::Peer {
                    let (now, until) = (millis(now_ms), millis(now_ms + ttl_ms));
                    return Ended::Acquired(peer::acquire(world, run_dir, &holder, now, until));
                }
                let mut request = request(holder, ttl_ms, now_ms, durability);
                if taker == Taker::Free {
                    request = request.of_a_free_run();
                }
                Ended::Acquired(claim::acquire(world, run_dir, &request))
            }
            Act::Release { fence } => {
                Ended::Released(claim::release(world, run_dir, numbered(fence), durability))
            }
            Act::Write { fence } => {
                let bytes = self.checkpoint();
                let fence = fence.map(numbered);
                let write =
                    Write { run_dir, id: CHECKPOINT, bytes: bytes.as_bytes(), fence, durability };
                Ended::Written(checkpoint::write(world, &write))
            }
            Act::Read => Ended::Read(claim::read(world, run_dir)),
        }
    }

    /// The process that makes the call, and from which number on it counts.
    pub(crate) fn identity(&self) -> (u32, u64) {
        (u32::from(self.actor), u64::from(self.number) << 16)
    }

    /// Whether a nonce was made in this call.
    pub(crate) fn made_nonce(&self, nonce: &str) -> bool {
        let (process, first) = self.identity();
        let mut parts = nonce.split('-').map(str::parse::<u64>);
        let (of, count) = (parts.next(), parts.next());
        of == Some(Ok(u64::from(process)))
            && matches!(count, Some(Ok(count)) if count >> 16 == first >> 16)
    }

    /// The bytes that a write of this call is of.
    pub(crate) fn checkpoint(&self) -> String {
        format!("checkpoint {} of {}", self.number, self.actor)
    }
}

/// A request to take the run.
pub(crate) fn request(holder: Holder, ttl_ms: i64, now_ms: i64, durability: Durability) -> Request {
    let request = Request::new(holder, millis(ttl_ms), millis(now_ms), durability);
    request.expect("the times of a simulation are small")
}

/// A worker's name.
pub(crate) fn holder(name: &str) -> Holder {
    Holder::new(name.encode_utf16().collect()).expect("actors have names")
}

/// A fence that some lease carried.
fn numbered(fence: u64) -> Fence {
    Fence::new(fence).expect("the fences of a simulation are small")
}

fn millis(millis: i64) -> Millis {
    Millis::new(millis as f64).expect("the times of a simulation are small")
}
