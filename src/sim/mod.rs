//! The simulation: the core that ships, over a simulated world, searched for a way to break a
//! promise.
//!
//! Nothing here runs in parallel. A worker is a call of the core that is stopped at each step and
//! taken up again by replaying the answers it was given ([`programs`]); the scheduler chooses who
//! does the next step and what it is answered ([`schedule`], [`fault`]); the oracle judges every
//! step ([`check`]), every answer ([`verdict`], [`excuse`]) and what is left if all workers stopped
//! there ([`aftermath`]). A search visits every state that can be reached ([`search()`]), and random
//! runs go on for longer than a search could ([`random()`]). Whatever is found is told as a way that
//! can be replayed.
//!
//! See `docs/testing.md` for what is searched, and `docs/decisions/0020-simulation.md` for why it
//! is done like this.

mod aftermath;
mod apply;
mod call;
mod check;
mod direct;
mod excuse;
mod fault;
mod fingerprint;
mod fs;
mod model;
mod mutant;
mod peer;
mod power;
mod programs;
mod random;
mod recall;
mod scenario;
mod schedule;
mod search;
mod state;
mod step;
mod tables;
mod turn;
mod verdict;
mod world;
pub(crate) mod wrong;

pub use call::Call;
pub use check::{Promise, Violation};
pub use direct::Direct;
pub use fault::Fault;
pub use fs::Volume;
pub use mutant::Mutant;
pub use random::{Run, random};
pub use scenario::{BEGINNING_MS, Errors, Faults, Scenario, Start, Worker};
pub use search::{Found, Report, replay, search, search_remembering};
pub use world::{Answers, World};

pub(crate) use mutant::{is_on, kept_fences, rounds};
