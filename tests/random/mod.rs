//! Seeded randomness for tests: the same seed gives the same test, on every machine.

use std::hash::{BuildHasher as _, RandomState};

/// A generator of 64-bit numbers (SplitMix64).
pub(crate) struct Random(u64);

impl Random {
    /// From `FENCELINK_SEED`, or else a fresh seed. Either way the seed is printed, for a failure
    /// to be replayed.
    pub(crate) fn from_env() -> Random {
        let seed = match std::env::var("FENCELINK_SEED") {
            Ok(seed) => seed.parse().expect("FENCELINK_SEED is a whole number below 2^64"),
            Err(_) => RandomState::new().hash_one(0),
        };
        eprintln!("to replay: FENCELINK_SEED={seed}");
        Random(seed)
    }

    /// Any number.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }

    /// A number below `bound`, which is not 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    /// One of `choices`.
    pub(crate) fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }
}
