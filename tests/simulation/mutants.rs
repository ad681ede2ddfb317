//! Every known wrong design, in the scenario that shows it. A search that let one of them pass
//! would prove nothing about the rest; and since the core itself passes all the same scenarios, it
//! is not the search that cries wolf.

use crate::{documented, scenarios};
use fencelink::sim::{Mutant, Promise, Report, Scenario, replay, search};
use std::collections::HashSet;
use std::fmt::Write as _;

/// More states than this are not needed for any of them.
const MOST_STATES: usize = 400_000;

/// Which promise each breaks, and where. Most break others too, some of them sooner; told is the
/// one that its guard is for.
const CAUGHT: &[(Mutant, Promise, &str)] = {
    use Mutant::*;
    use Promise::*;
    &[
        (CreatedThenWritten, P4, "two takers"),
        (PublishedByRename, P2, "two takers"),
        (LockFile, P2, "stalled for ten minutes"),
        (ScratchNamedForFence, P4, "named"),
        (ExpiryInName, P2, "leases"),
        (WeakerThanLink, P2, "no hard links"),
        (WriteUnchecked, P4, "errors"),
        (FileNotSynced, P4, "power"),
        (DirNotSynced, P2, "power"),
        (WayNotSynced, P2, "power, first claims"),
        (DoubtIsLost, P6, "every link fails and lands"),
        (DoubtIsWon, P2, "named, errors"),
        (OwnerByHolder, P2, "started twice, errors"),
        (UnseenIsNull, P6, "every link says taken"),
        (FaultIsNull, P6, "errors"),
        (NoWithdraw, P8, "first claims, errors"),
        (RenewalWithdrawn, P1, "errors while held"),
        (ShorterStays, P1, "errors of a shorter lease"),
        (EndIsLive, P6, "leases"),
        (UnreadableIsDamaged, P1, "errors while held"),
        (NoCheckOfMaximum, P2, "nothing kept"),
        (NoSecondListing, P2, "overtaken by more than is kept"),
        (OwnNameNotChecked, P2, "nothing kept"),
        (OvertakenRemovesOwn, P1, "peers, overtaken"),
        (OvertakenGivesUp, P6, "two takers"),
        (OvertakenIsUnsettled, P6, "two takers"),
        (NoSeal, P3, "two takers and a writer"),
        (SealBeforeLink, P3, "two takers and a writer"),
        (SealFailureIgnored, P3, "errors of a writer"),
        (SealNotSynced, P3, "outage, writer"),
        (PruneTakesMaximum, P2, "two takers"),
        (PruneDescending, P2, "nothing kept"),
        (NoPrune, P5, "overtaken by more than is kept"),
        (NoSweep, P5, "named"),
        (AgeByCaller, P6, "a clock ahead"),
        (ReleaseDeletes, P2, "two takers"),
        (ReleaseOfAnyFence, P1, "released late"),
        (NoNameless, P5, "two takers"),
        (MakingNotRetried, P8, "first claims, errors"),
        (CheckpointNotSynced, P7, "power, writer"),
        (RenameNotSynced, P7, "power, writer"),
        (MadeByAnotherIsError, P6, "first claims"),
        (LooksBeforeStaging, P3, "two takers and a writer"),
        (NoLook, P3, "two takers and a writer"),
        (GoneIsBelieved, P3, "little kept, writer and a peer"),
        (EmptyIsBelieved, P3, "little kept, writer and a peer"),
        (StagedOutOfReach, P3, "two takers and a writer"),
        (SealedIsSuccess, P7, "two takers and a writer"),
        (WrittenInPlace, P7, "unfenced writers"),
    ]
};

fn mutated(mutant: Mutant, promise: Promise, name: &str) -> Scenario {
    let found = scenarios::whole().into_iter().find(|scenario| scenario.name == name);
    let mut scenario = found.expect("the scenario is one of those that the core passes");
    scenario.mutant = Some(mutant);
    scenario.judged = Some(promise);
    scenario
}

fn row(mutant: Mutant, report: &Report) -> String {
    let (promise, why) = match &report.found {
        Some(found) => (format!("{:?}", found.violation.promise), found.violation.why.as_str()),
        None => ("**none**".into(), ""),
    };
    let steps = report.found.as_ref().map_or(0, |found| found.way.len());
    let Report { scenario, states, interleavings, .. } = report;
    let wrong = mutant.told();
    format!(
        "| {wrong} | {promise} | {scenario} | {states} | {interleavings:.1e} | {steps} | {why} |"
    )
}

/// Guards the search itself: each line of the protocol that is broken must be missed by it.
#[test]
fn every_wrong_design_is_caught() {
    let told: HashSet<Mutant> = CAUGHT.iter().map(|row| row.0).collect();
    let untold = Mutant::ALL.iter().filter(|mutant| !told.contains(*mutant));
    assert_eq!(untold.collect::<Vec<_>>(), Vec::<&Mutant>::new(), "mutants without a scenario");
    let mut table = String::from(
        "| wrong on purpose | breaks | in the scenario | states | interleavings | steps | how |\n\
         |---|---|---|---:|---:|---:|---|\n",
    );
    let mut uncaught = Vec::new();
    for (mutant, promise, name) in CAUGHT {
        let scenario = mutated(*mutant, *promise, name);
        let report = search(&scenario, MOST_STATES);
        writeln!(table, "{}", row(*mutant, &report)).expect("a string takes text");
        match &report.found {
            Some(found) => {
                let again = replay(&scenario, &found.way).1;
                assert_eq!(again.as_ref(), Some(&found.violation), "{mutant:?} replays");
            }
            None => uncaught.push(mutant),
        }
    }
    println!("{table}");
    assert_eq!(uncaught, Vec::<&Mutant>::new(), "wrong designs that were not caught");
    documented::check("mutants", &table);
}
