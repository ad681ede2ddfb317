#![cfg(feature = "sim")]
use fencelink::sim::*;

fn show(s: &Scenario, most: usize) {
    let t = std::time::Instant::now();
    let r = search(s, most);
    println!("{r}  pasts {} {:?}", r.pasts, t.elapsed());
}
const A: Call = Call::Acquire { ttl_ms: 0 };
const R: Call = Call::Release;

#[test]
fn explore() {
    for (a, b) in [(&[A,A,R][..],&[A,A][..])] {
    println!("{a:?} {b:?}");
    let s = Scenario::new("two0", vec![Worker::new("a", a), Worker::new("b", b)]);
    let mut s=s; s.rounds=2; show(&s, 3_000_000);
    }
    let mut w = Worker::new("w", &[Call::Write]);
    w.writes_for = Some(0);
    let mut s = Scenario::new("two+writer", vec![Worker::new("a", &[A]), Worker::new("b", &[A]), w]);
    s.start = Start::Taken { worker: 0, ttl_ms: 0, times: 1 };
    let mut s=s; s.rounds=2; show(&s, 3_000_000);
}
