//! The core, searched for a way to break a promise; see `docs/testing.md`.
#![cfg(feature = "sim")]

mod scenarios;

use fencelink::sim::search;

#[test]
fn all_interleavings_keep_all_promises() {
    for scenario in scenarios::quick() {
        let t = std::time::Instant::now();
        let report = search(&scenario, 2_000_000);
        println!("{report} pasts {} {:?}", report.pasts, t.elapsed());
    }
}
