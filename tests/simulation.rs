#![cfg(feature = "sim")]
use fencelink::sim::*;
use fencelink::directory::Durability;

fn show(s: &Scenario, most: usize) {
    let t = std::time::Instant::now();
    let r = search(s, most);
    println!("{r}  pasts {} {:?}", r.pasts, t.elapsed());
}
const A: Call = Call::Acquire { ttl_ms: 0 };
const L: Call = Call::Acquire { ttl_ms: 1000 };
const R: Call = Call::Release;

fn two(name: &'static str, a: &[Call], b: &[Call]) -> Scenario {
    let mut s = Scenario::new(name, vec![Worker::new("a", a), Worker::new("b", b)]);
    s.rounds = 2;
    s
}
const M: usize = 1_000_000;

#[test]
fn explore() {
    if false {let mut s = two("crash1", &[A,A,R], &[A,R]);
    s.faults.crashes = 1;
    show(&s, M);
    s.faults.crashes = 2;
    s.name="crash2";
    show(&s, M);
    s.workers[0].after_crash = vec![A];
    s.name="crash2restart";
    show(&s, M);
    let mut s = two("live", &[L,L,R], &[L,L,R]);
    s.faults.ticks_ms = vec![500, 500];
    show(&s, M);
    s.faults.ticks_ms = vec![500, 500, 1000];
    s.faults.crashes = 1;
    show(&s, M);
}    let mut s = two("error1", &[A,A,R], &[A,R]);
    s.faults.errors = 1;
    s.faults.landed = true;
    show(&s, M);
    let mut s = two("named", &[A,R], &[A,R]);
    s.volume.nameless = false;
    show(&s, M);
    s.faults.errors = 1;
    s.faults.landed = true;
    show(&s, M);
    if true {return}    let mut s = two("fresh", &[A], &[A]);
    s.start = Start::Nothing;
    show(&s, M);
    s.faults.errors = 1;
    s.faults.landed = true;
    show(&s, M);
    let mut s = two("power", &[L], &[L]);
    s.volume.power = true;
    s.durability = Durability::Power;
    show(&s, M);
    s.start = Start::Nothing;
    show(&s, M);
    let mut w = Worker::new("w", &[Call::Write]);
    w.writes_for = Some(0);
    let mut s = Scenario::new("two+writer", vec![Worker::new("a", &[A]), Worker::new("b", &[A]), w]);
    s.rounds = 2;
    s.start = Start::Taken { worker: 0, ttl_ms: 0, times: 1 };
    s.faults.crashes = 3;
    show(&s, M);
    s.faults.crashes = 0;
    s.faults.errors = 1;
    s.faults.landed = true;
    show(&s, M);
}
