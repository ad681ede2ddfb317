//! Values told apart by 128 bits, so that a search can remember millions of states in the room of
//! their numbers. Two states with one fingerprint would be taken for one; among ten million states
//! the odds of that are below one in 10^23.

use std::hash::{Hash, Hasher};

/// Two lanes of multiply and fold, each with constants of its own.
struct Lanes(u64, u64);

impl Lanes {
    fn take(&mut self, word: u64) {
        self.0 = fold(self.0 ^ word, 0x9E37_79B9_7F4A_7C15);
        self.1 = fold(self.1.rotate_left(23) ^ word, 0xD6E8_FEB8_6659_FD93);
    }
}

/// Both halves of a product.
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a ^ 0xA076_1D64_78BD_642F) * u128::from(b);
    (product as u64) ^ (product >> 64) as u64
}

impl Hasher for Lanes {
    fn write(&mut self, bytes: &[u8]) {
        for part in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..part.len()].copy_from_slice(part);
            self.take(u64::from_le_bytes(word));
        }
        self.take(bytes.len() as u64);
    }

    fn write_u8(&mut self, word: u8) {
        self.take(u64::from(word));
    }

    fn write_u16(&mut self, word: u16) {
        self.take(u64::from(word));
    }

    fn write_u32(&mut self, word: u32) {
        self.take(u64::from(word));
    }

    fn write_u64(&mut self, word: u64) {
        self.take(word);
    }

    fn write_usize(&mut self, word: usize) {
        self.take(word as u64);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// A value's fingerprint, the same in every process.
pub(super) fn fingerprint(value: &impl Hash) -> u128 {
    let mut lanes = Lanes(0, 1);
    value.hash(&mut lanes);
    let (a, b) = (lanes.0, lanes.1);
    lanes.take(a.rotate_left(32) ^ b);
    u128::from(lanes.0) << 64 | u128::from(lanes.1)
}
