//! The core, searched for a way to break a promise. See `docs/testing.md`.
//!
//! From the environment: `FENCELINK_STATES`, how many states of each large scenario are searched;
//! `FENCELINK_SEEDS`, how many random runs there are, and `FENCELINK_SEED`, the seed of the first;
//! `FENCELINK_WAY`, a way through the scenario `FENCELINK_SCENARIO` that is to be told.
#![cfg(feature = "sim")]
#![allow(clippy::disallowed_methods, reason = "one test keeps a page of the documentation true")]

mod mutants;
mod scenarios;

use fencelink::sim::{Report, Scenario, random, replay, search, search_remembering};

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
    for scenario in scenarios::whole() {
        let report = search(&scenario, usize::MAX);
        must_hold(&report);
        states += report.states;
        interleavings += report.interleavings;
    }
    println!("in all: {states} states, {interleavings:.3e} interleavings");
}

/// Guards all promises in larger programs, as far as there is time.
#[test]
fn larger_programs_keep_all_promises() {
    let most = usize::try_from(number("FENCELINK_STATES", 20_000)).expect("a number of states");
    for scenario in scenarios::bounded() {
        must_hold(&search(&scenario, most));
    }
}

/// Guards all promises in programs that are too long to be searched at all.
#[test]
fn random_runs_keep_all_promises() {
    use std::hash::{BuildHasher as _, RandomState};
    let first = number("FENCELINK_SEED", RandomState::new().hash_one(0) >> 16);
    let seeds = number("FENCELINK_SEEDS", 300);
    println!("to replay: FENCELINK_SEED={first} FENCELINK_SEEDS={seeds}");
    let (mut steps, mut faults) = (0, 0);
    for seed in first..first + seeds {
        let run = random(seed, None);
        assert!(run.found.is_none(), "to replay: FENCELINK_SEED={seed} FENCELINK_SEEDS=1\n{run}");
        steps += run.steps;
        faults += run.faults;
    }
    println!("{seeds} seeds: {steps} steps, {faults} faults, no violation");
    assert!(steps > 0);
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

/// Holds the tables of `docs/testing.md` to what was found: each must have these rows, counts
/// aside. With `FENCELINK_WRITE_DOCS=1` the table is written instead.
pub(crate) fn documented(section: &str, table: &str) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/testing.md");
    let text = std::fs::read_to_string(path).expect("the documentation is there");
    let (begin, end) = (format!("<!-- {section} -->\n"), format!("<!-- end of {section} -->"));
    let (before, rest) = text.split_once(&begin).expect("the table has a beginning");
    let (old, after) = rest.split_once(&end).expect("the table has an end");
    if std::env::var("FENCELINK_WRITE_DOCS").as_deref() == Ok("1") {
        let text = format!("{before}{begin}{table}{end}{after}");
        return std::fs::write(path, text).expect("the documentation can be written");
    }
    let rows = |table: &str| -> Vec<String> {
        table.lines().map(|line| line.split('|').take(4).collect()).collect()
    };
    assert_eq!(rows(old), rows(table), "to write them: FENCELINK_WRITE_DOCS=1");
}
