//! Writes strings and numbers as `JSON.stringify` does.

/// Appends the string that the UTF-16 `units` are, in quotes. A surrogate without its partner is
/// escaped, so that the text is UTF-8 and still means the same string.
pub fn push_units(out: &mut Vec<u8>, units: &[u16]) {
    out.push(b'"');
    for decoded in char::decode_utf16(units.iter().copied()) {
        match decoded {
            Ok(char) => push_char(out, char),
            Err(lone) => push_escape(out, lone.unpaired_surrogate()),
        }
    }
    out.push(b'"');
}

/// Appends `text` as a string in quotes.
pub fn push_str(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    text.chars().for_each(|char| push_char(out, char));
    out.push(b'"');
}

fn push_char(out: &mut Vec<u8>, char: char) {
    let short = match char {
        '"' => b'"',
        '\\' => b'\\',
        '\u{8}' => b'b',
        '\t' => b't',
        '\n' => b'n',
        '\u{C}' => b'f',
        '\r' => b'r',
        '\0'..='\u{1F}' => return push_escape(out, char as u16),
        ' '..='\u{7F}' => return out.push(char as u8),
        _ => return out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes()),
    };
    out.extend_from_slice(&[b'\\', short]);
}

fn push_escape(out: &mut Vec<u8>, unit: u16) {
    out.extend_from_slice(b"\\u");
    for shift in [12, 8, 4, 0] {
        let digit = char::from_digit(u32::from(unit >> shift & 0xF), 16).unwrap_or('0');
        out.push(digit as u8);
    }
}

/// Appends a finite number, in as few digits as give the very same double when read back, in the
/// form that JavaScript prints. The one difference is -0, which JavaScript prints as 0: here it
/// keeps its sign.
pub fn push_number(out: &mut Vec<u8>, number: f64) {
    debug_assert!(number.is_finite(), "JSON has no other numbers");
    let is_whole = number.fract() == 0.0 && number.abs() < 9_007_199_254_740_992.0;
    if is_whole && (number != 0.0 || number.is_sign_positive()) {
        out.extend_from_slice((number as i64).to_string().as_bytes());
        return;
    }
    out.extend_from_slice(if number.is_sign_negative() { b"-" } else { b"" });
    let shortest = shortest(number.abs());
    // Rust has a mantissa and an exponent in each number of this form.
    let (mantissa, exponent) = shortest.split_once('e').unwrap_or((&shortest, "0"));
    let places: isize = exponent.parse().unwrap_or_default();
    let digits = mantissa.bytes().filter(|byte| *byte != b'.');
    match places {
        0..=20 => {
            let mut digits = digits.fuse();
            out.extend((0..=places).map(|_| digits.next().unwrap_or(b'0')));
            let fraction = digits.collect::<Vec<_>>();
            out.extend_from_slice(if fraction.is_empty() { b"" } else { b"." });
            out.extend(fraction);
        }
        -6..0 => {
            out.extend_from_slice(b"0.");
            out.extend((places + 1..0).map(|_| b'0'));
            out.extend(digits);
        }
        _ => {
            out.extend_from_slice(mantissa.as_bytes());
            out.extend_from_slice(if places > 0 { b"e+" } else { b"e" });
            out.extend_from_slice(exponent.as_bytes());
        }
    }
}

/// The shortest decimal that reads back as `number`, with an exponent. Where two are equally near,
/// Rust takes the upper one and JavaScript the one whose last digit is even, as rounding to so many
/// digits does.
fn shortest(number: f64) -> String {
    let upper = format!("{number:e}");
    let digits = upper.bytes().take_while(|byte| *byte != b'e').filter(u8::is_ascii_digit).count();
    let even = format!("{number:.*e}", digits - 1);
    if even.parse() == Ok(number) { even } else { upper }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::read;

    /// Guards what other workers read of a body: the text is what JSON.stringify would write.
    #[test]
    fn strings_are_written_as_javascript_does() {
        let mut all: Vec<u16> = (0..0x30).collect();
        all.extend([
            0x5C, 0x7F, 0x80, 0x2028, 0xFFFF, 0xD83D, 0xDE00, 0xDE00, 0xD83D, 0x41, 0xD800,
        ]);
        let mut out = Vec::new();
        push_units(&mut out, &all);
        let wanted = concat!(
            r#""\u0000\u0001\u0002\u0003\u0004\u0005\u0006\u0007\b\t\n\u000b\f\r\u000e\u000f"#,
            r#"\u0010\u0011\u0012\u0013\u0014\u0015\u0016\u0017\u0018\u0019\u001a\u001b\u001c\u001d"#,
            r##"\u001e\u001f !\"#$%&'()*+,-./"##,
            "\\\\\u{7f}\u{80}\u{2028}\u{ffff}😀",
            r#"\ude00\ud83dA\ud800""#
        );
        assert_eq!(String::from_utf8_lossy(&out), wanted);
        let read = read(&out, |value| value.text()).expect("JSON").expect("a string");
        assert_eq!(read.units(), all);

        let mut out = Vec::new();
        push_str(&mut out, "a\"\n\u{1}é😀");
        assert_eq!(String::from_utf8_lossy(&out), r#""a\"\n\u0001é😀""#);
    }

    /// Guards the text of numbers, which is JavaScript's own, and that -0 stays -0.
    #[test]
    fn numbers_are_written_as_javascript_does() {
        for (number, wanted) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.0, "1"),
            (-1.0, "-1"),
            (0.1, "0.1"),
            (1.5e12, "1500000000000"),
            (1_764_430_255_123.25, "1764430255123.25"),
            (9_007_199_254_740_991.0, "9007199254740991"),
            (-9_007_199_254_740_992.0, "-9007199254740992"),
            (9_007_199_254_740_994.0, "9007199254740994"),
            (1.2345678901234568e20, "123456789012345680000"),
            (1e21, "1e+21"),
            (7_574_832_461_218_818.0 / 8.0, "946854057652352.2"),
            (-7_574_832_461_218_822.0 / 8.0, "-946854057652352.8"),
            (-1.5e300, "-1.5e+300"),
            (f64::MAX, "1.7976931348623157e+308"),
            (1e-6, "0.000001"),
            (1.25e-6, "0.00000125"),
            (1e-7, "1e-7"),
            (-1.5e-9, "-1.5e-9"),
            (5e-324, "5e-324"),
        ] {
            let mut out = Vec::new();
            push_number(&mut out, number);
            assert_eq!(String::from_utf8_lossy(&out), wanted);
            let read = read(&out, |value| value.number()).expect("JSON").expect("a number");
            assert_eq!(read.to_bits(), number.to_bits(), "{wanted}");
        }
    }
}
