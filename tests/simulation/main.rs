//! The core, searched for a way to break a promise. See `docs/testing.md`.
//!
//! From the environment: `FENCELINK_STATES`, how many states of each large scenario are searched;
//! `FENCELINK_SEEDS`, how many random runs there are at least, `FENCELINK_SECONDS`, for how long at
//! least, and `FENCELINK_SEED`, the seed of the first;
//! `FENCELINK_WAY`, a way through the scenario `FENCELINK_SCENARIO` that is to be told.
#![cfg(feature = "sim")]

mod documented;
mod mutants;
mod scenarios;

use fencelink::sim::{Report, Scenario, random, replay, search, search_remembering};
use std::time::Duration;

/// A number from the environment.
fn number(name: &str, otherwise: u64) -> u64 {
    let told = std::env::var(name).ok();
    told.map_or(otherwise, |told| told.parse().expect("a whole number"))
}

fn must_hold(report: &Report) {
    println!("{report}");
    assert!(report.found.is_none(), "{report}\nscenario: {}", report.scenario);
    assert!(report.interleavings >= 1.0, "nothing was searched");
}

/// Guards all promises, in every interleaving of small programs with every fault.
#[test]
fn all_interleavings_keep_all_promises() {
    let mut states = 0;
    let mut interleavings = 0.0;
    let mut table = documented::scenarios_head();
    for scenario in scenarios::whole() {
        let report = search(&scenario, usize::MAX);
        must_hold(&report);
        states += report.states;
        interleavings += report.interleavings;
        table.push_str(&documented::scenario(&scenario, &report));
    }
    println!("in all: {states} states, {interleavings:.3e} interleavings");
    documented::check("scenarios", &table);
}

/// Guards all promises in larger programs, as far as there is time.
#[test]
fn larger_programs_keep_all_promises() {
    let most = usize::try_from(number("FENCELINK_STATES", 20_000)).expect("a number of states");
    let mut states = 0;
    for scenario in scenarios::bounded() {
        let report = search(&scenario, most);
        must_hold(&report);
        assert!(report.states >= most || !report.cut_short, "{report}");
        states += report.states;
    }
    println!("in all: {states} states");
}

/// Runs that broke a promise once, or were taken to.
const ONCE_FOUND: &[u64] = &[
    // A `null` that is out of date: `docs/design.md`.
    144_875_503_135_118,
    // A peer that meant to renew for a shorter time, failed, and is bound by that time.
    1_021_634,
    // A write that was sealed, by a taker which its next listing does not show.
    1_046_392,
];

/// Guards all promises in programs that are too long to be searched at all.
#[test]
fn random_runs_keep_all_promises() {
    // The same ones each time, so that a change is judged by what it changes.
    let first = number("FENCELINK_SEED", 1);
    let least = number("FENCELINK_SEEDS", 300);
    let time = Duration::from_secs(number("FENCELINK_SECONDS", 0));
    println!("random runs from FENCELINK_SEED={first} on");
    #[allow(clippy::disallowed_types, reason = "how long is searched is no time of the simulation")]
    let begun = std::time::Instant::now();
    let (mut steps, mut faults, mut seeds) = (0, 0, 0);
    let mut run = |seed| {
        let run = random(seed, None);
        assert!(run.found.is_none(), "to replay: FENCELINK_SEED={seed} FENCELINK_SEEDS=1\n{run}");
        steps += run.steps;
        faults += run.faults;
    };
    ONCE_FOUND.iter().for_each(|seed| run(*seed));
    while seeds < least || begun.elapsed() < time {
        run(first.wrapping_add(seeds));
        seeds += 1;
    }
    println!("{seeds} seeds: {steps} steps, {faults} faults, no violation");
    assert!(seeds > 0 && steps > 0, "nothing was run");
}

/// Guards the guess at what calls forget, which makes the search of all interleavings possible:
/// with it and without it there are as many interleavings.
#[test]
fn nothing_is_lost_by_what_calls_forget() {
    let names =
        ["leases", "named, writer", "started twice", "first claims", "power", "peers, leases"];
    let small: Vec<Scenario> =
        scenarios::whole().into_iter().filter(|scenario| names.contains(&scenario.name)).collect();
    assert_eq!(small.len(), names.len());
    for scenario in small {
        let (guessed, remembered) =
            (search(&scenario, usize::MAX), search_remembering(&scenario, usize::MAX));
        must_hold(&remembered);
        assert_eq!(guessed.interleavings, remembered.interleavings, "{}", scenario.name);
        assert!(guessed.states < remembered.states, "{}: nothing was gained", scenario.name);
    }
}

/// Guards the replay of what was found, and tells a way from the environment.
#[test]
fn a_way_can_be_replayed() {
    let name = std::env::var("FENCELINK_SCENARIO").unwrap_or("two takers".into());
    let way = std::env::var("FENCELINK_WAY").unwrap_or("0.0.0.0.0.0.0.0".into());
    let mut scenarios = scenarios::whole().into_iter().chain(scenarios::bounded());
    let scenario = scenarios.find(|scenario| scenario.name == name).expect("a known scenario");
    let way: Vec<usize> = way.split('.').map(|by| by.parse().expect("numbers and dots")).collect();
    let (trace, violation) = replay(&scenario, &way);
    println!("{}\n{violation:?}", trace.join("\n"));
    assert!(trace.len() >= way.len(), "{}", trace.join("\n"));
    assert_eq!(replay(&scenario, &way), (trace, violation));
}

/// Guards the random runs: wrong designs must be found by them too, or they prove nothing.
#[test]
fn random_runs_find_wrong_designs() {
    use fencelink::sim::Mutant::*;
    for mutant in [PublishedByRename, NoSecondListing, NoLook, EndIsLive, DirNotSynced, NoSeal] {
        let found = (0..100).any(|seed| random(seed, Some(mutant)).found.is_some());
        assert!(found, "{}", mutant.told());
    }
}
