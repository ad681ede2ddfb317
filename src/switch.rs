//! Where the simulation reaches into the core. In every other build, and so in every one that is
//! shipped, `mutant!` is nothing at all, and [`kept_fences`] and [`rounds`] are their arguments.

/// `mutant!(Name => act)`: `act`, when the simulation has switched that wrong design on.
#[cfg(feature = "sim")]
macro_rules! mutant {
    ($($name:ident)|+ => $act:expr) => {
        if $($crate::sim::is_on($crate::sim::Mutant::$name))||+ {
            $act
        }
    };
}

#[cfg(not(feature = "sim"))]
macro_rules! mutant {
    ($($name:ident)|+ => $act:expr) => {};
}

/// How many fences stay on disk. A simulation can say fewer, so that stalls which outlive them are
/// short enough to search.
#[cfg(feature = "sim")]
pub(crate) fn kept_fences(kept: u64) -> u64 {
    crate::sim::kept_fences().unwrap_or(kept)
}

#[cfg(not(feature = "sim"))]
pub(crate) const fn kept_fences(kept: u64) -> u64 {
    kept
}

/// How often an operation tries again. A simulation can say fewer, so that takers which keep
/// overtaking one another come to an end that a search can reach.
#[cfg(feature = "sim")]
pub(crate) fn rounds(rounds: usize) -> usize {
    crate::sim::rounds().unwrap_or(rounds)
}

#[cfg(not(feature = "sim"))]
pub(crate) const fn rounds(rounds: usize) -> usize {
    rounds
}
