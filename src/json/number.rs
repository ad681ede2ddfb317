//! What a number stands for: the nearest double, as JavaScript has it.

use std::str;

/// Literals up to this length go to the standard library as they are. It is exact for every
/// number of digits, but reads exponents from 65,536 up as merely large. That shows only where
/// nearly as many digits take such an exponent back, which no literal of this length has.
const DIRECT: usize = 1 << 15;

/// More digits than any halfway point between two doubles has (767): what comes after these can
/// tip the balance only by not being zero.
const SIGNIFICANT: usize = 800;

/// The double nearest to `literal`, which keeps to JSON's grammar; infinite beyond the largest.
pub(super) fn value(literal: &[u8]) -> f64 {
    let parsed = if literal.len() <= DIRECT { parse(literal) } else { parse(&shorten(literal)) };
    // JSON's numbers are all numbers to the standard library, so there is always one.
    parsed.unwrap_or(f64::NAN)
}

fn parse(literal: &[u8]) -> Option<f64> {
    str::from_utf8(literal).ok()?.parse().ok()
}

/// A short literal with the same nearest double: the leading zeros gone, the digits after the
/// first [`SIGNIFICANT`] replaced by one that is not zero if any of them is not, and the exponent
/// counting what was left out.
fn shorten(literal: &[u8]) -> Vec<u8> {
    let (mantissa, exponent) = match literal.iter().position(|byte| matches!(byte, b'e' | b'E')) {
        Some(e) => (&literal[..e], signed(&literal[e + 1..])),
        None => (literal, 0),
    };
    let (sign, mantissa) = match mantissa {
        [b'-', rest @ ..] => (&b"-"[..], rest),
        all => (&b""[..], all),
    };
    let point = mantissa.iter().position(|byte| *byte == b'.').unwrap_or(mantissa.len());
    let digits = mantissa.iter().filter(|byte| **byte != b'.');
    let zeros = digits.clone().take_while(|digit| **digit == b'0').count();

    let mut short = sign.to_vec();
    short.extend_from_slice(b"0.");
    short.extend(digits.clone().skip(zeros).take(SIGNIFICANT));
    let mut dropped = digits.skip(zeros).skip(SIGNIFICANT);
    short.push(if dropped.any(|digit| *digit != b'0') { b'1' } else { b'0' });
    let shift = i64::try_from(point).unwrap_or(i64::MAX) - i64::try_from(zeros).unwrap_or(i64::MAX);
    short.extend_from_slice(format!("e{}", exponent.saturating_add(shift)).as_bytes());
    short
}

/// A whole number with an optional sign; one too large for its type stays at the type's end, far
/// beyond what any document's length can take back.
fn signed(bytes: &[u8]) -> i64 {
    let (negative, digits) = match bytes {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        all => (false, all),
    };
    let size = digits.iter().fold(0i64, |size, digit| {
        size.saturating_mul(10).saturating_add(i64::from(digit.wrapping_sub(b'0')))
    });
    if negative { -size } else { size }
}

#[cfg(test)]
mod tests {
    use super::{DIRECT, value};

    /// Guards exactness: a lease's end is one double, the same for all.
    #[test]
    fn numbers_are_the_nearest_double() {
        for (literal, wanted) in [
            ("0", 0.0),
            ("1.5", 1.5),
            ("-5", -5.0),
            ("1E3", 1000.0),
            ("2e+3", 2000.0),
            ("25e-1", 2.5),
            ("123456789012345678901234567890", 1.234_567_890_123_456_8e29),
            ("9007199254740993", 9_007_199_254_740_992.0),
            ("9007199254740993.0000000000000000000000000000001", 9_007_199_254_740_994.0),
            ("1e308", 1e308),
            ("1e309", f64::INFINITY),
            ("-1e400", f64::NEG_INFINITY),
            ("1e-400", 0.0),
            ("1e99999999999999999999", f64::INFINITY),
            ("1e-99999999999999999999", 0.0),
            ("0e99999999999999999999", 0.0),
            ("2.2250738585072011e-308", 2.225_073_858_507_201e-308),
            ("5e-324", 5e-324),
            ("2.4703282292062327e-324", 0.0),
            ("2.4703282292062328e-324", 5e-324),
            ("1.7976931348623158e308", f64::MAX),
            ("1.7976931348623159e308", f64::INFINITY),
        ] {
            assert_eq!(value(literal.as_bytes()).to_bits(), wanted.to_bits(), "{literal}");
        }
        assert_eq!(value(b"-0").to_bits(), (-0.0f64).to_bits());
        assert_eq!(value(b"-0.0e5").to_bits(), (-0.0f64).to_bits());
    }

    /// Guards numbers whose digits and exponent take each other back over any distance, where the
    /// standard library, which gives up on large exponents, would answer 0 or infinity.
    #[test]
    fn numbers_of_any_length_are_the_nearest_double() {
        for zeros in [1000, 40_000, 700_000, 1_000_000] {
            let many = "0".repeat(zeros);
            let after = zeros + 1;
            for (literal, wanted) in [
                (format!("0.{many}1e{after}"), 1.0),
                (format!("-0.{many}15e+{after}"), -1.5),
                (format!("1{many}e-{zeros}"), 1.0),
                (format!("25{many}.{many}e-{after}"), 2.5),
                (format!("1{many}"), f64::INFINITY),
                (format!("0.{many}1"), 0.0),
                (format!("0.{many}"), 0.0),
                (format!("-0.{many}e{many}1"), -0.0),
                (format!("0.{many}1e{many}{after}"), 1.0),
                (format!("0.{many}1e99999999999999999999"), f64::INFINITY),
                (format!("1{many}e-99999999999999999999"), 0.0),
                // Halfway between two doubles, to the even one; and a hair above, to the other.
                (format!("9007199254740993.{many}"), 9_007_199_254_740_992.0),
                (format!("9007199254740993.{many}1"), 9_007_199_254_740_994.0),
                (format!("9007199254740993{many}1e-{after}"), 9_007_199_254_740_994.0),
            ] {
                let shown = &literal[..20];
                assert_eq!(
                    value(literal.as_bytes()).to_bits(),
                    f64::to_bits(wanted),
                    "{shown}… {zeros}"
                );
            }
        }
    }

    /// Guards the digits that are kept of a long number: the halfway point below the least double
    /// has 751 that count, and each of them does.
    #[test]
    fn no_digit_that_counts_is_left_out() {
        let least = format!("{:.1074}", 5e-324);
        let mut half = String::new();
        let mut carry = 0;
        for char in least.chars().chain(['0']) {
            match char.to_digit(10) {
                None => half.push(char),
                Some(digit) => {
                    half.push(char::from(b'0' + ((10 * carry + digit) / 2) as u8));
                    carry = digit % 2;
                }
            }
        }
        let many = "0".repeat(DIRECT);
        let below = format!("{}4{}", half.trim_end_matches('5'), "9".repeat(DIRECT));
        assert_eq!(value(format!("{half}{many}").as_bytes()), 0.0, "halfway, to the even one");
        assert_eq!(value(format!("{half}{many}1").as_bytes()), 5e-324, "a hair above");
        assert_eq!(value(below.as_bytes()), 0.0, "a hair below");
    }
}
