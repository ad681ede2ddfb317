//! JSON on its way to JavaScript: text, since only `JSON.parse` makes of it exactly what
//! `JSON.parse` makes of it, in the form that the engine takes in by copying memory.
//!
//! V8 has strings of one byte a character, up to U+00FF, and of two bytes. To turn UTF-8 into
//! either is work for a thread of ours and not for JavaScript's. Characters beyond U+00FF stand in
//! strings only, and there an escape means the same; so where few of them would double the size of
//! all the rest, they are escaped. The text takes at most 5/3 of the file's size that way.

use napi::JsString;
use napi::bindgen_prelude::{Env, Result};
use napi_derive::napi;
use std::vec::IntoIter;

/// The longest string of V8, in characters.
const LONGEST: usize = crate::checkpoint::LIMIT;

/// The length of an escape: `\uXXXX`.
const ESCAPE: usize = 6;

/// JSON that was found to be valid, as V8 takes it.
#[derive(Debug, PartialEq)]
pub(super) enum Text {
    /// One byte a character.
    Narrow(Vec<u8>),
    /// UTF-16.
    Wide(Vec<u16>),
}

impl Text {
    /// From valid JSON of at most [`LONGEST`] bytes, decoded with replacement.
    pub(super) fn new(json: Vec<u8>) -> Text {
        if json.is_ascii() {
            return Text::Narrow(json);
        }
        let (mut narrow, mut wide) = (0, 0);
        parts(&json, |part| match part {
            Part::Ascii(run) => {
                narrow += run.len();
                wide += 2 * run.len();
            }
            Part::Other(char) => {
                narrow += if is_narrow(char) { 1 } else { ESCAPE * char.len_utf16() };
                wide += 2 * char.len_utf16();
            }
        });
        if narrow <= wide && narrow <= LONGEST {
            let mut text = Vec::with_capacity(narrow);
            parts(&json, |part| match part {
                Part::Ascii(run) => text.extend_from_slice(run),
                Part::Other(char) if is_narrow(char) => text.push(char as u32 as u8),
                Part::Other(char) => push_escaped(&mut text, char),
            });
            Text::Narrow(text)
        } else {
            let mut text = Vec::with_capacity(wide / 2);
            parts(&json, |part| match part {
                Part::Ascii(run) => text.extend(run.iter().map(|byte| u16::from(*byte))),
                Part::Other(char) => text.extend_from_slice(char.encode_utf16(&mut [0; 2])),
            });
            Text::Wide(text)
        }
    }
}

/// A stretch of a text: many characters of ASCII, or one of another kind.
enum Part<'a> {
    Ascii(&'a [u8]),
    Other(char),
}

fn parts<'a>(bytes: &'a [u8], mut each: impl FnMut(Part<'a>)) {
    for chunk in bytes.utf8_chunks() {
        let mut rest = chunk.valid();
        while !rest.is_empty() {
            let (run, after) = rest.split_at(ascii_end(rest.as_bytes()));
            each(Part::Ascii(run.as_bytes()));
            let mut chars = after.chars();
            chars.next().into_iter().for_each(|char| each(Part::Other(char)));
            rest = chars.as_str();
        }
        if !chunk.invalid().is_empty() {
            each(Part::Other(char::REPLACEMENT_CHARACTER));
        }
    }
}

/// The first place that is not ASCII, or the end. Most stretches are long, so they are looked at
/// many bytes at once.
fn ascii_end(bytes: &[u8]) -> usize {
    const WIDE: usize = 64;
    let wide = bytes.chunks_exact(WIDE).take_while(|chunk| chunk.is_ascii()).count() * WIDE;
    let rest = &bytes[wide..];
    wide + rest.iter().position(|byte| !byte.is_ascii()).unwrap_or(rest.len())
}

fn is_narrow(char: char) -> bool {
    u32::from(char) <= 0xFF
}

fn push_escaped(text: &mut Vec<u8>, char: char) {
    for unit in char.encode_utf16(&mut [0; 2]) {
        let digit = |shift: u16| b"0123456789abcdef"[usize::from(*unit >> shift & 0xF)];
        text.extend_from_slice(&[b'\\', b'u', digit(12), digit(8), digit(4), digit(0)]);
    }
}

/// Texts to be fetched one by one. Each is kept outside of JavaScript's memory until then, and no
/// longer.
#[napi]
pub struct Texts {
    rest: IntoIter<Text>,
}

impl Texts {
    pub(super) fn new(texts: Vec<Text>) -> Texts {
        Texts { rest: texts.into_iter() }
    }
}

#[napi]
impl Texts {
    /// The next text, `null` after the last.
    #[napi]
    pub fn next<'env>(&mut self, env: &'env Env) -> Result<Option<JsString<'env>>> {
        let text = self.rest.next().map(|text| match text {
            Text::Narrow(text) => env.create_string_latin1(text),
            Text::Wide(text) => env.create_string_utf16(text),
        });
        text.transpose()
    }
}

/// A text on its way from JavaScript, handed over in pieces so that none takes long.
#[napi]
pub struct Draft {
    text: String,
}

#[napi]
impl Draft {
    #[napi(constructor)]
    pub fn new() -> Draft {
        Draft { text: String::new() }
    }

    /// Appends a piece, which does not end between two halves of a character.
    #[napi]
    pub fn push(&mut self, piece: String) {
        self.text.push_str(&piece);
    }

    /// What was handed over, and `rest` after it.
    pub(super) fn complete(&mut self, rest: &str) -> String {
        let mut text = std::mem::take(&mut self.text);
        text.push_str(rest);
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn narrow(text: &str) -> Text {
        Text::Narrow(text.bytes().collect())
    }

    /// Guards what JavaScript parses: the same characters, of whatever width, in either form.
    #[test]
    fn a_text_keeps_every_character() {
        let long = "x".repeat(200);
        assert_eq!(Text::new(Vec::new()), narrow(""));
        assert_eq!(Text::new(long.clone().into_bytes()), narrow(&long));
        let latin = format!("{long}é\u{ff}{long}\u{80}");
        let bytes = latin.chars().map(|char| char as u32 as u8).collect();
        assert_eq!(Text::new(latin.into_bytes()), Text::Narrow(bytes));
        let escaped = format!("{long}\\u0100{long}\\ud83d\\ude00\\u2014.");
        assert_eq!(Text::new(format!("{long}\u{100}{long}😀—.").into_bytes()), narrow(&escaped));
        assert_eq!(
            Text::new("\"漢字😀é\"".into()),
            Text::Wide("\"漢字😀é\"".encode_utf16().collect())
        );
    }

    /// Guards the decoding with replacement, which the judgement of the file was by too.
    #[test]
    fn broken_bytes_are_one_replacement_each() {
        let long = "x".repeat(70);
        let with = |bytes: &[u8]| [long.as_bytes(), bytes].concat();
        assert_eq!(Text::new(with(b"\xff\"")), narrow(&format!("{long}\\ufffd\"")));
        assert_eq!(Text::new(with(b"\xf0\x9f\x98")), narrow(&format!("{long}\\ufffd")));
        let surrogate = with(b"\xed\xa0\x80.");
        assert_eq!(Text::new(surrogate), narrow(&format!("{long}\\ufffd\\ufffd\\ufffd.")));
    }

    /// Guards the memory that a text takes: never more than 5/3 of its file.
    #[test]
    fn no_text_is_much_larger_than_its_file() {
        for ascii in 0..40 {
            for char in ['é', 'Ā', '—', '漢', '😀'] {
                let json = format!("{}{}", "x".repeat(ascii), char.to_string().repeat(10));
                let file = json.len();
                let size = match Text::new(json.into_bytes()) {
                    Text::Narrow(text) => text.len(),
                    Text::Wide(text) => 2 * text.len(),
                };
                assert!(3 * size <= 5 * file, "{ascii} {char}: {size} of {file}");
            }
        }
    }
}
