//! The core, searched for a way to break a promise; see `docs/testing.md`.
#![cfg(feature = "sim")]

mod scenarios;

use fencelink::sim::{Mutant, Promise::*, search};

#[test]
fn clean() {
    for scenario in scenarios::quick() {
        let t = std::time::Instant::now();
        let report = search(&scenario, 2_000_000);
        if report.found.is_some() || scenario.name.contains("peers, over") {
            println!("{report} pasts {} {:?}", report.pasts, t.elapsed());
        }
    }
}
#[test]
fn mutants() {
    let dirty = ["errors, leases", "started twice, errors"];
    for m in Mutant::ALL {
        for p in [P1, P2, P3, P4, P5, P6, P7, P8] {
            let mut best: Option<(usize, String)> = None;
            for mut scenario in scenarios::quick() {
                if (p == P1 || p == P8)
                    && dirty.contains(&scenario.name)
                    && ![Mutant::NoWithdraw, Mutant::UnreadableIsDamaged, Mutant::OwnerByHolder]
                        .contains(m)
                {
                    continue;
                }
                scenario.mutant = Some(*m);
                scenario.judged = Some(p);
                let report = search(&scenario, best.as_ref().map_or(30_000, |b| b.0));
                if let Some(f) = report.found {
                    let b = (
                        report.states,
                        format!(
                            "{m:?} | {p:?} | {} | {} states | {}",
                            scenario.name, report.states, f.violation.why
                        ),
                    );
                    if best.as_ref().is_none_or(|x| x.0 > b.0) {
                        best = Some(b);
                    }
                }
            }
            if let Some(b) = best {
                println!("{}", b.1);
            }
        }
    }
}
