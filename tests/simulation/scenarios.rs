//! What is searched. Each scenario is small enough to be searched whole, and built so that the
//! workers get in each other's way: with leases that are over as soon as they are given, anybody
//! may take the run at any time.

use fencelink::directory::Durability;
use fencelink::env::Op;
use fencelink::errno::Errno;
use fencelink::sim::{Call, Fault, Faults, Scenario, Start, Worker};

/// Takes the run with a lease that is over at once.
pub(crate) const TAKE: Call = Call::Acquire { ttl_ms: 0 };
/// Takes the run with a lease that lasts until the clock moves.
pub(crate) const HOLD: Call = Call::Acquire { ttl_ms: 1_000 };
pub(crate) const RELEASE: Call = Call::Release;
pub(crate) const WRITE: Call = Call::Write;

fn with(name: &'static str, workers: Vec<Worker>, change: impl FnOnce(&mut Scenario)) -> Scenario {
    let mut scenario = Scenario::new(name, workers);
    scenario.rounds = 2;
    change(&mut scenario);
    scenario
}

fn a(calls: &[Call]) -> Worker {
    Worker::new("a", calls)
}

fn b(calls: &[Call]) -> Worker {
    Worker::new("b", calls)
}

/// A worker that writes under the fence which the first worker was told.
fn writer(calls: &[Call]) -> Worker {
    Worker { writes_for: Some(0), ..Worker::new("a", calls) }
}

fn errors(scenario: &mut Scenario) {
    scenario.faults = Faults { errors: 1, landed: true, ..Faults::none() };
}

/// The run was taken by the first worker, whose lease is over.
const ENDED: Start = Start::Taken { worker: 0, ttl_ms: 0, times: 1 };

/// The run is held by the first worker.
const HELD: Start = Start::Taken { worker: 0, ttl_ms: 1_000, times: 1 };

/// The scenarios of the quick tier.
pub(crate) fn quick() -> Vec<Scenario> {
    vec![
        with(
            "two takers, killed",
            vec![a(&[TAKE, TAKE, RELEASE]), b(&[TAKE, TAKE, RELEASE])],
            |it| {
                it.faults.crashes = 2;
            },
        ),
        with("leases", vec![a(&[HOLD, HOLD, RELEASE]), b(&[HOLD, RELEASE])], |it| {
            it.faults.ticks_ms = vec![999, 1];
            it.faults.crashes = 1;
        }),
        with(
            "two takers and a writer, killed",
            vec![a(&[TAKE]), b(&[TAKE]), writer(&[WRITE])],
            |it| {
                it.start = ENDED;
                it.faults.crashes = 3;
            },
        ),
        with(
            "restarted",
            vec![Worker { after_crash: vec![TAKE, RELEASE], ..a(&[TAKE, RELEASE]) }, b(&[TAKE])],
            |it| {
                it.faults.crashes = 2;
            },
        ),
        with("started twice", vec![a(&[HOLD, RELEASE]), a(&[HOLD, RELEASE])], |_| {}),
        with("errors", vec![a(&[TAKE, RELEASE]), b(&[TAKE])], errors),
        with("errors, leases", vec![a(&[HOLD, RELEASE]), b(&[HOLD])], |it| {
            errors(it);
            it.start = HELD;
            it.faults.ticks_ms = vec![1_000];
        }),
        with("errors, writer", vec![a(&[]), b(&[TAKE]), writer(&[WRITE])], |it| {
            errors(it);
            it.start = ENDED;
        }),
        with("named, killed", vec![a(&[TAKE, RELEASE]), b(&[TAKE, RELEASE])], |it| {
            it.volume.nameless = false;
            it.faults.crashes = 2;
        }),
        with("named, errors", vec![a(&[HOLD, RELEASE]), b(&[HOLD])], |it| {
            it.volume.nameless = false;
            errors(it);
        }),
        with("named, writer", vec![a(&[TAKE]), writer(&[WRITE])], |it| {
            it.volume.nameless = false;
            it.start = ENDED;
            it.faults.crashes = 2;
        }),
        with("first claims", vec![a(&[TAKE]), b(&[TAKE])], |it| {
            it.start = Start::Nothing;
            it.faults.crashes = 2;
        }),
        with("first claims, errors", vec![a(&[HOLD]), b(&[HOLD])], |it| {
            it.start = Start::Nothing;
            errors(it);
        }),
        with(
            "overtaken by more than is kept",
            vec![a(&[TAKE]), b(&[TAKE, TAKE, TAKE, TAKE])],
            |it| {
                it.kept_fences = 1;
            },
        ),
        with("nothing kept", vec![a(&[TAKE, TAKE, TAKE]), b(&[TAKE])], |it| {
            it.kept_fences = 0;
        }),
        with("little kept, writer", vec![a(&[]), b(&[TAKE, TAKE]), writer(&[WRITE])], |it| {
            it.start = ENDED;
            it.kept_fences = 1;
        }),
        with("power", vec![a(&[HOLD, RELEASE]), b(&[HOLD])], |it| {
            it.volume.power = true;
            it.durability = Durability::Power;
        }),
        with("power, writer", vec![a(&[]), b(&[TAKE]), writer(&[WRITE])], |it| {
            it.start = ENDED;
            it.volume.power = true;
            it.durability = Durability::Power;
        }),
        with(
            "peers",
            vec![
                a(&[TAKE, RELEASE]),
                b(&[Call::PeerAcquire { ttl_ms: 0 }, Call::PeerAcquire { ttl_ms: 0 }]),
            ],
            |_| {},
        ),
        with(
            "peers, overtaken",
            vec![a(&[TAKE]), b(&[TAKE]), Worker::new("c", &[Call::PeerAcquire { ttl_ms: 0 }])],
            |_| {},
        ),
        with("started twice, errors", vec![a(&[HOLD]), a(&[HOLD])], errors),
        with(
            "peers, leases",
            vec![
                a(&[HOLD, HOLD]),
                b(&[Call::PeerAcquire { ttl_ms: 1_000 }, Call::PeerAcquire { ttl_ms: 1_000 }]),
            ],
            |it| {
                it.faults.ticks_ms = vec![1_000];
            },
        ),
        with("no hard links", vec![a(&[HOLD]), b(&[HOLD])], |it| it.volume.links = false),
        with("link always fails and lands", vec![a(&[HOLD, RELEASE]), b(&[HOLD])], |it| {
            it.volume.nameless = false;
            let fault = Fault { errno: Errno::ENOTCONN, landed: true };
            it.faults.always = Some((Op::Link, fault));
        }),
        with("link always says taken", vec![a(&[HOLD])], |it| {
            it.volume.nameless = false;
            let fault = Fault { errno: Errno::EEXIST, landed: false };
            it.faults.always = Some((Op::Link, fault));
        }),
        with(
            "clocks behind",
            vec![a(&[HOLD, RELEASE]), Worker { behind_ms: 400, ..b(&[HOLD]) }],
            |it| {
                it.faults.ticks_ms = vec![1_000, -600];
            },
        ),
        with(
            "a clock ahead",
            vec![
                a(&[HOLD]),
                Worker { behind_ms: -700_000, ..b(&[Call::Acquire { ttl_ms: -700_000 }]) },
            ],
            |it| {
                it.volume.nameless = false;
            },
        ),
        with(
            "unfenced writers",
            vec![a(&[Call::WriteUnfenced]), b(&[Call::WriteUnfenced])],
            |it| {
                it.start = ENDED;
                it.faults.crashes = 2;
            },
        ),
        with("stalled for ten minutes", vec![a(&[TAKE]), b(&[TAKE])], |it| {
            it.volume.nameless = false;
            it.faults.ticks_ms = vec![600_001];
        }),
    ]
}
