//! The core, searched for a way to break a promise; see `docs/testing.md`.
#![cfg(feature = "sim")]

mod scenarios;

use fencelink::sim::{Mutant, search};

#[test]
fn clean() {
    for scenario in scenarios::quick() {
        let t = std::time::Instant::now();
        let report = search(&scenario, 2_000_000);
        println!("{report} pasts {} {:?}", report.pasts, t.elapsed());
    }
}
#[test]
fn seeds() {
    let mut steps = 0;
    let t = std::time::Instant::now();
    for seed in 0..3000 {
        let run = fencelink::sim::random(seed);
        steps += run.steps;
        if run.found.is_some() {
            println!("{run}");
            break;
        }
    }
    println!("{steps} {:?}", t.elapsed());
}
