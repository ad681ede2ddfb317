//! What [`fencelink::body::write`] writes, [`fencelink::body::parse`] reads back as the same.

mod random;

use fencelink::body::{self, Body};
use fencelink::types::{Holder, Millis};
use random::Random;

/// Units of every kind: letters, what must be escaped, surrogates in and out of pairs, all others.
fn units(random: &mut Random) -> Vec<u16> {
    let length = random.below(24);
    let unit = |random: &mut Random| match random.below(5) {
        0 => random.below(0x80) as u16,
        1 => random.pick(&[0x22, 0x5C, 0x08, 0x0A, 0x00, 0x1F, 0x7F, 0x2028]),
        2 => 0xD800 + random.below(0x800) as u16,
        3 => b'a' as u16 + random.below(26) as u16,
        _ => random.next() as u16,
    };
    (0..length).map(|_| unit(random)).collect()
}

/// Doubles of every kind: any bits, instants as they come, and whole ones of any size.
fn millis(random: &mut Random) -> Millis {
    loop {
        let number = match random.below(4) {
            0 => f64::from_bits(random.next()),
            1 => 1.7e12 + random.below(1 << 40) as f64 / 1024.0,
            2 => (random.next() as i64 >> random.below(64)) as f64,
            _ => (random.next() as i32) as f64 * 10f64.powi(random.below(40) as i32 - 20),
        };
        if let Some(millis) = Millis::new(number) {
            return millis;
        }
    }
}

/// Guards that a worker recognises its own lease and nonce in what it wrote, whatever its name and
/// its clock are: to the unit, and to the bit.
#[test]
fn what_is_written_is_read_back_as_the_same() {
    let mut random = Random::from_env();
    for _ in 0..100_000 {
        let holder = Holder::new(units(&mut random)).unwrap_or(Holder::NOBODY);
        let expires_at = millis(&mut random);
        let nonce = String::from_utf16_lossy(&units(&mut random));
        let written = body::write(&holder, expires_at, &nonce);
        let shown = written.escape_ascii();
        let read = body::parse(&written);
        assert_eq!(
            read.as_ref().map(|body| body.expires_at.get().to_bits()),
            Some(expires_at.get().to_bits()),
            "{shown}"
        );
        assert_eq!(read, Some(Body { holder, expires_at, nonce: Some(nonce) }), "{shown}");
    }
}
