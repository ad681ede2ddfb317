//! What is searched. Each scenario is built so that the workers get in each other's way: with
//! leases that are over as soon as they are given, anybody may take the run at any time.
//!
//! Unless told otherwise a scenario has the core try again once where it ships with seven times,
//! since takers that overtake one another would else do so for longer than can be searched.

use fencelink::directory::Durability;
use fencelink::env::Op;
use fencelink::errno::Errno;
use fencelink::sim::{Call, Errors, Fault, Faults, Scenario, Start, Worker};

/// Takes the run with a lease that is over at once.
const TAKE: Call = Call::Acquire { ttl_ms: 0 };
/// Takes the run with a lease that lasts until the clock moves.
const HOLD: Call = Call::Acquire { ttl_ms: 1_000 };
/// As `HOLD`, unless the worker itself holds the run.
const HOLD_FREE: Call = Call::AcquireFree { ttl_ms: 1_000 };
const RELEASE: Call = Call::Release;
const WRITE: Call = Call::Write;
const READ: Call = Call::Read;
const WRITE_UNFENCED: Call = Call::WriteUnfenced;
const PEER_TAKE: Call = Call::PeerAcquire { ttl_ms: 0 };
const PEER_HOLD: Call = Call::PeerAcquire { ttl_ms: 1_000 };

fn a(calls: &[Call]) -> Worker {
    Worker::new("a", calls)
}

fn b(calls: &[Call]) -> Worker {
    Worker::new("b", calls)
}

fn c(calls: &[Call]) -> Worker {
    Worker::new("c", calls)
}

/// A worker that writes under the fence which the first worker was told.
fn writer(calls: &[Call]) -> Worker {
    Worker { writes_for: Some(0), ..a(calls) }
}

/// The run was taken by the first worker, whose lease is over.
const ENDED: Start = Start::Taken { worker: 0, ttl_ms: 0, times: 1 };

/// The run is held by the first worker.
const HELD: Start = Start::Taken { worker: 0, ttl_ms: 1_000, times: 1 };

struct Building(Scenario);

fn scenario<const N: usize>(name: &'static str, workers: [Worker; N]) -> Building {
    Building(Scenario { rounds: 2, ..Scenario::new(name, workers.into()) })
}

impl Building {
    fn from(mut self, start: Start) -> Self {
        self.0.start = start;
        self
    }

    /// On a volume without nameless files.
    fn named(mut self) -> Self {
        self.0.volume.nameless = false;
        self
    }

    fn kept(mut self, fences: u64) -> Self {
        self.0.kept_fences = fences;
        self
    }

    /// How often a claim tries again.
    fn rounds(mut self, rounds: usize) -> Self {
        self.0.rounds = rounds;
        self
    }

    /// So many workers may be killed.
    fn crashes(mut self, crashes: u8) -> Self {
        self.0.faults.crashes = crashes;
        self
    }

    /// So many steps may fail, done or not.
    fn errors(mut self, errors: u8, kinds: Errors) -> Self {
        self.0.faults = Faults { errors, kinds, landed: true, ..self.0.faults };
        self
    }

    fn ticks<const N: usize>(mut self, ticks_ms: [i64; N]) -> Self {
        self.0.faults.ticks_ms = ticks_ms.into();
        self
    }

    /// The power may be lost, at any instant.
    fn power(mut self) -> Self {
        self.0.volume.power = true;
        self.0.durability = Durability::Power;
        self
    }

    /// The volume may lose its power so often while the workers go on.
    fn outages(mut self, outages: u8) -> Self {
        self.0.faults.outages = outages;
        self
    }

    /// Every `link` fails so.
    fn every_link(mut self, errno: Errno, landed: bool) -> Self {
        self.0.faults.always = Some((Op::Link, Fault { errno, landed }));
        self
    }

    fn without_links(mut self) -> Self {
        self.0.volume.links = false;
        self
    }
}

/// The scenarios that are searched whole.
pub(crate) fn whole() -> Vec<Scenario> {
    use Errors::{All, Kinds};
    let restarted = |calls: &[Call]| Worker { after_crash: calls.into(), ..a(calls) };
    let scenarios = [
        scenario("two takers", [a(&[TAKE, TAKE, RELEASE]), b(&[TAKE, TAKE, RELEASE])]).crashes(2),
        scenario("as many rounds as ship", [a(&[TAKE, TAKE]), b(&[TAKE, RELEASE])]).rounds(8),
        scenario("two takers and a writer", [a(&[TAKE]), b(&[TAKE]), writer(&[WRITE])])
            .from(ENDED)
            .crashes(3),
        scenario("three takers", [a(&[TAKE]), b(&[TAKE]), c(&[TAKE])]),
        scenario("leases", [a(&[HOLD, HOLD, RELEASE]), b(&[HOLD, RELEASE])])
            .ticks([999, 1])
            .crashes(1),
        scenario("released late", [a(&[HOLD, RELEASE, HOLD]), b(&[HOLD])]).ticks([1_000]),
        scenario("a reader", [a(&[TAKE, RELEASE]), b(&[TAKE]), c(&[READ])]),
        scenario("a worker that writes", [a(&[TAKE, WRITE, RELEASE]), b(&[TAKE, WRITE])]),
        scenario("restarted", [restarted(&[TAKE, RELEASE]), b(&[TAKE])]).crashes(2),
        scenario("started twice", [a(&[HOLD, RELEASE]), a(&[HOLD, RELEASE])]),
        scenario("started twice, errors", [a(&[HOLD]), a(&[HOLD])]).errors(1, Kinds),
        scenario("errors", [a(&[TAKE, RELEASE]), b(&[TAKE])]).errors(1, Kinds),
        scenario("errors while held", [a(&[HOLD, RELEASE]), b(&[HOLD])])
            .from(HELD)
            .ticks([1_000])
            .errors(1, Kinds),
        scenario("errors of a shorter lease", [a(&[TAKE, RELEASE]), b(&[HOLD])])
            .from(HELD)
            .ticks([1_000])
            .errors(1, Kinds),
        scenario("errors of a writer", [a(&[]), b(&[TAKE]), writer(&[WRITE])])
            .from(ENDED)
            .errors(1, Kinds),
        scenario("every errno", [a(&[HOLD, HOLD, WRITE, RELEASE])]).errors(1, All),
        scenario("every errno, named", [a(&[HOLD, WRITE, RELEASE])]).named().errors(1, All),
        scenario("two errors", [a(&[HOLD, RELEASE])]).named().errors(2, Kinds),
        scenario("named", [a(&[TAKE, RELEASE]), b(&[TAKE, RELEASE])]).named().crashes(2),
        scenario("named, errors", [a(&[HOLD, RELEASE]), b(&[HOLD])]).named().errors(1, Kinds),
        scenario("named, writer", [a(&[TAKE]), writer(&[WRITE])]).named().from(ENDED).crashes(2),
        scenario("first claims", [a(&[TAKE]), b(&[TAKE])]).from(Start::Nothing).crashes(2),
        scenario("first claims, errors", [a(&[HOLD]), b(&[HOLD])])
            .from(Start::Nothing)
            .errors(1, Kinds),
        scenario("overtaken by more than is kept", [a(&[TAKE]), b(&[TAKE, TAKE, TAKE, TAKE])])
            .kept(1),
        scenario("nothing kept", [a(&[TAKE, TAKE, TAKE]), b(&[TAKE])]).kept(0),
        scenario("little kept, writer", [a(&[]), b(&[TAKE, TAKE]), writer(&[WRITE])])
            .from(ENDED)
            .kept(1),
        // What was taken without a seal goes by while the writer lists.
        scenario("little kept, writer and a peer", {
            [a(&[]), b(&[TAKE, PEER_TAKE, PEER_TAKE]), writer(&[WRITE])]
        })
        .from(ENDED)
        .kept(1)
        .rounds(1),
        scenario("power", [a(&[HOLD, RELEASE]), b(&[HOLD])]).power(),
        scenario("power, first claims", [a(&[TAKE]), b(&[TAKE])]).from(Start::Nothing).power(),
        scenario("power, writer", [a(&[]), b(&[TAKE]), writer(&[WRITE])]).from(ENDED).power(),
        scenario("power, first writes", [a(&[WRITE_UNFENCED]), b(&[WRITE_UNFENCED])])
            .from(Start::Nothing)
            .power(),
        scenario("outage, writer", [a(&[]), b(&[TAKE]), writer(&[WRITE])])
            .from(ENDED)
            .power()
            .outages(1),
        scenario("outage", [a(&[HOLD, RELEASE]), b(&[HOLD])]).power().outages(1),
        scenario("a free run", [a(&[HOLD_FREE, RELEASE]), a(&[HOLD_FREE]), b(&[HOLD_FREE])])
            .ticks([1_000]),
        scenario("peers", [a(&[TAKE, RELEASE]), b(&[PEER_TAKE, PEER_TAKE])]),
        scenario("peers, overtaken", [a(&[TAKE]), b(&[HOLD]), c(&[PEER_HOLD])]),
        scenario("peers, leases", [a(&[HOLD, HOLD]), b(&[PEER_HOLD, PEER_HOLD])]).ticks([1_000]),
        scenario("no hard links", [a(&[HOLD]), b(&[HOLD])]).without_links(),
        scenario("every link fails and lands", [a(&[HOLD, RELEASE]), b(&[HOLD])])
            .named()
            .every_link(Errno::ENOTCONN, true),
        scenario("every link says taken", [a(&[HOLD])]).named().every_link(Errno::EEXIST, false),
        scenario("a clock behind", [a(&[HOLD, RELEASE]), Worker { behind_ms: 400, ..b(&[HOLD]) }])
            .ticks([1_000, -600]),
        scenario(
            "a clock ahead",
            [
                a(&[HOLD]),
                Worker { behind_ms: -700_000, ..b(&[Call::Acquire { ttl_ms: -700_000 }]) },
            ],
        )
        .named(),
        scenario("unfenced writers", [a(&[WRITE_UNFENCED]), b(&[WRITE_UNFENCED])])
            .from(ENDED)
            .crashes(2),
        scenario("stalled for ten minutes", [a(&[TAKE]), b(&[TAKE])]).named().ticks([600_001]),
    ];
    scenarios.into_iter().map(|building| building.0).collect()
}

/// Scenarios that are too large to be searched whole in the time that a test has: as much of them
/// is searched as is asked for, the shortest ways first.
pub(crate) fn bounded() -> Vec<Scenario> {
    use Errors::Kinds;
    let scenarios = [
        scenario("three takers that release", {
            [a(&[TAKE, RELEASE]), b(&[TAKE, RELEASE]), c(&[TAKE, RELEASE])]
        })
        .crashes(1),
        scenario(
            "three takers and a writer",
            [a(&[TAKE]), b(&[TAKE]), c(&[TAKE]), writer(&[WRITE])],
        )
        .from(ENDED),
        scenario(
            "two takers that release and a writer",
            [a(&[TAKE, RELEASE]), b(&[TAKE, RELEASE]), writer(&[WRITE])],
        )
        .from(ENDED)
        .crashes(3),
        scenario("two takers and a writer, errors", [a(&[TAKE]), b(&[TAKE]), writer(&[WRITE])])
            .from(ENDED)
            .errors(1, Kinds),
        scenario("named, three takers, errors", [a(&[TAKE]), b(&[TAKE]), c(&[TAKE])])
            .named()
            .errors(1, Kinds),
        scenario("leases of three", [a(&[HOLD, HOLD]), b(&[HOLD, RELEASE]), c(&[HOLD])])
            .ticks([1_000, 1_000])
            .crashes(1)
            .errors(1, Kinds),
    ];
    scenarios.into_iter().map(|building| building.0).collect()
}
