//! A string of a document: what its bytes and escapes stand for.

use std::fmt;

/// A string as it stands in the document, already checked, not yet decoded.
#[derive(Clone, Copy)]
pub struct Text<'a> {
    raw: &'a [u8],
    escaped: bool,
}

impl<'a> Text<'a> {
    /// `raw` is what stands between the quotes; `escaped` says whether a backslash is in it.
    pub(super) fn new(raw: &'a [u8], escaped: bool) -> Text<'a> {
        Text { raw, escaped }
    }

    /// Whether it is `name`, which is ASCII, once escapes are resolved.
    pub fn is(self, name: &str) -> bool {
        debug_assert!(name.is_ascii(), "bytes and UTF-16 units are compared one to one");
        if self.escaped {
            // The longest way to write a unit is six bytes.
            let possible = self.raw.len() <= 6 * name.len();
            possible && self.units().iter().copied().eq(name.encode_utf16())
        } else {
            self.raw == name.as_bytes()
        }
    }

    /// The UTF-16 units that JavaScript would have, lone surrogates included.
    pub fn units(self) -> Vec<u16> {
        let mut units = Vec::with_capacity(self.raw.len());
        if !self.escaped {
            push_decoded(&mut units, self.raw);
            return units;
        }
        let mut rest = self.raw;
        while let Some(backslash) = rest.iter().position(|byte| *byte == b'\\') {
            push_decoded(&mut units, &rest[..backslash]);
            let (unit, length) = escape(&rest[backslash..]);
            units.push(unit);
            rest = rest.get(backslash + length..).unwrap_or_default();
        }
        push_decoded(&mut units, rest);
        units
    }

    /// The same as a Rust string; `None` when it holds a lone surrogate, which that cannot.
    pub fn string(self) -> Option<String> {
        match std::str::from_utf8(self.raw) {
            Ok(plain) if !self.escaped => Some(plain.to_owned()),
            _ => String::from_utf16(&self.units()).ok(),
        }
    }
}

impl fmt::Debug for Text<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:?}", String::from_utf16_lossy(&self.units()))
    }
}

/// Bytes without escapes. Each maximal part of a broken sequence becomes one U+FFFD, as the
/// Encoding Standard has it.
fn push_decoded(units: &mut Vec<u16>, bytes: &[u8]) {
    if bytes.is_ascii() {
        units.extend(bytes.iter().map(|byte| u16::from(*byte)));
        return;
    }
    for chunk in bytes.utf8_chunks() {
        units.extend(chunk.valid().encode_utf16());
        if !chunk.invalid().is_empty() {
            units.push(char::REPLACEMENT_CHARACTER as u16);
        }
    }
}

/// The unit that the escape at the start of `bytes` stands for, and how many bytes it takes. The
/// scan let no other escape pass than these.
fn escape(bytes: &[u8]) -> (u16, usize) {
    let unit = match bytes.get(1) {
        Some(b'b') => 0x08,
        Some(b't') => 0x09,
        Some(b'n') => 0x0A,
        Some(b'f') => 0x0C,
        Some(b'r') => 0x0D,
        Some(b'u') => {
            let digits = bytes.iter().skip(2).take(4);
            let value = |byte: &u8| char::from(*byte).to_digit(16).unwrap_or_default() as u16;
            return (digits.fold(0, |unit, byte| unit << 4 | value(byte)), 6);
        }
        Some(itself) => u16::from(*itself),
        None => char::REPLACEMENT_CHARACTER as u16,
    };
    (unit, 2)
}

#[cfg(test)]
mod tests {
    use crate::json::read;

    /// Guards decoding: what a worker's holder is must be what JavaScript says it is, or a worker
    /// would not know its own lease.
    #[test]
    fn strings_decode_as_in_javascript() {
        let utf16 = |text: &str| text.encode_utf16().collect::<Vec<_>>();
        for (document, wanted) in [
            (&b"\"\""[..], vec![]),
            (b"\"plain\"", utf16("plain")),
            (b"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", utf16("\"\\/\u{8}\u{c}\n\r\t")),
            (b"\"\\u0000\\uAbCd\"", vec![0, 0xABCD]),
            ("\"é€😀\"".as_bytes(), utf16("é€😀")),
            (b"\"\\ud83d\\ude00\"", utf16("😀")),
            (b"\"\\ud800\"", vec![0xD800]),
            (b"\"\\udc00\\ud800\"", vec![0xDC00, 0xD800]),
            (b"\"a\xffb\"", utf16("a\u{fffd}b")),
            // A sequence that is cut short is one replacement, and what cuts it stands for itself.
            (b"\"\xf0\x9f\x98\"", utf16("\u{fffd}")),
            (b"\"\xf0\x9f\x98\\n\"", utf16("\u{fffd}\n")),
            (b"\"\\u0041\xf0\x9f\x98x\"", utf16("A\u{fffd}x")),
            (b"\"\xe2\x82\xe2\x82\xac\"", utf16("\u{fffd}€")),
            // Overlong forms, encoded surrogates and what is beyond Unicode: one a byte.
            (b"\"\xc0\xa2\"", utf16("\u{fffd}\u{fffd}")),
            (b"\"\xed\xa0\x80\"", utf16("\u{fffd}\u{fffd}\u{fffd}")),
            (b"\"\xf4\x90\x80\x80\"", utf16("\u{fffd}\u{fffd}\u{fffd}\u{fffd}")),
        ] {
            let text = read(document, |value| value.text()).expect("JSON").expect("a string");
            assert_eq!(text.units(), wanted, "{}", document.escape_ascii());
        }
    }

    /// Guards that members are found by what their key means, not by how it is written.
    #[test]
    fn keys_are_compared_after_their_escapes() {
        for (key, same) in [
            ("holder", true),
            (r"hol\u0064er", true),
            (r"\u0068\u006f\u006c\u0064\u0065\u0072", true),
            ("Holder", false),
            ("holde", false),
            ("holder ", false),
            (r"holder\u0000", false),
            (r"hol\u0044er", false),
            ("", false),
            (r"\n", false),
            ("hølder", false),
        ] {
            let mut is = None;
            let document = format!(r#"{{"{key}":0}}"#);
            read(document.as_bytes(), |value| value.object(|key, _| is = Some(key.is("holder"))))
                .expect("JSON");
            assert_eq!(is, Some(same), "{key}");
        }
    }
}
