//! Known wrong designs, each a switch that stands in the core where its guard stands. Outside the
//! simulation the switches are not compiled at all; in it, one at a time can be on, for the
//! thread that searches.

use std::cell::Cell;

macro_rules! mutants {
    ($($(#[doc = $doc:literal])* $name:ident),+ $(,)?) => {
        /// A line of the protocol that is broken on purpose.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum Mutant {
            $($(#[doc = $doc])* $name,)+
        }

        impl Mutant {
            /// All of them.
            pub const ALL: &'static [Mutant] = &[$(Mutant::$name),+];

            /// What is wrong with it.
            pub fn told(self) -> &'static str {
                match self {
                    $(Mutant::$name => concat!($($doc),*).trim(),)+
                }
            }
        }
    };
}

mutants! {
    /// the final name is created exclusively and then written
    CreatedThenWritten,
    /// a holding is published by `rename`
    PublishedByRename,
    /// a lock file, broken when it is old, decides who publishes
    LockFile,
    /// the scratch file is named for the fence alone
    ScratchNamedForFence,
    /// the holding's name carries the expiry too
    ExpiryInName,
    /// where `link` is refused, `rename` is used
    WeakerThanLink,
    /// a write that failed is published
    WriteUnchecked,
    /// the file is not synced before it is linked
    FileNotSynced,
    /// the directory is not synced after the link
    DirNotSynced,
    /// the way to a run's first holding is synced by nobody but whoever made it
    WayNotSynced,
    /// an error of `link` is taken for a loss
    DoubtIsLost,
    /// an error of `link` is taken for a win
    DoubtIsWon,
    /// doubt is settled by the holder's name, not by a nonce
    OwnerByHolder,
    /// "taken", of a name that no listing shows, is answered with `null`
    UnseenIsNull,
    /// a fault after the link is answered with `null`
    FaultIsNull,
    /// a fence that could not be settled is not given back
    NoWithdraw,
    /// a holder whose renewal failed is let go of before it is told
    RenewalWithdrawn,
    /// a renewal that was to be shorter and failed shortens the lease all the same
    ShorterStays,
    /// a lease is live at the very instant of its end
    EndIsLive,
    /// a body that may not be read is judged damaged
    UnreadableIsDamaged,
    /// the highest name that a listing told is not looked at again
    NoCheckOfMaximum,
    /// the second listing, after the link, is not looked at
    NoSecondListing,
    /// a taker does not look whether its own holding was pruned
    OwnNameNotChecked,
    /// a taker that was overtaken removes its holding, however recent
    OvertakenRemovesOwn,
    /// a taker that was overtaken does not try again
    OvertakenGivesUp,
    /// a taker that was overtaken answers that the claims change too fast
    OvertakenIsUnsettled,
    /// a fenced write lists and renames, and no taker seals
    NoSeal,
    /// a taker seals before its link
    SealBeforeLink,
    /// a seal that fails does not fail the claim
    SealFailureIgnored,
    /// a seal is not synced
    SealNotSynced,
    /// pruning takes every holding, the highest too
    PruneTakesMaximum,
    /// pruning takes the highest first
    PruneDescending,
    /// holdings are never pruned
    NoPrune,
    /// scratch files are never swept
    NoSweep,
    /// the age of scratch files is judged by the caller's clock
    AgeByCaller,
    /// a release deletes its holding
    ReleaseDeletes,
    /// a release gives back whatever fence is the highest
    ReleaseOfAnyFence,
    /// a named scratch file is used where the volume has nameless ones
    NoNameless,
    /// a directory that is not there yet is not tried again
    MakingNotRetried,
    /// a checkpoint is not synced before its rename
    CheckpointNotSynced,
    /// the directory is not synced after a checkpoint's rename
    RenameNotSynced,
    /// a directory that another worker has just made is an error
    MadeByAnotherIsError,
    /// a fenced write looks for higher fences before it stages its file
    LooksBeforeStaging,
    /// a fenced write does not look for higher fences
    NoLook,
    /// a fenced write goes by a highest name that was gone whenever it looked
    GoneIsBelieved,
    /// a listing that shows no holding is believed at once
    EmptyIsBelieved,
    /// a fenced write is staged where no taker looks
    StagedOutOfReach,
    /// a write whose staged file is gone is said to be done
    SealedIsSuccess,
    /// an unfenced write is made in place
    WrittenInPlace,
}

/// How the core differs from the one that ships.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Switches {
    pub(super) mutant: Option<Mutant>,
    pub(super) kept_fences: Option<u64>,
    pub(super) rounds: Option<usize>,
}

thread_local! {
    static SWITCHES: Cell<Switches> = const {
        Cell::new(Switches { mutant: None, kept_fences: None, rounds: None })
    };
}

/// Whether the core is to go wrong in this way.
pub(crate) fn is_on(mutant: Mutant) -> bool {
    SWITCHES.get().mutant == Some(mutant)
}

/// How many fences stay on disk below the highest, where a search says.
pub(crate) fn kept_fences() -> Option<u64> {
    SWITCHES.get().kept_fences
}

/// How often an operation tries again, where a search says.
pub(crate) fn rounds() -> Option<usize> {
    SWITCHES.get().rounds
}

/// Sets the switches of this thread until it is dropped.
#[derive(Debug)]
pub(super) struct Switched {
    before: Switches,
}

impl Switched {
    pub(super) fn to(switches: Switches) -> Switched {
        Switched { before: SWITCHES.replace(switches) }
    }
}

impl Drop for Switched {
    fn drop(&mut self) {
        SWITCHES.set(self.before);
    }
}
