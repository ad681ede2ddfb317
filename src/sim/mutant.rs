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
    /// a higher holding that the listing after the link shows is passed over
    NoSecondListing,
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
